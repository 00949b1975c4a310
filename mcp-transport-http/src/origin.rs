//! Who may call: the names under which this server is called, and the pages that may call it.
//!
//! A page of anywhere can make a browser call a server on the user's own machine, under a name
//! that it has made point there. Such a call has that name as its host and as its origin, and
//! neither is known here.
//!
//! Spec: [security](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-%26-endpoint).

use std::net::IpAddr;

use http::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{StatusCode, Uri};

use crate::status::Refusal;

/// The hosts and origins that are allowed besides the local ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    /// `None`: any.
    pub(crate) hosts: Hosts,
    pub(crate) origins: Vec<String>,
}

/// The names of this server.
#[derive(Clone, Debug)]
pub(crate) enum Hosts {
    Any,
    /// These, and those of the machine itself.
    Named(Vec<String>),
}

impl Default for Hosts {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

impl Allowed {
    pub(crate) fn check(&self, parts: &Parts) -> Result<(), Refusal> {
        let host = match single(&parts.headers, HOST)? {
            Some(host) => host.parse().ok(),
            None => parts.uri.authority().cloned(),
        };
        if !self.is_host(host.as_ref()) {
            return Err(forbidden("the host"));
        }
        match single(&parts.headers, ORIGIN)? {
            Some(origin) if !self.is_origin(origin, host.as_ref()) => Err(forbidden("the origin")),
            _ => Ok(()),
        }
    }

    fn is_host(&self, host: Option<&Authority>) -> bool {
        let Hosts::Named(names) = &self.hosts else {
            return true;
        };
        host.map(Authority::host).is_some_and(|host| {
            is_local(host) || names.iter().any(|name| name.eq_ignore_ascii_case(host))
        })
    }

    /// Whether a page of this origin may call: one that is served from here, or is listed.
    fn is_origin(&self, origin: &str, host: Option<&Authority>) -> bool {
        if self
            .origins
            .iter()
            .any(|known| known.eq_ignore_ascii_case(origin))
        {
            return true;
        }
        let Ok(origin) = origin.parse::<Uri>() else {
            return false;
        };
        let of_the_web = matches!(origin.scheme_str(), Some("http" | "https"));
        of_the_web && origin.authority().is_some() && origin.authority() == host
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The value of a header that must not stand there twice, or who reads which one is open.
fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Refusal> {
    let mut values = headers.get_all(&name).iter();
    let value = values.next();
    let refusal = || Refusal::because(StatusCode::BAD_REQUEST, format!("bad `{name}` header"));
    if values.next().is_some() {
        return Err(refusal());
    }
    value
        .map(|value| value.to_str().map_err(|_| refusal()))
        .transpose()
}

fn forbidden(what: &str) -> Refusal {
    let reason = format!("{what} of this request is not allowed here");
    Refusal::because(StatusCode::FORBIDDEN, reason)
}
