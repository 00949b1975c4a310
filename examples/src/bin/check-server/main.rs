//! What a server gives to a client: `check-server WAY ERA VERSION COMMAND ARGS...`. WAY is `stdio`
//! or `http`, ERA is `legacy` or `auto`, VERSION the revision that is to come of it.
//!
//! The server is one of `xtask/interop`, on the SDK of another language. Each check gives a line,
//! `PASS what` or `FAIL what: why`.

mod http;

use std::error::Error;
use std::future::Future;
use std::time::{Duration, Instant};

use mcp_client::child::ServerCommand;
use mcp_client::types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams,
    ElicitResult, ElicitationCapability, Role, SamplingBlock, SamplingCapability,
};
use mcp_client::{
    Client, ClientBuilder, ClientError, ErrorObject, Host, Opening, RawJson, async_trait,
};
use mcp_server::prelude::{Deserialize, JsonSchema, Serialize, Tool, schemars};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let [way, era, version, command, args @ ..] = &args[..] else {
        return Err("usage: check-server WAY ERA VERSION COMMAND ARGS...".into());
    };
    let opening = match era.as_str() {
        "legacy" => Opening::Legacy,
        _ => Opening::Auto,
    };
    if way == "http" {
        return http::run(opening, version, command, args).await;
    }
    match builder(opening)
        .spawn(ServerCommand::new(command).args(args))
        .await
    {
        Ok(client) => over_stdio(client, version).await,
        Err(error) => say("connects", Err(error.into())),
    }
    Ok(())
}

fn builder(opening: Opening) -> ClientBuilder {
    let builder = Client::builder("check-server", "1").host(User);
    builder.opening(opening).timeout(Duration::from_secs(20))
}

async fn over_stdio(client: Client, version: &str) {
    check_all(&client, version).await;
    let began = Instant::now();
    let closed = client.close().await;
    let took = began.elapsed();
    let well = closed.exit.is_some_and(|exit| exit.is_success()) && took < Duration::from_secs(2);
    let closed = expect(well, true).map_err(|_| format!("{:?} after {took:?}", closed.exit).into());
    say("closes within 2 s", closed);
}

/// What a server has to do in the same way over every transport.
async fn check_all(client: &Client, version: &str) {
    check("connects", connects(client, version)).await;
    check("lists what there is", lists(client)).await;
    check("adds, by a type", adds(client)).await;
    check("tells a failure from a refusal", fails(client)).await;
    check("reads a resource and gets a prompt", reads(client)).await;
    check("hears of progress", counts(client)).await;
    check("answers for the user and the model", answers(client)).await;
    check("answers for many at once", many(client)).await;
    check("gives up what takes too long", gives_up(client)).await;
}

type Checked = Result<(), Box<dyn Error>>;

async fn check(what: &str, steps: impl Future<Output = Checked>) {
    let limit = Duration::from_secs(30);
    let outcome = timeout(limit, steps).await;
    say(what, outcome.unwrap_or_else(|_| Err("it hangs".into())));
}

