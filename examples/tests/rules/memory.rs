//! MEMORY: what is not read, and what is said without end, costs only so much.
#![cfg(target_os = "linux")]

use std::io::Write;

use serde_json::{Value, json};

use crate::support::{SOON, initialize, lines_of, peak_memory, request, unread};

/// Covers LG06, P05, B-216.
#[test]
fn a_handler_that_never_stops_talking_is_heard_only_so_often() {
    for logs in [false, true] {
        let (mut child, mut stdin, stdout) = unread(&[]);
        let call = json!({
            "name": "chatter",
            "arguments": { "times": 2_000_000, "logs": logs },
            "_meta": { "progressToken": "t" },
        });
        let text = format!(
            "{}\n{}\n",
            initialize("2025-06-18"),
            request(1, "tools/call", call)
        );
        stdin.write_all(text.as_bytes()).expect("the fixture reads");
        let lines = lines_of(stdout);
        let mut heard = 0;
        let reply = loop {
            let (_, line) = lines.recv_timeout(6 * SOON).expect("a line comes");
            let message: Value = serde_json::from_slice(&line).expect("only JSON is written");
            match message.get("method") {
                Some(_) => heard += 1,
                None if message["id"] == 0 => {}
                None => break message,
            }
        };
        assert_eq!(reply["result"]["content"][0]["text"], "said");
        assert!(heard > 0 && heard < 1_000_000, "{heard} messages");
        let peak = peak_memory(child.id());
        assert!(peak < 64 << 20, "{peak} bytes for {heard} messages");
        drop(stdin);
        assert!(child.wait().expect("it is our child").success());
    }
}
