//! Tools that change the server while it runs. Clients are told if they have asked to be.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_server::prelude::*;
use mcp_server::types::{self, GetPromptResult};
use mcp_server::{RawJson, StaticResource, async_trait, tool_fn};

use crate::Fixture;

const TOOL: &str = "interop_dynamic_tool";
const PROMPT: &str = "interop_dynamic_prompt";
const RESOURCE: &str = "test://dynamic-resource";

#[derive(Tools)]
pub(crate) enum Changing {
    /// Add a tool, or remove it.
    TestTriggerToolChange,
    /// Add a prompt, or remove it.
    TestTriggerPromptChange,
    /// Add a resource, or remove it.
    InteropTriggerResourceChange,
    /// Say that a resource has changed.
    InteropTouchResource { uri: String },
}

impl RunTools<Fixture> for Changing {
    async fn run(self, cx: &Context<Fixture>) -> Result<impl IntoContent, ToolError> {
        let server = cx.state().server.get();
        let server = server.ok_or_else(|| ToolError::failed("the server does not run yet"))?;
        match self {
            Self::TestTriggerToolChange => {
                if !server.remove_tool(TOOL) {
                    server.add_tool(dynamic_tool())?;
                }
            }
            Self::TestTriggerPromptChange => {
                if !server.remove_prompt(PROMPT) {
                    server.add_prompt(Arc::new(DynamicPrompt))?;
                }
            }
            Self::InteropTriggerResourceChange => {
                if !server.remove_resource(RESOURCE) {
                    server.add_resource(StaticResource::text(RESOURCE, "dynamic", "Here."))?;
                }
            }
            Self::InteropTouchResource { uri } => server.changes().resource(uri),
        }
        Ok("done")
    }
}

fn dynamic_tool() -> Arc<dyn Tool<Fixture>> {
    let schema = serde_json::json!({ "type": "object" });
    let definition = types::Tool::new(TOOL, schema).description("Is there, or is not.");
    Arc::new(tool_fn(definition, async |_: RawJson, _| Ok("Here.")))
}

struct DynamicPrompt;

#[async_trait]
impl Prompt<Fixture> for DynamicPrompt {
    fn definition(&self) -> types::Prompt {
        types::Prompt::new(PROMPT).description("Is there, or is not.")
    }

    async fn get(
        &self,
        _: BTreeMap<String, String>,
        _: Context<Fixture>,
    ) -> Result<GetPromptResult, ToolError> {
        Ok("Here.".into_messages())
    }
}
