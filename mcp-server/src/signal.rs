//! Ending on a signal.

use std::io;

use crate::server::ServerHandle;

/// The exit status of a process that SIGINT has ended.
const INTERRUPTED: i32 = 130;

/// Shuts the server down at the first signal and ends the process at the second.
pub(crate) async fn shut_down<S: Send + Sync + 'static>(server: ServerHandle<S>) {
    if let Err(error) = wait(|| server.shut_down()).await {
        tracing::error!(%error, "cannot wait for signals");
    }
}

#[cfg(unix)]
async fn wait(first: impl FnOnce()) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut next = async || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    next().await;
    first();
    next().await;
    std::process::exit(INTERRUPTED)
}

#[cfg(not(unix))]
async fn wait(first: impl FnOnce()) -> io::Result<()> {
    tokio::signal::ctrl_c().await?;
    first();
    tokio::signal::ctrl_c().await?;
    std::process::exit(INTERRUPTED)
}
