//! The commands: what each asks of the server, and what it prints.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Instant;

use mcp_client::types::{EmptyParams, SubscriptionFilter};
use mcp_client::{Call, Change, Client, ClientError, ClientRequest, ServerResult};
use serde::Serialize;
use serde_json::json;

use crate::exit::Exit;
use crate::flags::{Command, Flags, ToolCall};
use crate::show;
use crate::terminal::{Terminal, visible};

/// What commands share.
pub(crate) struct Commands<'a> {
    pub(crate) client: &'a Client,
    pub(crate) flags: &'a Flags,
    pub(crate) terminal: &'a Arc<Terminal>,
}

impl Commands<'_> {
    pub(crate) async fn run(&self) -> Result<Exit, ClientError> {
        let client = self.client;
        match &self.flags.command {
            Command::Tools => {
                let tools = client.list_tools().await?;
                self.print(&BTreeMap::from([("tools", &tools)]), show::tools(&tools));
                self.none_of("tools", tools.is_empty());
            }
            Command::Call(call) => return self.call(call).await,
            Command::Resources => {
                let resources = client.list_resources().await?;
                let templates = client.list_resource_templates().await?;
                let text = show::resources(&resources, &templates);
                let is_empty = resources.is_empty() && templates.is_empty();
                self.print(
                    &Resources {
                        resources,
                        resource_templates: templates,
                    },
                    text,
                );
                self.none_of("resources", is_empty);
            }
            Command::Read { uri } => {
                let result = self.watched(client.read_resource(uri)).await?;
                self.print(&result, show::contents(&result));
            }
            Command::Prompts => {
                let prompts = client.list_prompts().await?;
                self.print(
                    &BTreeMap::from([("prompts", &prompts)]),
                    show::prompts(&prompts),
                );
                self.none_of("prompts", prompts.is_empty());
            }
            Command::Get { name, arguments } => {
                let result = self
                    .watched(client.get_prompt(name, arguments.clone()))
                    .await?;
                self.print(&result, show::messages(&result));
            }
            Command::Complete(params) => {
                let result = client.complete((**params).clone()).await?;
                self.print(&result, show::completion(&result));
            }
            Command::Listen {
                filter,
                count,
                call,
            } => {
                return self.listen(filter, *count, call.as_ref()).await;
            }
            Command::Discover => self.discover().await?,
        }
        Ok(Exit::Done)
    }

    async fn call(&self, call: &ToolCall) -> Result<Exit, ClientError> {
        let result = self
            .watched(self.client.call(&call.name, &call.arguments))
            .await?;
        self.print(&result, show::tool_result(&result));
        Ok(match result.is_error {
            Some(true) => Exit::ToolFailed,
            _ => Exit::Done,
        })
    }

    /// Makes a call, and shows how far it is.
    async fn watched<T: Send + 'static>(&self, call: Call<T>) -> Result<T, ClientError> {
        let (terminal, began) = (self.terminal.clone(), Instant::now());
        let result = call
            .on_progress(move |report| terminal.progress(&report, began.elapsed()))
            .await;
        self.terminal.clear();
        result
    }

    async fn listen(
        &self,
        filter: &SubscriptionFilter,
        count: Option<usize>,
        call: Option<&ToolCall>,
    ) -> Result<Exit, ClientError> {
        let mut changes = self.client.listen(filter.clone()).await?;
        if changes.granted() != filter {
            let granted = serde_json::to_string(changes.granted()).unwrap_or_default();
            self.terminal
                .say(&format!("the server tells only of {granted}"));
        }
        if let Some(call) = call {
            let result = self.client.call(&call.name, &call.arguments).await?;
            self.terminal.say(show::tool_result(&result).trim_end());
        }
        for _ in 0..count.unwrap_or(usize::MAX) {
            let Some(change) = changes.next().await else {
                if let Some(error) = changes.failure() {
                    return Err(error.clone());
                }
                self.terminal.say("the server will tell of no more");
                break;
            };
            let (kind, uri) = match &change {
                Change::Tools => ("tools", None),
                Change::Prompts => ("prompts", None),
                Change::Resources => ("resources", None),
                Change::Resource(uri) => ("resource", Some(uri)),
                _ => ("everything", None),
            };
            let json = json!({ "changed": kind, "uri": uri });
            self.print(&json, show::change(&change));
        }
        Ok(Exit::Done)
    }

    async fn discover(&self) -> Result<(), ClientError> {
        let server = self.client.server();
        let request = ClientRequest::Discover(EmptyParams::new());
        let versions = match self.client.request(request).await {
            Ok(ServerResult::Discover(result)) => Some(result.supported_versions),
            // An older server, which has said all when it was initialized.
            Ok(_) | Err(ClientError::Unsupported(_)) => None,
            Err(error) => return Err(error),
        };
        let json = json!({
            "protocolVersion": server.version.as_str(),
            "supportedVersions": versions,
            "serverInfo": server.info.as_deref(),
            "capabilities": server.capabilities,
            "instructions": server.instructions,
        });
        self.print(&json, show::server(&server, versions.as_deref()));
        Ok(())
    }

    /// An empty list looks like nothing to a person.
    fn none_of(&self, what: &str, is_empty: bool) {
        if is_empty && !self.flags.json {
            self.terminal.say(&format!("the server has no {what}"));
        }
    }

    /// Prints a result: as the server gave it, or as a person reads it.
    fn print(&self, json: &impl Serialize, text: String) {
        self.terminal.clear();
        print(&match self.flags.json {
            true => serde_json::to_string(json).expect("messages always encode") + "\n",
            // What goes elsewhere than to a terminal can do no harm, and is to be unchanged.
            false if io::stdout().is_terminal() => visible(&text),
            false => text,
        });
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resources {
    resources: Vec<mcp_client::types::Resource>,
    resource_templates: Vec<mcp_client::types::ResourceTemplate>,
}

pub(crate) fn print(text: &str) {
    // When nobody reads any more, nobody misses it.
    let _ = io::stdout().write_all(text.as_bytes());
}
