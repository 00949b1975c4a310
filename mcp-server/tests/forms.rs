//! Forms that are derived: what a user is shown, and what becomes of the answer.

use std::future::poll_fn;

use mcp_server::input::{Choice, Field, form};
use mcp_server::prelude::*;
use mcp_server::transport::{Frame, Receiver as _, Sender as _, Transport};
use mcp_server::types::{SingleSelectSchema, StringSchema, TitledChoice};
use mcp_transport_stdio::memory::{Memory, pair};
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

impl Choice for Size {
    fn choices() -> SingleSelectSchema {
        SingleSelectSchema::of(["small", "large"])
    }
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Topping {
    Nuts,
}

impl Choice for Topping {
    fn choices() -> SingleSelectSchema {
        SingleSelectSchema::titled([TitledChoice::new("nuts", "Many nuts")])
    }
}

#[derive(Debug, PartialEq, Deserialize)]
struct Zip(String);

impl Field for Zip {
    type Schema = StringSchema;

    fn field() -> StringSchema {
        StringSchema::new().min_length(5).max_length(5)
    }
}

#[derive(Debug, PartialEq, Form)]
struct Order {
    /// Where we can
    /// reach you.
    #[form(title = "E-mail", format = "email", default = "a@b.c")]
    email: String,
    /// Not shown.
    #[form(name = "fullName", description = "Your name.", min = 2, max = 40)]
    name: String,
    #[form(min = 1, max = 9, default = 2)]
    count: u8,
    #[form(min = -10, max = 10, default = -1)]
    degrees: Option<i64>,
    #[form(min = -0.5, max = 2, default = 1.5)]
    factor: f32,
    #[form(default = true)]
    gift: bool,
    #[form(title = "Which", default = "small")]
    size: Size,
    topping: Option<Topping>,
    #[form(min = 1, max = 2)]
    sizes: Vec<Size>,
    toppings: Vec<Topping>,
    zip: Zip,
    #[form(format = "date-time")]
    r#when: Option<String>,
    whole: i32,
}

#[derive(Debug, PartialEq, Form)]
struct Nothing {}

fn schema<T: Form>() -> Value {
    serde_json::to_value(T::schema()).expect("JSON")
}

#[test]
fn a_form_is_shown_as_its_types_and_attributes_say() {
    let properties = json!({
        "email": {
            "type": "string",
            "title": "E-mail",
            "description": "Where we can reach you.",
            "format": "email",
            "default": "a@b.c",
        },
        "fullName": {
            "type": "string",
            "description": "Your name.",
            "minLength": 2,
            "maxLength": 40,
        },
        "count": { "type": "integer", "minimum": 1, "maximum": 9, "default": 2 },
        "degrees": { "type": "integer", "minimum": -10, "maximum": 10, "default": -1 },
        "factor": { "type": "number", "minimum": -0.5, "maximum": 2, "default": 1.5 },
        "gift": { "type": "boolean", "default": true },
        "size": {
            "type": "string",
            "title": "Which",
            "enum": ["small", "large"],
            "default": "small",
        },
        "topping": { "type": "string", "oneOf": [{ "const": "nuts", "title": "Many nuts" }] },
        "sizes": {
            "type": "array",
            "items": { "type": "string", "enum": ["small", "large"] },
            "minItems": 1,
            "maxItems": 2,
        },
        "toppings": {
            "type": "array",
            "items": { "anyOf": [{ "const": "nuts", "title": "Many nuts" }] },
        },
        "zip": { "type": "string", "minLength": 5, "maxLength": 5 },
        "when": { "type": "string", "format": "date-time" },
        "whole": { "type": "integer" },
    });
    let required = [
        "email", "fullName", "count", "factor", "gift", "size", "sizes", "toppings", "zip", "whole",
    ];
    assert_eq!(
        schema::<Order>(),
        json!({ "type": "object", "properties": properties, "required": required }),
    );
    assert_eq!(
        schema::<Nothing>(),
        json!({ "type": "object", "properties": {} })
    );
    let shown: Vec<_> = Order::schema()
        .properties
        .iter()
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(shown[..3], ["email", "fullName", "count"]);
}

#[derive(Form)]
struct Natural {
    small: u8,
    large: usize,
}

#[test]
fn a_number_that_is_not_below_zero_says_so() {
    let Natural { small, large } =
        serde_json::from_value(json!({ "small": 1, "large": 2 })).expect("it is of the form");
    assert_eq!((small, large), (1, 2));
    let natural = json!({ "type": "integer", "minimum": 0 });
    assert_eq!(
        schema::<Natural>()["properties"],
        json!({ "small": natural, "large": natural })
    );
}

fn answer() -> Value {
    json!({
        "email": "x@y.z",
        "fullName": "Ada",
        "count": 3,
        "factor": 1,
        "gift": false,
        "size": "large",
        "topping": "nuts",
        "sizes": ["small"],
        "toppings": [],
        "zip": "12345",
        "whole": -7,
    })
}

#[test]
fn an_answer_is_read_by_the_names_that_are_shown() {
    let order: Order = serde_json::from_value(answer()).expect("it is of the form");
    let expected = Order {
        email: "x@y.z".to_owned(),
        name: "Ada".to_owned(),
        count: 3,
        degrees: None,
        factor: 1.0,
        gift: false,
        size: Size::Large,
        topping: Some(Topping::Nuts),
        sizes: vec![Size::Small],
        toppings: vec![],
        zip: Zip("12345".to_owned()),
        when: None,
        whole: -7,
    };
    assert_eq!(order, expected);
    for (name, wrong) in [
        ("fullName", Value::Null),
        ("count", json!(-1)),
        ("count", json!("3")),
        ("size", json!("huge")),
        ("topping", json!("salt")),
        ("sizes", json!(["huge"])),
        ("gift", json!("yes")),
    ] {
        let mut answer = answer();
        answer[name] = wrong;
        assert!(serde_json::from_value::<Order>(answer).is_err(), "{name}");
    }
}

/// Asks for an order.
#[derive(Deserialize, JsonSchema, Tool)]
struct Shop {}

impl Run for Shop {
    async fn run(self, cx: &Context) -> Result<String, ToolError> {
        let order = cx.input("order", form::<Order>("What shall it be?"))?;
        Ok(format!("{} {} {:?}", order.name, order.count, order.size))
    }
}

/// A client of either era, whose user gives these answers one after another. Gives the reply and
/// the forms that the user was shown.
async fn shop(modern: bool, answers: &[Value]) -> (Value, Vec<Value>) {
    let server = Server::new("shop", "1.0.0").tool::<Shop>().build();
    let server = server.expect("it can be built");
    let (ours, theirs) = pair();
    tokio::spawn(async move { server.serve(theirs).await });
    let (mut receiver, mut sender) = ours.split();
    let mut params = json!({ "name": "shop", "arguments": {} });
    if modern {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        });
    } else {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "elicitation": { "form": {} } },
            "clientInfo": { "name": "test", "version": "1" },
        });
        send(
            &mut sender,
            json!({ "id": 0, "method": "initialize", "params": params }),
        )
        .await;
        receive(&mut receiver).await;
    }
    send(
        &mut sender,
        json!({ "id": 1, "method": "tools/call", "params": params }),
    )
    .await;
    let mut answers = answers.iter();
    let mut shown = Vec::new();
    loop {
        let message = receive(&mut receiver).await;
        let in_result = &message["result"]["inputRequests"]["order"];
        let asked = if modern { in_result } else { &message };
        if asked.get("method").is_none() {
            return (message, shown);
        }
        shown.push(asked["params"]["requestedSchema"].clone());
        let content = answers.next().expect("no more is asked");
        let answer = json!({ "action": "accept", "content": content });
        if modern {
            params["inputResponses"] = json!({ "order": answer });
            params["requestState"] = message["result"]["requestState"].clone();
            send(
                &mut sender,
                json!({ "id": 1, "method": "tools/call", "params": params }),
            )
            .await;
        } else {
            send(
                &mut sender,
                json!({ "id": message["id"], "result": answer }),
            )
            .await;
        }
    }
}

