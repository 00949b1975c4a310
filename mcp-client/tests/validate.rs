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
    let call = client.call_tool(tool, ()).into_future();
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
#[tokio::test(start_paused = true)]
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

#[tokio::test(start_paused = true)]
async fn nothing_is_validated_unless_it_is_wanted() {
    let (client, mut server) = modern(builder()).await;
    listed(&client, &mut server).await;
    let wrong = structured(json!({}));
    assert_eq!(refused(&client, &mut server, "typed", wrong).await, None);
}
