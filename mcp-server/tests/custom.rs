//! What a server has beyond the specification, to clients of both eras.

mod support;

use std::future::pending;
use std::sync::{Arc, Mutex};

use mcp_server::prelude::*;
use mcp_server::{Attempt, ErrorObject, RawJson, tool_fn, types};
use serde_json::{Value, json};
use tokio::task::yield_now;
use tower::util::MapRequestLayer;

use self::support::{Client, clients};

/// What was done or heard, in order.
type Log = Mutex<Vec<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reindex {
    table: String,
}

#[derive(Serialize)]
struct Reindexed {
    rows: usize,
}

#[derive(Deserialize)]
struct Ping {
    n: u32,
}

fn server() -> Server<Log> {
    Server::with_state("test", "1.0.0", Log::default())
        .method("acme/reindex", async |params: Reindex, cx: Context<Log>| {
            cx.state().lock().unwrap().push(params.table.clone());
            match params.table.len() {
                0 => Err(ErrorObject::invalid_params("which table?")),
                rows => Ok(Reindexed { rows }),
            }
        })
        .method("acme/nothing", async |_: RawJson, _| Ok(()))
        .method("acme/number", async |_: RawJson, _| Ok(7))
        .method("acme/boom", async |_: RawJson, _| {
            if true {
                panic!("boom");
            }
            Ok(())
        })
        .method("acme/stuck", async |_: RawJson, _| {
            pending::<Result<(), ErrorObject>>().await
        })
}

fn error(reply: &Value) -> &Value {
    &reply["error"]["code"]
}

#[tokio::test]
async fn a_method_is_answered_in_both_eras() {
    for mut client in clients(&server().build().unwrap()).await {
        let mut reply = client
            .ask("acme/reindex", json!({ "table": "people" }))
            .await;
        let result = reply["result"].as_object_mut().expect("a result");
        let (kind, meta) = (result.remove("resultType"), result.remove("_meta"));
        assert_eq!(*result, json!({ "rows": 6 }).as_object().unwrap().clone());
        if client.modern {
            assert_eq!(kind, Some(json!("complete")));
            let meta = meta.expect("it is signed");
            assert_eq!(meta["io.modelcontextprotocol/serverInfo"]["name"], "test");
        } else {
            assert_eq!((kind, meta), (None, None));
        }
    }
}

#[tokio::test]
async fn parameters_have_to_fit() {
    for mut client in clients(&server().build().unwrap()).await {
        for params in [
            json!({}),
            json!({ "table": 1 }),
            json!({ "table": "a", "b": 1 }),
        ] {
            assert_eq!(error(&client.ask("acme/reindex", params).await), -32602);
        }
        let params = json!({ "table": "a", "_meta": { "com.acme/b": 1 } });
        let reply = client.ask("acme/reindex", params).await;
        assert_eq!(reply["result"]["rows"], 1, "{reply}");
        let long = json!({ "x".repeat(10_000): 1 });
        let reply = client.ask("acme/reindex", long).await;
        assert!(
            reply.to_string().len() < 1_000,
            "an answer does not grow with what was sent"
        );
    }
}

#[tokio::test]
async fn nothing_is_read_from_no_parameters_and_from_any() {
    let heard_ticks = Arc::<Log>::default();
    let server = Server::with_state("test", "1.0.0", heard_ticks.clone())
        .method("acme/unit", async |(), _: Context<Arc<Log>>| Ok(()))
        .on_notification("acme/tick", async |(), log: Arc<Arc<Log>>| {
            log.lock().unwrap().push("tick".to_owned());
        });
    for mut client in clients(&server.build().unwrap()).await {
        for params in [json!({}), json!({ "a": 1, "_meta": {} })] {
            let reply = client.ask("acme/unit", params.clone()).await;
            assert!(reply.get("result").is_some(), "{reply}");
            client.notify("acme/tick", params).await;
        }
        let absent = json!({ "jsonrpc": "2.0", "method": "acme/tick" });
        client.write_text(absent.to_string()).await;
        assert_eq!(heard(&heard_ticks, 3).await.len(), 3);
        // A modern request has parameters, if only its `_meta`.
        if !client.modern {
            let absent = json!({ "jsonrpc": "2.0", "id": 7, "method": "acme/unit" });
            client.write_text(absent.to_string()).await;
            let reply = client.receive().await;
            assert!(reply.get("result").is_some(), "{reply}");
        }
    }
}

