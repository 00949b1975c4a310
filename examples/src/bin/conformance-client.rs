//! The client that the official conformance suite tests: `conformance-client URL`
//!
//! It uses whatever a server offers, once, and answers whatever it is asked. What the suite wants called with which
//! arguments is in `MCP_CONFORMANCE_CONTEXT`; other arguments are made up to fit their schemas.

use std::error::Error;

use mcp_client::types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams,
    ElicitResult, ElicitationCapability, Role, Root, RootsCapability, SamplingBlock,
    SamplingCapability, Tool,
};
use mcp_client::{Client, ClientError, ErrorObject, Host, async_trait};
use mcp_transport_http::HttpTransport;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Context {
    tool_calls: Vec<ToolCall>,
}

#[derive(Deserialize)]
struct ToolCall {
    name: String,
    arguments: Value,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args()
        .nth(1)
        .ok_or("usage: conformance-client URL")?;
    let context = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Context::default(),
    };
    let client = Client::builder("conformance-client", env!("CARGO_PKG_VERSION"))
        .host(Willing)
        .connect(HttpTransport::new(&url)?)
        .await?;
    use_tools(&client, context.tool_calls).await?;
    for resource in client.list_resources().await? {
        client.read_resource(resource.uri).await?;
    }
    for prompt in client.list_prompts().await? {
        let arguments = prompt.arguments.into_iter().flatten();
        let arguments = arguments.map(|argument| (argument.name, "a"));
        client.get_prompt(prompt.name, arguments).await?;
    }
    client.close().await;
    Ok(())
}

async fn use_tools(client: &Client, mut calls: Vec<ToolCall>) -> Result<(), ClientError> {
    let tools = client.list_tools().await?;
    if calls.is_empty() {
        calls = tools.iter().map(|tool| made_up(tool, &tools)).collect();
    }
    for ToolCall { name, arguments } in calls {
        client.call(name, arguments).await?;
    }
    Ok(())
}

/// A call that fits the schema of a tool. Where that wants a schema, it is that of the first tool.
fn made_up(tool: &Tool, tools: &[Tool]) -> ToolCall {
    let schema = tool.input_schema.decode::<Value>().unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let arguments: Map<_, _> = properties
        .map(|(name, schema)| {
            let value = match (name.as_str(), schema["type"].as_str()) {
                ("schema", Some("object")) => wire(&tools[0].input_schema),
                (_, kind) => example(kind, schema),
            };
            (name.clone(), value)
        })
        .collect();
    ToolCall {
        name: tool.name.clone(),
        arguments: arguments.into(),
    }
}

fn example(kind: Option<&str>, schema: &Value) -> Value {
    match (schema.get("default"), kind) {
        (Some(value), _) => value.clone(),
        (None, Some("integer" | "number")) => json!(1),
        (None, Some("boolean")) => json!(true),
        (None, Some("array")) => json!([]),
        (None, Some("object")) => json!({}),
        (None, _) => json!("a"),
    }
}

/// Agrees to everything, as it is proposed.
struct Willing;

#[async_trait]
impl Host for Willing {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new()
            .elicitation(ElicitationCapability::new())
            .sampling(SamplingCapability::new())
            .roots(RootsCapability::new())
    }

    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        let schema = wire(&question.requested_schema);
        let fields = schema["properties"].as_object().into_iter().flatten();
        let content: Map<_, _> = fields
            .map(|(name, field)| (name.clone(), example(field["type"].as_str(), field)))
            .collect();
        Ok(ElicitResult::new(ElicitAction::Accept).content(Value::Object(content)))
    }

    async fn sample(&self, _: CreateMessageParams) -> Result<CreateMessageResult, ErrorObject> {
        let text = SamplingBlock::text("sampled");
        Ok(CreateMessageResult::new(Role::Assistant, text, "none"))
    }

    async fn roots(&self) -> Result<Vec<Root>, ErrorObject> {
        Ok(Vec::new())
    }
}

fn wire(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("messages always encode")
}
