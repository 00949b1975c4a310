//! Each command, in both eras: for people and for programs.

use serde_json::{Value, json};

use crate::{ERAS, everything, run};

/// Runs a command against `everything` in both eras. The text has to have this part, and the JSON
/// this value at this place.
#[track_caller]
fn check(args: &[&str], part: &str, place: &str, value: Value) {
    for era in ERAS {
        let text = everything(era, args).ends_with(0);
        assert!(text.stdout.contains(part), "{era}: {text:?}");
        assert_eq!(text.stderr, "", "{era}");
        let json = everything(era, &[args, &["--json"]].concat()).ends_with(0);
        assert_eq!(json.stdout.lines().count(), 1, "{era}: {json:?}");
        assert_eq!(json.json().pointer(place), Some(&value), "{era}: {json:?}");
    }
}

#[test]
fn tools_are_listed_as_functions() {
    check(
        &["tools"],
        "interop_structured(city: string) -> {city: string, conditions: string, temperature: number}\n    Tell the weather.\n",
        "/tools/0/name",
        json!("test_simple_text"),
    );
}

#[test]
fn a_tool_is_called() {
    check(
        &["call", "interop_echo", r#"{ "text": "Hello!" }"#],
        "Hello!\n",
        "/content/0/text",
        json!("Hello!"),
    );
}

#[test]
fn what_is_no_text_is_named() {
    check(
        &["call", "test_multiple_content_types"],
        "Multiple content types test:\n[image/png, 70 bytes]\n{\"test\":\"data\",\"value\":123}\n",
        "/content/1/mimeType",
        json!("image/png"),
    );
}

#[test]
fn structured_results_are_shown_once() {
    check(
        &["call", "interop_structured", r#"{"city":"Oslo"}"#],
        "{\"city\":\"Oslo\",\"temperature\":21.5,\"conditions\":\"sunny\"}\n",
        "/structuredContent/temperature",
        json!(21.5),
    );
    for era in ERAS {
        let run = everything(era, &["call", "interop_structured", r#"{"city":"Oslo"}"#]);
        assert_eq!(run.stdout.lines().count(), 1, "{run:?}");
    }
}

#[test]
fn resources_and_templates_are_listed() {
    check(
        &["resources"],
        "test://static-binary  static-binary  [image/png]\n",
        "/resources/0/uri",
        json!("test://static-text"),
    );
    check(
        &["resources"],
        "test://template/{id}/data  data  [application/json]\n",
        "/resourceTemplates/0/uriTemplate",
        json!("test://template/{id}/data"),
    );
}

#[test]
fn a_resource_is_read() {
    check(
        &["read", "test://static-text"],
        "This is the content of the static text resource.\n",
        "/contents/0/uri",
        json!("test://static-text"),
    );
}

#[test]
fn text_that_goes_elsewhere_than_to_a_terminal_is_unchanged() {
    for era in ERAS {
        let run = everything(era, &["read", "test://unicode/x"]).ends_with(0);
        assert!(run.stdout.contains("nul\0 bom\u{feff}"), "{run:?}");
        assert!(run.stdout.contains("\"\\\u{7}\n\r\t\u{7f} end"), "{run:?}");
    }
}

#[test]
fn prompts_are_listed() {
    check(
        &["prompts"],
        "test_prompt_with_arguments(arg1, arg2)\n    Give a message with both arguments.\n",
        "/prompts/0/name",
        json!("test_simple_prompt"),
    );
}

#[test]
fn a_prompt_is_got() {
    check(
        &[
            "get",
            "test_prompt_with_arguments",
            r#"{"arg1":"a","arg2":2}"#,
        ],
        "user: Prompt with arguments: arg1='a', arg2='2'\n",
        "/messages/0/role",
        json!("user"),
    );
}

#[test]
fn arguments_are_completed() {
    check(
        &[
            "complete",
            "prompt",
            "test_prompt_with_arguments",
            "arg1",
            "par",
            "arg2=x",
        ],
        "paris\npark\nparty\n",
        "/completion/values",
        json!(["paris", "park", "party"]),
    );
    check(
        &[
            "complete",
            "resource",
            "test://template/{id}/data",
            "id",
            "12",
        ],
        "12\n123\n",
        "/completion/values",
        json!(["12", "123"]),
    );
}

#[test]
fn a_server_is_introduced() {
    check(
        &["discover"],
        "offers logging, completions, prompts (listChanged), resources (subscribe, listChanged), tools (listChanged)\n",
        "/serverInfo/name",
        json!("everything"),
    );
    for (era, version) in [
        ("legacy", "2025-11-25"),
        ("modern", "2026-07-28"),
        ("auto", "2026-07-28"),
    ] {
        let run = everything(era, &["discover"]).ends_with(0);
        let text = format!("everything 1.0.0\nspeaks {version}");
        assert!(run.stdout.starts_with(&text), "{run:?}");
    }
}

#[test]
fn changes_are_told() {
    for (args, text, uri) in [
        (
            &["listen", "--call", "test_trigger_tool_change"][..],
            "the list of tools has changed\n",
            json!(null),
        ),
        (
            &["listen", "prompts", "--call", "test_trigger_prompt_change"],
            "the list of prompts has changed\n",
            json!(null),
        ),
        (
            &[
                "listen",
                "test://watched-resource",
                "--call",
                r#"interop_touch_resource={"uri":"test://watched-resource"}"#,
            ],
            "test://watched-resource has changed\n",
            json!("test://watched-resource"),
        ),
    ] {
        for era in ERAS {
            let args = [args, &["--count", "1"]].concat();
            everything(era, &args).ends_with(0).prints(text);
            let json = everything(era, &[&args[..], &["--json"]].concat())
                .ends_with(0)
                .json();
            assert_eq!(json["uri"], uri, "{era}: {json}");
        }
    }
}

#[test]
fn log_messages_are_shown_from_a_level_on() {
    for era in ERAS {
        let run =
            everything(era, &["call", "test_tool_with_logging", "--log", "info"]).ends_with(0);
        let lines: Vec<_> = run.stderr.lines().collect();
        assert_eq!(
            lines,
            [
                "[info] Tool execution started",
                "[info] Tool processing data",
                "[info] Tool execution completed",
            ],
            "{era}"
        );
        let run =
            everything(era, &["call", "test_tool_with_logging", "--log", "error"]).ends_with(0);
        assert_eq!(run.stderr, "", "{era}");
    }
}

#[test]
fn an_empty_list_is_said_to_be_empty() {
    let server = env!("CARGO_BIN_EXE_calculator");
    for what in ["resources", "prompts"] {
        let empty = run(&[what, "--", server]).ends_with(0);
        empty.prints("");
        empty.says(&format!("the server has no {what}\n"));
        let json = run(&[what, "--json", "--", server]).ends_with(0);
        assert_eq!(json.stderr, "");
    }
}
