//! A tour: this program starts itself again as a server, talks to it in both eras of the
//! protocol, and prints what happens.

#![expect(clippy::print_stdout, reason = "printing is what a tour does")]

use std::error::Error;
use std::time::{Duration, Instant};

use mcp_client::child::ServerCommand;
use mcp_client::types::{
    ClientCapabilities, ElicitAction, ElicitParams, ElicitResult, ElicitationCapability,
};
use mcp_client::{Client, ErrorObject, Host, Opening, RawJson, async_trait};
use mcp_server::input::form;
use mcp_server::prelude::*;
use serde_json::json;

/// What makes this program the server. Not for people.
const SERVE: &str = "--serve";

/// Divide a by b.
#[derive(Serialize, Deserialize, JsonSchema, Tool)]
#[tool(content = f64)]
struct Divide {
    a: f64,
    b: f64,
}

impl Run for Divide {
    async fn run(self, _: &Context) -> Result<f64, ToolError> {
        match self.b {
            0.0 => Err(ToolError::failed("cannot divide by zero")),
            b => Ok(self.a / b),
        }
    }
}

#[derive(Form)]
struct Confirm {
    sure: bool,
}

/// Count down to zero, one step every 30 ms, if the user is sure.
#[derive(Serialize, Deserialize, JsonSchema, Tool)]
struct CountDown {
    /// Where to begin.
    from: u8,
}

impl Run for CountDown {
    async fn run(self, cx: &Context) -> Result<String, ToolError> {
        let Confirm { sure } = cx.input("confirm", form(format!("From {}?", self.from)))?;
        if !sure {
            return Err(ToolError::failed("the user is not sure"));
        }
        for step in 1..=self.from {
            tokio::time::sleep(Duration::from_millis(30)).await;
            cx.progress(step.into(), Some(self.from.into()));
        }
        Ok("Lift-off!".to_owned())
    }
}

/// Who is at the client's side. In a host, a person.
struct User;

#[async_trait]
impl Host for User {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new().elicitation(ElicitationCapability::new())
    }

    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        println!(
            "     the server asks: {} - the user is sure",
            question.message
        );
        let answer = RawJson::encode(&json!({ "sure": true })).expect("it is JSON");
        Ok(ElicitResult::new(ElicitAction::Accept).content(answer))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|arg| arg == SERVE) {
        let server = Server::new("tour", env!("CARGO_PKG_VERSION"));
        let server = server.tool::<Divide>().tool::<CountDown>();
        return Ok(server.serve_stdio().await?);
    }
    println!("One MCP server over stdio, spoken to in both eras of the protocol.");
    for (opening, about) in [
        (Opening::Legacy, "a session begins with a handshake"),
        (Opening::Modern, "no handshake, each request says who asks"),
    ] {
        let client = Client::builder("tour", env!("CARGO_PKG_VERSION"))
            .host(User)
            .opening(opening)
            .spawn(ServerCommand::new(std::env::current_exe()?).arg(SERVE))
            .await?;
        println!("\n{}: {about}\n", client.server().version);
        calls(&client).await?;

        let asked = Instant::now();
        let end = client.close().await;
        let exit = end.exit.ok_or("the server goes on")?;
        println!(
            "  .. the server {exit}, after {} ms",
            asked.elapsed().as_millis()
        );
    }
    Ok(())
}

/// The same in either era.
async fn calls(client: &Client) -> Result<(), Box<dyn Error>> {
    let tools = client.list_tools().await?;
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    println!("  -> which tools are there?\n  <- {}", names.join(", "));

    println!("  -> 1 / 8, by the type that the server has, too");
    println!(
        "  <- {}",
        client.call_tool(Divide { a: 1.0, b: 8.0 }).await?
    );
    println!("  -> 1 / 0");
    if let Err(error) = client.call_tool(Divide { a: 1.0, b: 0.0 }).await {
        println!("  <- {error}");
    }
    println!("  -> divide, by name, with a word where a number belongs");
    let result = client.call("divide", json!({ "a": 1, "b": "two" })).await?;
    println!("  <- {}", result.content[0].as_text().unwrap_or_default());

    println!("  -> count down from 3");
    let count = client.call_tool(CountDown { from: 3 });
    let count = count.on_progress(|report| println!("     step {}", report.progress));
    println!("  <- {}", count.await?);

    println!("  -> count down from 200, in 200 ms");
    let count = client
        .call_tool(CountDown { from: 200 })
        .timeout(Duration::from_millis(200));
    if let Err(error) = count.await {
        println!("  .. {error}; the server was told to stop");
    }
    println!("  -> what is not there");
    if let Err(error) = client.call("lift_off", json!({})).await {
        println!("  <- {error}");
    }
    Ok(())
}
