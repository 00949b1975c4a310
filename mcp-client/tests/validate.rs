//! Outputs that do not fit, where somebody wants to know.

mod support;

use mcp_client::{Client, ClientError};
use serde_json::{Value, json};
use support::{Server, builder, legacy, modern};

async fn listed(client: &Client, server: &mut Server) {
    let schema = json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
    });
    let tools = json!([
        { "name": "typed", "inputSchema": {}, "outputSchema": schema },
        { "name": "broken", "inputSchema": {}, "outputSchema": { "$ref": "https://example.com/s" } },
        { "name": "free", "inputSchema": {} },
    ]);
    let (tools, _) = tokio::join!(
        client.list_tools(),
        server.serve("tools/list", json!({ "tools": tools }))
    );
    assert_eq!(tools.unwrap().len(), 3);
}

/// Why a result is refused.
async fn refused(
    client: &Client,
    server: &mut Server,
    tool: &str,
    result: Value,
) -> Option<String> {
    let call = client.call(tool, ()).into_future();
    let (outcome, _) = tokio::join!(call, server.serve("tools/call", result.clone()));
    match outcome {
        Ok(_) => None,
        Err(ClientError::Invalid { why, result: given }) => {
            let given = serde_json::to_value(given).unwrap();
            assert_eq!(given["structuredContent"], result["structuredContent"]);
            Some(why)
        }
        Err(error) => panic!("{error}"),
    }
}

fn structured(value: Value) -> Value {
    json!({ "content": [], "structuredContent": value })
}

/// Covers TL09, B-127, JS04c, JS05c.
#[tokio::test]
async fn an_output_that_does_not_fit_is_told_with_what_it_is() {
    for legacy_era in [false, true] {
        let validating = builder().validate_output(true);
        let (client, mut server) = match legacy_era {
            true => legacy(validating).await,
            false => modern(validating).await,
        };
        let server = &mut server;
        // What was not listed has no schema that is known.
        let wrong = structured(json!({ "n": "secret" }));
        assert_eq!(refused(&client, server, "typed", wrong.clone()).await, None);
        listed(&client, server).await;
        let right = structured(json!({ "n": 1 }));
        assert_eq!(refused(&client, server, "typed", right).await, None);
        let why = refused(&client, server, "typed", wrong.clone()).await;
        assert_eq!(
            why.as_deref(),
            Some("value is not of type \"integer\" (at `/n`)")
        );
        let why = refused(&client, server, "typed", json!({ "content": [] })).await;
        assert_eq!(why.as_deref(), Some("there is none, and a schema for it"));
        let failed = json!({ "content": [], "isError": true });
        assert_eq!(refused(&client, server, "typed", failed).await, None);
        assert_eq!(refused(&client, server, "free", wrong.clone()).await, None);
        let why = refused(&client, server, "broken", wrong).await.unwrap();
        assert!(why.starts_with("its schema is of no use: "), "{why}");
    }
}

#[tokio::test]
async fn nothing_is_validated_unless_it_is_wanted() {
    let (client, mut server) = modern(builder()).await;
    listed(&client, &mut server).await;
    let wrong = structured(json!({}));
    assert_eq!(refused(&client, &mut server, "typed", wrong).await, None);
}

/// Why an output of this schema is refused.
async fn verdict(schema: Value, output: Value) -> Option<String> {
    let (client, mut server) = modern(builder().validate_output(true)).await;
    let tool = json!({ "name": "t", "inputSchema": {}, "outputSchema": schema });
    let (tools, _) = tokio::join!(
        client.list_tools(),
        server.serve("tools/list", json!({ "tools": [tool] }))
    );
    assert_eq!(tools.unwrap().len(), 1);
    refused(&client, &mut server, "t", structured(output)).await
}

