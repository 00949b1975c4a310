//! Who may call: the names under which this server is called, and the pages that may call it.
//!
//! A page of anywhere can make a browser call a server on the user's own machine, under a name
//! that it has made point there. Such a call has that name as its host and as its origin, and
//! neither is known here.
//!
//! Spec: [security](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-%26-endpoint).

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{StatusCode, Uri};

use super::headers;
use super::status::Refusal;

/// The hosts and origins that are allowed besides the local ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowed {
    pub(super) any_host: bool,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

impl Allowed {
    pub(super) fn check(&self, parts: &Parts) -> Result<(), Refusal> {
        let host = match headers::text(&parts.headers, HOST.as_str())? {
            Some(host) => host.parse().ok(),
            None => parts.uri.authority().cloned(),
        };
        let origin = headers::text(&parts.headers, ORIGIN.as_str())?;
        if !self.is_host(host.as_ref()) {
            Err(forbidden("the host"))
        } else if origin.is_some_and(|origin| !self.is_origin(origin, host.as_ref())) {
            Err(forbidden("the origin"))
        } else {
            Ok(())
        }
    }

    fn is_host(&self, host: Option<&Authority>) -> bool {
        let named = |host: &str| {
            self.hosts
                .iter()
                .any(|name| name.eq_ignore_ascii_case(host))
        };
        let host = host.map(Authority::host);
        self.any_host || host.is_some_and(|host| is_local(host) || named(host))
    }

    /// Whether a page of this origin may call: one that is served from here, or is listed.
    fn is_origin(&self, origin: &str, host: Option<&Authority>) -> bool {
        let from_here = |origin: Uri| {
            let of_the_web = matches!(origin.scheme_str(), Some("http" | "https"));
            of_the_web && host.is_some() && origin.authority() == host
        };
        let listed = |known: &String| known.eq_ignore_ascii_case(origin);
        self.origins.iter().any(listed) || origin.parse().is_ok_and(from_here)
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn forbidden(what: &str) -> Refusal {
    let reason = format!("{what} of this request is not allowed here");
    Refusal::because(StatusCode::FORBIDDEN, reason)
}
