//! The acceptance checks, by number.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::*;

const LIMITS: &[&str] = &["--cap", "4", "--share", "2"];

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn assert_busy(reply: &Value, id: u64, scope: &str, limit: u64) {
    assert_eq!(reply["id"], id, "{reply}");
    assert_eq!(code(reply), -31503);
    assert_eq!(reply["error"]["message"], "server_busy");
    assert_eq!(
        reply["error"]["data"],
        json!({ "error": "server_busy", "scope": scope, "limit": limit, "method": "tools/call" })
    );
}

///
#[test]
fn a01_a_later_quick_request_overtakes_a_slow_call() {
    let mut peer = Peer::legacy("2025-06-18", LIMITS);
    peer.send(&sleep(1, 500));
    peer.send(&request(2, "tools/list", json!({})));
    assert_eq!(peer.receive()["id"], 2);
    assert_eq!(peer.receive()["id"], 1);
    peer.close_stdin();
    assert_eq!(peer.rest(), [] as [Value; 0]);
}

///
#[test]
fn a02_a_hundred_pings_are_answered_in_order_before_the_sleeps() {
    let mut peer = Peer::legacy("2025-06-18", LIMITS);
    peer.send(&sleep(1, 500));
    peer.send(&sleep(2, 500));
    let pings: Vec<_> = (10..110).map(ping).collect();
    peer.send_all(&pings);
    for id in 10..110 {
        assert_eq!(
            peer.receive(),
            json!({ "jsonrpc": "2.0", "id": id, "result": {} })
        );
    }
    let mut slept = [peer.receive()["id"].as_i64(), peer.receive()["id"].as_i64()];
    slept.sort_unstable();
    assert_eq!(slept, [Some(1), Some(2)]);
}

/// Covers A-03, TL11, EC02.
#[test]
fn a03_a_call_beyond_the_share_is_refused_at_once() {
    let mut peer = Peer::legacy("2025-06-18", LIMITS);
    let begin = Instant::now();
    peer.send_all(&[sleep(1, 600), sleep(2, 600), sleep(3, 600)]);
    let (at, reply) = peer.receive_timed();
    assert_busy(&reply, 3, "connection", 2);
    assert!(at - begin < millis(400), "refused after {:?}", at - begin);
    for _ in 0..2 {
        assert_eq!(text(&peer.receive()), "slept");
    }
    peer.close_stdin();
    assert_eq!(peer.rest(), [] as [Value; 0]);
}

///
#[cfg(unix)]
#[test]
fn a05_the_server_is_full_when_two_connections_use_their_shares() {
    use crate::fairness::SocketServer;

    let server = SocketServer::start(LIMITS);
    let (mut a, mut b, mut c) = (server.connect(), server.connect(), server.connect());
    a.send_all(&[sleep(1, 700), sleep(2, 700)]);
    b.send_all(&[sleep(1, 700), sleep(2, 700)]);
    // Until both have their calls in flight, which a ping behind them shows.
    for peer in [&mut a, &mut b] {
        peer.send_all(&[ping(9)]);
        assert_eq!(peer.receive()["id"], 9);
    }
    c.send_all(&[sleep(3, 10)]);
    assert_busy(&c.receive(), 3, "server", 4);
    for peer in [&mut a, &mut b] {
        for _ in 0..2 {
            assert_eq!(text(&peer.receive()), "slept");
        }
    }
    c.send_all(&[sleep(4, 10)]);
    assert_eq!(text(&c.receive()), "slept");
}

