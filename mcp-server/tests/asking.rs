//! Handlers that ask, with the same source for both eras: what a handler sees and what a user
//! is asked must not depend on how its client speaks.

use std::future::poll_fn;
use std::sync::Mutex;
use std::time::Duration;

use mcp_server::input::{Elicited, fields, page, roots, sample};
use mcp_server::prelude::*;
use mcp_server::transport::{Frame, Receiver as _, Sender as _, Transport};
use mcp_server::types::{CreateMessageParams, RequestedSchema, SamplingMessage};
use mcp_server::{RawJson, StateKey};
use mcp_transport_stdio::memory::{Memory, pair};
use serde_json::{Value, json};

/// How often each tool has begun.
#[derive(Default)]
struct Begun(Mutex<Vec<String>>);

#[derive(Tools)]
enum Ask {
    /// Ask whether to go on.
    Confirm { what: String },
    /// Ask, and take no for an answer.
    Maybe,
    /// Ask two things after another.
    TwoRounds,
    /// Ask three things at once.
    AtOnce,
    /// Send the user to a page.
    Page,
    /// Ask for ever.
    Endless,
    /// Ask something else each time.
    Fickle,
    /// Say in the result which attempt it is of.
    Count,
}

fn anything() -> RequestedSchema {
    let schema = json!({ "type": "object", "properties": { "value": { "type": "string" } } });
    serde_json::from_value(schema).expect("a form")
}

fn value(answer: &RawJson) -> String {
    let answer: Value = answer.decode().expect("an object");
    answer["value"].as_str().unwrap_or("nothing").to_owned()
}

impl RunTools<Begun> for Ask {
    async fn run(self, cx: &Context<Begun>) -> Result<impl IntoContent, ToolError> {
        let begin = |name: &str| {
            let mut begun = cx.state().0.lock().expect("nobody panics");
            begun.push(name.to_owned());
            begun.len()
        };
        match self {
            Self::Confirm { what } => {
                begin("confirm");
                let answer = cx.input("sure", fields(format!("Really {what}?"), anything()))?;
                Ok(format!("did {what}: {}", value(&answer)))
            }
            Self::Maybe => match cx.input("maybe", fields("Well?", anything()).answer())? {
                Elicited::Accepted(answer) => Ok(format!("yes: {}", value(&answer))),
                Elicited::Declined => Ok("declined".to_owned()),
                Elicited::Cancelled => Ok("cancelled".to_owned()),
            },
            Self::TwoRounds => {
                begin("two");
                let name = value(&cx.input("name", fields("Your name?", anything()))?);
                let color = cx.input("color", fields(format!("{name}'s colour?"), anything()))?;
                Ok(format!("{name} likes {}", value(&color)))
            }
            Self::AtOnce => {
                let message = CreateMessageParams::new([SamplingMessage::user("Hi")], 10);
                let (name, greeting, roots) = cx.inputs((
                    ("a_name", fields("Your name?", anything())),
                    ("b_greeting", sample(message)),
                    ("c_roots", roots()),
                ))?;
                Ok(format!(
                    "{} {} {}",
                    value(&name),
                    greeting.model,
                    roots.len()
                ))
            }
            Self::Page => {
                cx.input("page", page("Log in", "https://example.com/login"))?;
                Ok("logged in".to_owned())
            }
            Self::Endless => loop {
                let asked = cx.input("n", fields(format!("{}?", begin("endless")), anything()));
                asked?;
            },
            Self::Fickle => {
                let question = format!("Question {}?", begin("fickle").min(2));
                let answer = cx.input("same", fields(question, anything()))?;
                Ok(value(&answer))
            }
            Self::Count => {
                cx.add_meta(&format!("com.acme/{}", begin("count")), true);
                cx.input("sure", fields("Sure?", anything()))?;
                Ok("counted".to_owned())
            }
        }
    }
}

fn server() -> Server<Begun> {
    Server::with_state("asking", "1.0.0", Begun::default()).tools::<Ask>()
}

/// A client, and the user in front of it.
struct User {
    receiver: <Memory as Transport>::Receiver,
    sender: <Memory as Transport>::Sender,
    modern: bool,
    capabilities: Value,
    last_id: i64,
    /// What the user was asked, in order.
    asked: Vec<Value>,
}

const EVERYTHING: &str =
    r#"{ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }"#;

