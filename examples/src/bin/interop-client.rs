//! A client that does what a script says: `interop-client --script JSON -- COMMAND ARGS...`
//!
//! Each step gives one line of JSON on standard output.

use std::io::Write;
use std::time::{Duration, Instant};

use mcp_client::child::ServerCommand;
use mcp_client::types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, Declared, ElicitAction,
    ElicitParams, ElicitResult, ElicitationCapability, Role, Root, RootsCapability, SamplingBlock,
    SamplingCapability,
};
use mcp_client::{
    CallError, Client, ClientError, ErrorObject, Host, NegotiationError, Opening, async_trait,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

#[derive(Deserialize)]
#[serde(default)]
struct Script {
    era: String,
    connect_timeout_ms: u64,
    probe_timeout_ms: u64,
    request_timeout_ms: u64,
    capabilities: Vec<String>,
    elicit: Value,
    roots: Vec<String>,
    restart: bool,
    steps: Vec<Step>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            era: "auto".to_owned(),
            connect_timeout_ms: 15_000,
            probe_timeout_ms: 5_000,
            request_timeout_ms: 10_000,
            capabilities: Vec::new(),
            elicit: json!({ "action": "accept", "content": {} }),
            roots: Vec::new(),
            restart: false,
            steps: Vec::new(),
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Step {
    ListTools,
    ListResources,
    ListPrompts,
    CallTool(ToolCall),
    CallTools {
        calls: Vec<ToolCall>,
    },
    ReadResource {
        uri: String,
    },
    GetPrompt {
        name: String,
        #[serde(default)]
        arguments: Map<String, Value>,
    },
    Ping,
    Sleep {
        ms: u64,
    },
    /// Calls one tool again and again, and says of each call whether it was answered.
    KeepCalling {
        name: String,
        arguments: Value,
    },
}

#[derive(Clone, Deserialize)]
struct ToolCall {
    name: String,
    arguments: Option<Value>,
    timeout_ms: Option<u64>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let [flag, script, dashes, command, args @ ..] = &args[..] else {
        return Err("usage: interop-client --script JSON -- COMMAND ARGS...".into());
    };
    if flag != "--script" || dashes != "--" {
        return Err("usage: interop-client --script JSON -- COMMAND ARGS...".into());
    }
    let script: Value = serde_json::from_str(script)?;
    let names: Vec<_> = script["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|step| step["op"].clone())
        .collect();
    let script: Script = serde_json::from_value(script)?;
    let began = Instant::now();
    let command = ServerCommand::new(command).args(args);
    let client = match connect(&script, command).await {
        Ok(client) => client,
        Err(error) => {
            say(json!({ "step": "connect" }), began, Err(error));
            return Ok(());
        }
    };
    let server = client.server();
    let version = server.version.as_str();
    let era = if version < "2026-07-28" {
        "legacy"
    } else {
        "modern"
    };
    emit(&json!({
        "step": "connect", "ok": true, "era": era, "protocolVersion": version,
        "serverInfo": server.info.as_deref(), "ms": ms(began),
    }));
    for (number, step) in script.steps.iter().enumerate() {
        let began = Instant::now();
        let result = run(&client, step.clone()).await;
        say(
            json!({ "step": number, "op": names[number] }),
            began,
            result,
        );
    }
    let began = Instant::now();
    client.close().await;
    emit(&json!({ "step": "close", "ok": true, "ms": ms(began) }));
    Ok(())
}

async fn connect(script: &Script, command: ServerCommand) -> Result<Client, ClientError> {
    let ms = Duration::from_millis;
    Client::builder("interop-client", env!("CARGO_PKG_VERSION"))
        .host(Scripted {
            capabilities: script.capabilities.clone(),
            elicit: script.elicit.clone(),
            roots: script.roots.clone(),
        })
        .opening(match script.era.as_str() {
            "legacy" => Opening::Legacy,
            "modern" => Opening::Modern,
            _ => Opening::Auto,
        })
        .connect_timeout(ms(script.connect_timeout_ms))
        .probe_timeout(ms(script.probe_timeout_ms))
        .timeout(ms(script.request_timeout_ms))
        .restart(script.restart)
        .spawn(command)
        .await
}

async fn run(client: &Client, step: Step) -> Result<Value, ClientError> {
    Ok(match step {
        Step::ListTools => json!({ "tools": client.list_tools().await? }),
        Step::ListResources => json!({ "resources": client.list_resources().await? }),
        Step::ListPrompts => json!({ "prompts": client.list_prompts().await? }),
        Step::CallTool(call) => call_tool(client, call).await?,
        Step::CallTools { calls } => {
            let mut tasks = JoinSet::new();
            for (number, call) in calls.into_iter().enumerate() {
                let client = client.clone();
                tasks.spawn(async move { (number, call_tool(&client, call).await) });
            }
            let mut results = tasks.join_all().await;
            results.sort_by_key(|(number, _)| *number);
            let results = results.into_iter().map(|(_, result)| match result {
                Ok(result) => result,
                Err(error) => json!({ "error": describe(&error) }),
            });
            json!({ "results": results.collect::<Vec<_>>() })
        }
        Step::ReadResource { uri } => wire(&client.read_resource(uri).await?),
        Step::GetPrompt { name, arguments } => {
            let arguments = arguments.into_iter().map(|(name, value)| {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                (name, value)
            });
            wire(&client.get_prompt(name, arguments).await?)
        }
        Step::Ping => {
            client.ping().await?;
            json!({})
        }
        Step::Sleep { ms } => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            json!({})
        }
        Step::KeepCalling { name, arguments } => loop {
            let called = client.call(&*name, &arguments).await;
            emit(&json!({ "op": "keep_calling", "ok": called.is_ok() }));
        },
    })
}

async fn call_tool(client: &Client, call: ToolCall) -> Result<Value, ClientError> {
    let mut request = client.call(call.name, call.arguments);
    if let Some(ms) = call.timeout_ms {
        request = request.timeout(Duration::from_millis(ms));
    }
    request.await.map(|result| wire(&result))
}

/// Answers as the script says.
struct Scripted {
    capabilities: Vec<String>,
    elicit: Value,
    roots: Vec<String>,
}

#[async_trait]
impl Host for Scripted {
    fn capabilities(&self) -> ClientCapabilities {
        let has = |name: &str| self.capabilities.iter().any(|known| known == name);
        let mut capabilities = ClientCapabilities::new();
        capabilities.elicitation = has("elicitation").then(|| {
            ElicitationCapability::new()
                .form(Declared::new())
                .url(Declared::new())
        });
        capabilities.sampling = has("sampling").then(SamplingCapability::new);
        capabilities.roots = has("roots").then(RootsCapability::new);
        capabilities
    }

    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        let action = match self.elicit["action"].as_str() {
            Some("decline") => ElicitAction::Decline,
            Some("cancel") => ElicitAction::Cancel,
            _ => ElicitAction::Accept,
        };
        let mut result = ElicitResult::new(action.clone());
        if action == ElicitAction::Accept {
            let content = match &self.elicit["content"] {
                Value::String(word) if word == "defaults" => defaults(&question),
                Value::Null => json!({}),
                content => content.clone(),
            };
            result.content = Some(content.into());
        }
        Ok(result)
    }

    async fn sample(&self, _: CreateMessageParams) -> Result<CreateMessageResult, ErrorObject> {
        let text = SamplingBlock::text("sampled");
        Ok(CreateMessageResult::new(Role::Assistant, text, "interop"))
    }

    async fn roots(&self) -> Result<Vec<Root>, ErrorObject> {
        Ok(self.roots.iter().map(Root::new).collect())
    }
}

/// The defaults of a form's fields, as an answer.
fn defaults(question: &ElicitParams) -> Value {
    let schema = wire(&question.requested_schema);
    let fields = schema["properties"].as_object().into_iter().flatten();
    let given =
        fields.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())));
    Value::Object(given.collect())
}

