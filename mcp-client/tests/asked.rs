//! What a server asks and tells.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_client::types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, Declared, ElicitAction,
    ElicitParams, ElicitResult, ElicitationCapability, LoggingLevel, Role, Root, RootsCapability,
    SamplingBlock, SamplingCapability, SubscriptionFilter,
};
use mcp_client::{
    Change, Client, ClientError, ErrorCode, ErrorObject, Host, RawJson, ServerNotification,
    WeakClient, async_trait,
};
use serde_json::{Value, json};
use support::warnings::Warnings;
use support::{Server, builder, legacy, modern, said};
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};

/// Does what the question says.
#[derive(Clone, Default)]
struct Obedient {
    client: Arc<OnceCell<Client>>,
    dropped: Arc<AtomicUsize>,
}

struct OnDrop(Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Host for Obedient {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new()
            .elicitation(
                ElicitationCapability::new()
                    .form(Declared::new())
                    .url(Declared::new()),
            )
            .sampling(SamplingCapability::new().tools(Declared::new()))
            .roots(RootsCapability::new())
    }

    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        let _on_drop = OnDrop(self.dropped.clone());
        match question.message.as_str() {
            "panic" => panic!("as it was told"),
            "wait" => std::future::pending().await,
            "list" => {
                let client = self.client.get().expect("it was set");
                client.list_tools().await.expect("it is answered");
            }
            "accept" => return Ok(filled_in(ElicitAction::Accept)),
            "cancel" => return Ok(filled_in(ElicitAction::Cancel)),
            _ => {}
        }
        Ok(filled_in(ElicitAction::Decline))
    }

    async fn sample(
        &self,
        params: CreateMessageParams,
    ) -> Result<CreateMessageResult, ErrorObject> {
        match params.system_prompt {
            Some(prompt) => {
                let text = SamplingBlock::text(format!("{prompt} {}", params.max_tokens));
                Ok(CreateMessageResult::new(Role::Assistant, text, "model"))
            }
            None => Err(ErrorObject::new(ErrorCode::USER_REJECTED, "no")),
        }
    }

    async fn roots(&self) -> Result<Vec<Root>, ErrorObject> {
        Ok(vec![Root::new("file:///srv")])
    }
}

/// What was filled in, whatever the user did in the end.
fn filled_in(action: ElicitAction) -> ElicitResult {
    ElicitResult::new(action).content(RawJson::from(json!({ "name": "Ada" })))
}

fn elicit(id: &str, message: &str) -> Value {
    json!({
        "id": id,
        "method": "elicitation/create",
        "params": { "message": message, "requestedSchema": { "type": "object", "properties": {} } },
    })
}

/// Covers C08, B-066, B-215c, B-321, B-322, B-324.
#[tokio::test(start_paused = true)]
async fn questions_are_answered_beside_the_reader() {
    let host = Obedient::default();
    let (client, mut server) = legacy(builder().host(host.clone())).await;
    let _ = host.client.set(client.clone());
    let call = client.call("asks", ());
    let called = tokio::spawn(call.into_future());
    let request = server.expect("tools/call").await;

    // One that waits holds up nobody, and is dropped when it is withdrawn.
    server.send(elicit("w", "wait")).await;
    server.send(elicit("p", "panic")).await;
    let answer = server.next().await.unwrap();
    assert_eq!(answer["id"], "p");
    assert_eq!(answer["error"]["code"], -32603);
    server
        .notify("notifications/cancelled", json!({ "requestId": "w" }))
        .await;

    // One that needs the server gets it, while its call waits.
    server.send(elicit("l", "list")).await;
    server.serve("tools/list", json!({ "tools": [] })).await;
    let answer = server.next().await.unwrap();
    assert_eq!(
        answer,
        json!({ "jsonrpc": "2.0", "id": "l", "result": { "action": "decline" } })
    );
    assert_eq!(host.dropped.load(Ordering::Relaxed), 3);
    server.answer(&request, said("done")).await;
    called.await.unwrap().unwrap();
}

