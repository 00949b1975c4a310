//! Tools that ask: the user, the model, the client. Each is written once for both eras.

use mcp_server::input::{Elicited, FormInput, OrNot, fields, form, roots, sample};
use mcp_server::prelude::*;
use mcp_server::types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, RequestedSchema,
    SamplingCapability, SamplingMessage,
};
use mcp_server::{ErrorObject, RawJson};
use serde_json::{Value, json};

use crate::Fixture;

#[derive(Tools)]
pub(crate) enum Asking {
    /// Ask the model for a message.
    TestSampling { prompt: String },
    /// Ask the user for one text.
    TestElicitation { message: String },
    /// Ask the user, with values filled in.
    #[tool(name = "test_elicitation_sep1034_defaults")]
    TestElicitationDefaults,
    /// Ask the user to choose, in each way there is.
    #[tool(name = "test_elicitation_sep1330_enums")]
    TestElicitationEnums,
    /// Ask the user for a name.
    TestInputRequiredResultElicitation,
    /// Ask the model about a capital.
    TestInputRequiredResultSampling,
    /// Ask the client for its roots.
    TestInputRequiredResultListRoots,
    /// Ask, and have something carried.
    TestInputRequiredResultRequestState,
    /// Ask three things at once.
    TestInputRequiredResultMultipleInputs,
    /// Ask one thing after another.
    TestInputRequiredResultMultiRound,
    /// Ask, and take only what was carried unchanged.
    TestInputRequiredResultTamperedState,
    /// Ask only what the client can be asked.
    TestInputRequiredResultCapabilities,
    /// Need what the client may not have.
    TestMissingCapability,
    /// Report progress, and be done.
    TestStreamingElicitation,
    /// Name the client's roots.
    InteropRoots,
}

#[derive(Form)]
struct Name {
    name: String,
}

#[derive(Form)]
struct Color {
    color: String,
}

#[derive(Form)]
struct Confirm {
    #[expect(dead_code, reason = "any answer will do")]
    ok: bool,
}

#[derive(Form, Serialize)]
struct Response {
    response: String,
}

impl RunTools<Fixture> for Asking {
    async fn run(self, cx: &Context<Fixture>) -> Result<impl IntoContent, ToolError> {
        match self {
            Self::TestSampling { prompt } => {
                let answer = cx.input("sample", sample(say(&prompt, 100)))?;
                Ok(format!("LLM response: {}", text(&answer)))
            }
            Self::TestElicitation { message } => {
                let answer = cx.input("response", form::<Response>(message).answer())?;
                Ok(format!("User response: {}", outcome(&answer)?))
            }
            Self::TestElicitationDefaults => {
                let answer = cx.input("defaults", with_defaults()?)?;
                Ok(format!("Elicitation completed: {}", outcome(&answer)?))
            }
            Self::TestElicitationEnums => {
                let answer = cx.input("enums", with_choices()?)?;
                Ok(format!("Elicitation completed: {}", outcome(&answer)?))
            }
            Self::TestInputRequiredResultElicitation => {
                let Name { name } = cx.input("user_name", form::<Name>("What is your name?"))?;
                Ok(format!("Hello, {name}!"))
            }
            Self::TestInputRequiredResultSampling => {
                let question = say("What is the capital of France?", 100);
                let answer = cx.input("sample_request", sample(question))?;
                Ok(format!("Sampling result: {}", text(&answer)))
            }
            Self::TestInputRequiredResultListRoots => {
                let roots = cx.input("roots_request", roots())?;
                Ok(format!("Found {} root(s)", roots.len()))
            }
            Self::TestInputRequiredResultRequestState => {
                cx.input("confirm", form::<Confirm>("Please confirm"))?;
                Ok("state-ok: requestState validated".to_owned())
            }
            Self::TestInputRequiredResultMultipleInputs => {
                let (name, greeting, roots) = cx.inputs((
                    ("user_name", form::<Name>("What is your name?")),
                    ("greeting", sample(say("Generate a greeting", 50))),
                    ("client_roots", roots()),
                ))?;
                Ok(format!(
                    "Name: {}; Greeting: {}; Roots: {}",
                    name.name,
                    text(&greeting),
                    roots.len()
                ))
            }
            Self::TestInputRequiredResultMultiRound => {
                let Name { name } = cx.input("step1", form::<Name>("What is your name?"))?;
                let Color { color } =
                    cx.input("step2", form::<Color>("What is your favourite colour?"))?;
                Ok(format!("Multi-round complete for {name} who likes {color}"))
            }
            Self::TestInputRequiredResultTamperedState => {
                cx.input("confirm", form::<Confirm>("Please confirm"))?;
                Ok("integrity-ok: state verified".to_owned())
            }
            Self::TestInputRequiredResultCapabilities => only_what_is_possible(cx),
            Self::TestMissingCapability => match cx.caller().capabilities().sampling {
                Some(_) => Ok("Success".to_owned()),
                None => Err(ToolError::refused(ErrorObject::missing_capability(
                    ClientCapabilities::new().sampling(SamplingCapability::new()),
                ))),
            },
            Self::TestStreamingElicitation => {
                cx.progress(1.0, Some(1.0));
                Ok("Streaming complete".to_owned())
            }
            Self::InteropRoots => {
                let roots = cx.input("roots", roots())?;
                let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
                Ok(format!(
                    "Found {} root(s): {}",
                    roots.len(),
                    uris.join(", ")
                ))
            }
        }
    }
}

