//! What is not a tool: resources, prompts, completion, and how clients hear of changes.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Peer, call, modern, request};
use crate::{Client, ERAS, Era, PNG, image, text};

fn of_each(list: &Value, member: &str) -> Vec<String> {
    let list = list.as_array().expect("a list");
    let members = list.iter().map(|item| item[member].as_str());
    members.map(|text| text.expect("text").to_owned()).collect()
}

/// Covers RS05.
#[test]
fn resources_are_listed_and_read() {
    for era in ERAS {
        let mut client = Client::start(era);
        let list = client.result("resources/list", json!({}));
        assert_eq!(
            of_each(&list["resources"], "uri"),
            [
                "test://static-text",
                "test://static-binary",
                "test://watched-resource",
                "test://unicode/%E2%98%83",
            ]
        );
        assert_eq!(list["resources"][3]["name"], "unicode-\u{2603}");
        let templates = client.result("resources/templates/list", json!({}));
        assert_eq!(
            of_each(&templates["resourceTemplates"], "uriTemplate"),
            ["test://template/{id}/data", "test://unicode/{name}"]
        );
        let mut read = |uri: &str| {
            let result = client.result("resources/read", json!({ "uri": uri }));
            assert_eq!(result["contents"][0]["uri"], uri, "{era:?}: {result}");
            result["contents"][0].clone()
        };
        let fixed = read("test://static-text");
        assert_eq!(
            fixed["text"],
            "This is the content of the static text resource."
        );
        assert_eq!(read("test://static-binary")["blob"], PNG);
        let data = read("test://template/12%2F3/data");
        let data: Value = serde_json::from_str(data["text"].as_str().expect("text")).expect("JSON");
        let about = "Data for ID: 12/3";
        assert_eq!(
            data,
            json!({ "id": "12/3", "templateTest": true, "data": about })
        );
        let odd = read("test://unicode/%E2%98%83");
        assert!(
            odd["text"]
                .as_str()
                .expect("text")
                .contains("nul\0 bom\u{feff}")
        );
        client.peer.ends_well();
    }
}

/// Covers RS02, EC04, EC08.
#[test]
fn an_unknown_resource_has_the_code_of_the_era() {
    for (era, code) in [(Era::Legacy, -32002), (Era::Modern, -32602)] {
        let mut client = Client::start(era);
        client.send(request(
            "r",
            "resources/read",
            json!({ "uri": "test://none" }),
        ));
        let error = client.peer.receive()["error"].take();
        assert_eq!(error["code"], code, "{error}");
        assert_eq!(error["data"], json!({ "uri": "test://none" }));
        client.peer.ends_well();
    }
}

/// Covers PR04.
#[test]
fn prompts_are_rendered() {
    let uri = "test://example";
    let embedded = json!({
        "type": "resource",
        "resource": {
            "uri": uri,
            "mimeType": "text/plain",
            "text": "Embedded resource content for testing.",
        },
    });
    let prompts = [
        (
            "test_simple_prompt",
            json!({}),
            vec![text("This is a simple prompt for testing.")],
        ),
        (
            "test_prompt_with_arguments",
            json!({ "arg1": "a", "arg2": "b" }),
            vec![text("Prompt with arguments: arg1='a', arg2='b'")],
        ),
        (
            "test_prompt_with_embedded_resource",
            json!({ "resourceUri": uri }),
            vec![
                embedded,
                text("Please process the embedded resource above."),
            ],
        ),
        (
            "test_prompt_with_image",
            json!({}),
            vec![image(), text("Please analyze the image above.")],
        ),
    ];
    for era in ERAS {
        let mut client = Client::start(era);
        let list = client.result("prompts/list", json!({}));
        let mut names: Vec<_> = prompts.iter().map(|prompt| prompt.0).collect();
        names.push("test_input_required_result_prompt");
        assert_eq!(of_each(&list["prompts"], "name"), names);
        for (name, arguments, contents) in &prompts {
            let params = json!({ "name": name, "arguments": arguments });
            let result = client.result("prompts/get", params);
            let messages = contents
                .iter()
                .map(|content| json!({ "role": "user", "content": content }));
            assert_eq!(
                result["messages"],
                messages.collect::<Value>(),
                "{era:?} {name}"
            );
        }
        client.peer.ends_well();
    }
}

