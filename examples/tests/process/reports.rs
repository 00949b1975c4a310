//! What public bug reports say goes wrong on the server's side of stdio, by kind.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::*;

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Covers T01, B-158.
#[test]
fn frame_only_a_line_feed_ends_a_message() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    let odd = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f";
    peer.write(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\
         \"arguments\":{\"text\":\"a\u{2028}b\u{2029}c\u{85}d\\u000be\\u000cf\"}}}\n"
            .as_bytes(),
    );
    assert_eq!(text(&peer.receive()), odd);
}

/// Covers T13.
#[test]
fn frame_bytes_may_come_one_at_a_time() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    for byte in format!("{}\n", echo(1, "\u{1f600}")).bytes() {
        peer.write(&[byte]);
    }
    assert_eq!(text(&peer.receive()), "\u{1f600}");
}

/// Covers T15, B-162.
#[test]
fn frame_headers_of_another_protocol_are_no_messages() {
    let mut peer = Peer::start(&[]);
    let body = ping(1).to_string();
    peer.write(format!("Content-Length: {}\r\n\r\n{body}\n", body.len()).as_bytes());
    assert_eq!(code(&peer.receive()), -32700);
    assert_eq!(peer.receive()["id"], 1);
}

/// Covers T01, B-144, B-148.
#[test]
fn frame_output_is_one_line_each_without_carriage_returns() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    peer.send(&echo(1, "line\nbreak\r\n"));
    let (_, line) = peer.receive_line().expect("a line comes");
    assert_eq!(line.first(), Some(&b'{'));
    assert!(!line.contains(&b'\r') && !line.contains(&b'\n'));
}

/// Covers J05, B-165, B-166, B-169.
#[test]
fn ids_are_echoed_byte_for_byte() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    let long = format!("\"{}\"", "x".repeat(10_000));
    for id in [
        "\"1\"",
        "1",
        "0",
        "-5",
        "\"\"",
        "\"init-1\"",
        "9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
        "-9223372036854775808",
        &long,
    ] {
        for method in ["ping", "no/such", "tools/list"] {
            peer.write(
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}\n").as_bytes(),
            );
            let (_, line) = peer.receive_line().expect("a line comes");
            let line = String::from_utf8(line).expect("output is text");
            let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},");
            assert!(line.starts_with(&start), "{line}");
        }
    }
}

/// Covers J02, B-171.
#[test]
fn ids_that_are_none_are_refused_and_their_request_not_run() {
    let mut peer = Peer::start(&[]);
    for id in [
        "null",
        "1.5",
        "true",
        "{}",
        "[]",
        "18446744073709551616",
        "1e3",
    ] {
        peer.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes());
        let reply = peer.receive();
        assert_eq!((code(&reply), &reply["id"]), (-32600, &Value::Null), "{id}");
    }
    // Without an id it is a notification, and a tool is not called by one.
    peer.shake_hands("2025-06-18");
    peer.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"die\",\"arguments\":{}}}\n");
    peer.is_silent_for(millis(200));
    assert!(peer.is_alive());
}

/// Covers J06, J12, J13, B-163, B-181, B-183.
#[test]
fn badinput_costs_only_itself() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut peer = Peer::legacy(version, &[]);
        for (line, expected) in [
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"foo/bar\"}",
                -32601,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":null}",
                -32602,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}",
                -32602,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[]}",
                -32602,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"nope\"}}",
                -32602,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":5}}",
                -32602,
            ),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"request\":{}}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", -32600),
            ("{\"id\":1,\"method\":\"ping\"}", -32600),
        ] {
            peer.write(format!("{line}\n").as_bytes());
            let reply = peer.receive();
            assert_eq!(
                (&reply["id"], code(&reply)),
                (&json!(1), expected),
                "{line}"
            );
        }
        peer.write(b"\xef\xbb\xbf{this is not json\n");
        assert_eq!(code(&peer.receive()), -32700);
        peer.send(&request(2, "tools/list", json!({})));
        assert!(peer.receive()["result"]["tools"].is_array());
        peer.ends_well();
    }
}

/// Covers B-274, SE06.
#[test]
fn badinput_of_any_depth_or_size_is_survived() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let digits = "9".repeat(5_000);
    for value in [&deep[..], &digits, "\"\\ud800\"", "1e999"] {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":{value}}}}}}}\n"
        );
        peer.write(line.as_bytes());
        let reply = peer.receive();
        assert_eq!(reply["id"], 1, "{reply}");
        assert!(
            reply["error"].is_object() || reply["result"]["isError"] == true,
            "{reply}"
        );
    }
    peer.write(format!("{}\n", "[".repeat(200_000)).as_bytes());
    assert_eq!(code(&peer.receive()), -32700);
    peer.send(&ping(2));
    assert_eq!(peer.receive()["id"], 2);
}

