//! Prompts and the completion of their arguments, to clients of both eras.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_server::prelude::*;
use mcp_server::types::{self, ContentBlock, GetPromptResult, PromptMessage};
use mcp_server::{ErrorObject, Prompt, PromptArgs, ServiceDown, async_trait};
use mcp_transport_stdio::memory::pair;
use serde_json::{Value, json};

use self::support::{Client, clients};

/// Asks for a review of code,
/// line by line.
#[derive(Prompt)]
#[prompt(title = "Review", icon = "https://example.com/a.png", icon = "data:,")]
struct ReviewCode {
    /// The code.
    code: String,
    /// How many lines to look at.
    #[prompt(title = "Lines")]
    lines: Option<usize>,
    #[prompt(name = "tone-of-voice", description = "How to say it.")]
    tone: std::option::Option<String>,
    r#type: u8,
}

impl Render<String> for ReviewCode {
    async fn render(self, cx: &Context<String>) -> Result<impl IntoMessages, ToolError> {
        let (code, lines, tone, r#type) = (self.code, self.lines, self.tone, self.r#type);
        Ok(format!(
            "{} {code} {lines:?} {tone:?} {}",
            cx.state(),
            r#type
        ))
    }

    async fn complete(
        argument: &str,
        value: &str,
        context: &BTreeMap<String, String>,
        cx: &Context<String>,
    ) -> Vec<String> {
        match argument {
            "lines" => (0..value.parse().unwrap_or(0))
                .map(|n: i32| n.to_string())
                .collect(),
            "code" => vec![format!("{} {value} {context:?}", cx.state())],
            _ => vec![],
        }
    }
}

/// Goes wrong, as its argument says.
#[derive(Prompt)]
struct Fails {
    how: String,
}

impl<S: Send + Sync + 'static> Render<S> for Fails {
    async fn render(self, _: &Context<S>) -> Result<impl IntoMessages, ToolError> {
        Err::<String, _>(match self.how.as_str() {
            "refused" => ToolError::refused(ErrorObject::invalid_params("not like this")),
            "down" => ServiceDown::new("died").into(),
            "panic" => panic!("boom"),
            how => ToolError::failed(how),
        })
    }
}

#[derive(Prompt)]
struct Bare;

impl Render<String> for Bare {
    async fn render(self, _: &Context<String>) -> Result<impl IntoMessages, ToolError> {
        Ok(vec![
            PromptMessage::user("a"),
            PromptMessage::assistant(ContentBlock::image("AAAA", "image/png")),
        ])
    }
}

/// A prompt made by hand, with whatever definition.
struct ByHand(types::Prompt);

#[async_trait]
impl<S: Send + Sync + 'static> Prompt<S> for ByHand {
    fn definition(&self) -> types::Prompt {
        self.0.clone()
    }

    async fn get(
        &self,
        arguments: BTreeMap<String, String>,
        _: Context<S>,
    ) -> Result<GetPromptResult, ToolError> {
        Ok(format!("{arguments:?}")
            .into_messages()
            .description("by hand"))
    }
}

fn by_hand<S: Send + Sync + 'static>(name: &str) -> Arc<dyn Prompt<S>> {
    let needed = types::PromptArgument::new("needed").required(true);
    Arc::new(ByHand(types::Prompt::new(name).arguments(vec![needed])))
}

fn server() -> Server<String> {
    Server::with_state("test", "1.0.0", "state".to_owned())
        .prompt::<ReviewCode>()
        .prompt::<Fails>()
        .prompt::<Bare>()
        .dyn_prompt(by_hand("by hand"))
}

async fn prompts(client: &mut Client) -> Vec<String> {
    let reply = client.ask("prompts/list", json!({})).await;
    let prompts = reply["result"]["prompts"].as_array().expect("a list");
    let names = prompts.iter().filter_map(|prompt| prompt["name"].as_str());
    names.map(str::to_owned).collect()
}

async fn get(client: &mut Client, prompt: &str, arguments: Value) -> Value {
    let params = json!({ "name": prompt, "arguments": arguments });
    client.ask("prompts/get", params).await
}

async fn complete(client: &mut Client, reference: Value, argument: &str, value: &str) -> Value {
    let argument = json!({ "name": argument, "value": value });
    let context = json!({ "arguments": { "type": "1" } });
    let params = json!({ "ref": reference, "argument": argument, "context": context });
    client.ask("completion/complete", params).await
}

fn review() -> Value {
    json!({ "type": "ref/prompt", "name": "review_code" })
}

#[track_caller]
fn assert_refused(reply: &Value, code: i64, says: &str) {
    assert_eq!(reply["error"]["code"], code, "{reply}");
    let message = reply["error"]["message"].as_str().expect("a message");
    assert!(message.contains(says), "{message}");
}