async fn send(sender: &mut <Memory as Transport>::Sender, mut message: Value) {
    message["jsonrpc"] = json!("2.0");
    sender.send(&Frame::from(message.to_string()), None);
    let flushed = poll_fn(|cx| sender.poll_flush(cx)).await;
    flushed.expect("the server reads");
}

async fn receive(receiver: &mut <Memory as Transport>::Receiver) -> Value {
    let frame = poll_fn(|cx| receiver.poll_receive(cx)).await;
    let frame = frame.expect("it is open").expect("memory does not fail");
    serde_json::from_slice(&frame).expect("only JSON is written")
}

/// Covers EL07, X09.
#[tokio::test(start_paused = true)]
async fn a_user_fills_in_a_form_and_an_answer_that_is_none_is_asked_again() {
    for modern in [false, true] {
        let (reply, shown) = shop(modern, &[answer()]).await;
        assert_eq!(
            reply["result"]["content"][0]["text"], "Ada 3 Large",
            "{reply}"
        );
        assert_eq!(shown, [schema::<Order>()]);

        let mut unusable = answer();
        unusable["size"] = json!("huge");
        let answers = [json!({}), unusable, answer()];
        let (reply, shown) = shop(modern, &answers).await;
        assert_eq!(
            reply["result"]["content"][0]["text"], "Ada 3 Large",
            "{reply}"
        );
        assert_eq!(shown.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_whole_number_may_be_filled_in_with_a_fraction_of_zeros() {
    for count in [json!(3.0), json!(3)] {
        for modern in [false, true] {
            let mut answer = answer();
            answer["count"] = count.clone();
            answer["whole"] = json!(-0.0);
            let (reply, shown) = shop(modern, &[answer]).await;
            let text = &reply["result"]["content"][0]["text"];
            assert_eq!((text, shown.len()), (&json!("Ada 3 Large"), 1));
        }
    }
}

#[derive(Debug, PartialEq, Choice)]
enum Plain {
    VerySmall,
    #[choice(name = "xl")]
    ExtraLarge,
}

#[derive(Debug, PartialEq, Choice)]
enum Titled {
    #[choice(title = "Not large")]
    Small,
    Large,
}

#[test]
fn choices_are_derived_with_the_names_that_are_read() {
    let schema = serde_json::to_value(Plain::choices()).expect("JSON");
    assert_eq!(
        schema,
        json!({ "type": "string", "enum": ["very_small", "xl"] })
    );
    let titled = serde_json::to_value(Titled::choices()).expect("JSON");
    let one_of = json!([
        { "const": "small", "title": "Not large" },
        { "const": "large", "title": "large" },
    ]);
    assert_eq!(titled, json!({ "type": "string", "oneOf": one_of }));
    let read = |name: &str| serde_json::from_value::<Plain>(json!(name)).ok();
    assert_eq!(read("very_small"), Some(Plain::VerySmall));
    assert_eq!(read("xl"), Some(Plain::ExtraLarge));
    assert_eq!(read("ExtraLarge"), None);
    let read = |name: &str| serde_json::from_value::<Titled>(json!(name)).ok();
    assert_eq!(
        [read("small"), read("large")],
        [Some(Titled::Small), Some(Titled::Large)]
    );
}
