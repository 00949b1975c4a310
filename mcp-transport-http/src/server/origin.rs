//! Who may call: the names under which this server is called, and the pages that may call it.
//!
//! A page of anywhere can make a browser call a server on the user's own machine, under a name
//! that it has made point there. Such a call has that name as its host and as its origin, and
//! neither is known here.
//!
//! Spec: [security](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-%26-endpoint).

use std::net::IpAddr;

use http::StatusCode;
use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;

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
        let named = headers::text(&parts.headers, HOST.as_str())?;
        // A target that names its host is what the request is for, whatever the header says.
        let host = parts.uri.authority().map(Authority::as_str).or(named);
        if !host.map_or(self.any_host, |host| host_name(host).is_some()) {
            let reason = "`Host` is missing or malformed";
            return Err(Refusal::because(StatusCode::BAD_REQUEST, reason));
        }
        let origin = headers::text(&parts.headers, ORIGIN.as_str())?;
        if !self.any_host && !host.is_some_and(|host| self.is_host(host)) {
            Err(forbidden("the host"))
        } else if origin.is_some_and(|origin| !self.is_origin(origin, host)) {
            Err(forbidden("the origin"))
        } else {
            Ok(())
        }
    }

    fn is_host(&self, host: &str) -> bool {
        let named = |host: &str| {
            self.hosts
                .iter()
                .any(|name| name.eq_ignore_ascii_case(host))
        };
        host_name(host).is_some_and(|host| is_local(&host) || named(&host))
    }

    /// Whether a page of this origin may call: one that is served from here, or is listed.
    fn is_origin(&self, origin: &str, host: Option<&str>) -> bool {
        let origin = normal(origin);
        let from_here =
            |scheme| host.is_some_and(|host| normal(&format!("{scheme}://{host}")) == origin);
        ["http", "https"].into_iter().any(from_here)
            || self.origins.iter().any(|known| normal(known) == origin)
    }
}

/// The name or address of a host that may come with a port, but with nothing else.
fn host_name(host: &str) -> Option<String> {
    let host: Authority = host.parse().ok()?;
    let (name, whole) = (host.host(), host.as_str());
    let port = whole.strip_prefix(name)?;
    (port.is_empty() || host.port_u16().is_some()).then(|| name.to_owned())
}

/// An origin as browsers write it: in lower case, without the port that goes without saying.
fn normal(origin: &str) -> String {
    let mut origin = origin.to_ascii_lowercase();
    let port = match origin.split_once("://") {
        Some(("http", _)) => ":80",
        Some(("https", _)) => ":443",
        _ => return origin,
    };
    if origin.ends_with(port) {
        origin.truncate(origin.len() - port.len());
    }
    origin
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