///
#[test]
fn a06_a_full_server_still_answers_what_is_not_work() {
    let mut peer = Peer::legacy("2025-06-18", LIMITS);
    peer.send_all(&[
        sleep(1, 800),
        sleep(2, 800),
        ping(3),
        discover(4),
        request(5, "no/such", json!({})),
    ]);
    let begin = Instant::now();
    assert_eq!(peer.receive()["result"], json!({}));
    assert_eq!(
        peer.receive()["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
    let (at, reply) = peer.receive_timed();
    assert_eq!((&reply["id"], code(&reply)), (&json!(5), -32601));
    assert!(at - begin < millis(500));
}

/// Covers A-07, C03.
#[test]
fn a07_a_cancelled_call_is_silent_and_gives_its_slot_back() {
    for era in [Value::clone, |message: &Value| modern(message.clone())] {
        let mut peer = Peer::legacy("2025-06-18", LIMITS);
        peer.send_all(&[era(&sleep(1, 5000)), cancel(1)]);
        peer.is_silent_for(millis(1000));
        peer.send_all(&[era(&sleep(2, 10)), era(&sleep(3, 10))]);
        for _ in 0..2 {
            let reply = peer.receive();
            assert_ne!(reply["id"], 1);
            assert_eq!(text(&reply), "slept");
        }
    }
}

/// Covers A-09, J04, B-173.
#[test]
fn a09_an_id_in_flight_is_refused_and_the_first_call_unharmed() {
    let mut peer = Peer::legacy("2025-06-18", LIMITS);
    peer.send_all(&[sleep(7, 300), echo(7, "not run")]);
    let reply = peer.receive();
    assert_eq!((&reply["id"], code(&reply)), (&json!(7), -32600));
    let reply = peer.receive();
    assert_eq!((&reply["id"], text(&reply)), (&json!(7), "slept"));
    peer.close_stdin();
    assert_eq!(peer.rest(), [] as [Value; 0]);
}

/// Covers A-10, J05.
#[test]
fn a10_ids_keep_their_type() {
    let mut peer = Peer::legacy("2025-06-18", LIMITS);
    peer.send_all(&[sleep(7, 200), sleep("7", 200)]);
    let replies = [peer.receive(), peer.receive()];
    assert!(replies.iter().all(|reply| text(reply) == "slept"));
    for id in [json!(7), json!("7")] {
        assert_eq!(replies.iter().filter(|reply| reply["id"] == id).count(), 1);
    }
}

/// Covers A-15, T09, B-028.
#[test]
fn a15_calls_that_run_at_the_end_of_input_are_cut_off_after_the_grace() {
    for (args, least, most) in [
        (&[][..], 1000, 1400),
        (&["--grace", "0"], 0, 1000),
        (&["--grace", "300"], 300, 700),
    ] {
        let mut peer = Peer::legacy("2025-06-18", args);
        peer.send_all(&[ping(1), sleep(2, 5000)]);
        assert_eq!(peer.receive()["id"], 1);
        let begin = Instant::now();
        peer.close_stdin();
        assert_eq!(peer.rest(), [] as [Value; 0]);
        let status = peer.ends_within(SOON);
        let took = begin.elapsed();
        assert!(status.success());
        assert!(took >= millis(least), "after {took:?}");
        assert!(took < millis(most), "after {took:?}");
    }
}

/// Covers A-16, T09.
#[test]
fn a16_calls_that_end_within_the_grace_are_answered() {
    let mut peer = Peer::legacy("2025-06-18", &["--grace", "3000"]);
    peer.send(&sleep(1, 500));
    let begin = Instant::now();
    peer.close_stdin();
    let replies = peer.rest();
    assert_eq!(replies.len(), 1);
    assert_eq!(text(&replies[0]), "slept");
    assert!(peer.ends_within(SOON).success());
    assert!(begin.elapsed() < millis(1500), "{:?}", begin.elapsed());
}

/// Covers A-17, T01, B-139, B-140.
#[test]
fn a17_text_of_any_language_comes_back_as_it_was() {
    let text_sent = "\u{e9}\u{20ac}\u{1f600}\u{2028}\u{85}\u{7f}";
    let mut peer = Peer::spawn(fixture(&[]).env("LC_ALL", "C"));
    peer.shake_hands("2025-06-18");
    peer.send(&echo(1, text_sent));
    assert_eq!(text(&peer.receive()), text_sent);
    peer.ends_well();
}

///
#[test]
fn a18_a_server_that_goes_down_ends_with_its_reason() {
    // Idle, by a call, and by a panic of the transport's.
    for (args, reason) in [
        (&["--die", "100"][..], "died, as asked"),
        (&["--panic-transport"], "a bug in the transport"),
    ] {
        let mut peer = Peer::start(args);
        let status = peer.ends_within(SOON);
        assert_eq!(status.code(), Some(1));
        let stderr = peer.stderr();
        assert!(stderr.contains(reason), "{stderr}");
    }
    let mut peer = Peer::legacy("2025-06-18", &[]);
    peer.send(&call(1, "die", json!({})));
    let status = peer.ends_within(millis(1000));
    assert_eq!(status.code(), Some(1));
    assert!(peer.stderr().contains("died, as asked"));
}

/// What is no message, and the code it is answered with.
const BAD_LINES: &[(&[u8], i64)] = &[
    (b"\xff\xfe\n", -32700),
    (b"{nope\n", -32700),
    (b"\0\n", -32700),
    (
        b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n",
        -32600,
    ),
    (b"[1,\"ping\",{}]\n", -32600),
    (b"123\n", -32600),
    (b"\"x\"\n", -32600),
    (b"null\n", -32600),
    (b"true\n", -32600),
];

/// Covers, J10, J11, B-177, B-178.
#[test]
fn a21_a22_a23_bad_lines_are_answered_with_id_null_and_cost_only_themselves() {
    let mut peer = Peer::start(&[]);
    for (line, expected) in BAD_LINES {
        peer.write(line);
        let reply = peer.receive();
        assert_eq!(reply.get("id"), Some(&Value::Null), "{reply}");
        assert_eq!(code(&reply), *expected, "{reply}");
        if *expected == -32700 {
            let message = reply["error"]["message"].as_str().unwrap_or_default();
            assert!(message.starts_with("Parse error"), "{message}");
        }
    }
    peer.send(&ping(1));
    assert_eq!(peer.receive()["id"], 1);
    peer.ends_well();
}

/// Covers J10, J11, J17.
#[test]
fn a21_a22_a23_bad_lines_are_answered_without_an_id_in_the_modern_era() {
    let mut peer = Peer::start(&[]);
    peer.send(&discover(1));
    assert_eq!(peer.receive()["id"], 1);
    for (line, expected) in BAD_LINES {
        peer.write(line);
        let reply = peer.receive();
        assert_eq!(reply.get("id"), None, "{reply}");
        assert_eq!(code(&reply), *expected);
    }
    peer.send(&discover(2));
    assert_eq!(peer.receive()["id"], 2);
}

/// Covers A-25, T15, B-087.
#[test]
fn a25_a_line_over_the_limit_is_refused_without_keeping_it() {
    let limit = 4 << 20;
    let frame = limit.to_string();
    for era in ["legacy", "modern"] {
        for length in [limit + 1, 10 * limit] {
            let mut peer = Peer::start(&["--frame", &frame]);
            if era == "modern" {
                peer.send(&discover(1));
                peer.receive();
            }
            for piece in vec![b'a'; length].chunks(1 << 16) {
                peer.write(piece);
            }
            peer.write(b"\n");
            let reply = peer.receive();
            let id = (era == "legacy").then_some(&Value::Null);
            assert_eq!(reply.get("id"), id);
            assert_eq!(code(&reply), -32700);
            assert_eq!(reply["error"]["data"]["error"], "line_too_long");
            peer.send(&discover(2));
            assert_eq!(peer.receive()["id"], 2);
            #[cfg(target_os = "linux")]
            assert!(
                peer.peak_memory() < 3 * limit as u64,
                "{} bytes for a limit of {limit}",
                peer.peak_memory()
            );
            peer.ends_well();
        }
    }
}

/// Covers A-27, T12, T13, B-149.
#[test]
fn a27_line_ends_of_all_kinds_and_a_last_line_without_one() {
    let mut peer = Peer::start(&[]);
    let lines = format!(
        "\u{feff}{}\r\n\n\r\n   \t\n{}\n{}",
        ping(1),
        ping(2),
        ping(3)
    );
    peer.write(lines.as_bytes());
    peer.close_stdin();
    let ids: Vec<_> = peer
        .rest()
        .iter()
        .map(|reply| reply["id"].clone())
        .collect();
    assert_eq!(ids, [json!(1), json!(2), json!(3)]);
    assert!(peer.ends_within(SOON).success());
}

/// Covers A-28, B-030, B-034, B-198, B-292.
#[cfg(unix)]
#[test]
fn a28_a_signal_ends_a_server_whose_stdin_is_open() {
    for signal in ["INT", "TERM"] {
        for thread in [&[][..], &["--current-thread"]] {
            let mut peer = Peer::legacy("2025-06-18", thread);
            peer.send(&ping(1));
            assert_eq!(peer.receive()["id"], 1);
            peer.signal(signal);
            assert!(peer.ends_within(millis(1000)).success());
        }
    }
}

/// Sent to this very process, which it ends if nobody listens yet.
/// Covers A-28, B-034.
#[cfg(unix)]
#[tokio::test]
async fn a28_a_signal_is_not_missed_although_it_comes_at_once() {
    let server = mcp_server::Server::new("test", "1.0.0").build();
    let server = server.expect("it can be built");
    server.shut_down_on_signal();
    signal(std::process::id(), "TERM");
    let ended = tokio::time::timeout(SOON, server.ending()).await;
    assert!(ended.is_ok());
}

///
#[cfg(unix)]
#[test]
fn a28_a_running_call_has_its_grace_when_a_signal_comes() {
    let mut peer = Peer::legacy("2025-06-18", &["--grace", "2000"]);
    peer.send_all(&[sleep(1, 500), sleep(2, 60_000), ping(3)]);
    assert_eq!(peer.receive()["id"], 3);
    let begin = Instant::now();
    peer.signal("TERM");
    let replies = peer.rest();
    assert_eq!(replies.len(), 1);
    assert_eq!((&replies[0]["id"], text(&replies[0])), (&json!(1), "slept"));
    assert!(peer.ends_within(SOON).success());
    let took = begin.elapsed();
    assert!(took > millis(1900) && took < millis(2500), "{took:?}");
}

///
#[test]
fn a30_a_reply_comes_while_stdin_stays_open() {
    let mut peer = Peer::start(&[]);
    // The first reply waits for the start of the process.
    peer.send(&ping(1));
    peer.receive();
    let begin = Instant::now();
    peer.send(&ping(2));
    let (at, _) = peer.receive_timed();
    assert!(at - begin < millis(100), "{:?}", at - begin);
}
