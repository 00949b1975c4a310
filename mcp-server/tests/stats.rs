//! What a server counts: each number for its own reason, and for no other.

mod support;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use mcp_server::prelude::*;
use mcp_server::{RawJson, ServiceDown, Stats, tool_fn, types};
use serde_json::{Value, json};
use tokio::task::yield_now;
use tokio::time::timeout;

use self::support::{Client, clients};

impl Client {
    async fn call(&mut self, name: &str) -> Value {
        self.ask("tools/call", call(name)).await
    }

    async fn call_unanswered(&mut self, name: &str) {
        self.send("tools/call", call(name)).await;
    }
}

fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": {} })
}

/// `quick` is done at once, `stuck` never is, `fails` does, and `dies` takes the service down.
fn server() -> Server {
    let definition = |name| types::Tool::new(name, json!({ "type": "object" }));
    let quick = tool_fn(definition("quick"), async |_: RawJson, _| Ok("done"));
    let stuck = tool_fn(definition("stuck"), async |_: RawJson, _| {
        pending::<Result<(), ToolError>>().await
    });
    let fails = tool_fn(definition("fails"), async |_: RawJson, _| {
        Err::<(), _>(ToolError::failed("no"))
    });
    let dies = tool_fn(definition("dies"), async |_: RawJson, _| {
        Err::<(), ToolError>(ServiceDown::new("died").into())
    });
    Server::new("test", "1.0.0")
        .dyn_tool(Arc::new(quick))
        .dyn_tool(Arc::new(stuck))
        .dyn_tool(Arc::new(fails))
        .dyn_tool(Arc::new(dies))
}

/// Waits until the numbers are these, which they have to be soon, and stay.
async fn becomes(server: &ServerHandle, set: impl FnOnce(&mut Stats), before: Stats) -> Stats {
    let mut expected = before;
    set(&mut expected);
    let settled = async {
        while server.stats() != expected {
            yield_now().await;
        }
    };
    if timeout(Duration::from_secs(5), settled).await.is_err() {
        assert_eq!(server.stats(), expected);
    }
    for _ in 0..20 {
        yield_now().await;
    }
    assert_eq!(server.stats(), expected, "they stay");
    assert_eq!(server.in_flight(), expected.in_flight);
    expected
}

#[tokio::test]
async fn connections_are_counted_while_they_last_and_in_all() {
    let server = server().build().unwrap();
    assert_eq!(server.stats(), Stats::default());
    let [legacy, modern] = clients(&server).await;
    let both = |stats: &mut Stats| {
        stats.connections = 2;
        stats.connections_in_all = 2;
    };
    let stats = becomes(&server, both, Stats::default()).await;
    legacy.served.abort();
    let stats = becomes(&server, |stats| stats.connections = 1, stats).await;
    drop(modern);
    becomes(&server, |stats| stats.connections = 0, stats).await;
}

#[tokio::test]
async fn a_call_is_started_and_in_flight_until_it_is_answered() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        let before = server.stats();
        client.call("quick").await;
        let stats = becomes(&server, |stats| stats.started += 1, before).await;
        client.call("fails").await;
        let stats = becomes(&server, |stats| stats.started += 1, stats).await;
        client.ask("no/such", json!({})).await;
        let stats = becomes(&server, |_| {}, stats).await;
        client.call_unanswered("stuck").await;
        let stuck = |stats: &mut Stats| {
            stats.started += 1;
            stats.in_flight = 1;
        };
        becomes(&server, stuck, stats).await;
        client.served.abort();
        while server.in_flight() > 0 {
            yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_call_too_many_is_refused_and_not_started() {
    let server = server().max_in_flight(1).build().unwrap();
    let [mut legacy, mut modern] = clients(&server).await;
    legacy.call_unanswered("stuck").await;
    let stuck = |stats: &mut Stats| {
        stats.started = 1;
        stats.in_flight = 1;
    };
    let mut stats = server.stats();
    stats = becomes(&server, stuck, stats).await;
    let reply = modern.call("quick").await;
    assert_eq!(reply["error"]["data"]["scope"], "server", "{reply}");
    becomes(&server, |stats| stats.refused = 1, stats).await;
}

#[tokio::test]
async fn a_call_that_its_client_cancels_is_counted_once() {
    let server = server().build().unwrap();
    let [mut legacy, mut modern] = clients(&server).await;
    for client in [&mut legacy, &mut modern] {
        let before = server.stats();
        client.call_unanswered("stuck").await;
        for _ in 0..2 {
            let cancelled = json!({ "requestId": 1 });
            client.notify("notifications/cancelled", cancelled).await;
        }
        let cancelled = |stats: &mut Stats| {
            stats.started += 1;
            stats.cancelled += 1;
        };
        let stats = becomes(&server, cancelled, before).await;
        // Of a call that has been answered there is nothing to cancel.
        client.call("quick").await;
        let cancelled = json!({ "requestId": 1 });
        client.notify("notifications/cancelled", cancelled).await;
        becomes(&server, |stats| stats.started += 1, stats).await;
    }
}

#[tokio::test]
async fn a_call_that_its_connection_cuts_off_is_cancelled() {
    let server = server().grace(Duration::ZERO).build().unwrap();
    let [mut legacy, mut modern] = clients(&server).await;
    let before = server.stats();
    legacy.call_unanswered("stuck").await;
    modern.call_unanswered("stuck").await;
    let stuck = |stats: &mut Stats| {
        stats.started = 2;
        stats.in_flight = 2;
    };
    let stats = becomes(&server, stuck, before).await;
    // Dropped at once, and cut off as its time is up.
    legacy.served.abort();
    let one = |stats: &mut Stats| {
        stats.in_flight = 1;
        stats.cancelled = 1;
        stats.connections = 1;
    };
    let stats = becomes(&server, one, stats).await;
    server.shut_down();
    let both = |stats: &mut Stats| {
        stats.in_flight = 0;
        stats.cancelled = 2;
        stats.connections = 0;
    };
    becomes(&server, both, stats).await;
}

#[tokio::test]
async fn a_call_that_takes_the_service_down_is_never_answered() {
    let server = server().build().unwrap();
    let [mut legacy, _modern] = clients(&server).await;
    let before = server.stats();
    legacy.call_unanswered("dies").await;
    let down = |stats: &mut Stats| {
        stats.started = 1;
        stats.cancelled = 1;
        stats.connections = 0;
    };
    becomes(&server, down, before).await;
}
