//! Servers that end, and are started again.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::hash::{DefaultHasher, Hash, Hasher};

use mcp_protocol::ProtocolVersion;
use mcp_protocol::connection::Change;
use mcp_protocol::types::{LoggingLevel, SubscriptionFilter};
use mcp_transport_stdio::memory::{Memory, pair};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use self::support::{Server, builder, said};
use super::*;
use crate::builder::ClientBuilder;
use crate::client::Client;

/// A command whose servers a test plays.
struct Played {
    name: &'static str,
    started: mpsc::UnboundedSender<Server>,
}

impl Source for Played {
    type Transport = Memory;

    async fn open(&mut self) -> Result<(Memory, Process), ClientError> {
        let (ours, theirs) = pair();
        match self.started.send(Server::new(theirs)) {
            Ok(()) => Ok((ours, Process::default())),
            Err(_) => Err(ClientError::protocol("it cannot be started any more")),
        }
    }

    fn is_lasting(&self) -> bool {
        true
    }

    fn name(&self) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        self.name.hash(&mut hasher);
        Some(hasher.finish())
    }
}

fn played(name: &'static str) -> (Played, mpsc::UnboundedReceiver<Server>) {
    let (started, servers) = mpsc::unbounded_channel();
    (Played { name, started }, servers)
}

fn introduction() -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": {
            "tools": { "listChanged": true }, "resources": { "subscribe": true }, "logging": {},
        },
        "serverInfo": { "name": "played", "version": "1" },
    })
}

async fn initialize(server: &mut Server) {
    server.serve("initialize", introduction()).await;
    server.expect("notifications/initialized").await;
}

async fn next(servers: &mut mpsc::UnboundedReceiver<Server>) -> Server {
    servers.recv().await.expect("it is started")
}

/// A server of the legacy era, and the client that has started it.
async fn up(
    builder: ClientBuilder,
    name: &'static str,
) -> (Client, Server, mpsc::UnboundedReceiver<Server>) {
    let (source, mut servers) = played(name);
    let client = builder.opening(Opening::Legacy).open(source);
    let server = async {
        let mut server = next(&mut servers).await;
        initialize(&mut server).await;
        server
    };
    let (client, server) = tokio::join!(client, server);
    (client.expect("it connects"), server, servers)
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Covers D06, D10, D12.
#[tokio::test(start_paused = true)]
async fn a_server_that_dies_of_the_probe_is_started_again_and_remembered() {
    for first in [true, false] {
        let (source, mut servers) = played("dies");
        let play = async {
            let mut server = next(&mut servers).await;
            if first {
                server.expect("server/discover").await;
                drop(server);
                server = next(&mut servers).await;
            }
            initialize(&mut server).await;
            server
        };
        let (client, _server) = tokio::join!(builder().open(source), play);
        assert_eq!(client.unwrap().server().version.as_str(), "2025-11-25");
    }
}

/// Covers D12.
#[tokio::test(start_paused = true)]
async fn what_is_remembered_of_a_server_is_forgotten_when_it_fails() {
    for failure in ["refuses later", "dies later", "is silent later"] {
        let (source, mut servers) = played(failure);
        let play = async {
            let mut server = next(&mut servers).await;
            let probe = server.expect("server/discover").await;
            server.refuse(&probe, -32601).await;
            initialize(&mut server).await;
        };
        let (client, ()) = tokio::join!(builder().open(source), play);
        client.unwrap();

        let (source, mut servers) = played(failure);
        let play = async {
            let mut server = next(&mut servers).await;
            let request = server.expect("initialize").await;
            match failure {
                "refuses later" => server.refuse(&request, -32601).await,
                "dies later" => drop(server),
                _ => assert_eq!(server.next().await, None),
            }
            let mut server = next(&mut servers).await;
            let result = json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} });
            server.serve("server/discover", result).await;
            server
        };
        let (client, _server) = tokio::join!(builder().open(source), play);
        assert_eq!(client.unwrap().server().version.as_str(), "2026-07-28");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_in_both_ways_is_not_started_for_ever() {
    let (source, mut servers) = played("fails");
    let play = async {
        let mut server = next(&mut servers).await;
        let probe = server.expect("server/discover").await;
        server.refuse(&probe, -32601).await;
        initialize(&mut server).await;
    };
    let (client, ()) = tokio::join!(builder().open(source), play);
    client.unwrap();
    let (source, mut servers) = played("fails");
    let play = async {
        for method in ["initialize", "server/discover", "initialize"] {
            next(&mut servers).await.expect(method).await;
        }
    };
    let (client, ()) = tokio::join!(builder().open(source), play);
    assert!(matches!(client, Err(ClientError::Closed { .. })));
}

