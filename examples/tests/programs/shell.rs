//! `shell`.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::thread;
use std::time::Duration;

use mcp_client::child::ServerCommand;
use mcp_client::types::{
    ClientCapabilities, ElicitAction, ElicitParams, ElicitResult, ElicitationCapability,
};
use mcp_client::{Client, ErrorObject, Host, Opening, RawJson, async_trait};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{sleep, timeout};

use crate::{SOON, directory, failure, output, path, start};

const SHELL: &str = env!("CARGO_BIN_EXE_shell");

/// A user who answers every question alike.
struct User(ElicitAction, Value);

#[async_trait]
impl Host for User {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new().elicitation(ElicitationCapability::new())
    }

    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        assert!(
            question.message.starts_with("Run this in /"),
            "{}",
            question.message
        );
        let answer = RawJson::encode(&self.1).expect("it is JSON");
        Ok(ElicitResult::new(self.0.clone()).content(answer))
    }
}

async fn shell(opening: Opening, user: User, directory: &Path) -> Client {
    let client = crate::client().host(user).opening(opening);
    let command = ServerCommand::new(SHELL).arg(directory);
    client.spawn(command).await.expect("the example starts")
}

fn willing() -> User {
    User(ElicitAction::Accept, json!({ "run": true }))
}

#[tokio::test]
async fn a_command_runs_when_the_user_agrees() {
    let directory = directory("shell-runs");
    for opening in [Opening::Legacy, Opening::Modern] {
        let client = shell(opening, willing(), &directory).await;
        let command = json!({ "command": "pwd; cat; echo no >&2; exit 3" });
        let ran = output(client.call("run_command", command).await);
        let expected =
            json!({ "code": 3, "stdout": format!("{}\n", directory.display()), "stderr": "no\n" });
        assert_eq!(ran, expected);
        client.close().await;
    }
}

#[tokio::test]
async fn nothing_runs_when_the_user_does_not_agree() {
    let directory = directory("shell-does-not-run");
    let command = json!({ "command": "touch it-ran" });
    for opening in [Opening::Legacy, Opening::Modern] {
        for (action, answer, why) in [
            (
                ElicitAction::Accept,
                json!({ "run": false }),
                "the user does not want",
            ),
            (ElicitAction::Decline, Value::Null, "the user declined"),
            (ElicitAction::Cancel, Value::Null, "the user cancelled"),
        ] {
            let client = shell(opening, User(action, answer), &directory).await;
            let said = failure(client.call("run_command", &command).await);
            assert!(said.contains(why), "{said}");
            client.close().await;
        }
    }
    let nobody = start(SHELL, &[path(&directory)]).await;
    assert!(nobody.call("run_command", &command).await.is_err());
    nobody.close().await;
    assert!(!directory.join("it-ran").exists());
}

#[tokio::test]
async fn what_a_command_writes_is_bounded() {
    let directory = directory("shell-bounded");
    let client = shell(Opening::Auto, willing(), &directory).await;
    let command = json!({ "command": "head -c 10000000 /dev/zero | tr '\\0' a" });
    let ran = output(client.call("run_command", command).await);
    assert_eq!(
        (&ran["code"], ran["stdout"].as_str().unwrap().len()),
        (&json!(0), 32 << 10)
    );
    client.close().await;
}

/// A command with a child that holds a pipe open for long.
const LONG: &str = "mkfifo pipe; (echo up; exec sleep 1000) >pipe & echo begun; sleep 1000";

/// What the child writes, once it runs. Ends when nothing holds the pipe any more.
async fn open(directory: &Path) -> UnboundedReceiver<String> {
    let pipe = directory.join("pipe");
    while !pipe.exists() {
        sleep(Duration::from_millis(5)).await;
    }
    let (write, mut lines) = unbounded_channel();
    // No thread of the runtime, which would wait for it at its end.
    thread::spawn(move || {
        let pipe = BufReader::new(File::open(pipe).expect("it is there"));
        pipe.lines()
            .map_while(Result::ok)
            .try_for_each(|line| write.send(line))
    });
    assert_eq!(lines.recv().await.as_deref(), Some("up"));
    lines
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_killed_with_its_children() {
    let directory = directory("shell-late");
    let client = shell(Opening::Auto, willing(), &directory).await;
    let call = client.call("run_command", json!({ "command": LONG, "seconds": 3 }));
    let killed = async {
        let (said, mut pipe) = tokio::join!(call, open(&directory));
        let said = failure(said);
        assert!(
            said.starts_with("killed after 3s") && said.contains("begun"),
            "{said}"
        );
        assert_eq!(pipe.recv().await, None);
    };
    timeout(SOON, killed).await.expect("all of it is killed");
    client.close().await;
}

#[tokio::test]
async fn a_cancelled_command_is_killed_with_its_children() {
    let directory = directory("shell-cancelled");
    let client = shell(Opening::Auto, willing(), &directory).await;
    let call = client.call("run_command", json!({ "command": LONG }));
    let call = tokio::spawn(async move { call.await });
    let killed = async {
        let mut pipe = open(&directory).await;
        call.abort();
        assert_eq!(pipe.recv().await, None);
    };
    timeout(SOON, killed).await.expect("all of it is killed");
    client.close().await;
}