/// What the client has declared decides what is asked.
fn only_what_is_possible(cx: &Context<Fixture>) -> Result<String, ToolError> {
    let name = ("elicit_input", form::<Name>("What is your name?"));
    let greeting = ("sample_input", sample(say("Say hello", 50)));
    let can = cx.caller().capabilities();
    let received = match (can.elicitation.is_some(), can.sampling.is_some()) {
        (true, true) => {
            cx.inputs((name, greeting))?;
            "elicit_input, sample_input"
        }
        (true, false) => {
            cx.inputs((name,))?;
            "elicit_input"
        }
        (false, true) => {
            cx.inputs((greeting,))?;
            "sample_input"
        }
        (false, false) => return Ok("No supported capabilities declared".to_owned()),
    };
    Ok(format!("capabilities-ok: received {received}"))
}

fn schema(properties: Value) -> Result<RequestedSchema, ToolError> {
    let schema = json!({ "type": "object", "properties": properties });
    Ok(serde_json::from_value(schema)?)
}

fn with_defaults() -> Result<OrNot<FormInput<RawJson>>, ToolError> {
    let properties = json!({
        "name": { "type": "string", "description": "User name", "default": "John Doe" },
        "age": { "type": "integer", "description": "User age", "default": 30 },
        "score": { "type": "number", "description": "User score", "default": 95.5 },
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": { "type": "boolean", "description": "Verification status", "default": true },
    });
    let message = "Please review and update the form fields with defaults";
    Ok(fields(message, schema(properties)?).answer())
}

fn with_choices() -> Result<OrNot<FormInput<RawJson>>, ToolError> {
    let titled = json!([
        { "const": "value1", "title": "First Option" },
        { "const": "value2", "title": "Second Option" },
        { "const": "value3", "title": "Third Option" },
    ]);
    let options = ["option1", "option2", "option3"];
    let properties = json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    });
    let message = "Please select options from the enum fields";
    Ok(fields(message, schema(properties)?).answer())
}

fn say(prompt: &str, tokens: u64) -> CreateMessageParams {
    CreateMessageParams::new([SamplingMessage::user(prompt)], tokens)
}

fn text(answer: &CreateMessageResult) -> String {
    let texts = answer
        .content
        .blocks()
        .iter()
        .filter_map(|block| block.as_text());
    texts.collect::<Vec<_>>().join(" ")
}

fn outcome(answer: &Elicited<impl Serialize>) -> Result<String, ToolError> {
    Ok(match answer {
        Elicited::Accepted(content) => {
            format!("action=accept, content={}", serde_json::to_string(content)?)
        }
        Elicited::Declined => "action=decline, content={}".to_owned(),
        Elicited::Cancelled => "action=cancel, content={}".to_owned(),
    })
}
