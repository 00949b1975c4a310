//! STRUCT: what a result may hold.

use serde_json::json;

use crate::script::{BOTH, Opened, Play};
use crate::support::fixture;

/// Covers B-117, B-121.
#[test]
fn a_result_that_is_no_object_is_wrapped_for_legacy_clients_in_schema_and_value() {
    for opened in BOTH {
        let mut play = Play::new(&mut fixture(&[]), opened, json!({}));
        play.play("> 1 tools/list");
        let tools = play.receive()["result"]["tools"].take();
        let output = |name: &str| {
            let tools = tools.as_array().expect("a list");
            let tool = tools.iter().find(|tool| tool["name"] == name);
            tool.expect("it is listed").get("outputSchema").cloned()
        };
        assert_eq!(output("echo"), None);
        assert_eq!(output("nothing"), None);
        let numbers = json!({ "type": "array", "items": { "type": "number" } });
        let divided = output("divide").expect("it is declared");
        assert_eq!(divided["required"], json!(["quotient", "exact"]));
        let (schema, value) = match opened {
            Opened::Modern => (numbers, "[1.5, null, null, null]"),
            _ => {
                let wrapped = json!({ "result": numbers });
                let wrapped =
                    json!({ "type": "object", "properties": wrapped, "required": ["result"] });
                (wrapped, r#"{"result": [1.5, null, null, null]}"#)
            }
        };
        assert_eq!(output("numbers"), Some(schema));
        play.play(&format!(
            "> 2 call numbers\n< 2 ok {{\"structuredContent\": {value}}}"
        ));
        for any in ["5", "\"a\"", "null", "true", "[1]"] {
            let expected = match opened {
                Opened::Modern => any.to_owned(),
                _ => format!("{{\"result\": {any}}}"),
            };
            play.play(&format!(
                r#"
                > 3 call same {{"value": {any}}}
                < 3 ok {{"structuredContent": {expected}}}
                "#
            ));
        }
        play.ends_well();
    }
}