#[tokio::test]
async fn a_method_may_fail_and_give_nothing_but_no_other_value() {
    for mut client in clients(&server().build().unwrap()).await {
        let reply = client.ask("acme/reindex", json!({ "table": "" })).await;
        assert_eq!(
            reply["error"],
            json!({ "code": -32602, "message": "which table?" })
        );
        let reply = client.ask("acme/nothing", json!({})).await;
        assert!(reply["result"].is_object(), "{reply}");
        for method in ["acme/number", "acme/boom"] {
            assert_eq!(error(&client.ask(method, json!({})).await), -32603);
        }
        assert_eq!(error(&client.ask("acme/none", json!({})).await), -32601);
        // A method is not a notification, and the other way round.
        assert_eq!(
            error(&client.ask("acme/ping", json!({ "n": 1 })).await),
            -32601
        );
    }
}

#[tokio::test]
async fn a_method_is_work_like_any_other() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seeing = seen.clone();
    let server = server()
        .max_in_flight(1)
        .layer(MapRequestLayer::new(move |attempt: Attempt| {
            seeing.lock().unwrap().push(attempt.method().to_string());
            attempt
        }))
        .build()
        .unwrap();
    for mut client in clients(&server).await {
        client.send_as(json!("a"), "acme/stuck", json!({})).await;
        let reply = client.ask("acme/nothing", json!({})).await;
        assert_eq!(reply["error"]["data"]["method"], "acme/nothing", "{reply}");
        assert_eq!(server.in_flight(), 1);
        client
            .notify("notifications/cancelled", json!({ "requestId": "a" }))
            .await;
        while server.in_flight() > 0 {
            yield_now().await;
        }
        let reply = client.ask("acme/nothing", json!({})).await;
        assert!(reply["result"].is_object(), "{reply}");
        assert_eq!(*seen.lock().unwrap(), ["acme/stuck", "acme/nothing"]);
        seen.lock().unwrap().clear();
    }
}

#[tokio::test]
async fn names_of_others_are_refused() {
    let answer = async |_: RawJson, _: Context| Ok(());
    let handle = async |_: RawJson, _: Arc<()>| {};
    let build = |server: Server| server.build().map(drop).unwrap_err().to_string();
    for name in [
        "tools/call",
        "initialize",
        "sampling/createMessage",
        "tasks/get",
        "notifications/progress",
        "rpc.discover",
        "",
    ] {
        let expected = format!("the method {name:?} is not one that an application can have");
        let said = build(Server::new("a", "1").method(name, answer));
        assert!(said.starts_with(&expected), "{said}");
        let said = build(Server::new("a", "1").on_notification(name, handle));
        assert!(said.starts_with(&expected), "{said}");
    }
    let twice = "the method \"acme/a\" has two handlers";
    let server = || Server::new("a", "1");
    assert_eq!(
        build(server().method("acme/a", answer).method("acme/a", answer)),
        twice
    );
    let notified = server().on_notification("acme/a", handle);
    assert_eq!(build(notified.on_notification("acme/a", handle)), twice);
    let both = server().method("acme/a", answer);
    assert!(both.on_notification("acme/a", handle).build().is_ok());
}

/// What was heard, once there is as much of it.
async fn heard(log: &Log, count: usize) -> Vec<String> {
    for _ in 0..10_000 {
        if log.lock().unwrap().len() == count {
            return std::mem::take(&mut *log.lock().unwrap());
        }
        yield_now().await;
    }
    panic!("not heard: {:?}", log.lock().unwrap());
}

/// A server, and what it hears.
fn hearing() -> (Server<Arc<Log>>, Arc<Log>) {
    let log = Arc::<Log>::default();
    let server = Server::with_state("test", "1.0.0", log.clone())
        .on_notification("acme/ping", async |ping: Ping, log: Arc<Arc<Log>>| {
            yield_now().await;
            assert_ne!(ping.n, 13, "unlucky");
            log.lock().unwrap().push(ping.n.to_string());
        })
        .on_notification("acme/wait", async |_: RawJson, _| pending().await)
        .method("acme/nothing", async |_: RawJson, _| Ok(()));
    (server, log)
}