/// Covers JS01c, JS02c, JS03c.
#[tokio::test]
async fn a_schema_is_of_2020_12_unless_it_names_another_dialect() {
    let tuple = || {
        json!({
            "$defs": { "n": { "type": "integer" } },
            "prefixItems": [{ "$ref": "#/$defs/n" }],
            "unevaluatedItems": false,
        })
    };
    assert_eq!(verdict(tuple(), json!([1])).await, None);
    assert!(verdict(tuple(), json!(["1"])).await.is_some());
    assert!(verdict(tuple(), json!([1, 2])).await.is_some());
    let mut older = tuple();
    older["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    assert_eq!(verdict(older, json!(["1", 2])).await, None);
    for (schema, why) in [
        (
            json!({ "$schema": "https://example.com/own" }),
            "'https://example.com/own'",
        ),
        (json!({ "type": 5 }), ""),
        (json!({ "pattern": "(" }), ""),
    ] {
        let refused = verdict(schema, json!(1)).await.unwrap();
        let expected = "its schema is of no use: ";
        assert!(
            refused.starts_with(expected) && refused.contains(why),
            "{refused}"
        );
    }
}

/// Covers JS04c, JS05c.
#[tokio::test]
async fn what_a_schema_refers_to_is_never_fetched() {
    let canary = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let away = format!("http://{}/schema", canary.local_addr().unwrap());
    for reference in [&away, "file:///dev/null", "other.json", "urn:example:a"] {
        for schema in [
            json!({ "$ref": reference }),
            json!({ "properties": { "a": { "items": { "$ref": reference } } } }),
            json!({ "$id": away, "$dynamicRef": format!("{reference}#a") }),
        ] {
            let why = verdict(schema, json!({})).await.unwrap();
            assert!(why.starts_with("its schema is of no use: "), "{why}");
        }
    }
    assert!(canary.accept().is_err(), "somebody has called");
}

fn repeated(times: usize, member: &str) -> Value {
    let deep = format!(
        "{}{{}}{}",
        format!(r#"{{"{member}":"#).repeat(times),
        "}".repeat(times)
    );
    serde_json::from_str(&deep).unwrap()
}

/// A schema that says what its first does, after as many references.
fn chain(length: usize, mut last: Value) -> Value {
    let mut definitions = serde_json::Map::new();
    for number in (0..length).rev() {
        definitions.insert(format!("d{number}"), last);
        last = json!({ "$ref": format!("#/$defs/d{number}") });
    }
    last["$defs"] = definitions.into();
    last
}

/// Covers B-027c, JS06c.
#[tokio::test]
async fn no_schema_keeps_its_client_busy_or_overflows_it() {
    // Two ways at each of sixty places.
    let mut ways = chain(60, json!({ "type": "string" }));
    for (_, schema) in ways["$defs"].as_object_mut().unwrap() {
        if schema.get("$ref").is_some() {
            *schema = json!({ "anyOf": [schema, schema] });
        }
    }
    let slow = "its schema takes longer than 2s";
    assert_eq!(verdict(ways, json!(1)).await.as_deref(), Some(slow));

    let large = "its schema is of no use: it is too large";
    let long = chain(10_000, json!({ "type": "string" }));
    assert_eq!(verdict(long, json!(1)).await.as_deref(), Some(large));
    let wide = json!({ "enum": vec![0; 20_000] });
    assert_eq!(verdict(wide, json!(0)).await.as_deref(), Some(large));

    // As long and as deep as can be.
    let again = |length| chain(length, json!({ "properties": { "a": { "$ref": "#" } } }));
    let deep = |times| repeated(times, "a");
    assert_eq!(verdict(again(2_000), json!(1)).await, None);
    // How long this takes is up to the machine.
    assert_ne!(
        verdict(again(9_000), json!(1)).await.as_deref(),
        Some(large)
    );
    assert_eq!(verdict(again(30), deep(120)).await, None);
    let why = verdict(again(300), deep(120)).await;
    assert_eq!(
        why.as_deref(),
        Some("it is nested too deeply for its schema")
    );
    let why = verdict(json!({ "not": repeated(114, "not") }), json!(1)).await;
    assert!(why.is_some_and(|why| why.len() < 1_000));
}