/// Covers L13c.
#[tokio::test(start_paused = true)]
async fn a_question_does_not_hide_that_its_server_is_gone() {
    let every = Duration::from_secs(10);
    let client = builder().host(Obedient::default()).ping_every(every);
    let (client, mut server) = legacy(client).await;
    server.send(elicit("w", "wait")).await;
    let began = Instant::now();
    for _ in 0..3 {
        server.expect("ping").await;
        server.expect("notifications/cancelled").await;
    }
    assert_eq!(server.next().await, None);
    assert_eq!(began.elapsed(), 6 * every);
    assert!(!client.closed().await.by_us);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_calls_the_server_has_a_turn_of_its_own() {
    let host = Obedient::default();
    let (client, mut server) = legacy(builder().host(host.clone()).max_in_flight(1)).await;
    let _ = host.client.set(client.clone());
    for _ in 0..2 {
        let called = tokio::spawn(client.call("asks", ()).into_future());
        let request = server.expect("tools/call").await;
        server.send(elicit("l", "list")).await;
        let listed = timeout(PATIENCE, server.serve("tools/list", json!({ "tools": [] })));
        listed.await.expect("the host has a turn");
        assert_eq!(server.next().await.unwrap()["id"], "l");
        // It has given it back.
        let next = tokio::spawn(client.call("next", ()).into_future());
        assert!(timeout(PATIENCE, server.next()).await.is_err());
        server.answer(&request, said("done")).await;
        called.await.unwrap().unwrap();
        server.serve("tools/call", said("done")).await;
        next.await.unwrap().unwrap();
    }

    // In a later revision the host answers between two turns.
    let host = Obedient::default();
    let (client, mut server) = modern(builder().host(host.clone()).max_in_flight(1)).await;
    let _ = host.client.set(client.clone());
    let called = tokio::spawn(client.call("asks", ()).into_future());
    let question =
        json!({ "method": "elicitation/create", "params": elicit("", "list")["params"] });
    let needs = json!({ "resultType": "input_required", "inputRequests": { "q": question } });
    server.serve("tools/call", needs).await;
    server.serve("tools/list", json!({ "tools": [] })).await;
    server.serve("tools/call", said("done")).await;
    called.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn any_number_of_calls_may_be_in_flight() {
    let (client, mut server) = modern(builder().max_in_flight(usize::MAX)).await;
    let call = client.call("any", ()).into_future();
    let (called, _) = tokio::join!(call, server.serve("tools/call", said("done")));
    called.unwrap();
}

/// Covers M01, M02, EL01, SA01, RO01.
#[tokio::test(start_paused = true)]
async fn each_request_says_who_asks_and_what_it_can_answer() {
    let host = Obedient::default();
    for anonymous in [false, true] {
        let mut builder = builder().host(host.clone());
        if anonymous {
            builder = builder.anonymous();
        }
        let (client, mut server) = modern(builder).await;
        let (called, request) = tokio::join!(
            client.call("any", ()).into_future(),
            server.serve("tools/call", said("done"))
        );
        called.unwrap();
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {},
            },
        });
        if !anonymous {
            let info = json!({ "name": "test", "version": "1" });
            meta["io.modelcontextprotocol/clientInfo"] = info;
        }
        assert_eq!(request["params"]["_meta"], meta);
        assert_eq!(request["params"].get("arguments"), None);
    }
}

/// Covers SA05, SA06, RO02.
#[tokio::test(start_paused = true)]
async fn what_the_host_says_goes_to_the_server_as_it_is() {
    let (_client, mut server) = legacy(builder().host(Obedient::default())).await;
    for (method, params, answer) in [
        (
            "sampling/createMessage",
            json!({ "messages": [], "maxTokens": 7, "systemPrompt": "be brief" }),
            json!({ "result": {
                "role": "assistant", "model": "model",
                "content": { "type": "text", "text": "be brief 7" },
            } }),
        ),
        (
            "sampling/createMessage",
            json!({ "messages": [], "maxTokens": 7 }),
            json!({ "error": { "code": -1, "message": "no" } }),
        ),
        (
            "roots/list",
            json!({}),
            json!({ "result": { "roots": [{ "uri": "file:///srv" }] } }),
        ),
    ] {
        let request = json!({ "id": "q", "method": method, "params": params });
        server.send(request).await;
        let mut expected = answer;
        expected["jsonrpc"] = "2.0".into();
        expected["id"] = "q".into();
        assert_eq!(server.next().await.unwrap(), expected);
    }
}

