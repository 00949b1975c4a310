//! Runs shell commands for a model, each after its user has agreed.
//!
//! ```sh
//! cargo run --bin shell -- ~/project    # commands run in this directory
//! ```
//!
//! In a host: `{ "mcpServers": { "shell": { "command": "/path/to/shell", "args": ["/home/me/project"] } } }`
//!
//! A command has the rights of this process: that its user agrees is all that stands before it. When its
//! call is cancelled it is killed, on Unix with all that it has started.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use mcp_server::input::form;
use mcp_server::prelude::*;
use tokio::io::{AsyncRead, AsyncReadExt as _, copy, sink};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Where commands run.
struct Directory(PathBuf);

/// Run a command of the shell, if the user agrees. It gets no input.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(destructive, output = Ran)]
struct RunCommand {
    command: String,
    /// How many seconds it may take, up to 600. Default 60.
    seconds: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Ran {
    /// Its exit code; none if a signal has ended it.
    code: Option<i32>,
    /// The first 32 KiB.
    stdout: String,
    /// The first 32 KiB.
    stderr: String,
}

#[derive(Form)]
struct Agreement {
    #[form(title = "Run it?")]
    run: bool,
}

impl Run<Directory> for RunCommand {
    async fn run(self, cx: &Context<Directory>) -> Result<Ran, ToolError> {
        let Self { command, seconds } = self;
        let directory = &cx.state().0;
        // This runs anew once the user has answered, so nothing is done before.
        let question = format!("Run this in {}?\n\n{command}", directory.display());
        let Agreement { run } = cx.input("agreement", form(question))?;
        if !run {
            return Err(ToolError::failed(
                "the user does not want this command to run",
            ));
        }

        let mut running = Running::start(&command, directory)?;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let limit = Duration::from_secs(seconds.unwrap_or(60).min(600));
        let ended = timeout(limit, running.end(&mut stdout, &mut stderr)).await;
        let [stdout, stderr] =
            [&stdout, &stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        match ended {
            Ok(code) => Ok(Ran {
                code: code?,
                stdout,
                stderr,
            }),
            Err(_) => Err(ToolError::failed(format!(
                "killed after {limit:?}, more of which `seconds` can give; until then it wrote:\n{stdout}\n{stderr}"
            ))),
        }
    }
}

/// The most that is kept of what a command writes to each stream, in bytes.
const MOST_BYTES: u64 = 32 << 10;

/// A command. Dropped before its end, because its call was cancelled or its time is over, it is killed.
struct Running(Child);

impl Running {
    fn start(command: &str, directory: &PathBuf) -> Result<Self, ToolError> {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        shell.process_group(0);
        let started = shell.spawn();
        started
            .map(Self)
            .map_err(|error| ToolError::failed(format!("no shell: {error}")))
    }

    /// Keeps what it writes, and waits for its end. Gives its exit code.
    async fn end(&mut self, stdout: &mut Vec<u8>, stderr: &mut Vec<u8>) -> io::Result<Option<i32>> {
        let streams = (self.0.stdout.take(), self.0.stderr.take());
        tokio::try_join!(keep(streams.0, stdout), keep(streams.1, stderr))?;
        Ok(self.0.wait().await?.code())
    }
}

/// Keeps the beginning of a stream and reads the rest, so that who writes never waits.
async fn keep(stream: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) -> io::Result<()> {
    if let Some(mut stream) = stream {
        (&mut stream).take(MOST_BYTES).read_to_end(kept).await?;
        copy(&mut stream, &mut sink()).await?;
    }
    Ok(())
}

#[cfg(unix)]
impl Drop for Running {
    fn drop(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};

        // There is no id once it was waited for, and the system may give it to somebody else.
        let id = self.0.id().and_then(|id| i32::try_from(id).ok());
        if let Some(id) = id.and_then(Pid::from_raw) {
            // It fails if all have ended by themselves.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("shell DIRECTORY")?;
    let server = Server::with_state("shell", "1.0.0", Directory(directory.into()));
    Ok(server.tool::<RunCommand>().serve_stdio().await?)
}
