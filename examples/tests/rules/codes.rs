//! The codes of errors: which may be sent, and which must not.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::json;

use crate::script::{BOTH, Opened, Play};
use crate::support::fixture;

/// Everything that goes wrong in one way or another.
const WRONG: &str = r#"
    1 acme/own
    1 tools/call []
    1 tools/call {}
    1 call nope
    1 call echo 5
    1 call boom
    1 call test_missing_capability
    1 call test_sampling {"prompt": "x"}
    1 tools/list {"cursor": "garbage"}
    1 tools/list {"_meta": 5}
    1 tools/list {"_meta": {"progressToken": {}}}
    1 tools/call {"name": "test_input_required_result_elicitation", "requestState": "made up"}
    1 tools/call {"name": "test_input_required_result_elicitation", "inputResponses": 5}
    1 resources/read {"uri": "test://none"}
    1 resources/read {"uri": 5}
    1 resources/subscribe {"uri": "test://none", "x": 1}
    1 prompts/get {"name": "none"}
    1 prompts/get {"name": "test_prompt_with_arguments", "arguments": {"arg1": 1}}
    1 prompts/get {"name": "test_prompt_with_arguments"}
    1 completion/complete {"ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "a", "value": ""}}
    1 completion/complete {"ref": {"type": "ref/none"}, "argument": {"name": "a", "value": ""}}
    1 logging/setLevel {"level": "loud"}
    1 initialize {}
    1 ping []
    1 subscriptions/listen {}
    1 tasks/get {"taskId": "x"}
    raw {nope
    raw 5
    raw [1]
    raw {"jsonrpc":"2.0","id":1,"method":5}
    raw {"jsonrpc":"2.0","id":null,"method":"ping"}
    raw {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}
    raw {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
"#;

/// Each code that came, and one line that it came for.
fn codes(mut program: Command, opened: Opened) -> BTreeMap<i64, String> {
    let mut play = Play::new(&mut program, opened, json!({}));
    let mut codes = BTreeMap::new();
    for line in WRONG.lines().map(str::trim).filter(|line| !line.is_empty()) {
        play.play(&format!("> {line}"));
        let reply = play.receive();
        if let Some(code) = reply["error"]["code"].as_i64() {
            assert!(reply["error"]["message"].is_string(), "{reply}");
            codes.entry(code).or_insert(line.to_owned());
        }
    }
    play.play("> 1 call sleep {\"ms\": 200}\n> 2 call sleep {\"ms\": 0}");
    for reply in [play.receive(), play.receive()] {
        if let Some(code) = reply["error"]["code"].as_i64() {
            codes.entry(code).or_insert("sleep".to_owned());
        }
    }
    play.ends_well();
    codes
}

/// Covers EC01, EC02, EC04, EC05, J08.
#[test]
fn every_error_has_a_code_that_exists() {
    const JSON_RPC: [i64; 5] = [-32700, -32600, -32601, -32602, -32603];
    const BUSY: i64 = -31503;
    for opened in BOTH {
        let mut came = codes(Command::new(env!("CARGO_BIN_EXE_everything")), opened);
        let limited = fixture(&["--cap", "2", "--share", "1"]);
        came.extend(codes(limited, opened));
        // In a legacy session the second is of a request that came in the modern era, and the
        // first is what a tool of `everything` says to whoever lacks something.
        let mut may = [&JSON_RPC[..], &[BUSY, -32021, -32022]].concat();
        if opened != Opened::Modern {
            may.push(-32002);
        }
        may.sort_unstable();
        let came: Vec<_> = came.into_iter().collect();
        let codes: Vec<_> = came.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, may, "{opened:?}: {came:?}");
    }
}
