//! A prompt for each kind of message.

use std::collections::BTreeMap;

use mcp_server::input::form;
use mcp_server::prelude::*;
use mcp_server::types::{ContentBlock, PromptMessage, TextResourceContents};

use crate::resources::beginning_with;
use crate::{Fixture, PNG};

pub(crate) fn add_to(server: Server<Fixture>) -> Server<Fixture> {
    server
        .prompt::<TestSimplePrompt>()
        .prompt::<TestPromptWithArguments>()
        .prompt::<TestPromptWithEmbeddedResource>()
        .prompt::<TestPromptWithImage>()
        .prompt::<TestInputRequiredResultPrompt>()
}

/// Give one message.
#[derive(Prompt)]
struct TestSimplePrompt;

impl Render<Fixture> for TestSimplePrompt {
    async fn render(self, _: &Context<Fixture>) -> Result<impl IntoMessages, ToolError> {
        Ok("This is a simple prompt for testing.")
    }
}

/// Give a message with both arguments.
#[derive(Prompt)]
struct TestPromptWithArguments {
    /// The first.
    arg1: String,
    /// The second.
    arg2: String,
}

impl Render<Fixture> for TestPromptWithArguments {
    async fn render(self, _: &Context<Fixture>) -> Result<impl IntoMessages, ToolError> {
        let Self { arg1, arg2 } = self;
        Ok(format!(
            "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"
        ))
    }

    async fn complete(
        argument: &str,
        value: &str,
        _: &BTreeMap<String, String>,
        _: &Context<Fixture>,
    ) -> Vec<String> {
        match argument {
            "arg1" => beginning_with(value, &["paris", "park", "party"]),
            _ => vec![],
        }
    }
}

/// Give a resource, and a message about it.
#[derive(Prompt)]
struct TestPromptWithEmbeddedResource {
    /// The URI of the resource.
    #[prompt(name = "resourceUri")]
    resource_uri: String,
}

impl Render<Fixture> for TestPromptWithEmbeddedResource {
    async fn render(self, _: &Context<Fixture>) -> Result<impl IntoMessages, ToolError> {
        let text = "Embedded resource content for testing.";
        let resource = TextResourceContents::new(self.resource_uri, text).mime_type("text/plain");
        Ok(vec![
            PromptMessage::user(ContentBlock::resource(resource)),
            PromptMessage::user("Please process the embedded resource above."),
        ])
    }
}

/// Give a picture, and a message about it.
#[derive(Prompt)]
struct TestPromptWithImage;

impl Render<Fixture> for TestPromptWithImage {
    async fn render(self, _: &Context<Fixture>) -> Result<impl IntoMessages, ToolError> {
        Ok(vec![
            PromptMessage::user(ContentBlock::image(PNG, "image/png")),
            PromptMessage::user("Please analyze the image above."),
        ])
    }
}

#[derive(Form)]
struct UserContext {
    context: String,
}

/// Ask the user for the context, and give a message with it.
#[derive(Prompt)]
struct TestInputRequiredResultPrompt;

impl Render<Fixture> for TestInputRequiredResultPrompt {
    async fn render(self, cx: &Context<Fixture>) -> Result<impl IntoMessages, ToolError> {
        let form = form::<UserContext>("What is the context?");
        let UserContext { context } = cx.input("user_context", form)?;
        Ok(format!("Prompt with context: {context}"))
    }
}