impl User {
    async fn of(server: &ServerHandle<Begun>, modern: bool, capabilities: &str) -> Self {
        let (ours, theirs) = pair();
        let server = server.clone();
        tokio::spawn(async move { server.serve(theirs).await });
        let (receiver, sender) = ours.split();
        let mut user = Self {
            receiver,
            sender,
            modern,
            capabilities: serde_json::from_str(capabilities).expect("JSON"),
            last_id: 0,
            asked: Vec::new(),
        };
        if !modern {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": user.capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            });
            user.request("initialize", params).await;
            user.receive().await;
        }
        user
    }

    async fn send(&mut self, message: Value) {
        self.sender.send(&Frame::from(message.to_string()), None);
        let flushed = poll_fn(|cx| self.sender.poll_flush(cx)).await;
        flushed.expect("the server reads");
    }

    async fn request(&mut self, method: &str, mut params: Value) -> i64 {
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    async fn receive(&mut self) -> Value {
        let frame = poll_fn(|cx| self.receiver.poll_receive(cx)).await;
        let frame = frame.expect("it is open").expect("memory does not fail");
        serde_json::from_slice(&frame).expect("only JSON is written")
    }

    /// Calls a tool and answers what it asks, until it is done.
    async fn call(&mut self, tool: &str, arguments: Value, answer: fn(&Value) -> Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params.clone()).await;
        loop {
            let message = self.receive().await;
            if message["result"]["resultType"] == "input_required" {
                let requests = message["result"]["inputRequests"].as_object().cloned();
                let mut responses = json!({});
                for (name, request) in requests.expect("something is asked") {
                    responses[name] = answer(&request);
                    self.asked.push(request);
                }
                params["inputResponses"] = responses;
                params["requestState"] = message["result"]["requestState"].clone();
                self.request("tools/call", params.clone()).await;
            } else if message.get("method").is_some() {
                let result = answer(&message);
                self.asked
                    .push(json!({ "method": message["method"], "params": message["params"] }));
                self.send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
                    .await;
            } else {
                return message;
            }
        }
    }

    /// The questions, without what only one era has.
    fn questions(&self) -> Vec<(Value, Value)> {
        let question = |asked: &Value| {
            let method = asked["method"].clone();
            (method, asked["params"]["message"].clone())
        };
        self.asked.iter().map(question).collect()
    }
}

fn yes(request: &Value) -> Value {
    match request["method"].as_str() {
        Some("sampling/createMessage") => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "Hello" },
            "model": "m-1",
        }),
        Some("roots/list") => json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b" }] }),
        _ => json!({ "action": "accept", "content": { "value": "blue" } }),
    }
}

fn no(_: &Value) -> Value {
    json!({ "action": "decline" })
}

fn close(_: &Value) -> Value {
    json!({ "action": "cancel" })
}

fn text(reply: &Value) -> &str {
    let text = reply["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {reply}"))
}

/// One call in both eras, which has to come to the same.
async fn same(tool: &str, arguments: Value, answer: fn(&Value) -> Value) -> (Value, Vec<Value>) {
    let mut ends = Vec::new();
    for modern in [false, true] {
        let server = server().build().expect("it can be built");
        let mut user = User::of(&server, modern, EVERYTHING).await;
        let reply = user.call(tool, arguments.clone(), answer).await;
        let outcome = json!([reply["result"]["content"], reply["result"]["isError"]]);
        ends.push((outcome, user.questions(), user.asked, reply));
        assert_eq!(server.in_flight(), 0);
    }
    let [legacy, modern] = <[_; 2]>::try_from(ends).expect("two eras");
    assert_eq!((legacy.0, legacy.1), (modern.0, modern.1));
    (modern.3, modern.2)
}

/// Covers EL09, X17.
#[tokio::test(start_paused = true)]
async fn a_handler_is_answered_the_same_in_both_eras() {
    let (reply, asked) = same("confirm", json!({ "what": "leave" }), yes).await;
    assert_eq!(text(&reply), "did leave: blue");
    assert_eq!(asked[0]["params"]["message"], "Really leave?");

    let (reply, _) = same("confirm", json!({ "what": "leave" }), no).await;
    assert_eq!(reply["result"]["isError"], true);
    assert_eq!(text(&reply), "the user declined `sure`");
    let (reply, _) = same("confirm", json!({ "what": "leave" }), close).await;
    assert_eq!(text(&reply), "the user cancelled `sure`");
}

