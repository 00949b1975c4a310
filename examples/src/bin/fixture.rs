//! A server for tests alone: tools that misbehave, limits from the command line.
//!
//! ```text
//! fixture [--cap N] [--share N] [--grace MS] [--frame BYTES] [--timeout MS]
//!         [--socket PATH] [--die MS] [--panic-transport] [--current-thread]
//! ```

use std::io::Read;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use mcp_server::prelude::*;
use mcp_server::{ServiceDown, transport};
use mcp_transport_stdio::stdio;
use tower::timeout::TimeoutLayer;

/// Return the text unchanged.
#[derive(Deserialize, JsonSchema, Tool)]
struct Echo {
    text: String,
}

impl Run for Echo {
    async fn run(self, _cx: &Context) -> Result<String, ToolError> {
        Ok(self.text)
    }
}

/// Wait, then return.
#[derive(Deserialize, JsonSchema, Tool)]
struct Sleep {
    ms: u64,
}

impl Run for Sleep {
    async fn run(self, cx: &Context) -> Result<String, ToolError> {
        let steps = 10;
        for step in 0..steps {
            cx.progress(f64::from(step), Some(f64::from(steps)));
            tokio::time::sleep(Duration::from_millis(self.ms) / steps).await;
        }
        Ok("slept".to_owned())
    }
}

/// Panic.
#[derive(Deserialize, JsonSchema, Tool)]
struct Boom {}

impl Run for Boom {
    async fn run(self, _cx: &Context) -> Result<String, ToolError> {
        panic!("boom, as asked")
    }
}

/// Write to stdout, from this process and from a child of it, and read stdin.
#[derive(Deserialize, JsonSchema, Tool)]
struct Print {
    text: String,
}

impl RunBlocking for Print {
    #[expect(clippy::print_stdout, reason = "the point of it")]
    fn run(self, _cx: &Context) -> Result<String, ToolError> {
        println!("{}", self.text);
        Command::new("sh")
            .args(["-c", "echo child; cat"])
            .status()?;
        let mut input = String::new();
        std::io::stdin().read_to_string(&mut input)?;
        Ok(format!("read {} bytes", input.len()))
    }
}

/// Hold the thread that the handler runs on.
#[derive(Deserialize, JsonSchema, Tool)]
struct Block {
    ms: u64,
}

impl RunBlocking for Block {
    fn run(self, _cx: &Context) -> Result<String, ToolError> {
        thread::sleep(Duration::from_millis(self.ms));
        Ok("blocked".to_owned())
    }
}

/// Say that the service can do no more work.
#[derive(Deserialize, JsonSchema, Tool)]
struct Die {}

impl Run for Die {
    async fn run(self, _cx: &Context) -> Result<String, ToolError> {
        Err(ServiceDown::new("died, as asked").into())
    }
}

#[derive(Default)]
struct Flags {
    cap: Option<usize>,
    share: Option<usize>,
    grace: Option<Duration>,
    frame: Option<usize>,
    timeout: Option<Duration>,
    socket: Option<PathBuf>,
    die: Option<Duration>,
    panic_transport: bool,
    current_thread: bool,
}

impl Flags {
    fn from_args() -> Result<Self, String> {
        let mut flags = Self::default();
        let mut args = std::env::args().skip(1);
        while let Some(flag) = args.next() {
            let mut number = || {
                let value = args.next().ok_or(format!("{flag} needs a value"))?;
                value
                    .parse::<usize>()
                    .map_err(|_| format!("{flag} {value} is not a number"))
            };
            let millis = |number: usize| Duration::from_millis(number as u64);
            match flag.as_str() {
                "--cap" => flags.cap = Some(number()?),
                "--share" => flags.share = Some(number()?),
                "--frame" => flags.frame = Some(number()?),
                "--grace" => flags.grace = Some(millis(number()?)),
                "--timeout" => flags.timeout = Some(millis(number()?)),
                "--die" => flags.die = Some(millis(number()?)),
                "--socket" => flags.socket = args.next().map(PathBuf::from),
                "--panic-transport" => flags.panic_transport = true,
                "--current-thread" => flags.current_thread = true,
                _ => return Err(format!("{flag} is no flag")),
            }
        }
        Ok(flags)
    }

    fn server(&self) -> Result<ServerHandle, BuildError> {
        let mut server = Server::new("fixture", "1.0.0")
            .tool::<Echo>()
            .tool::<Sleep>()
            .tool::<Boom>()
            .blocking_tool::<Print>()
            .blocking_tool::<Block>()
            .tool::<Die>();
        if let Some(cap) = self.cap {
            server = server.max_in_flight(cap);
        }
        if let Some(share) = self.share {
            server = server.max_in_flight_per_connection(share);
        }
        if let Some(grace) = self.grace {
            server = server.grace(grace);
        }
        if let Some(timeout) = self.timeout {
            server = server.layer(TimeoutLayer::new(timeout));
        }
        server.build()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flags = Flags::from_args()?;
    let mut runtime = if flags.current_thread {
        tokio::runtime::Builder::new_current_thread()
    } else {
        tokio::runtime::Builder::new_multi_thread()
    };
    runtime.enable_all().build()?.block_on(serve(flags))
}

async fn serve(flags: Flags) -> Result<(), Box<dyn std::error::Error>> {
    let server = flags.server()?;
    server.shut_down_on_signal();
    if let Some(after) = flags.die {
        let server = server.clone();
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            server.fail(ServiceDown::new("died, as asked"));
        });
    }
    if let Some(path) = flags.socket {
        return serve_socket(&server, path).await;
    }
    if flags.panic_transport {
        return Ok(server.serve(PanickingTransport).await?);
    }
    let mut stdio = stdio()?;
    if let Some(frame) = flags.frame {
        stdio = stdio.max_frame(frame);
    }
    Ok(server.serve(stdio).await?)
}

#[cfg(unix)]
async fn serve_socket(
    server: &ServerHandle,
    path: PathBuf,
) -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::UnixListener::bind(path)?;
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            () = server.ending() => return Ok(()),
        };
        let (reader, writer) = stream.into_split();
        let server = server.clone();
        tokio::spawn(async move {
            let transport = mcp_transport_stdio::Framed::new(reader, writer);
            if let Err(error) = server.serve(transport).await {
                eprintln!("a connection failed: {error}");
            }
        });
    }
}

#[cfg(not(unix))]
async fn serve_socket(_: &ServerHandle, _: PathBuf) -> Result<(), Box<dyn std::error::Error>> {
    Err("there are no Unix sockets here".into())
}

/// A transport with a bug.
struct PanickingTransport;

impl transport::Transport for PanickingTransport {
    type Receiver = Self;
    type Sender = Self;

    fn split(self) -> (Self, Self) {
        (Self, Self)
    }
}

impl transport::Receiver for PanickingTransport {
    fn poll_receive(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<transport::Frame, transport::TransportError>>> {
        panic!("a bug in the transport")
    }
}

impl transport::Sender for PanickingTransport {
    fn send(&mut self, _: &dyn transport::Encode, _: Option<&transport::RequestId>) {}

    fn poll_flush(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), transport::TransportError>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn queued(&self) -> usize {
        0
    }
}
