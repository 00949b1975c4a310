//! `prompts/list` and `prompts/get`, and what completion needs of prompts.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_protocol::ErrorObject;
use mcp_protocol::types::{
    self, CompleteArgument, GetPromptParams, GetPromptResult, ListPromptsResult, PaginatedParams,
    PromptArgument,
};

use crate::context::Context;
use crate::error::{BuildError, ToolError};
use crate::prompt::{Prompt, misfit, missing};
use crate::registry::{Duplicate, Registry};

/// The prompts of a server.
pub(crate) struct Prompts<S>(Registry<types::Prompt, Registered<S>>);

struct Registered<S> {
    /// Those that the definition has.
    arguments: Vec<PromptArgument>,
    prompt: Arc<dyn Prompt<S>>,
}

impl<S> Default for Prompts<S> {
    fn default() -> Self {
        Self(Registry::default())
    }
}

impl<S: 'static> Prompts<S> {
    /// Adds a prompt, unless no client could get it.
    pub(crate) fn add(&self, prompt: Arc<dyn Prompt<S>>) -> Result<(), BuildError> {
        let definition = prompt.definition();
        let name = definition.name.clone();
        if name.is_empty() {
            return Err(BuildError::PromptWithoutName);
        }
        let arguments = definition.arguments.clone().unwrap_or_default();
        let registered = Arc::new(Registered { arguments, prompt });
        self.0
            .insert(&name, definition, registered)
            .map_err(|Duplicate| BuildError::DuplicatePrompt { name })
    }

    pub(crate) fn remove(&self, name: &str) -> bool {
        self.0.remove(name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn list(
        &self,
        params: &PaginatedParams,
        size: usize,
    ) -> Result<ListPromptsResult, ErrorObject> {
        let page = self.0.page(params.cursor.as_deref(), size)?;
        let mut result = ListPromptsResult::new(page.definitions);
        result.next_cursor = page.next;
        Ok(result)
    }

    fn find(&self, name: &str) -> Result<Arc<Registered<S>>, ErrorObject> {
        self.0
            .find(name)
            // Not all of it: an answer must not grow with what was sent.
            .ok_or_else(|| ErrorObject::invalid_params(format!("Unknown prompt: {name:.128}")))
    }
}

impl<S: Send + Sync + 'static> Prompts<S> {
    pub(crate) async fn get(
        &self,
        params: &GetPromptParams,
        cx: Context<S>,
    ) -> Result<GetPromptResult, ToolError> {
        let registered = self.find(&params.name).map_err(ToolError::refused)?;
        let arguments = params.arguments.clone().unwrap_or_default();
        if let Some(name) = registered.missing(&arguments) {
            return Err(ToolError::refused(misfit(&missing(name))));
        }
        registered.prompt.get(arguments, cx).await
    }

    /// All that a prompt proposes for one of its arguments.
    pub(crate) async fn complete(
        &self,
        name: &str,
        argument: &CompleteArgument,
        context: &BTreeMap<String, String>,
        cx: Context<S>,
    ) -> Result<Vec<String>, ErrorObject> {
        let registered = self.find(name)?;
        if !registered.has(&argument.name) {
            return Err(ErrorObject::invalid_params(format!(
                "Invalid params: the prompt `{name}` has no argument `{:.128}`",
                argument.name
            )));
        }
        let prompt = &registered.prompt;
        Ok(prompt
            .complete(&argument.name, &argument.value, context, cx)
            .await)
    }
}

impl<S> Registered<S> {
    /// The first required argument that is not there.
    fn missing(&self, given: &BTreeMap<String, String>) -> Option<&str> {
        let required = self.arguments.iter().filter(|a| a.required == Some(true));
        let mut names = required.map(|argument| argument.name.as_str());
        names.find(|name| !given.contains_key(*name))
    }

    fn has(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }
}