#[test]
fn the_definition_is_what_the_struct_says() {
    assert_eq!(ReviewCode::NAME, "review_code");
    assert_eq!(
        serde_json::to_value(ReviewCode::definition()).unwrap(),
        json!({
            "name": "review_code",
            "title": "Review",
            "description": "Asks for a review of code, line by line.",
            "arguments": [
                { "name": "code", "description": "The code.", "required": true },
                { "name": "lines", "title": "Lines", "description": "How many lines to look at." },
                { "name": "tone-of-voice", "description": "How to say it." },
                { "name": "type", "required": true },
            ],
            "icons": [{ "src": "https://example.com/a.png" }, { "src": "data:," }],
        })
    );
    assert_eq!(
        serde_json::to_value(Bare::definition()).unwrap(),
        json!({ "name": "bare" })
    );
}

/// Covers PG03.
#[tokio::test]
async fn prompts_are_listed_in_order_and_by_pages() {
    let server = server().page_size(3).build().unwrap();
    for mut client in clients(&server).await {
        assert_eq!(
            client.capabilities["prompts"],
            json!({ "listChanged": true })
        );
        assert_eq!(client.capabilities["completions"], json!({}));
        let first = client.ask("prompts/list", json!({})).await;
        assert_eq!(first["result"]["prompts"][0]["name"], "review_code");
        assert_eq!(first["result"]["prompts"][2], json!({ "name": "bare" }));
        let cursor = &first["result"]["nextCursor"];
        let last = client
            .ask("prompts/list", json!({ "cursor": cursor }))
            .await;
        assert_eq!(last["result"]["prompts"][0]["name"], "by hand");
        assert!(last["result"].get("nextCursor").is_none());
        let reply = client
            .ask("prompts/list", json!({ "cursor": "garbage" }))
            .await;
        assert_refused(&reply, -32602, "cursor");
    }
}

/// Covers PR04.
#[tokio::test]
async fn a_prompt_is_rendered_from_its_arguments() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        let arguments = json!({
            "code": "x", "lines": "5", "tone-of-voice": "", "type": "7", "unknown": "ignored",
        });
        let reply = get(&mut client, "review_code", arguments).await;
        let said = "state x Some(5) Some(\"\") 7";
        assert_eq!(
            reply["result"]["messages"],
            json!([{ "role": "user", "content": { "type": "text", "text": said } }])
        );
        let reply = client.ask("prompts/get", json!({ "name": "bare" })).await;
        assert_eq!(
            reply["result"]["messages"],
            json!([
                { "role": "user", "content": { "type": "text", "text": "a" } },
                {
                    "role": "assistant",
                    "content": { "type": "image", "data": "AAAA", "mimeType": "image/png" },
                },
            ])
        );
        let reply = get(&mut client, "by hand", json!({ "needed": "1" })).await;
        assert_eq!(reply["result"]["description"], "by hand");
    }
}

/// Covers PR02, PR03.
#[tokio::test]
async fn what_cannot_be_got_is_refused_by_name() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        for (prompt, arguments, says) in [
            ("nobody", json!({}), "Unknown prompt: nobody"),
            ("review_code", json!({}), "`code` is missing"),
            ("review_code", json!({ "code": "x" }), "`type` is missing"),
            (
                "review_code",
                json!({ "code": "x", "type": "256" }),
                "`type`: number too large",
            ),
            (
                "review_code",
                json!({ "code": "x", "type": "1", "lines": "many" }),
                "`lines`: invalid digit",
            ),
            (
                "review_code",
                json!({ "code": 1, "type": "1" }),
                "expected a string",
            ),
            ("by hand", json!({}), "`needed` is missing"),
            ("fails", json!({ "how": "refused" }), "not like this"),
        ] {
            assert_refused(&get(&mut client, prompt, arguments).await, -32602, says);
        }
    }
}

/// Covers J14.
#[tokio::test]
async fn a_prompt_that_fails_is_an_internal_error_with_its_text() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        let reply = get(&mut client, "fails", json!({ "how": "no disk" })).await;
        assert_eq!(
            reply["error"],
            json!({ "code": -32603, "message": "no disk" })
        );
        let reply = get(&mut client, "fails", json!({ "how": "panic" })).await;
        assert_eq!(reply["error"]["code"], -32603);
        assert_eq!(prompts(&mut client).await.len(), 4);
    }
}

#[tokio::test]
async fn a_prompt_can_say_that_the_service_is_down() {
    let server = Server::new("test", "1").prompt::<Fails>().build().unwrap();
    let [mut client, _modern] = clients(&server).await;
    let (_ours, theirs) = pair();
    let other = tokio::spawn(async move { server.serve(theirs).await });
    let params = json!({ "name": "fails", "arguments": { "how": "down" } });
    client.send("prompts/get", params).await;
    let served = other.await.expect("serving does not panic");
    assert!(matches!(served, Err(ServeError::Down(_))));
}