#[test]
fn arguments_and_variables_are_completed() {
    let cases = [
        (
            json!({ "type": "ref/prompt", "name": "test_prompt_with_arguments" }),
            json!({ "name": "arg1", "value": "par" }),
            json!(["paris", "park", "party"]),
        ),
        (
            json!({ "type": "ref/resource", "uri": "test://template/{id}/data" }),
            json!({ "name": "id", "value": "12" }),
            json!(["12", "123"]),
        ),
    ];
    for era in ERAS {
        let mut client = Client::start(era);
        for (of, argument, values) in &cases {
            let params = json!({ "ref": of, "argument": argument });
            let result = client.result("completion/complete", params);
            assert_eq!(result["completion"]["values"], *values, "{era:?}: {result}");
        }
        client.peer.ends_well();
    }
}

/// Tools that change something, what tells of it, and the list and name that come and go.
const CHANGES: [(&str, &str, &str, &str); 3] = [
    (
        "test_trigger_tool_change",
        "notifications/tools/list_changed",
        "tools/list",
        "interop_dynamic_tool",
    ),
    (
        "test_trigger_prompt_change",
        "notifications/prompts/list_changed",
        "prompts/list",
        "interop_dynamic_prompt",
    ),
    (
        "interop_trigger_resource_change",
        "notifications/resources/list_changed",
        "resources/list",
        "test://dynamic-resource",
    ),
];

/// Covers TL13, S12, B-138.
#[test]
fn what_comes_and_goes_is_told_and_listed() {
    for era in ERAS {
        let mut client = Client::start(era);
        if era == Era::Modern {
            let all = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
            client.send(request(
                "l",
                "subscriptions/listen",
                json!({ "notifications": all }),
            ));
            let begun = client.peer.receive();
            assert_eq!(
                begun["method"], "notifications/subscriptions/acknowledged",
                "{begun}"
            );
        }
        for there in [true, false] {
            for (tool, notification, list, name) in CHANGES {
                let called = client.call(tool, json!({}), notification);
                let mut told = called.notified.len();
                // It may come behind the result, too.
                while told == 0 {
                    assert_eq!(client.peer.receive()["method"], notification);
                    told += 1;
                }
                assert_eq!(told, 1);
                let list = client.result(list, json!({}));
                let listed = list.to_string().contains(&format!("\"{name}\""));
                assert_eq!(listed, there, "{era:?} {tool}: {list}");
            }
        }
    }
}

/// Covers RS07, RS08, S03.
#[test]
fn a_touched_resource_is_told_to_those_who_asked() {
    let touch = |id, uri| call(id, "interop_touch_resource", json!({ "uri": uri }));
    let watched = "test://watched-resource";
    for era in ERAS {
        let mut client = Client::start(era);
        match era {
            Era::Legacy => {
                client.result("resources/subscribe", json!({ "uri": watched }));
            }
            Era::Modern => {
                let filter = json!({ "resourceSubscriptions": [watched] });
                client.send(request(
                    "l",
                    "subscriptions/listen",
                    json!({ "notifications": filter }),
                ));
                client.peer.receive();
            }
        }
        client.send(touch("other", "test://static-text"));
        assert_eq!(client.peer.receive()["id"], "other");
        client.send(touch("t", watched));
        let (one, two) = (client.peer.receive(), client.peer.receive());
        let told = if one["id"] == "t" { two } else { one };
        assert_eq!(told["method"], "notifications/resources/updated", "{told}");
        assert_eq!(told["params"]["uri"], watched);
    }
}

/// Covers PG03.
#[test]
fn lists_come_in_pages() {
    let mut peer =
        Peer::spawn(Command::new(env!("CARGO_BIN_EXE_everything")).env("INTEROP_PAGE_SIZE", "5"));
    for (list, key, count) in [
        ("tools/list", "tools", crate::TOOLS.len()),
        ("resources/list", "resources", 4),
        ("prompts/list", "prompts", 5),
    ] {
        let mut params = json!({});
        let mut items = Vec::new();
        loop {
            peer.send(&modern(request(1, list, params.clone())));
            let result = peer.receive()["result"].take();
            let page = result[key].as_array().expect("a page");
            assert!(!page.is_empty() && page.len() <= 5, "{result}");
            items.extend(page.iter().cloned());
            match &result["nextCursor"] {
                Value::Null => break,
                cursor => params["cursor"] = cursor.clone(),
            }
        }
        assert_eq!(items.len(), count, "{list}");
        peer.send(&modern(request(1, list, json!({ "cursor": "made up" }))));
        assert_eq!(peer.receive()["error"]["code"], -32602);
    }
    peer.ends_well();
}