#[tokio::test]
async fn notifications_are_handled_in_their_order() {
    let (server, log) = hearing();
    for mut client in clients(&server.build().unwrap()).await {
        for n in [1, 2, 13, 3] {
            client.notify("acme/ping", json!({ "n": n })).await;
        }
        client.notify("acme/ping", json!({ "n": "four" })).await;
        client.notify("acme/none", json!({ "n": 5 })).await;
        client
            .notify("acme/ping", json!({ "n": 6, "_meta": { "com.acme/a": 1 } }))
            .await;
        assert_eq!(heard(&log, 4).await, ["1", "2", "3", "6"]);
    }
}

#[tokio::test]
async fn that_the_roots_have_changed_can_be_heard() {
    let (server, log) = hearing();
    let method = "notifications/roots/list_changed";
    let server = server.on_notification(method, async |(), log: Arc<Arc<Log>>| {
        log.lock().unwrap().push("roots".to_owned());
    });
    let mut client = Client::of(&server.build().unwrap(), support::LEGACY).await;
    client.notify(method, json!({})).await;
    assert_eq!(heard(&log, 1).await, ["roots"]);
}

#[tokio::test]
async fn a_handler_that_waits_holds_up_nothing_but_notifications() {
    let (server, log) = hearing();
    let server = server
        .max_in_flight(3)
        .max_in_flight_per_connection(3)
        .build()
        .unwrap();
    for mut client in clients(&server).await {
        let before = server.in_flight();
        client.notify("acme/wait", json!({})).await;
        client.notify("acme/ping", json!({ "n": 1 })).await;
        let reply = client.ask("acme/nothing", json!({})).await;
        assert!(reply["result"].is_object(), "{reply}");
        // They count as calls in flight do, and what is too much is dropped.
        assert_eq!(server.in_flight(), before + 2);
        for n in 2..5 {
            client.notify("acme/ping", json!({ "n": n })).await;
        }
        assert_eq!(error(&client.ask("acme/nothing", json!({})).await), -31503);
        client.served.abort();
        while server.in_flight() > before {
            yield_now().await;
        }
        assert!(log.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn the_bytes_of_notifications_are_counted() {
    let (server, log) = hearing();
    for mut client in clients(&server.in_flight_bytes(1_000).build().unwrap()).await {
        client
            .notify("acme/ping", json!({ "n": 1, "more": "x".repeat(2_000) }))
            .await;
        client.notify("acme/ping", json!({ "n": 2 })).await;
        assert_eq!(heard(&log, 1).await, ["2"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_notified_before_the_end_is_handled_if_that_takes_no_longer_than_calls_may() {
    let (server, log) = hearing();
    for mut client in clients(&server.build().unwrap()).await {
        for n in 0..10 {
            client.notify("acme/ping", json!({ "n": n })).await;
        }
        client.notify("acme/wait", json!({})).await;
        client.close().await.unwrap();
        assert_eq!(heard(&log, 10).await.len(), 10);
    }
}

#[tokio::test]
async fn a_handler_notifies_in_its_turn() {
    let definition = types::Tool::new("tell", json!({ "type": "object" }));
    let tell = tool_fn(definition, async |_: RawJson, cx: Context<Log>| {
        cx.progress(1.0, None);
        cx.notify("acme/progress", json!({ "rows": 3 }));
        cx.progress(2.0, None);
        cx.notify("acme/empty", ());
        cx.notify("acme/number", 7);
        cx.notify(
            "notifications/progress",
            json!({ "progressToken": 1, "progress": 9 }),
        );
        cx.notify("tools/call", json!({}));
        cx.notify("rpc.notify", json!({}));
        Ok("told")
    });
    let server = server().dyn_tool(Arc::new(tell)).build().unwrap();
    for mut client in clients(&server).await {
        let params = json!({ "name": "tell", "_meta": { "progressToken": 1 } });
        client.send("tools/call", params).await;
        let told = [
            (
                "notifications/progress",
                json!({ "progressToken": 1, "progress": 1.0 }),
            ),
            ("acme/progress", json!({ "rows": 3 })),
            (
                "notifications/progress",
                json!({ "progressToken": 1, "progress": 2.0 }),
            ),
            ("acme/empty", json!({})),
        ];
        for (method, params) in told {
            let expected = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            assert_eq!(client.receive().await, expected);
        }
        assert_eq!(client.receive().await["id"], 1);
    }
}

#[tokio::test]
async fn extensions_are_declared() {
    let server = server()
        .extension("com.acme/replicas", json!({ "most": 3 }))
        .extension("io.modelcontextprotocol/ui", ());
    for client in clients(&server.build().unwrap()).await {
        let expected = json!({
            "com.acme/replicas": { "most": 3 },
            "io.modelcontextprotocol/ui": {},
        });
        assert_eq!(client.capabilities["extensions"], expected);
    }
    let server = || Server::new("a", "1");
    let build = |server: Server| server.build().map(drop).unwrap_err().to_string();
    let why = |id, why| format!("the extension {id:?} cannot be declared: {why}");
    assert_eq!(
        build(server().extension("thing", ())),
        why("thing", "its identifier has no prefix such as `com.acme/`")
    );
    for reserved in ["com.mcp/a", "org.modelcontextprotocol/a"] {
        assert_eq!(
            build(server().extension(reserved, ())),
            why(reserved, "its prefix is reserved")
        );
    }
    assert_eq!(
        build(server().extension("com.acme/a", 7)),
        why("com.acme/a", "its settings are not an object")
    );
    assert_eq!(
        build(
            server()
                .extension("com.acme/a", ())
                .extension("com.acme/a", ())
        ),
        why("com.acme/a", "it is declared twice")
    );
}

/// Covers D15.
#[tokio::test]
async fn a_handler_knows_which_extensions_its_client_has_declared() {
    let server = server().method("acme/known", async |_: RawJson, cx: Context<Log>| {
        let known = cx.caller().extension("com.acme/replicas");
        Ok(json!({ "known": known, "other": cx.caller().extension("com.acme/other") }))
    });
    let server = server.build().unwrap();
    let declared = json!({ "extensions": { "com.acme/replicas": { "most": 2 } } });
    let [mut legacy, mut modern] = clients(&server).await;
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": declared });
    let reply = modern.ask("acme/known", json!({ "_meta": meta })).await;
    assert_eq!(reply["result"]["known"], json!({ "most": 2 }), "{reply}");
    assert_eq!(reply["result"]["other"], Value::Null);
    let reply = modern.ask("acme/known", json!({})).await;
    assert_eq!(reply["result"]["known"], Value::Null);
    let reply = legacy.ask("acme/known", json!({})).await;
    assert_eq!(reply["result"]["known"], Value::Null);

    let mut legacy = Client::declaring(&server, "2025-11-25", declared).await;
    let reply = legacy.ask("acme/known", json!({})).await;
    assert_eq!(reply["result"]["known"], json!({ "most": 2 }), "{reply}");
}

/// Covers TK01.
#[tokio::test]
async fn tasks_of_2025_11_25_are_never_declared_and_never_made() {
    let definition = types::Tool::new("plain", json!({ "type": "object" }));
    let plain = tool_fn(definition, async |_: RawJson, _: Context<Log>| Ok("done"));
    let server = server().dyn_tool(Arc::new(plain)).build().unwrap();
    let declared = json!({ "tasks": { "list": {}, "cancel": {} } });
    let mut client = Client::declaring(&server, "2025-11-25", declared).await;
    assert_eq!(client.capabilities.get("tasks"), None);
    let params = json!({ "name": "plain", "arguments": {}, "task": { "ttl": 1_000 } });
    let reply = client.ask("tools/call", params).await;
    assert_eq!(reply["result"]["content"][0]["text"], "done", "{reply}");
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let reply = client.ask(method, json!({ "taskId": "a" })).await;
        assert_eq!(error(&reply), -32601, "{method}");
    }
    assert_eq!(error(&client.ask("tasks/list", json!({})).await), -32601);
}
