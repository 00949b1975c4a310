//! The example `everything`, as it listens over HTTP.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::workspace;

/// Longest time from the signal to its exit.
const END: Duration = Duration::from_secs(2);

/// A server process on a port of its own. It ends with this value.
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    process: Child,
}

impl Listener {
    pub(crate) fn start(program: &Path) -> Result<Self, String> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.map_err(|error| format!("find a port: {error}"))?;
        let mut command = Command::new(program);
        command.args(["--http", &address.to_string()]);
        let process = command
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| workspace::not_started(&command, &error))?;
        let listener = Self { address, process };
        let limit = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(address).is_err() {
            if Instant::now() > limit {
                return Err("the server does not listen".into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(listener)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Asks it to end, which it should do by itself and without a complaint.
    pub(crate) fn end(mut self) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("end the server: {error}");
        let id = self.process.id().to_string();
        Command::new("kill").arg(id).status().map_err(failed)?;
        let limit = Instant::now() + END;
        loop {
            match self.process.try_wait().map_err(failed)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server ended with {status}")),
                None if Instant::now() > limit => {
                    return Err(format!("the server lives on after {} s", END.as_secs()));
                }
                None => thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