/// What is asked, and the answer that the server gets.
async fn asked_in_both_eras(method: &str, params: Value) -> [Value; 2] {
    let (_client, mut server) = legacy(builder().host(Obedient::default())).await;
    let question = json!({ "method": method, "params": params });
    let mut request = question.clone();
    request["id"] = "q".into();
    server.send(request).await;
    let mut answer = server.next().await.unwrap();
    let old = match answer.get("error") {
        Some(error) => error["code"].clone(),
        None => answer["result"].take(),
    };
    let (client, mut server) = modern(builder().host(Obedient::default())).await;
    let call = client.call("asks", ()).into_future();
    let play = async {
        let needs = json!({ "resultType": "input_required", "inputRequests": { "q": question } });
        server.serve("tools/call", needs).await;
        // When there is no answer the call has failed, and nothing comes any more.
        match timeout(PATIENCE, server.next()).await {
            Ok(Some(mut again)) => {
                server.answer(&again, said("done")).await;
                again["params"]["inputResponses"]["q"].take()
            }
            _ => Value::Null,
        }
    };
    let (outcome, answer) = tokio::join!(call, play);
    let new = match outcome {
        Err(ClientError::Unanswered { error, .. }) => error.code.0.into(),
        outcome => outcome.map(|_| answer).unwrap(),
    };
    [old, new]
}

/// Covers EL08.
#[tokio::test(start_paused = true)]
async fn only_a_form_that_was_accepted_has_something_filled_in() {
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    for (message, answer) in [
        (
            "accept",
            json!({ "action": "accept", "content": { "name": "Ada" } }),
        ),
        ("decline", json!({ "action": "decline" })),
        ("cancel", json!({ "action": "cancel" })),
    ] {
        let params = json!({ "message": message, "requestedSchema": form });
        let answers = asked_in_both_eras("elicitation/create", params).await;
        assert_eq!(answers, [answer.clone(), answer]);
    }
    let page = json!({ "message": "accept", "mode": "url", "url": "a:b", "elicitationId": "1" });
    let answers = asked_in_both_eras("elicitation/create", page).await;
    assert_eq!(answers, [(); 2].map(|()| json!({ "action": "accept" })));
}

/// Covers SA03c.
#[tokio::test(start_paused = true)]
async fn a_conversation_with_tools_is_refused_unless_their_results_are_in_place() {
    let text = || json!({ "type": "text", "text": "?" });
    let calls = |id: &str| json!({ "type": "tool_use", "id": id, "name": "t", "input": {} });
    let gave = |id: &str| json!({ "type": "tool_result", "toolUseId": id, "content": [] });
    let message = |role: &str, content: Value| json!({ "role": role, "content": content });
    let model = |content: Value| message("assistant", content);
    let user = |content: Value| message("user", content);
    for (messages, fits) in [
        (vec![user(text())], true),
        (vec![model(calls("a")), user(gave("a"))], true),
        (
            vec![
                user(text()),
                model(json!([text(), calls("a"), calls("b")])),
                user(json!([gave("b"), gave("a")])),
                model(calls("a")),
                user(gave("a")),
                model(text()),
            ],
            true,
        ),
        (vec![model(calls("a"))], false),
        (
            vec![model(calls("a")), user(text()), user(gave("a"))],
            false,
        ),
        (
            vec![model(calls("a")), user(json!([gave("a"), text()]))],
            false,
        ),
        (vec![model(calls("a")), model(gave("a"))], false),
        (vec![model(calls("a")), user(gave("b"))], false),
        (
            vec![model(json!([calls("a"), calls("b")])), user(gave("a"))],
            false,
        ),
        (
            vec![model(calls("a")), user(json!([gave("a"), gave("a")]))],
            false,
        ),
        (vec![user(gave("a"))], false),
    ] {
        let params = json!({ "messages": messages, "maxTokens": 7, "systemPrompt": "say" });
        let answers = asked_in_both_eras("sampling/createMessage", params).await;
        let [old, new] = answers.each_ref().map(|answer| match answer {
            Value::Number(code) => (*code != (-32602).into()).then_some(true),
            answer => Some(answer["content"]["text"] != "say 7"),
        });
        let expected = fits.then_some(false);
        assert_eq!((old, new), (expected, expected), "{messages:?} {answers:?}");
    }
}

