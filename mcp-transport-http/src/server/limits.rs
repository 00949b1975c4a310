//! How much clients may hold, and for how long.

use std::time::Duration;

/// What an HTTP endpoint holds for its clients, and how long it waits for them.
///
/// Each bound is there because clients could otherwise make the server hold ever more. The
/// bounds of calls are the server's own.
///
/// A client is whom [`Http::principal`](crate::Http::principal) finds, or else the address of its
/// [`Peer`](crate::Peer); all of whom neither is known, and all behind one proxy, are one client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest body, in bytes. Default 16 MiB. Stops one message from filling memory.
    pub body: usize,
    /// Bytes of all bodies that are being read or wait for their connection. Default 64 MiB, of
    /// which one client may have half, or one body if that is more. Stops many messages from
    /// filling memory; a body beyond it is answered 503.
    pub bodies: usize,
    /// How long a body may take to arrive. Default 30 s. Stops a client that never ends its
    /// body from holding it in memory.
    pub body_time: Duration,
    /// How long a write of [`Http::serve`](crate::Http::serve) may make no progress. Default
    /// 60 s. Stops a client that reads nothing from holding its socket and what is sent to it.
    pub write_time: Duration,
    /// Exchanges open at once: requests being answered, and streams. Default 8,192, of which
    /// one client may have half. Stops streams, which take no slot of the calls in flight, from
    /// filling memory; one more is answered 503. [`Http::serve`](crate::Http::serve) has as many
    /// sockets open, of which one address may have half; one more of it is closed.
    pub open: usize,
    /// Sessions of legacy clients. Default 1,024, of which one client may have half; zero
    /// refuses them. Stops handshakes from filling memory: for one more, the longest idle
    /// session ends, of the same client if it has its half. It is answered 503 if none is idle.
    pub sessions: usize,
    /// How long a session is kept while nothing happens. Default 30 minutes. Stops sessions
    /// that clients have left behind from staying for ever.
    pub session_idle: Duration,
    /// Bytes of a session's newest events that are kept for a client that comes back. Default
    /// 256 KiB; zero turns resuming off. More lets clients come back later, and each session
    /// hold more.
    pub replay: usize,
    /// Bytes that one connection may have to send to a client that does not read. Default
    /// 1 MiB. Beyond it, that connection goes on when they are read. Stops slow readers from
    /// filling memory.
    pub output: usize,
    /// How long a stream is quiet before a comment is sent on it, and an answer may take before
    /// a stream is begun. Default 15 s. Keeps proxies from taking a stream for dead.
    pub keep_alive: Duration,
    /// How long one response streams the events of a session before the client has to come
    /// back for more, if its revision knows how. Default as long as it likes. Stops proxies
    /// that cut long responses off from doing so in the middle of an event.
    pub stream_age: Option<Duration>,
    /// How long clients are told to wait before they come back to a stream. Default 1 s. Stops
    /// them from all coming back at once.
    pub retry: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            bodies: 64 << 20,
            body_time: Duration::from_secs(30),
            write_time: Duration::from_secs(60),
            open: 8_192,
            sessions: 1_024,
            session_idle: Duration::from_secs(30 * 60),
            replay: 256 << 10,
            output: 1 << 20,
            keep_alive: Duration::from_secs(15),
            stream_age: None,
            retry: Duration::from_secs(1),
        }
    }
}