/// Covers J15, J17, B-288, B-289.
#[test]
fn batch_is_for_one_revision_only() {
    let batch = json!([ping(1), { "jsonrpc": "2.0", "method": "x" }, sleep(2, 100), echo(3, "x")]);
    let mut peer = Peer::legacy("2025-03-26", &[]);
    peer.send(&batch);
    let reply = peer.receive();
    let ids: Vec<_> = reply
        .as_array()
        .expect("an array")
        .iter()
        .map(|r| &r["id"])
        .collect();
    assert_eq!(ids, [&json!(1), &json!(3), &json!(2)]);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut peer = Peer::legacy(version, &[]);
        peer.send(&json!([call(1, "die", json!({}))]));
        assert_eq!(code(&peer.receive()), -32600);
        peer.send(&ping(2));
        assert_eq!(peer.receive()["id"], 2);
    }
}

/// Covers B-079, B-083.
#[test]
fn big_replies_of_any_size_arrive_whole() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    let sizes = [4 << 10, 8 << 10, 16 << 10, 64 << 10];
    let sizes = sizes.iter().flat_map(|size| [size - 1, *size, size + 1]);
    for size in sizes.chain([20_000, 132_000, 1 << 20, 12 << 20]) {
        let sent = "x".repeat(size);
        let mut stdin = peer.take_stdin();
        let line = format!("{}\n", echo(1, &sent));
        let writer = std::thread::spawn(move || {
            stdin.write_all(line.as_bytes()).expect("the fixture reads");
            stdin
        });
        assert!(text(&peer.receive()) == sent, "{size} bytes");
        peer.put_stdin(writer.join().expect("it was written"));
    }
}

/// Covers B-081.
#[test]
fn big_replies_are_written_before_the_end() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    let sent = "x".repeat(300_000);
    peer.send(&echo(1, &sent));
    peer.close_stdin();
    // A slow reader: the pipe is full, and the input has ended.
    std::thread::sleep(millis(300));
    let replies = peer.rest();
    assert_eq!(replies.len(), 1);
    assert!(text(&replies[0]) == sent);
    assert!(peer.ends_within(SOON).success());
}

/// Covers B-216.
#[test]
fn big_a_client_may_write_much_before_it_reads() {
    let (mut child, mut stdin, stdout) = unread(&["--cap", "1000", "--share", "1000"]);
    let sent = "x".repeat(10_000);
    let mut requests = format!("{}\n", initialize("2025-06-18"));
    requests.extend((1..=500).map(|id| format!("{}\n", echo(id, &sent))));
    stdin
        .write_all(requests.as_bytes())
        .expect("the fixture reads all of it");
    let lines = lines_of(stdout);
    let ids = (0..=500).map(|_| {
        let (_, line) = lines.recv_timeout(SOON).expect("a line comes");
        let reply: Value = serde_json::from_slice(&line).expect("only JSON is written");
        reply["id"].as_i64()
    });
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..=500).map(Some).collect::<Vec<_>>());
    drop(stdin);
    assert!(child.wait().expect("it is our child").success());
}

/// Covers T02, T04, B-092, B-093, B-095, B-311, B-314, B-326.
#[test]
fn stdout_carries_nothing_but_messages() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    for noise in [
        "hello",
        "}",
        "42",
        "[]",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    ] {
        peer.send(&call(1, "print", json!({ "text": noise })));
        // The child, and the handler after it, find an empty stdin: no message is eaten.
        assert_eq!(text(&peer.receive()), "read 0 bytes");
    }
    peer.send(&ping(2));
    assert_eq!(peer.receive()["id"], 2);
    let stderr = peer.ends_well();
    assert!(
        stderr.contains("hello") && stderr.contains("child"),
        "{stderr}"
    );
}

/// Covers J14, B-316, B-320.
#[test]
fn panic_costs_only_its_own_call() {
    for era in [Value::clone, |message: &Value| modern(message.clone())] {
        let mut peer = Peer::legacy("2025-06-18", &[]);
        peer.send(&era(&sleep(1, 300)));
        peer.send(&era(&call(2, "boom", json!({}))));
        let reply = peer.receive();
        assert_eq!((&reply["id"], code(&reply)), (&json!(2), -32603));
        assert!(
            !reply.to_string().contains("boom"),
            "what is inside stays inside"
        );
        assert_eq!(text(&peer.receive()), "slept");
        peer.send(&era(&echo(3, "alive")));
        assert_eq!(text(&peer.receive()), "alive");
        let stderr = peer.ends_well();
        assert!(stderr.contains("boom, as asked"), "{stderr}");
    }
}

/// Covers B-224.
#[test]
fn panic_gives_the_slot_back() {
    let mut peer = Peer::legacy("2025-06-18", &["--cap", "2", "--share", "1"]);
    for id in 1..100 {
        peer.send(&call(id, "boom", json!({})));
        assert_eq!(code(&peer.receive()), -32603);
    }
    peer.send(&echo(100, "free"));
    assert_eq!(text(&peer.receive()), "free");
}

