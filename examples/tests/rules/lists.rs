//! LIST, and how clients hear of changes.

use std::process::Command;

use serde_json::{Value, json};

use crate::script::{BOTH, Opened, Play};

const LISTS: [&str; 4] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
];

fn everything() -> Command {
    Command::new(env!("CARGO_BIN_EXE_everything"))
}

fn play(opened: Opened) -> Play {
    Play::new(&mut everything(), opened, json!({}))
}

/// The lists as they are written, byte for byte.
fn lists(play: &mut Play) -> Vec<String> {
    let lists = LISTS.map(|list| {
        play.play(&format!("> 1 {list}"));
        play.receive_line()
    });
    lists.to_vec()
}

/// Covers ST05, TL02, TL14, B-134, B-135.
#[test]
fn lists_are_the_same_on_every_connection_and_whatever_was_asked_before() {
    for opened in BOTH {
        let (mut one, mut other) = (play(opened), play(opened));
        let first = lists(&mut one);
        for _ in 0..2 {
            one.play(
                r#"
                > 2 call test_error_handling
                < 2 ok
                > 3 call nope
                < 3 error -32602
                > 4 resources/read {"uri": "test://static-text"}
                < 4 ok
                >> 5 server/discover
                < 5 ok
                "#,
            );
            assert!(lists(&mut one) == first);
        }
        assert!(lists(&mut other) == first);
        one.ends_well();
        other.ends_well();
    }
}

/// Covers CA01, CA07, PG03, B-128, B-133.
#[test]
fn pages_have_one_scope_and_the_last_has_no_cursor() {
    for (opened, list) in BOTH.iter().flat_map(|era| LISTS.map(|list| (*era, list))) {
        let mut program = everything();
        program.env("INTEROP_PAGE_SIZE", "1");
        let mut play = Play::new(&mut program, opened, json!({}));
        let mut params = json!({ "cursor": null });
        let mut hints = Vec::new();
        loop {
            play.play(&format!("> 1 {list} {params}"));
            let page = play.receive()["result"].take();
            hints.push((page.get("ttlMs").cloned(), page.get("cacheScope").cloned()));
            match page.get("nextCursor") {
                Some(cursor) => params["cursor"] = json!(cursor.as_str().expect("text")),
                None => break,
            }
        }
        assert!(hints.len() > 1, "{list} has several pages");
        hints.dedup();
        let expected = match opened {
            Opened::Modern => (Some(json!(0)), Some(json!("private"))),
            _ => (None, None),
        };
        assert_eq!(hints, [expected], "{list}");
        for cursor in ["\"garbage\"", "\"\"", "\"0\""] {
            play.play(&format!(
                "> 2 {list} {{\"cursor\": {cursor}}}\n< 2 error -32602"
            ));
        }
        play.ends_well();
    }
}

/// Covers CA01.
#[test]
fn what_may_be_kept_says_how_long() {
    let hint = r#"{"ttlMs": 0, "cacheScope": "private"}"#;
    let mut modern = play(Opened::Modern);
    for request in [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        r#"resources/read {"uri": "test://static-text"}"#,
    ] {
        modern.play(&format!("> 1 {request}\n< 1 ok {hint}"));
    }
    let no_hint = r#"{"ttlMs": "absent", "cacheScope": "absent"}"#;
    modern.play(&format!("> 1 call test_simple_text\n< 1 ok {no_hint}"));
    modern.play(&format!(
        "> 1 prompts/get {{\"name\": \"test_simple_prompt\"}}\n< 1 ok {no_hint}"
    ));
    modern.ends_well();
}

/// Changes the list of tools, and hears these notices of it and no others.
fn hears(play: &mut Play, expected: &[Value]) {
    play.play("> \"change\" call test_trigger_tool_change");
    let mut notices = Vec::new();
    let mut is_changed = false;
    while !is_changed || notices.len() < expected.len() {
        let message = play.receive();
        match message.get("id") {
            Some(id) => is_changed = id == "change",
            None => notices.push(message),
        }
    }
    assert_eq!(notices, expected);
    play.play("- 50");
}

/// Covers A-19, B-138, S01, S02, S03, S05, S09, S11, S12, TL13.
#[test]
fn a19_a_change_is_told_to_whom_it_may_be_told() {
    let changed = "notifications/tools/list_changed";
    let mut legacy = play(BOTH[0]);
    hears(
        &mut legacy,
        &[json!({ "jsonrpc": "2.0", "method": changed, "params": {} })],
    );
    legacy.ends_well();

    let mut modern = play(Opened::Modern);
    hears(&mut modern, &[]);
    let acknowledged = "notifications/subscriptions/acknowledged";
    let listen = |modern: &mut Play, id: &str, filter: &str| {
        let meta = format!(r#""_meta": {{"io.modelcontextprotocol/subscriptionId": {id}}}"#);
        modern.play(&format!(
            "> {id} subscriptions/listen {{\"notifications\": {filter}}}\n< {acknowledged} {{\"notifications\": {filter}, {meta}}}"
        ));
    };
    let told = |ids: &[Value]| -> Vec<Value> {
        let notice = |id: &Value| {
            let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
            json!({ "jsonrpc": "2.0", "method": changed, "params": { "_meta": meta } })
        };
        ids.iter().map(notice).collect()
    };
    listen(&mut modern, "7", r#"{"promptsListChanged": true}"#);
    hears(&mut modern, &[]);
    listen(&mut modern, "9", r#"{"toolsListChanged": true}"#);
    hears(&mut modern, &told(&[json!(9)]));
    listen(&mut modern, "\"9\"", r#"{"toolsListChanged": true}"#);
    hears(&mut modern, &told(&[json!(9), json!("9")]));
    modern.play("> notifications/cancelled {\"requestId\": 9}\n-");
    hears(&mut modern, &told(&[json!("9")]));
    modern.play("! eof");
    let last = modern.rest();
    let mut ids: Vec<_> = last.iter().map(|result| result["id"].to_string()).collect();
    ids.sort();
    assert_eq!(
        ids,
        ["\"9\"", "7"],
        "each stream that is open has its result"
    );
}