fn wire(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("messages always encode")
}

fn say(mut line: Value, began: Instant, outcome: Result<Value, ClientError>) {
    line["ok"] = outcome.is_ok().into();
    match outcome {
        Ok(result) => line["result"] = result,
        Err(error) => line["error"] = describe(&error),
    }
    line["ms"] = ms(began).into();
    emit(&line);
}

fn emit(line: &Value) {
    // When nobody reads any more, nobody misses it.
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn ms(began: Instant) -> u64 {
    began.elapsed().as_millis() as u64
}

fn describe(error: &ClientError) -> Value {
    let (kind, code) = match error {
        ClientError::Rpc(error) => ("rpc", Some(error.code.0)),
        ClientError::Negotiation(why) => match &**why {
            NegotiationError::OnlyLegacy(error)
            | NegotiationError::Failed {
                error: CallError::Refused(error),
                ..
            } => ("rpc", Some(error.code.0)),
            _ => ("protocol", None),
        },
        ClientError::TimedOut { .. } => ("timeout", None),
        ClientError::Closed { .. } => ("closed", None),
        ClientError::Spawn(_) => ("spawn", None),
        ClientError::Protocol { .. } => ("protocol", None),
        _ => ("other", None),
    };
    json!({ "kind": kind, "code": code, "message": error.to_string() })
}