/// Covers L12, B-276, B-277, B-278, B-282, B-298.
#[test]
fn concur_slow_calls_block_neither_pings_nor_each_other() {
    for args in [&[][..], &["--current-thread"]] {
        for slow in ["sleep", "block"] {
            let mut peer = Peer::legacy("2025-06-18", args);
            peer.send_all(&[
                call(1, slow, json!({ "ms": 1000 })),
                call(2, slow, json!({ "ms": 1000 })),
                ping(3),
                echo(4, "quick"),
                request(5, "tools/list", json!({})),
            ]);
            let begin = Instant::now();
            let mut quick = [0; 3].map(|_| peer.receive()["id"].as_i64());
            quick.sort_unstable();
            assert_eq!(quick, [Some(3), Some(4), Some(5)]);
            assert!(begin.elapsed() < millis(600), "{:?}", begin.elapsed());
            peer.receive();
            peer.receive();
            assert!(begin.elapsed() < millis(1800), "{:?}", begin.elapsed());
        }
    }
}

/// Covers C03, C05, B-206, B-214.
#[test]
fn cancel_is_followed_by_nothing_about_the_call() {
    let mut peer = Peer::legacy("2025-06-18", &[]);
    let mut slow = sleep(99, 2000);
    slow["params"]["_meta"] = json!({ "progressToken": "t" });
    peer.send(&slow);
    assert_eq!(peer.receive()["params"]["progressToken"], "t");
    peer.send_all(&[cancel(99), ping(1)]);
    while peer.receive()["id"] != 1 {}
    peer.is_silent_for(millis(2300));
    // Of what is not open, or never was: silence, and nothing is remembered.
    peer.send_all(&[cancel(99), cancel(12345), cancel(Value::Null)]);
    peer.send(&echo(12345, "served"));
    assert_eq!(text(&peer.receive()), "served");
}

#[test]
fn cancel_of_a_blocking_call_keeps_its_slot_until_it_returns() {
    let mut peer = Peer::legacy("2025-06-18", &["--cap", "2", "--share", "1"]);
    peer.send_all(&[
        call(1, "block", json!({ "ms": 600 })),
        cancel(1),
        echo(2, "x"),
    ]);
    assert_eq!(code(&peer.receive()), -31503);
    std::thread::sleep(millis(900));
    peer.send(&echo(3, "free"));
    assert_eq!(text(&peer.receive()), "free");
}

/// Covers T09, B-036, B-299.
#[test]
fn eof_answers_what_was_read_before_it() {
    let mut peer = Peer::start(&[]);
    peer.send_all(&[
        initialize("2025-06-18"),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        request(1, "tools/list", json!({})),
        echo(2, "last"),
    ]);
    peer.close_stdin();
    assert_eq!(peer.rest().len(), 3);
    assert!(peer.ends_within(SOON).success());
}

/// Covers T09, B-028.
#[test]
fn eof_before_anything_is_no_error() {
    let peer = Peer::start(&[]);
    assert_eq!(peer.ends_well(), "");
}

/// Covers B-032, B-039, B-040.
#[test]
fn eof_of_a_client_that_is_gone_altogether_is_quiet() {
    let traffic = [sleep(1, 100), echo(2, &"x".repeat(200_000))];
    for calls in [0, 2] {
        let (child, mut stdin, stdout) = unread(&[]);
        let mut text = format!("{}\n", initialize("2025-06-18"));
        text.extend(traffic.iter().take(calls).map(|call| format!("{call}\n")));
        stdin.write_all(text.as_bytes()).expect("the fixture reads");
        drop((stdin, stdout));
        let begin = Instant::now();
        let output = child.wait_with_output().expect("it is our child");
        assert!(output.status.success(), "{}", output.status);
        assert!(begin.elapsed() < millis(1500), "{:?}", begin.elapsed());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// Covers B-295.
#[test]
fn runtime_a_stuck_handler_does_not_hold_the_process() {
    for args in [
        &["--grace", "200"][..],
        &["--grace", "200", "--current-thread"],
    ] {
        let mut peer = Peer::legacy("2025-06-18", args);
        peer.send_all(&[call(1, "block", json!({ "ms": 30_000 })), ping(2)]);
        assert_eq!(peer.receive()["id"], 2);
        let begin = Instant::now();
        peer.close_stdin();
        assert!(peer.ends_within(SOON).success());
        assert!(begin.elapsed() < millis(1000), "{:?}", begin.elapsed());
    }
}

#[test]
fn a_stock_timeout_layer_answers_the_call() {
    let mut peer = Peer::legacy("2025-06-18", &["--timeout", "200"]);
    peer.send(&sleep(1, 5000));
    let reply = peer.receive();
    assert_eq!((&reply["id"], code(&reply)), (&json!(1), -32603));
    peer.send(&echo(2, "alive"));
    assert_eq!(text(&peer.receive()), "alive");
}
