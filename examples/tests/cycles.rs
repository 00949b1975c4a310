//! A client leaves nothing behind, however its server behaves and however often.

#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "no program needs all of it")]
#[path = "../../mcp-transport-stdio/tests/child/traces.rs"]
mod traces;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::child::{ServerCommand, Shutdown, Stderr};
use mcp_client::types::SubscriptionFilter;
use mcp_client::{Client, ClientError};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use self::traces::{LONG, children, descriptors, names, settled, threads, until};

/// Servers that answer `initialize` and nothing before it, if they answer at all.
const KINDS: &[(&str, bool, &str)] = &[
    ("exits at once", false, "exit 1"),
    ("is mute", false, "exec sleep 1000"),
    ("floods and is mute", false, "exec yes"),
    ("exits in the middle of a call", true, "read line; exit 3"),
    (
        "heeds nothing",
        true,
        "trap '' TERM; while :; do sleep 1000; done",
    ),
    (
        "has children that hold its pipes",
        true,
        "sleep 1000 & exec cat >/dev/null",
    ),
    (
        "is survived by its children",
        true,
        "setsid sleep 1 & read line; exit 0",
    ),
    (
        "floods standard error",
        true,
        "yes >&2 & exec cat >/dev/null",
    ),
    ("floods standard output", true, "exec yes"),
    (
        "answers with half a line",
        true,
        "read line; printf '{'; exec >&-; exec cat",
    ),
];

const HANDSHAKE: &str = r#"
read line
case $line in *'"initialize"'*) ;; *) exit 1 ;; esac
printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}}'
read line
"#;

const TIMES: u32 = 200;

const SOON: Duration = Duration::from_millis(20);

/// The variable that all of a server's processes have.
const MARK: &str = "MCP_CYCLES_MARK";

/// Covers T08, B-188, B-189, B-224c, B-262, B-266.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_clients_of_each_bad_server_leave_nothing_behind() {
    // Whatever is made once is made by these.
    run_all(1).await;
    all_is_gone(&[]);
    let before = descriptors();
    run_all(TIMES).await;
    all_is_gone(&before);
    // `cargo xtask bounds` has this in its table.
    eprintln!(
        "cycles: {} servers started; descriptors {} → {}, threads {}, children {}, tasks {}",
        TIMES as usize * KINDS.len(),
        before.len(),
        descriptors().len(),
        threads(),
        children().len(),
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks(),
    );
}

async fn run_all(times: u32) {
    let room = Arc::new(Semaphore::new(32));
    let mut cycles = Vec::new();
    for number in 0..times {
        for (name, answers, script) in KINDS {
            let room = Arc::clone(&room).acquire_owned().await;
            cycles.push(tokio::spawn(async move {
                let _room = room;
                let (script, patience) = match answers {
                    true => (format!("{HANDSHAKE}{script}"), LONG),
                    false => ((*script).to_owned(), SOON * 10),
                };
                let connected = cycle(command(&script), patience, number).await;
                assert!(connected.is_none_or(|is| is == *answers), "{name}");
            }));
        }
    }
    for cycle in cycles {
        cycle.await.expect("nothing panics");
    }
}

fn command(script: &str) -> ServerCommand {
    ServerCommand::new("sh")
        .args(["-c", script])
        .env(MARK, std::process::id().to_string())
        .stderr(Stderr::lines(|_| ()))
        .shutdown(Shutdown {
            after_eof: SOON,
            after_term: SOON,
            after_kill: LONG,
            after_exit: SOON,
        })
}

/// Uses a server and gets rid of it, in one way or another. Whether it could be connected to,
/// if that was waited for.
async fn cycle(command: ServerCommand, patience: Duration, number: u32) -> Option<bool> {
    let builder = Client::builder("cycles", "1").connect_timeout(patience);
    let connecting = builder.timeout(SOON).spawn(command);
    let given_up = match number % 5 {
        4 => Duration::from_millis(u64::from(number % 7)),
        _ => LONG,
    };
    let connecting = timeout(given_up, connecting);
    let client = match connecting.await {
        Ok(Ok(client)) => client,
        Ok(Err(_)) => return Some(false),
        Err(_) => return None,
    };
    match number % 5 {
        0 => drop(client),
        1 => {
            client.close().await;
        }
        2 => {
            let filter = SubscriptionFilter::new().tools_list_changed(true);
            let listening = client.listen(filter).await;
            let error = client.call("any", ()).await.unwrap_err();
            assert!(is_expected(&error), "{error:?}");
            client.close().await;
            drop(listening);
        }
        _ => {
            // Dropped in the middle of it.
            let _ = timeout(SOON / 4, client.call("any", ()).into_future()).await;
        }
    }
    Some(true)
}

fn is_expected(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::TimedOut { .. } | ClientError::Closed { .. }
    )
}

/// Waits until no task, thread or child is left, no process that a server has started, and no
/// descriptor but these.
fn all_is_gone(before: &[String]) {
    settled(before);
    let mark = format!("{MARK}={}", std::process::id());
    let is_ours = |id: &String| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == mark.as_bytes())
    };
    let none = || !names("/proc").iter().any(is_ours);
    until(none, "no process is left, wherever it has gone");
}
