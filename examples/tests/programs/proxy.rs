//! `proxy`.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_client::types::SubscriptionFilter;
use mcp_client::{Change, Client, ClientError, Opening};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{SOON, directory, failure, names, path, text};

const PROXY: &str = env!("CARGO_BIN_EXE_proxy");
const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");
const CHECKSUM: &str = env!("CARGO_BIN_EXE_checksum");
const CALCULATOR: &str = env!("CARGO_BIN_EXE_calculator");
const EVERYTHING: &str = env!("CARGO_BIN_EXE_everything");

async fn proxy(name: &str, opening: Opening, servers: Value) -> Client {
    let config = directory(name).join("servers.json");
    std::fs::write(&config, json!({ "mcpServers": servers }).to_string())
        .expect("it can be written");
    let command = mcp_client::child::ServerCommand::new(PROXY).arg(path(&config));
    let client = crate::client().opening(opening);
    client.spawn(command).await.expect("the proxy starts")
}

/// Waits until some tools are listed, or none of them.
async fn listed(client: &Client, prefix: &str, are_there: bool) {
    let begin = Instant::now();
    while names(client)
        .await
        .iter()
        .any(|name| name.starts_with(prefix))
        != are_there
    {
        assert!(begin.elapsed() < SOON, "{prefix}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn servers_are_used_through_one() {
    for opening in [Opening::Legacy, Opening::Modern] {
        let servers = json!({
            "one": { "command": CALCULATOR },
            "two": { "command": FIXTURE, "args": ["--cap", "7"], "env": { "A": "b" } },
            "gone": { "command": "/no/such/server" },
        });
        let begin = Instant::now();
        let client = proxy("proxy-several", opening, servers).await;
        // One that cannot be started is not waited for.
        assert!(begin.elapsed() < Duration::from_secs(9));
        let tools = client.list_tools().await.unwrap();
        let add = tools.iter().find(|tool| tool.name == "one__add").unwrap();
        assert_eq!(add.description.as_deref(), Some("Add two numbers."));
        assert!(
            add.input_schema.as_str().contains("\"required\""),
            "{add:?}"
        );
        assert_eq!(
            text(client.call("one__add", json!({ "a": 1, "b": 2 })).await),
            "3"
        );
        assert_eq!(
            text(client.call("two__echo", json!({ "text": "é\n" })).await),
            "é\n"
        );
        let failed = client.call("one__divide", json!({ "a": 1, "b": 0 })).await;
        assert_eq!(failure(failed), "cannot divide by zero");
        let refused = client.call("two__boom", ()).await.unwrap_err();
        assert!(matches!(refused, ClientError::Rpc(_)), "{refused:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn progress_and_cancellations_are_passed_on() {
    // One call at a time: the second shows that the first has ended.
    let servers = json!({
        "it": { "command": FIXTURE, "args": ["--cap", "1", "--share", "1"] },
        "sums": { "command": CHECKSUM },
    });
    let client = proxy("proxy-progress", Opening::Auto, servers).await;
    let reports = Arc::new(Mutex::new(Vec::new()));
    let told = reports.clone();
    let call = client.call("it__sleep", json!({ "ms": 100 }));
    let call =
        call.on_progress(move |report| told.lock().unwrap().push((report.progress, report.total)));
    assert_eq!(text(call.await), "slept");
    let reports = std::mem::take(&mut *reports.lock().unwrap());
    assert!(
        reports.is_sorted() && reports.last() == Some(&(9.0, Some(10.0))),
        "{reports:?}"
    );

    let call = client.call("sums__sha256", json!({ "path": CHECKSUM }));
    let (call, mut reports) = call.progress_stream();
    assert!(call.await.is_ok());
    let message = reports.next().await.and_then(|report| report.message);
    assert!(message.is_some_and(|message| message.ends_with(" MiB")));

    let call = client.call("it__sleep", json!({ "ms": 600_000 }));
    let late = call.timeout(Duration::from_millis(300)).await;
    assert!(
        matches!(late, Err(ClientError::TimedOut { .. })),
        "{late:?}"
    );
    let begin = Instant::now();
    while let Err(error) = client.call("it__echo", json!({ "text": "" })).await {
        assert!(begin.elapsed() < SOON, "it goes on: {error}");
        sleep(Duration::from_millis(5)).await;
    }
    client.close().await;
}

#[tokio::test]
async fn changes_of_a_list_are_passed_on() {
    let servers = json!({ "it": { "command": EVERYTHING }, "two": { "command": CALCULATOR } });
    let client = proxy("proxy-changes", Opening::Auto, servers).await;
    let dynamic = "it__interop_dynamic_tool";
    let filter = SubscriptionFilter::new().tools_list_changed(true);
    let mut changes = client.listen(filter).await.unwrap();
    for is_there in [true, false] {
        text(client.call("it__test_trigger_tool_change", ()).await);
        let change = timeout(SOON, changes.next()).await.expect("it is told");
        assert_eq!(change, Some(Change::Tools));
        assert_eq!(
            names(&client).await.iter().any(|name| name == dynamic),
            is_there
        );
    }
    client.close().await;
}

#[tokio::test]
async fn a_server_that_dies_costs_only_itself_and_comes_back() {
    let servers = json!({ "mortal": { "command": FIXTURE }, "other": { "command": FIXTURE } });
    let client = proxy("proxy-death", Opening::Auto, servers).await;
    let other = client.call("other__sleep", json!({ "ms": 1_000 }));
    let lost = client.call("mortal__sleep", json!({ "ms": 600_000 }));
    let death = async {
        sleep(Duration::from_millis(200)).await;
        client.call("mortal__die", ()).await
    };
    let (other, lost, death) = tokio::join!(other, lost, death);
    assert_eq!(text(other), "slept");
    assert!(failure(lost).contains("ended"));
    assert!(failure(death).contains("ended"));
    listed(&client, "mortal__", false).await;
    assert!(
        client
            .call("mortal__echo", json!({ "text": "" }))
            .await
            .is_err()
    );
    assert_eq!(
        text(client.call("other__echo", json!({ "text": "on" })).await),
        "on"
    );
    listed(&client, "mortal__", true).await;
    assert_eq!(
        text(client.call("mortal__echo", json!({ "text": "back" })).await),
        "back"
    );
    client.close().await;
}

#[tokio::test]
async fn one_server_does_not_use_up_the_share_of_another() {
    let servers = json!({ "slow": { "command": FIXTURE }, "quick": { "command": FIXTURE } });
    let client = proxy("proxy-share", Opening::Auto, servers).await;
    let sleeping: Vec<_> = (0..33)
        .map(|_| client.call("slow__sleep", json!({ "ms": 600_000 })))
        .map(|call| tokio::spawn(async move { call.await }))
        .collect();
    let begin = Instant::now();
    while !sleeping.iter().any(tokio::task::JoinHandle::is_finished) {
        assert!(begin.elapsed() < SOON, "none is refused");
        sleep(Duration::from_millis(5)).await;
    }
    let refused = client.call("slow__echo", json!({ "text": "" })).await;
    assert!(failure(refused).starts_with("32 calls of this server are in flight"));
    assert_eq!(
        text(client.call("quick__echo", json!({ "text": "here" })).await),
        "here"
    );
    for call in sleeping {
        call.abort();
    }
    client.close().await;
}
