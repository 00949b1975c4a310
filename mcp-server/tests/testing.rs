//! What a test of a server can ask for, see and answer, in both eras.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use mcp_server::input::{form, roots, sample};
use mcp_server::prelude::*;
use mcp_server::testing::{self, Client, Error, Setup};
use mcp_server::types::{
    self, CreateMessageParams, CreateMessageResult, ElicitResult, LoggingLevel, Role,
    SamplingBlock, SamplingMessage,
};
use mcp_server::{ErrorObject, Method, ProtocolVersion, ServerNotification, StaticResource};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Add two numbers.
#[derive(Serialize, Deserialize, JsonSchema, Tool)]
#[tool(output = i64)]
struct Add {
    a: i64,
    b: i64,
}

impl Run<Arc<Notify>> for Add {
    async fn run(self, _: &Context<Arc<Notify>>) -> Result<i64, ToolError> {
        let sum = self.a.checked_add(self.b);
        sum.ok_or_else(|| ToolError::failed("too large"))
    }
}

#[derive(Form)]
struct Confirm {
    yes: bool,
}

/// Do something that takes more than arguments.
#[derive(Tools)]
enum More {
    /// Ask the user, the model and the client.
    Ask,
    /// Say what happens.
    Report,
    /// Never end, and tell when that is cancelled.
    Hang,
}

/// Tells when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl RunTools<Arc<Notify>> for More {
    async fn run(self, cx: &Context<Arc<Notify>>) -> Result<impl IntoContent, ToolError> {
        match self {
            Self::Ask => {
                let question = CreateMessageParams::new([SamplingMessage::user("Hi")], 10);
                let (Confirm { yes }, answer, roots) = cx.inputs((
                    ("sure", form("Really?")),
                    ("greeting", sample(question)),
                    ("where", roots()),
                ))?;
                Ok(format!("{yes} {} {}", answer.model, roots[0].uri))
            }
            Self::Report => {
                cx.progress(1.0, Some(2.0));
                cx.log(LoggingLevel::Debug, "half");
                Ok("done".to_owned())
            }
            Self::Hang => {
                let _dropped = Dropped(cx.state().clone());
                pending().await
            }
        }
    }
}

#[derive(Prompt)]
struct Review {
    code: String,
}

impl Render<Arc<Notify>> for Review {
    async fn render(self, _: &Context<Arc<Notify>>) -> Result<impl IntoMessages, ToolError> {
        Ok(format!("Review {}", self.code))
    }
}

fn server() -> Server<Arc<Notify>> {
    Server::with_state("tested", "1.0.0", Arc::default())
        .logging()
        .tool::<Add>()
        .tools::<More>()
        .prompt::<Review>()
        .resource(StaticResource::text("note://1", "note", "Milk"))
}

async fn clients() -> [Client; 2] {
    let client = |version| Setup::new().version(version).connect(server());
    [
        client(ProtocolVersion::LATEST).await.expect("it serves"),
        client(ProtocolVersion::V2024_11_05)
            .await
            .expect("it serves"),
    ]
}

#[tokio::test]
async fn a_tool_is_called_by_its_type_or_by_its_name() -> Result<(), Error> {
    for client in clients().await {
        assert_eq!(client.call_tool(Add { a: 1, b: 2 }).await?, 3);
        let result = client.call("add", json!({ "a": 1, "b": 2 })).await?;
        assert_eq!(result.content[0].as_text(), Some("3"));
        let failed = client.call_tool(Add { a: i64::MAX, b: 1 }).await;
        let failed = failed.expect_err("it is too large");
        assert_eq!(failed.to_string(), "the tool failed: too large");
        let unknown = client.call("nothing", ()).await;
        let unknown = unknown.expect_err("there is no such tool");
        assert!(matches!(unknown, Error::Call(_)), "{unknown}");
    }
    Ok(())
}

#[tokio::test]
async fn resources_and_prompts_are_had() -> Result<(), Error> {
    for client in clients().await {
        let note = client.read_resource("note://1").await?;
        assert_eq!(serde_json::to_value(&note.contents)?[0]["text"], "Milk");
        assert_eq!(client.list_resources().await?[0].name, "note");
        let review = client.get_prompt("review", [("code", "1 + 1")]).await?;
        let message = serde_json::to_value(&review.messages[0])?;
        assert_eq!(message["content"]["text"], "Review 1 + 1");
        assert_eq!(client.server().info.expect("it has a name").name, "tested");
    }
    Ok(())
}

