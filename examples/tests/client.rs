//! The client with real servers, which it starts and ends.

use std::time::{Duration, Instant};

use mcp_client::child::{Exit, ServerCommand};
use mcp_client::{Change, Client, ClientError, ErrorObject, Host, Opening, async_trait};
use mcp_protocol::types::{
    ClientCapabilities, ElicitAction, ElicitParams, ElicitResult, ElicitationCapability,
    SubscriptionFilter,
};
use mcp_protocol::{Frame, Incoming, Message};
use serde_json::json;

const EVERYTHING: &str = env!("CARGO_BIN_EXE_everything");

fn no_args() -> [&'static str; 0] {
    []
}

/// Covers L01, T19, A-34, B-269.
#[tokio::test]
async fn a_server_is_started_used_and_ended() {
    let client = Client::spawn(EVERYTHING, no_args()).await.unwrap();
    assert_eq!(client.server().version.as_str(), "2026-07-28");
    assert!(client.list_tools().await.unwrap().len() > 10);
    let result = client.call("test_simple_text", json!({})).await;
    let text = "This is a simple text response for testing.";
    assert_eq!(result.unwrap().content[0].as_text(), Some(text));
    let closed = client.close().await;
    assert!(closed.by_us);
    assert_eq!(closed.exit, Some(Exit::Code(0)));
    assert_eq!(closed.command.as_deref(), Some(EVERYTHING));
    let error = client.call("test_simple_text", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed { written: false, .. }));
}

/// Covers B-099, B-101, B-112, B-205.
#[cfg(unix)]
#[tokio::test]
async fn errors_say_what_a_person_needs() {
    let error = Client::spawn("no-such-server", no_args())
        .await
        .unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, ClientError::Spawn(_)));
    assert!(message.starts_with("failed to start `no-such-server`: not found in PATH /"));

    let script = "seq 11 >&2; echo FATAL: no token >&2; exit 3";
    let error = Client::spawn("sh", ["-c", script]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server `sh` ended with code 3 before it answered `initialize`; \
         its standard error ends:\n3\n4\n5\n6\n7\n8\n9\n10\n11\nFATAL: no token"
    );
}

/// Answers `initialize`, and nothing else: on anything else it ends.
#[cfg(unix)]
const BRITTLE: &str = r#"
read line
case "$line" in
    *'"initialize"'*) ;;
    *) echo "not initialized" >&2; exit 1 ;;
esac
printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"brittle","version":"1"}}}'
read line
read line
echo "cannot do that" >&2
exit 7
"#;

/// Covers B-107, B-244c, B-253.
#[cfg(unix)]
#[tokio::test]
async fn a_server_that_cannot_be_probed_is_started_again_for_its_own_era() {
    let client = Client::spawn("sh", ["-c", BRITTLE]).await.unwrap();
    assert_eq!(client.server().version.as_str(), "2025-06-18");
    let began = Instant::now();
    let error = client.call("anything", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed { written: true, .. }));
    assert_eq!(
        error.to_string(),
        "the server `sh` ended with code 7; its standard error ends:\ncannot do that"
    );
    assert!(began.elapsed() < Duration::from_secs(2));
    let command = ServerCommand::new("sh").args(["-c", BRITTLE]);
    let modern = Client::builder("test", "1").opening(Opening::Modern);
    let error = modern.spawn(command).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("before it answered `server/discover`"),
        "{error}"
    );
}

/// Covers T05, B-300, B-301, B-305.
#[cfg(unix)]
#[tokio::test]
async fn a_server_that_writes_much_to_standard_error_is_as_good_as_another() {
    let chatty = format!("yes 'a line of twenty-five' | head -c 10000000 >&2; exec {EVERYTHING}");
    let client = Client::spawn("sh", ["-c", &chatty]).await.unwrap();
    for _ in 0..2 {
        client.call("test_simple_text", ()).await.unwrap();
    }
    let closed = client.close().await;
    assert_eq!(closed.exit, Some(Exit::Code(0)));
    assert!((16_000..=16_384).contains(&closed.stderr.len()));
}

struct Nobody;

#[async_trait]
impl Host for Nobody {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new().elicitation(ElicitationCapability::new())
    }

    async fn elicit(&self, _: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        Ok(ElicitResult::new(ElicitAction::Cancel))
    }
}

/// Covers T03, T07.
#[cfg(unix)]
#[tokio::test]
async fn a_server_reads_nothing_but_messages() {
    for opening in [Opening::Auto, Opening::Legacy] {
        let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/what-the-server-reads");
        let read = format!("tee {file} | {EVERYTHING}");
        let client = Client::builder("test", "1").opening(opening).host(Nobody);
        let command = ServerCommand::new("sh").args(["-c", &read]);
        let client = client.spawn(command).await.unwrap();
        let filter = SubscriptionFilter::new().tools_list_changed(true);
        let listening = client.listen(filter).await.unwrap();
        client.list_tools().await.unwrap();
        let text = json!({ "text": "\n\r\u{85}\u{2028}" });
        client.call("test_simple_text", text).await.unwrap();
        let form = json!({ "message": "?" });
        client.call("test_elicitation", form).await.unwrap();
        let long = client.call("interop_sleep", json!({ "ms": 60_000 }));
        let late = long.timeout(Duration::from_millis(20)).await;
        assert!(matches!(late, Err(ClientError::TimedOut { .. })));
        drop(listening);
        client.close().await;

        let read = std::fs::read(file).unwrap();
        let lines: Vec<_> = read.split(|byte| *byte == b'\n').collect();
        let (last, lines) = lines.split_last().unwrap();
        assert_eq!(*last, b"", "the last line is ended");
        let messages = lines.iter().map(|line| {
            let frame = Frame::copy_from_slice(line);
            match Incoming::parse(&frame) {
                Incoming::Message(message) => message,
                other => panic!("{other:?}"),
            }
        });
        let responses = messages.filter(|message| matches!(message, Message::Response(_)));
        let is_legacy = opening == Opening::Legacy;
        assert_eq!(responses.count(), usize::from(is_legacy));
    }
}

/// Covers T11.
#[cfg(unix)]
#[tokio::test]
async fn a_server_that_is_killed_comes_back() {
    let command = ServerCommand::new("sh").args(["-c", "echo $$ >&2; exec \"$0\"", EVERYTHING]);
    let (told, mut pids) = tokio::sync::mpsc::unbounded_channel();
    let command = command.stderr(mcp_client::child::Stderr::lines(move |line| {
        let _ = told.send(line.to_owned());
    }));
    let client = Client::builder("test", "1").restart(true);
    let client = client.spawn(command).await.unwrap();
    let filter = SubscriptionFilter::new().tools_list_changed(true);
    let mut listening = client.listen(filter).await.unwrap();
    let pid = pids.recv().await.unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(listening.next().await, Some(Change::Everything));
    assert!(client.call("test_simple_text", ()).await.is_ok());
    assert_ne!(pids.recv().await.unwrap(), pid);
    assert_eq!(client.close().await.exit, Some(Exit::Code(0)));
}
