//! Calls that are tried where messages are read, once their tool has shown to be quick.

mod support;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_server::prelude::*;
use serde_json::{Value, json};
use support::{Client, LEGACY};
use tokio::task::{Id, id, yield_now};

/// In which tasks the calls were begun.
type Tasks = Arc<Mutex<Vec<Id>>>;

/// Do what is asked for.
#[derive(Deserialize, JsonSchema, Tool)]
struct Act {
    #[serde(default)]
    how: String,
}

impl Run<Tasks> for Act {
    async fn run(self, cx: &Context<Tasks>) -> Result<String, ToolError> {
        cx.state().lock().expect("nothing panics here").push(id());
        match &*self.how {
            "report" => cx.progress(1.0, None),
            "block" => thread::sleep(Duration::from_millis(20)),
            "wait" => yield_now().await,
            "panic" => panic!("as asked"),
            "wait and report" => {
                cx.progress(1.0, None);
                yield_now().await;
                cx.progress(2.0, None);
            }
            _ => {}
        }
        Ok(self.how)
    }
}

async fn client() -> (Client, Tasks) {
    let tasks = Tasks::default();
    let server = Server::with_state("test", "1.0.0", tasks.clone()).tool::<Act>();
    let server = server.build().expect("the tool is fine");
    (Client::of(&server, LEGACY).await, tasks)
}

async fn act(client: &mut Client, how: &str) -> Value {
    let params = json!({
        "name": "act", "arguments": { "how": how }, "_meta": { "progressToken": how },
    });
    client.send("tools/call", params).await;
    client.receive().await
}

/// The task of the last call.
fn last(tasks: &Tasks) -> Id {
    let begun = tasks.lock().expect("nothing panics here");
    *begun.last().expect("there was a call")
}

/// Calls until it is the connection's own task that does it, which this gives. How often that
/// takes depends on how busy the machine is.
async fn until_tried(client: &mut Client, tasks: &Tasks) -> Id {
    act(client, "").await;
    for _ in 0..10_000 {
        let before = last(tasks);
        act(client, "").await;
        if last(tasks) == before {
            return before;
        }
    }
    panic!("each call has a task of its own");
}

#[tokio::test]
async fn quick_calls_need_no_tasks_of_their_own() {
    let (mut client, tasks) = client().await;
    until_tried(&mut client, &tasks).await;
    assert!(tasks.lock().expect("nothing panics here").len() > 8);
}

#[tokio::test]
async fn one_that_has_waited_or_blocked_gets_a_task_the_next_time() {
    for how in ["wait", "block"] {
        let (mut client, tasks) = client().await;
        let connection = until_tried(&mut client, &tasks).await;
        act(&mut client, how).await;
        for _ in 0..8 {
            act(&mut client, "").await;
            assert_ne!(last(&tasks), connection, "{how}");
        }
    }
}

#[tokio::test]
async fn what_a_call_reports_comes_before_its_reply() {
    let (mut client, tasks) = client().await;
    until_tried(&mut client, &tasks).await;
    for (how, reports) in [("report", 1), ("wait and report", 2)] {
        let mut message = act(&mut client, how).await;
        for report in 1..=reports {
            assert_eq!(message["params"]["progress"], json!(f64::from(report)));
            message = client.receive().await;
        }
        assert_eq!(message["result"]["content"][0]["text"], how);
    }
}

#[tokio::test]
async fn a_panic_costs_its_own_call_only() {
    let (mut client, tasks) = client().await;
    until_tried(&mut client, &tasks).await;
    for _ in 0..2 {
        let reply = act(&mut client, "panic").await;
        assert_eq!(reply["error"]["code"], -32603);
    }
    assert_eq!(act(&mut client, "").await["result"]["isError"], Value::Null);
}