/// Covers EL09.
#[tokio::test(start_paused = true)]
async fn a_no_can_be_an_answer() {
    assert_eq!(text(&same("maybe", json!({}), yes).await.0), "yes: blue");
    assert_eq!(text(&same("maybe", json!({}), no).await.0), "declined");
    assert_eq!(text(&same("maybe", json!({}), close).await.0), "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_ask_again_and_several_things_at_once() {
    let (reply, asked) = same("two_rounds", json!({}), yes).await;
    assert_eq!(text(&reply), "blue likes blue");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1]["params"]["message"], "blue's colour?");

    let (reply, asked) = same("at_once", json!({}), yes).await;
    assert_eq!(text(&reply), "blue m-1 2");
    assert_eq!(asked.len(), 3);

    let (reply, asked) = same("page", json!({}), yes).await;
    assert_eq!(text(&reply), "logged in");
    assert_eq!(asked[0]["params"]["url"], "https://example.com/login");
}

#[tokio::test(start_paused = true)]
async fn a_result_has_what_the_last_attempt_has_added_to_it() {
    for modern in [false, true] {
        let server = server().build().expect("it can be built");
        let mut user = User::of(&server, modern, EVERYTHING).await;
        let reply = user.call("count", json!({}), yes).await;
        let meta = &reply["result"]["_meta"];
        assert_eq!(meta.get("com.acme/1"), None, "{reply}");
        assert_eq!(meta["com.acme/2"], true, "{reply}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_cannot_ask_for_ever() {
    let (reply, asked) = same("endless", json!({}), yes).await;
    assert_eq!(reply["result"]["isError"], true);
    assert_eq!(text(&reply), "it asked too many times");
    assert_eq!(asked.len(), 8);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_taken_for_another_question() {
    let (reply, asked) = same("fickle", json!({}), yes).await;
    assert_eq!(text(&reply), "blue");
    let messages: Vec<_> = asked
        .iter()
        .map(|asked| &asked["params"]["message"])
        .collect();
    assert_eq!(messages, ["Question 1?", "Question 2?"]);
}

/// Covers X04, X05, EC06, M05, EL02, RO03.
#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_is_not() {
    for (capabilities, tool, needed) in [
        ("{}", "confirm", json!({ "elicitation": { "form": {} } })),
        (
            r#"{"elicitation":{}}"#,
            "page",
            json!({ "elicitation": { "url": {} } }),
        ),
        (
            r#"{"elicitation":{}}"#,
            "at_once",
            json!({ "sampling": {}, "roots": {} }),
        ),
        (
            "{}",
            "at_once",
            json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} }),
        ),
        (
            r#"{"elicitation":{},"sampling":{}}"#,
            "at_once",
            json!({ "roots": {} }),
        ),
    ] {
        let server = server().build().expect("it can be built");
        let mut modern = User::of(&server, true, capabilities).await;
        let reply = modern.call(tool, json!({ "what": "x" }), yes).await;
        // Nothing but `confirm` has arguments, and unknown ones are refused.
        let reply = match tool {
            "confirm" => reply,
            _ => modern.call(tool, json!({}), yes).await,
        };
        assert_eq!(reply["error"]["code"], -32021, "{reply}");
        assert_eq!(reply["error"]["data"]["requiredCapabilities"], needed);
        let mut legacy = User::of(&server, false, capabilities).await;
        let arguments = if tool == "confirm" {
            json!({ "what": "x" })
        } else {
            json!({})
        };
        let reply = legacy.call(tool, arguments, yes).await;
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert!(legacy.asked.is_empty() && modern.asked.is_empty());
    }
}