#[cfg(feature = "stdio")]
#[test]
fn what_is_remembered_is_of_one_environment() {
    let command = |key: &str| mcp_transport_stdio::child::ServerCommand::new("x").env("KEY", key);
    assert_eq!(command("one").name(), command("one").name());
    assert_ne!(command("one").name(), command("two").name());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_of_the_probe_is_not_started_again_for_what_is_not_spoken() {
    let (source, mut servers) = played("dies in vain");
    let client = builder()
        .versions([ProtocolVersion::V2026_07_28])
        .open(source);
    let play = async {
        next(&mut servers).await.expect("server/discover").await;
        assert!(servers.recv().await.is_none());
    };
    let (client, ()) = tokio::join!(client, play);
    assert_eq!(
        client.unwrap_err().to_string(),
        "the server closed the connection before it answered `server/discover`"
    );
}

/// Covers B-107.
#[tokio::test(start_paused = true)]
async fn a_server_that_dies_twice_is_reported() {
    let (source, mut servers) = played("dies twice");
    let play = async {
        for method in ["server/discover", "initialize"] {
            next(&mut servers).await.expect(method).await;
        }
    };
    let (client, ()) = tokio::join!(builder().open(source), play);
    assert_eq!(
        client.unwrap_err().to_string(),
        "the server closed the connection before it answered `initialize`"
    );
}

/// Covers L10, B-155, B-249.
#[tokio::test(start_paused = true)]
async fn connecting_has_its_time_in_all() {
    let (source, mut servers) = played("mute");
    let began = Instant::now();
    let client = builder().connect_timeout(secs(8)).open(source);
    let play = async {
        let mut server = next(&mut servers).await;
        server.expect("server/discover").await;
        assert_eq!(began.elapsed(), secs(0));
        server.expect("initialize").await;
        assert_eq!(began.elapsed(), secs(4));
        // It is not cancelled: nothing more is written.
        assert_eq!(server.next().await, None);
    };
    let (client, ()) = tokio::join!(client, play);
    assert_eq!(
        client.unwrap_err().to_string(),
        "no answer to `initialize` within 8.0s"
    );
}

/// Covers T11, S07.
#[tokio::test(start_paused = true)]
async fn a_server_that_ends_is_started_again() {
    let (client, mut server, mut servers) = up(builder().restart(true), "ends").await;
    let (set, _) = tokio::join!(
        client.set_level(LoggingLevel::Error),
        server.serve("logging/setLevel", json!({}))
    );
    set.unwrap();
    let filter = SubscriptionFilter::new().tools_list_changed(true);
    let mut listening = client.listen(filter).await.unwrap();

    // What was asked of the old one may have been done.
    let call = tokio::spawn(client.call("one", ()).into_future());
    server.expect("tools/call").await;
    drop(server);
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Closed { written: true, .. }));

    // What is asked while there is none waits for the new one.
    let mut began = Instant::now();
    for delay in [1, 2, 5, 10, 30, 30] {
        let call = tokio::spawn(client.call("two", ()).into_future());
        let mut server = next(&mut servers).await;
        assert_eq!(began.elapsed(), secs(delay));
        initialize(&mut server).await;
        let level = server.serve("logging/setLevel", json!({})).await;
        assert_eq!(level["params"]["level"], "error");
        server.serve("tools/call", said("two")).await;
        call.await.unwrap().unwrap();
        assert_eq!(listening.next().await, Some(Change::Everything));
        server
            .notify("notifications/tools/list_changed", json!({}))
            .await;
        assert_eq!(listening.next().await, Some(Change::Tools));
        began = Instant::now();
    }

    // While there is none it can be closed.
    next(&mut servers).await;
    let closed = client.close().await;
    assert!(closed.by_us);
    assert_eq!(listening.next().await, None);
    assert!(servers.recv().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_started_again_is_listened_to_as_soon_as_it_agrees() {
    let (client, mut server, mut servers) = up(builder().restart(true), "agrees late").await;
    let filter = SubscriptionFilter::new().resource_subscriptions(vec!["a:b".to_owned()]);
    let (listening, _) = tokio::join!(
        client.listen(filter),
        server.serve("resources/subscribe", json!({}))
    );
    let mut listening = listening.unwrap();
    drop(server);
    let mut server = next(&mut servers).await;
    initialize(&mut server).await;
    let mut began = Instant::now();
    for delay in [0, 1, 2] {
        let request = server.expect("resources/subscribe").await;
        assert_eq!(began.elapsed(), secs(delay));
        server.refuse(&request, -32603).await;
        began = Instant::now();
    }
    server.serve("resources/subscribe", json!({})).await;
    assert_eq!(listening.next().await, Some(Change::Everything));
    assert!(listening.failure().is_none());
    drop((server, servers));
    client.close().await;
    assert_eq!(listening.next().await, None);
    assert!(
        matches!(listening.failure(), Some(ClientError::Closed { report, .. }) if report.by_us)
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_next_server_as_long_as_it_may() {
    let (client, server, servers) = up(builder().restart(true), "never comes back").await;
    drop((server, servers));
    sleep(secs(1)).await;
    let began = Instant::now();
    let error = client.call("one", ()).timeout(secs(90)).await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
    assert_eq!(began.elapsed(), secs(90));
    assert!(timeout(secs(300), client.closed()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_there_for_long_is_started_again_soon() {
    let (_client, mut server, mut servers) = up(builder().restart(true), "steady").await;
    for _ in 0..3 {
        sleep(secs(61)).await;
        drop(server);
        let began = Instant::now();
        server = next(&mut servers).await;
        assert_eq!(began.elapsed(), secs(1));
        initialize(&mut server).await;
    }
}
