//! What is written into the log of messages that are none.

mod support;

use mcp_server::Server;
use mcp_transport_stdio::Framed;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};
use tracing_core::Level;

use self::support::{clients, log};

/// Covers B-182.
#[tokio::test]
async fn a_bad_message_is_logged_by_its_length_and_not_by_its_content() {
    let server = Server::new("test", "1.0.0").build().unwrap();
    let (log, _listening) = log::listen_to(Level::DEBUG);
    for mut client in clients(&server).await {
        log.take();
        for (line, reason) in [
            ("secret, this is not JSON", "Parse error"),
            ("\"secret\"", "not an object"),
            (
                r#"{"jsonrpc":"2.0","id":{"secret":1},"method":"ping"}"#,
                "`id`",
            ),
            (r#"{"jsonrpc":"2.0","id":"secret"}"#, "neither"),
        ] {
            client.write_text(line.to_owned()).await;
            client.receive().await;
            let mut lines = log.take();
            lines.retain(|line| line.contains("bad message"));
            let [bad] = &*lines else {
                panic!("one line: {lines:?}");
            };
            assert!(bad.contains(&format!("bytes={}", line.len())), "{bad}");
            assert!(bad.contains(reason) && !bad.contains("secret"), "{bad}");
        }
        client.ask("ping", json!({})).await;
        assert!(!log.take().iter().any(|line| line.contains("bad message")));
    }
}

/// Covers B-182.
#[tokio::test]
async fn a_message_that_is_too_long_is_logged_as_that() {
    let server = Server::new("test", "1.0.0").build().unwrap();
    let (log, _listening) = log::listen_to(Level::DEBUG);
    let (ours, theirs) = duplex(1_000);
    let (reader, writer) = split(theirs);
    let transport = Framed::new(reader, writer).max_frame(50);
    tokio::spawn(async move { server.serve(transport).await });
    let (reader, mut writer) = split(ours);
    let line = format!("{}\n", "secret ".repeat(10));
    writer.write_all(line.as_bytes()).await.unwrap();
    let mut reply = String::new();
    BufReader::new(reader).read_line(&mut reply).await.unwrap();
    let lines = log.take();
    let [bad] = &*lines else {
        panic!("one line: {lines:?}");
    };
    assert!(bad.contains("longer than 50 bytes"), "{bad}");
    assert!(!bad.contains("secret"), "{bad}");
}
