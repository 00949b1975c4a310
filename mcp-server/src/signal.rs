//! Ending on a signal.

use std::io;

use crate::server::ServerHandle;

/// The exit status of a process that SIGINT has ended.
const INTERRUPTED: i32 = 130;

pub(crate) async fn shut_down(server: ServerHandle) {
    if let Err(error) = first_and_second(&server).await {
        tracing::error!(%error, "cannot wait for signals");
    }
}

#[cfg(unix)]
async fn first_and_second(server: &ServerHandle) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    for stop in [shut_down_server, exit] {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop(server);
    }
    Ok(())
}

#[cfg(not(unix))]
async fn first_and_second(server: &ServerHandle) -> io::Result<()> {
    for stop in [shut_down_server, exit] {
        tokio::signal::ctrl_c().await?;
        stop(server);
    }
    Ok(())
}

fn shut_down_server(server: &ServerHandle) {
    server.shut_down();
}

fn exit(_: &ServerHandle) {
    std::process::exit(INTERRUPTED);
}
