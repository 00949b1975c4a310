//! The parts that the program plays as a child of itself.

use std::future::poll_fn;
use std::io::Read;
use std::process::{Command, ExitCode};

use mcp_protocol::Encode;
use mcp_protocol::transport::{Receiver, Sender, Transport, TransportError};
use mcp_transport_stdio::{Stdio, stdio};
use tokio::runtime::{Builder, Runtime};

/// The variable that tells a child which part to play.
pub(crate) const ROLE: &str = "MCP_STDIO_TEST_ROLE";

struct Text(String);

impl Encode for Text {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_bytes());
    }
}

/// Ends well, unless the peer was not heard or not told something.
pub(crate) fn play(role: &str) -> ExitCode {
    let transport = stdio().expect("the standard streams are open");
    let played = match role {
        "echo" => current_thread().block_on(answer(transport, |line| line)),
        "print" => current_thread().block_on(answer(transport, print)),
        "list descriptors" => current_thread().block_on(answer(transport, list_descriptors)),
        "take twice" => current_thread().block_on(answer(transport, take_again)),
        "answer a lot" => current_thread().block_on(answer(transport, |_| "x".repeat(4 << 20))),
        "shout" => current_thread().block_on(shout(transport)),
        "leave" => current_thread().block_on(leave(transport)),
        "leave several threads" => {
            let runtime = Builder::new_multi_thread().enable_all().build();
            runtime
                .expect("threads are to be had")
                .block_on(leave(transport))
        }
        _ => panic!("there is no such part: {role}"),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(TransportError::Io(error)) => {
            eprintln!("{:?}", error.kind());
            ExitCode::FAILURE
        }
        Err(error) => panic!("not an error of this transport: {error}"),
    }
}

fn current_thread() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime is to be had")
}

/// Answers each line with another, until there are no more.
async fn answer(
    transport: Stdio,
    mut answer: impl FnMut(String) -> String,
) -> Result<(), TransportError> {
    let (mut receiver, mut sender) = transport.split();
    while let Some(line) = poll_fn(|cx| receiver.poll_receive(cx)).await {
        let line = String::from_utf8(line?.to_vec()).expect("the parent sends text");
        sender.send(&Text(answer(line)), None);
        poll_fn(|cx| sender.poll_flush(cx)).await?;
    }
    Ok(())
}

/// Writes to standard output and reads standard input in every way there is.
fn print(line: String) -> String {
    println!("from println");
    let status = Command::new("sh")
        .args(["-c", "echo from a child; cat"])
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "a child meets the end of its input"
    );
    let mut input = String::new();
    let read = std::io::stdin().read_to_string(&mut input);
    assert!(
        matches!(read, Ok(0)),
        "standard input has ended, but gave {input:?}"
    );
    print!("unfinished");
    line
}

/// What the open descriptors of a child lead to.
fn list_descriptors(_: String) -> String {
    let output = Command::new("ls").args(["-l", "/proc/self/fd"]).output();
    let output = output.expect("ls can be run");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("ls writes text")
}

fn take_again(_: String) -> String {
    stdio()
        .expect_err("standard input and output were taken")
        .to_string()
}

/// Sends until nobody is there to hear it.
async fn shout(transport: Stdio) -> Result<(), TransportError> {
    let (mut receiver, mut sender) = transport.split();
    poll_fn(|cx| receiver.poll_receive(cx))
        .await
        .expect("the parent says when")?;
    loop {
        sender.send(&Text("x".repeat(1_000)), None);
        poll_fn(|cx| sender.poll_flush(cx)).await?;
    }
}

/// Returns after the first line, while a task waits for another.
async fn leave(transport: Stdio) -> Result<(), TransportError> {
    let (mut receiver, mut sender) = transport.split();
    let line = poll_fn(|cx| receiver.poll_receive(cx))
        .await
        .expect("the parent sends a line")?;
    let (waits, waiting) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let mut waits = Some(waits);
        poll_fn(|cx| {
            let received = receiver.poll_receive(cx);
            waits.take().map(|waits| waits.send(()));
            received
        })
        .await
    });
    waiting.await.expect("the task has begun to wait");
    sender.send(&Text(String::from_utf8_lossy(&line).into_owned()), None);
    poll_fn(|cx| sender.poll_flush(cx)).await
}
