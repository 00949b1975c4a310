//! Ending on a signal.

use std::io;

use crate::handle::ServerHandle;

/// The exit status of a process that SIGINT has ended.
const INTERRUPTED: i32 = 130;

/// Shuts the server down at the first signal and ends the process at the second. A signal that
/// comes after this has returned is not missed.
pub(crate) fn shut_down<S: Send + Sync + 'static>(server: ServerHandle<S>) {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => return tracing::error!(%error, "cannot wait for signals"),
    };
    tokio::spawn(async move {
        signals.next().await;
        server.shut_down();
        signals.next().await;
        std::process::exit(INTERRUPTED)
    });
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
