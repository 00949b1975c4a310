//! What is known of the server's process, if it was started from here.

use crate::error::Closed;

#[cfg(feature = "stdio")]
pub(crate) use started::Process;

#[cfg(not(feature = "stdio"))]
#[derive(Clone, Default)]
pub(crate) struct Process(());

#[cfg(not(feature = "stdio"))]
impl Process {
    pub(crate) async fn report(&self, closed: Closed) -> Closed {
        closed
    }

    pub(crate) async fn shut_down(&self, closed: Closed) -> Closed {
        closed
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        text.to_owned()
    }
}

#[cfg(feature = "stdio")]
mod started {
    use std::time::Duration;

    use mcp_transport_stdio::child::ChildHandle;
    use tokio::time::timeout;

    use super::Closed;

    /// How long is waited for the end of a process whose output has ended, so that those who
    /// wait for an answer are told how it ended.
    const EXIT: Duration = Duration::from_secs(1);

    #[derive(Clone, Default)]
    pub(crate) struct Process(pub(crate) Option<ChildHandle>);

    impl Process {
        /// Adds what is known now, or will be soon.
        pub(crate) async fn report(&self, mut closed: Closed) -> Closed {
            if let Some(child) = &self.0 {
                if !closed.by_us {
                    // A process that goes on says nothing about its end.
                    let _ = timeout(EXIT, child.wait()).await;
                }
                closed.exit = child.exit();
                closed.command = Some(child.command().to_owned());
                closed.stderr = child.stderr_tail();
            }
            closed
        }

        /// Brings the process to its end, and adds how it ended.
        pub(crate) async fn shut_down(&self, mut closed: Closed) -> Closed {
            if let Some(child) = &self.0 {
                closed.exit = Some(child.shut_down().await);
                closed.stderr = child.stderr_tail();
            }
            closed
        }

        /// A text without the secrets that the process was given.
        pub(crate) fn redact(&self, text: &str) -> String {
            match &self.0 {
                Some(child) => child.redact(text),
                None => text.to_owned(),
            }
        }
    }
}
