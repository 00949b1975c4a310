//! One server for any number of clients, each on a connection of its own to a Unix socket.
//!
//! ```sh
//! cargo run --bin sockets -- /tmp/count.sock
//! ```
//!
//! In a host, which only knows stdio:
//! `{ "mcpServers": { "count": { "command": "socat", "args": ["-", "UNIX-CONNECT:/tmp/count.sock"] } } }`
//!
//! It listens until SIGINT or SIGTERM; then calls in flight are still answered. Who may open the socket may
//! call.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcp_server::prelude::*;

/// Count the calls of all clients.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(content = u64)]
struct Count {}

impl Run<AtomicU64> for Count {
    async fn run(self, cx: &Context<AtomicU64>) -> Result<u64, ToolError> {
        cx.progress(0.0, Some(1.0));
        tokio::time::sleep(Duration::from_millis(200)).await;
        Ok(cx.state().fetch_add(1, Ordering::Relaxed) + 1)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("sockets PATH")?;
    let server = Server::with_state("sockets", "1.0.0", AtomicU64::new(0)).tool::<Count>();
    let server = server.build()?;
    server.shut_down_on_signal();
    Ok(listen(&server, path.as_ref()).await?)
}

#[cfg(unix)]
async fn listen(server: &ServerHandle<AtomicU64>, path: &Path) -> std::io::Result<()> {
    let listener = bind(path)?;
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // There are too many files open, say: those who are connected are still served.
                Err(error) => {
                    eprintln!("no connection: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            // A connection has ended: the set need not keep it.
            Some(_) = connections.join_next() => continue,
            () = server.ending() => break,
        };
        let (reader, writer) = stream.into_split();
        let server = server.clone();
        connections.spawn(async move {
            let transport = mcp_transport_stdio::Framed::new(reader, writer);
            if let Err(error) = server.serve(transport).await {
                eprintln!("a connection failed: {error}");
            }
        });
    }
    // No client is to find a socket where nobody listens.
    std::fs::remove_file(path)?;
    while connections.join_next().await.is_some() {}
    Ok(())
}

/// Listens at a path, also if a server was killed that has left its socket there.
#[cfg(unix)]
fn bind(path: &Path) -> std::io::Result<tokio::net::UnixListener> {
    use std::os::unix::{fs::FileTypeExt as _, net::UnixStream};

    let there = std::fs::symlink_metadata(path);
    let is_socket = there.is_ok_and(|there| there.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() {
        std::fs::remove_file(path)?;
    }
    tokio::net::UnixListener::bind(path)
}

#[cfg(not(unix))]
async fn listen(_: &ServerHandle<AtomicU64>, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