/// Covers X13, X17c.
#[tokio::test(start_paused = true)]
async fn what_one_call_was_asked_is_no_business_of_another() {
    let (client, mut server) = modern(builder().host(Obedient::default())).await;
    let first = tokio::spawn(client.call("asks", json!({ "n": 1 })).into_future());
    let request = server.expect("tools/call").await;
    let questions = json!({
        "form": { "method": "elicitation/create", "params": elicit("", "accept")["params"] },
        "model": { "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 7, "systemPrompt": "be brief" } },
        "roots": { "method": "roots/list" },
    });
    let needs =
        json!({ "resultType": "input_required", "inputRequests": questions, "requestState": "s" });
    server.answer(&request, needs).await;
    let again = server.expect("tools/call").await;
    let text = json!({ "type": "text", "text": "be brief 7" });
    assert_eq!(
        again["params"]["inputResponses"],
        json!({
            "form": { "action": "accept", "content": { "name": "Ada" } },
            "model": { "role": "assistant", "model": "model", "content": text },
            "roots": { "roots": [{ "uri": "file:///srv" }] },
        })
    );
    assert_eq!(again["params"]["requestState"], "s");
    // Beside it, and after it.
    for beside in [true, false] {
        let second = tokio::spawn(client.call("asks", json!({ "n": 1 })).into_future());
        let other = server.serve("tools/call", said("other")).await;
        for member in ["inputResponses", "requestState"] {
            assert_eq!(other["params"].get(member), None, "{other}");
        }
        second.await.unwrap().unwrap();
        if beside {
            server.answer(&again, said("done")).await;
        }
    }
    first.await.unwrap().unwrap();
}

fn filter() -> SubscriptionFilter {
    SubscriptionFilter::new()
        .tools_list_changed(true)
        .resource_subscriptions(vec!["file:///a".to_owned()])
}

const PATIENCE: Duration = Duration::from_secs(5);

/// Covers S08, S13, B-138c, B-220.
#[tokio::test(start_paused = true)]
async fn a_modern_server_is_listened_to_by_a_stream() {
    let (client, mut server) = modern(builder()).await;
    let acknowledged = async {
        let request = server.expect("subscriptions/listen").await;
        let params = json!({
            "_meta": { "io.modelcontextprotocol/subscriptionId": request["id"] },
            "notifications": { "toolsListChanged": true },
        });
        server
            .notify("notifications/subscriptions/acknowledged", params)
            .await;
        request
    };
    let (listening, request) = tokio::join!(client.listen(filter()), acknowledged);
    let mut listening = listening.unwrap();
    assert_eq!(listening.granted().resource_subscriptions, None);
    let meta = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": request["id"] } });
    for _ in 0..12 {
        server
            .notify("notifications/tools/list_changed", meta.clone())
            .await;
    }
    sleep(PATIENCE).await;
    // What waits to be taken is not told twice.
    assert_eq!(listening.next().await, Some(Change::Tools));
    assert!(timeout(PATIENCE, listening.next()).await.is_err());
    drop(listening);
    let cancelled = server.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_the_server_ends_it_and_fails_when_it_is_refused() {
    let (client, mut server) = modern(builder()).await;
    let refused = async {
        let request = server.expect("subscriptions/listen").await;
        server.refuse(&request, -31503).await;
    };
    let (listening, ()) = tokio::join!(client.listen(filter()), refused);
    assert!(listening.is_err());
    let acknowledged = async |server: &mut Server| {
        let request = server.expect("subscriptions/listen").await;
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": request["id"] });
        let params = json!({ "_meta": meta, "notifications": {} });
        server
            .notify("notifications/subscriptions/acknowledged", params)
            .await;
        request
    };
    for refused in [false, true] {
        let (listening, request) = tokio::join!(client.listen(filter()), acknowledged(&mut server));
        let mut listening = listening.unwrap();
        if refused {
            server.refuse(&request, -32603).await;
        } else {
            let meta = json!({ "io.modelcontextprotocol/subscriptionId": request["id"] });
            server.answer(&request, json!({ "_meta": meta })).await;
        }
        assert_eq!(listening.next().await, None);
        let failure = listening.failure();
        assert_eq!(
            matches!(failure, Some(ClientError::Rpc(_))),
            refused,
            "{failure:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_legacy_server_has_not_declared_is_not_granted() {
    let (client, mut server) = legacy(builder()).await;
    let prompts = SubscriptionFilter::new().prompts_list_changed(true);
    let error = client.listen(prompts).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    let (listening, _) = tokio::join!(
        client.listen(filter().prompts_list_changed(true)),
        server.serve("resources/subscribe", json!({}))
    );
    assert_eq!(*listening.unwrap().granted(), filter());
}

#[tokio::test(start_paused = true)]
async fn what_lies_below_a_resource_is_told_of_and_what_only_begins_like_it_is_not() {
    let (client, mut server) = legacy(builder()).await;
    let (listening, _) = tokio::join!(
        client.listen(filter()),
        server.serve("resources/subscribe", json!({}))
    );
    for uri in ["file:///ab", "file:///a/b"] {
        let params = json!({ "uri": uri });
        server
            .notify("notifications/resources/updated", params)
            .await;
    }
    let below = Change::Resource("file:///a/b".to_owned());
    assert_eq!(listening.unwrap().next().await, Some(below));
}

/// Asks its server, and keeps no handle to it that counts.
#[derive(Default)]
struct Weak(OnceCell<WeakClient>);

#[async_trait]
impl Host for Weak {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new().roots(RootsCapability::new())
    }

    async fn roots(&self) -> Result<Vec<Root>, ErrorObject> {
        let client = self.0.get().and_then(WeakClient::upgrade);
        let client = client.expect("it is there while it is asked");
        client.ping().await.expect("it is answered");
        Ok(Vec::new())
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_may_keep_its_client_without_keeping_it_open() {
    let host = Arc::new(Weak::default());
    let (client, mut server) = legacy(builder().host(host.clone())).await;
    host.0.set(client.downgrade()).unwrap();
    server
        .send(json!({ "id": "r", "method": "roots/list" }))
        .await;
    server.serve("ping", json!({})).await;
    assert_eq!(server.next().await.unwrap()["id"], "r");
    drop(client);
    assert_eq!(server.next().await, None);
    assert!(host.0.get().unwrap().upgrade().is_none());
}

/// Covers B-136, B-138c.
#[tokio::test(start_paused = true)]
async fn a_legacy_server_is_listened_to_by_subscriptions() {
    let (client, mut server) = legacy(builder()).await;
    let (first, request) = tokio::join!(
        client.listen(filter()),
        server.serve("resources/subscribe", json!({}))
    );
    assert_eq!(request["params"]["uri"], "file:///a");
    let (second, _) = tokio::join!(
        client.listen(filter()),
        server.serve("resources/subscribe", json!({}))
    );
    let (mut first, second) = (first.unwrap(), second.unwrap());
    for changed in [
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
    ] {
        server.notify(changed, json!({})).await;
    }
    server
        .notify(
            "notifications/resources/updated",
            json!({ "uri": "file:///a" }),
        )
        .await;
    assert_eq!(first.next().await, Some(Change::Tools));
    let update = Change::Resource("file:///a".to_owned());
    assert_eq!(first.next().await, Some(update));
    // The subscription is theirs both.
    drop(second);
    assert!(timeout(PATIENCE, server.next()).await.is_err());
    drop(first);
    server.expect("resources/unsubscribe").await;
}

#[tokio::test(start_paused = true)]
async fn log_messages_come_at_the_level_that_was_set_in_either_era() {
    let (client, mut server) = legacy(builder()).await;
    let mut heard = client.notifications();
    let (set, request) = tokio::join!(
        client.set_level(LoggingLevel::Warning),
        server.serve("logging/setLevel", json!({}))
    );
    set.unwrap();
    assert_eq!(request["params"]["level"], "warning");
    let message = json!({ "level": "error", "data": "no" });
    server.notify("notifications/message", message).await;
    let message = heard.next().await.unwrap();
    assert!(
        matches!(message, ServerNotification::LogMessage(message) if message.data.as_str() == "\"no\"")
    );
    client.close().await;
    assert_eq!(heard.next().await, None);
    assert_eq!(client.notifications().next().await, None);

    let (client, mut server) = modern(builder()).await;
    client.set_level(LoggingLevel::Warning).await.unwrap();
    let (called, request) = tokio::join!(
        client.call("logs", ()).into_future(),
        server.serve("tools/call", said("done"))
    );
    called.unwrap();
    let level = &request["params"]["_meta"]["io.modelcontextprotocol/logLevel"];
    assert_eq!(level, "warning");
}

/// Covers T16, A-31, B-091, B-093c, B-097, B-179, B-234.
#[tokio::test(start_paused = true)]
async fn noise_is_passed_over_and_shown_once() {
    let warnings = Warnings::default();
    let _guard = tracing::subscriber::set_default(warnings.clone());
    let (client, mut server) = modern(builder()).await;
    let called = tokio::spawn(client.call("any", ()).into_future());
    let request = server.expect("tools/call").await;
    server
        .write(&format!("Welcome! {}", "x".repeat(1_000)))
        .await;
    for line in ["", "42", "[]", "{\"level\":\"info\"}", "{broken"] {
        server.write(line).await;
    }
    server.send(json!({ "id": "nobody", "result": {} })).await;
    let report = json!({ "progressToken": 424242, "progress": 1 });
    server.notify("notifications/progress", report).await;
    server.answer(&request, said("fine")).await;
    called.await.unwrap().unwrap();
    let warnings = warnings.take();
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(warning.contains("\"Welcome! xxx"), "{warning}");
    assert_eq!(warning.matches('x').count(), 191);
}