#[tokio::test]
async fn questions_are_answered_in_both_eras() -> Result<(), Error> {
    for version in [ProtocolVersion::LATEST, ProtocolVersion::LATEST_LEGACY] {
        let setup = Setup::new()
            .version(version)
            .elicit(|question| {
                assert_eq!(question.message, "Really?");
                ElicitResult::accepted(json!({ "yes": true }))
            })
            .sample(|_| {
                let text = SamplingBlock::text("Hello");
                Ok(CreateMessageResult::new(Role::Assistant, text, "parrot"))
            })
            .roots(["file:///work"]);
        let client = setup.connect(server()).await?;
        let result = client.call("ask", ()).await?;
        assert_eq!(
            result.content[0].as_text(),
            Some("true parrot file:///work")
        );
    }
    Ok(())
}

#[tokio::test]
async fn what_a_call_says_meanwhile_is_seen_in_its_order() -> Result<(), Error> {
    for client in clients().await {
        client.call("report", ()).await?;
        let seen = client.take_notifications();
        let methods: Vec<_> = seen.iter().map(ServerNotification::method).collect();
        assert_eq!(methods, [Method::Progress, Method::LogMessage]);
        assert!(client.take_notifications().is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn calls_go_on_side_by_side_and_are_cancelled_when_dropped() -> Result<(), Error> {
    for client in clients().await {
        let hangs = tokio::time::timeout(Duration::from_millis(50), client.call("hang", ()));
        let adds = async {
            let sums = [
                client.call_tool(Add { a: 1, b: 1 }).await?,
                client.call_tool(Add { a: 2, b: 2 }).await?,
            ];
            Ok::<_, Error>(sums)
        };
        let (hung, sums) = tokio::join!(hangs, adds);
        assert_eq!(sums?, [2, 4]);
        assert!(hung.is_err(), "it does not end by itself");
    }
    Ok(())
}

#[tokio::test]
async fn a_dropped_call_stops_its_handler() -> Result<(), Error> {
    let dropped: Arc<Notify> = Arc::default();
    let server = Server::with_state("tested", "1.0.0", dropped.clone()).tools::<More>();
    let client = testing::connect(server).await?;
    tokio::select! {
        biased;
        _ = client.call("hang", ()) => unreachable!("it never ends"),
        () = begun() => {}
    }
    dropped.notified().await;
    Ok(())
}

/// Lets the other tasks of this thread begin what they have to do.
async fn begun() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn changes_are_waited_for_and_the_end_is_told() -> Result<(), Error> {
    let handle = server().build()?;
    let legacy = Setup::new().version(ProtocolVersion::LATEST_LEGACY);
    let client = legacy.connect_to(&handle).await?;
    assert!(handle.remove_tool("hang"));
    let notification = client.notification().await.expect("the tools have changed");
    assert_eq!(notification.method(), Method::ToolListChanged);
    assert_eq!(client.list_tools().await?.len(), 3);
    handle.shut_down();
    assert_eq!(client.notification().await, None);
    client.close().await.expect("it has ended in order");
    Ok(())
}

#[tokio::test]
async fn a_snapshot_is_sorted_and_ends_its_line() -> Result<(), Error> {
    let [modern, _] = clients().await;
    let snapshot = modern.tools_snapshot().await?;
    let tools: Value = serde_json::from_str(&snapshot)?;
    let names: Vec<_> = (0..4).map(|at| tools[at]["name"].clone()).collect();
    assert_eq!(names, ["add", "ask", "hang", "report"]);
    assert!(snapshot.starts_with("[\n  {\n    \"description\": \"Add two numbers.\",\n"));
    assert!(snapshot.ends_with("]\n"));
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let twice = Server::new("twice", "0")
        .dyn_tool(nothing())
        .dyn_tool(nothing());
    let error = testing::connect(twice).await.expect_err("two of one name");
    let said = r#"the server cannot be built: two tools are named "nothing": rename"#;
    assert!(error.to_string().starts_with(said), "{error}");
    let [modern, _] = clients().await;
    let error = modern.call("ask", ()).await.expect_err("nobody answers");
    assert!(matches!(error, Error::Call(_)), "{error}");
    let refuses = Setup::new()
        .elicit(|_| ElicitResult::declined())
        .sample(|_| Err(ErrorObject::internal("no model")))
        .roots(["file:///work"]);
    let client = refuses.connect(server()).await.expect("it serves");
    let error = client.call("ask", ()).await.expect_err("no model answers");
    assert!(matches!(error, Error::Unanswered(_)), "{error}");
}

fn nothing() -> Arc<dyn mcp_server::Tool<()>> {
    let definition = types::Tool::new("nothing", json!({ "type": "object" }));
    Arc::new(mcp_server::tool_fn(definition, async |_, _| Ok(())))
}