/// Covers CP02.
#[tokio::test]
async fn the_first_100_proposals_are_given_and_all_are_counted() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        for (value, given, more) in [("0", 0, false), ("100", 100, false), ("101", 100, true)] {
            let reply = complete(&mut client, review(), "lines", value).await;
            let completion = &reply["result"]["completion"];
            let values = completion["values"].as_array().expect("values");
            let all: Vec<_> = (0..given).map(|n| json!(n.to_string())).collect();
            assert_eq!(*values, all);
            assert_eq!(completion["total"].to_string(), value);
            assert_eq!(completion["hasMore"], more);
        }
    }
}

#[tokio::test]
async fn a_completion_has_the_value_the_context_and_the_state() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        let reply = complete(&mut client, review(), "code", "fn").await;
        let said = r#"state fn {"type": "1"}"#;
        assert_eq!(reply["result"]["completion"]["values"], json!([said]));
        let by_hand = json!({ "type": "ref/prompt", "name": "by hand" });
        let reply = complete(&mut client, by_hand, "needed", "").await;
        assert_eq!(
            reply["result"]["completion"],
            json!({ "values": [], "total": 0, "hasMore": false })
        );
    }
}

/// Covers CP03.
#[tokio::test]
async fn what_is_not_there_is_not_completed() {
    let server = server().build().unwrap();
    let template = json!({ "type": "ref/resource", "uri": "file:///{path}" });
    for mut client in clients(&server).await {
        for (reference, argument, says) in [
            (
                json!({ "type": "ref/prompt", "name": "nobody" }),
                "code",
                "Unknown prompt: nobody",
            ),
            (
                review(),
                "tone",
                "the prompt `review_code` has no argument `tone`",
            ),
            (template.clone(), "path", "file:///{path}"),
            (json!({ "type": "ref/tool", "name": "x" }), "x", "`ref`"),
        ] {
            let reply = complete(&mut client, reference, argument, "").await;
            assert_refused(&reply, -32602, says);
        }
    }
}

#[tokio::test]
async fn prompts_come_and_go_while_the_server_runs() {
    let server = server().build().unwrap();
    let [mut client, _modern] = clients(&server).await;
    assert_eq!(prompts(&mut client).await.len(), 4);
    let changed = json!("notifications/prompts/list_changed");
    server.add_prompt(by_hand("later")).unwrap();
    assert_eq!(client.receive().await["method"], changed);
    assert_eq!(prompts(&mut client).await.last().unwrap(), "later");
    assert!(server.add_prompt(by_hand("later")).is_err());
    assert!(server.remove_prompt("later"));
    assert_eq!(client.receive().await["method"], changed);
    assert!(!server.remove_prompt("later"));
    let reply = get(&mut client, "later", json!({ "needed": "" })).await;
    assert_refused(&reply, -32602, "Unknown prompt: later");
    assert_eq!(prompts(&mut client).await.len(), 4);
}

/// Covers PR01, CP01.
#[tokio::test]
async fn a_server_without_prompts_has_none_to_ask_for() {
    let server = Server::new("test", "1").build().unwrap();
    for mut client in clients(&server).await {
        assert!(client.capabilities.get("prompts").is_none());
        assert!(client.capabilities.get("completions").is_none());
        for (method, params) in [
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "x" })),
            (
                "completion/complete",
                json!({ "ref": review(), "argument": { "name": "", "value": "" } }),
            ),
        ] {
            assert_eq!(
                client.ask(method, params).await["error"]["code"],
                -32601,
                "{method}"
            );
        }
    }
}

#[test]
fn a_prompt_has_a_name_of_its_own() {
    let error = |server: Server<String>| server.build().expect_err("no").to_string();
    assert_eq!(
        error(server().dyn_prompt(by_hand(""))),
        "a prompt has no name"
    );
    let twice = server().dyn_prompt(by_hand("bare"));
    let said = error(twice);
    assert!(said.starts_with("two prompts are named \"bare\""), "{said}");
}

#[test]
fn messages_are_made_of_text_a_message_several_or_a_whole_result() {
    let message = PromptMessage::user("x");
    let result = GetPromptResult::new(vec![message.clone()]);
    assert_eq!("x".into_messages(), result);
    assert_eq!("x".to_owned().into_messages(), result);
    assert_eq!(message.clone().into_messages(), result);
    assert_eq!(vec![message].into_messages(), result);
    assert_eq!(result.clone().into_messages(), result);
}