#[expect(clippy::print_stdout, reason = "who reads it waits for these lines")]
fn say(what: &str, outcome: Checked) {
    match outcome {
        Ok(()) => println!("PASS {what}"),
        Err(why) => println!("FAIL {what}: {}", why.to_string().replace('\n', " ")),
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(got: T, wanted: T) -> Checked {
    match got == wanted {
        true => Ok(()),
        false => Err(format!("got {got:?}, want {wanted:?}").into()),
    }
}

async fn connects(client: &Client, version: &str) -> Checked {
    let server = client.server();
    expect(server.version.as_str(), version)?;
    expect(server.info.is_some(), true)
}

async fn lists(client: &Client) -> Checked {
    let tools = client.list_tools().await?.into_iter().map(|tool| tool.name);
    let mut tools: Vec<_> = tools.collect();
    tools.sort();
    let all = [
        "add",
        "count",
        "count_given_up",
        "cut",
        "fail",
        "forget_sessions",
        "greet",
        "think",
        "wait",
    ];
    expect(tools, all.map(str::to_owned).into())?;
    let resources = client.list_resources().await?;
    expect(
        resources.iter().map(|resource| &*resource.uri).collect(),
        vec!["memo://here"],
    )?;
    let prompts = client.list_prompts().await?;
    expect(
        prompts.iter().map(|prompt| &*prompt.name).collect(),
        vec!["poem"],
    )
}

/// Adds.
#[derive(Serialize, Deserialize, JsonSchema, Tool)]
#[tool(output = Sum)]
struct Add {
    a: u64,
    b: u64,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
struct Sum {
    sum: u64,
}

async fn adds(client: &Client) -> Checked {
    expect(client.call_tool(Add { a: 2, b: 3 }).await?, Sum { sum: 5 })
}

async fn fails(client: &Client) -> Checked {
    let failed = client.call("fail", ()).await?;
    let said = failed.content.iter().filter_map(|block| block.as_text());
    let said = said.collect::<String>().contains("out of order");
    expect((failed.is_error, said), (Some(true), true))?;
    match client.read_resource("memo://nowhere").await {
        Err(ClientError::Rpc(_)) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

async fn reads(client: &Client) -> Checked {
    let read = client.read_resource("memo://here").await?;
    let read = serde_json::to_value(&read.contents)?;
    expect(&read[0]["text"], &json!("grüße \u{1f600}"))?;
    let prompt = client.get_prompt("poem", [("topic", "spring")]).await?;
    let prompt = serde_json::to_value(&prompt.messages)?;
    expect(
        &prompt[0]["content"]["text"],
        &json!("Write a poem about spring"),
    )
}

async fn counts(client: &Client) -> Checked {
    let (call, mut reports) = client.call("count", json!({ "to": 3 })).progress_stream();
    call.await?;
    for step in [1.0, 2.0, 3.0] {
        let report = reports.next().await.ok_or("there are too few reports")?;
        expect((report.progress, report.total), (step, Some(3.0)))?;
    }
    expect(reports.next().await, None)
}

async fn text(client: &Client, tool: &str) -> Result<String, Box<dyn Error>> {
    let result = client.call(tool, ()).await?;
    expect(result.is_error.unwrap_or_default(), false)?;
    let text = result.content.first().and_then(|block| block.as_text());
    Ok(text.ok_or("there is no text")?.to_owned())
}

async fn answers(client: &Client) -> Checked {
    expect(text(client, "greet").await?.as_str(), "Hello, Ada")?;
    expect(text(client, "think").await?.as_str(), "It is Paris")
}

async fn many(client: &Client) -> Checked {
    let mut calls = JoinSet::new();
    for number in 0..40 {
        let call = client.call_tool(Add { a: number, b: 1 });
        calls.spawn(async move { (number, call.await) });
    }
    for (number, sum) in calls.join_all().await {
        expect(sum?.sum, number + 1)?;
    }
    Ok(())
}

async fn gives_up(client: &Client) -> Checked {
    let soon = Duration::from_millis(100);
    let wait = || client.call("wait", json!({ "ms": 60_000 }));
    match wait().timeout(soon).await {
        Err(ClientError::TimedOut { .. }) => {}
        other => return Err(format!("{other:?}").into()),
    }
    // Dropped, it is cancelled as well.
    let _ = timeout(soon, wait().into_future()).await;
    while text(client, "count_given_up").await? != "2" {
        sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Has a name, and knows a capital.
struct User;

#[async_trait]
impl Host for User {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new()
            .elicitation(ElicitationCapability::new())
            .sampling(SamplingCapability::new())
    }

    async fn elicit(&self, _: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        let content = RawJson::from(json!({ "name": "Ada" }));
        Ok(ElicitResult::new(ElicitAction::Accept).content(content))
    }

    async fn sample(&self, _: CreateMessageParams) -> Result<CreateMessageResult, ErrorObject> {
        let text = SamplingBlock::text("Paris");
        Ok(CreateMessageResult::new(Role::Assistant, text, "none"))
    }
}