/// Covers X06, X07, X09, CA02.
#[tokio::test(start_paused = true)]
async fn what_is_carried_is_checked() {
    let server = server().build().expect("it can be built");
    let mut user = User::of(&server, true, EVERYTHING).await;
    let ask = json!({ "name": "confirm", "arguments": { "what": "leave" } });
    user.request("tools/call", ask.clone()).await;
    let round = user.receive().await;
    let state = round["result"]["requestState"]
        .as_str()
        .expect("a state")
        .to_owned();
    assert!(round["result"].get("ttlMs").is_none());

    let answers = json!({ "sure": yes(&json!({})) });
    let retry = |what: &str, state: &str| {
        json!({
            "name": "confirm",
            "arguments": { "what": what },
            "inputResponses": answers,
            "requestState": state,
        })
    };
    for (what, state) in [
        ("leave", format!("{state}-TAMPERED")),
        ("leave", "garbage".to_owned()),
        ("stay", state.clone()),
    ] {
        user.request("tools/call", retry(what, &state)).await;
        assert_eq!(user.receive().await["error"]["code"], -32602);
    }
    user.request("tools/call", retry("leave", &state)).await;
    assert_eq!(text(&user.receive().await), "did leave: blue");

    // Other answers are ignored, missing and unusable ones are asked for again.
    let mut again = retry("leave", &state);
    again["inputResponses"]["other"] = json!(7);
    user.request("tools/call", again.clone()).await;
    assert_eq!(text(&user.receive().await), "did leave: blue");
    for unusable in [json!(12345), json!({ "action": "what" }), json!([])] {
        again["inputResponses"]["sure"] = unusable;
        user.request("tools/call", again.clone()).await;
        assert_eq!(
            user.receive().await["result"]["resultType"],
            "input_required"
        );
    }
    again["inputResponses"] = json!({ "wrong": yes(&json!({})) });
    user.request("tools/call", again.clone()).await;
    assert_eq!(
        user.receive().await["result"]["resultType"],
        "input_required"
    );
    again["inputResponses"] = Value::Null;
    user.request("tools/call", again).await;
    assert_ne!(user.receive().await["result"]["resultType"], "complete");
}

/// Covers ST01, ST03.
#[tokio::test(start_paused = true)]
async fn servers_with_the_same_key_go_on_for_each_other() {
    let key = || [StateKey::new([7; 32])];
    let one = server().state_keys(key()).build().expect("it can be built");
    let two = server().state_keys(key()).build().expect("it can be built");
    let stranger = server().build().expect("it can be built");
    let mut user = User::of(&one, true, EVERYTHING).await;
    user.request(
        "tools/call",
        json!({ "name": "two_rounds", "arguments": {} }),
    )
    .await;
    let state = user.receive().await["result"]["requestState"].clone();
    let retry = json!({
        "name": "two_rounds",
        "arguments": {},
        "inputResponses": { "name": yes(&json!({})) },
        "requestState": state,
    });
    for (server, goes_on) in [(&two, true), (&stranger, false)] {
        let mut user = User::of(server, true, EVERYTHING).await;
        user.request("tools/call", retry.clone()).await;
        let reply = user.receive().await;
        assert_eq!(
            reply["result"]["resultType"] == "input_required",
            goes_on,
            "{reply}"
        );
    }
}

/// Covers A-13, L14.
#[tokio::test(start_paused = true)]
async fn a_legacy_user_who_says_nothing_holds_a_call_only_so_long() {
    let server = server()
        .max_in_flight(1)
        .limits(|limits| limits.ask = Duration::from_millis(200))
        .build()
        .expect("it can be built");
    let mut user = User::of(&server, false, EVERYTHING).await;
    let id = user
        .request("tools/call", json!({ "name": "maybe", "arguments": {} }))
        .await;
    let question = user.receive().await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(server.in_flight(), 1);
    assert_eq!(user.receive().await["method"], "notifications/cancelled");
    let reply = user.receive().await;
    assert_eq!(reply["id"], id);
    assert_eq!(reply["result"]["isError"], true);
    assert_eq!(text(&reply), "`maybe`: nobody has answered in time");
    assert_eq!(server.in_flight(), 0);
    // Late approval changes nothing.
    user.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes(&json!({})) }))
        .await;
    let ping = user.request("ping", json!({})).await;
    assert_eq!(user.receive().await["id"], ping);
}

/// Covers A-11.
#[tokio::test(start_paused = true)]
async fn a_legacy_call_that_is_cancelled_while_it_asks_ends_there() {
    let server = server().build().expect("it can be built");
    let mut user = User::of(&server, false, EVERYTHING).await;
    let params = json!({ "name": "confirm", "arguments": { "what": "leave" } });
    let id = user.request("tools/call", params).await;
    let question = user.receive().await;
    user.send(json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": id },
    }))
    .await;
    assert_eq!(user.receive().await["method"], "notifications/cancelled");
    user.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes(&json!({})) }))
        .await;
    let ping = user.request("ping", json!({})).await;
    assert_eq!(user.receive().await["id"], ping);
    assert_eq!(server.in_flight(), 0);
}
