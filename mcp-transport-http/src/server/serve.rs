//! Listens by itself, for the plain case.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_server::ServerHandle;
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower_service::Service as _;

use super::socket::Socket;
use super::status;
use super::visitors::{Key, Visit, Visitors};
use super::{Http, Peer};

/// The path of the endpoint.
pub const PATH: &str = "/mcp";

/// Serves a server's endpoint at [`PATH`], over HTTP/1.1, until it is shut down.
///
/// The address that it listens at is a name under which it may be called; for others, for TLS
/// and for HTTP/2, see [`Http`].
///
/// # Errors
///
/// When it cannot listen there.
pub async fn serve_http<S: Send + Sync + 'static>(
    server: ServerHandle<S>,
    address: impl ToSocketAddrs,
) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let host = listener.local_addr()?.ip();
    let host = match host.is_ipv6() {
        true => format!("[{host}]"),
        false => host.to_string(),
    };
    Http::new(server).allow_host(host).serve(listener).await;
    Ok(())
}

impl<S: Send + Sync + 'static> Http<S> {
    /// Serves the endpoint at [`PATH`], over HTTP/1.1, until the server is shut down.
    ///
    /// Then nothing new is accepted, and calls in flight have the server's grace to end.
    ///
    /// Unlike a listener that has nothing but hyper, it misses a client that has gone also if up
    /// to 64 KiB of a next request had come from it; beyond that, when something is written to it.
    pub async fn serve(self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        let sockets = Arc::new(Visitors::default());
        let most = self.config.limits.open;
        loop {
            tokio::select! {
                accepted = listener.accept(), if connections.len() < most => match accepted {
                    Ok((stream, peer)) => {
                        let key = Key::Peer(peer.ip());
                        // Without room for one more of this client's, it is closed.
                        if let Some(visit) = sockets.enter(&key, most, || self.server.share()) {
                            connections.spawn(self.clone().connection(stream, peer, visit));
                        }
                    }
                    // There may be no descriptors left, which are given back in time.
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        sleep(PAUSE).await;
                    }
                },
                Some(_) = connections.join_next() => {}
                () = self.server.ending() => break,
            }
        }
        drop(listener);
        let ended = async { while connections.join_next().await.is_some() {} };
        let grace = self.server.config().limits.grace;
        let _ = timeout(grace.saturating_add(LAST_WRITES), ended).await;
    }

    /// Serves what comes on one socket.
    async fn connection(self, stream: TcpStream, peer: SocketAddr, _visit: Visit) {
        // Events are small, and each is worth sending.
        let _ = stream.set_nodelay(true);
        let socket = Socket::new(stream, self.config.limits.write_time);
        let server = self.server.clone();
        let http = Arc::new(self);
        let service = service_fn(move |mut request: Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            let mut http = Http::clone(&http);
            async move {
                match request.uri().path() {
                    PATH => http.call(request).await,
                    _ => Ok(status::empty(StatusCode::NOT_FOUND)),
                }
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIME)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(TokioIo::new(socket), service);
        let mut connection = std::pin::pin!(connection);
        let served = tokio::select! {
            served = connection.as_mut() => served,
            () = server.ending() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = served {
            tracing::debug!(%error, "an HTTP connection broke off");
        }
    }
}

/// How long the headers of a request may take to arrive.
const HEADER_TIME: Duration = Duration::from_secs(30);

/// What the headers of a request may take.
const HEADER_BYTES: usize = 64 << 10;

/// How long, beyond the grace of calls, the last answers may take to be read.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// How long to wait after a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);
