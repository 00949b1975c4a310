//! Messages to and from servers, and what they write to standard error.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_protocol::transport::TransportError;
use mcp_transport_stdio::child::{Exit, Stderr};

use crate::server::{Server, checks, runtime, script};

checks! {
    messages_of_any_size_go_both_ways,
    a_huge_line_is_refused_and_the_next_is_taken,
    a_line_that_was_not_ended_is_the_last,
    lines_of_standard_error_are_handed_over,
    a_flood_on_standard_error_holds_up_nobody,
    a_server_may_close_standard_error,
    what_was_set_is_hidden_in_standard_error,
    the_reason_is_known_when_a_server_ends_at_once,
    what_is_written_after_standard_output_was_closed_is_kept,
    a_server_that_is_gone_cannot_be_written_to,
}

/// Covers B-085, B-303.
fn messages_of_any_size_go_both_ways() {
    runtime().block_on(async {
        let mut server = Server::start(&script("cat")).await;
        for size in [1, 65_535, 65_536, 3_000_000] {
            let text = "x".repeat(size);
            let received = server.exchange(&text).await.expect("it answers");
            assert!(received == text, "{size}");
        }
    });
}

/// Covers B-085.
fn a_huge_line_is_refused_and_the_next_is_taken() {
    let shout = "head -c 3000000 /dev/zero | tr '\\0' a; echo; echo next";
    runtime().block_on(async {
        let mut server = Server::start(&script(shout).max_frame(1_000)).await;
        let refused = server.receive_frame().await.expect("there is something");
        assert!(matches!(
            refused,
            Err(TransportError::TooLong { limit: 1_000 })
        ));
        assert_eq!(server.receive().await.as_deref(), Some("next"));
    });
}

fn a_line_that_was_not_ended_is_the_last() {
    runtime().block_on(async {
        let mut server = Server::start(&script("echo one; printf two")).await;
        assert_eq!(server.receive().await.as_deref(), Some("one"));
        assert_eq!(server.receive().await.as_deref(), Some("two"));
        assert_eq!(server.receive().await, None);
    });
}

fn lines_of_standard_error_are_handed_over() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let stderr = {
        let lines = Arc::clone(&lines);
        Stderr::lines(move |line| lines.lock().expect("nobody panics").push(line.to_owned()))
    };
    let exit = runtime().block_on(async {
        let command = script("printf 'one\\r\\ntwo \\377\\n\\nthree' >&2").stderr(stderr);
        Server::start(&command).await.handle.wait().await
    });
    assert!(exit.is_success());
    let lines = lines.lock().expect("nobody panics");
    assert_eq!(*lines, ["one", "two \u{fffd}", "", "three"]);
}

/// Covers T05, B-300, B-305.
fn a_flood_on_standard_error_holds_up_nobody() {
    let flood = "read line; yes 'a line of twenty-five' | head -n 200000 >&2; echo \"$line\"; \
                 echo the last >&2";
    let count = Arc::new(AtomicUsize::new(0));
    let stderr = {
        let count = Arc::clone(&count);
        Stderr::lines(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        })
    };
    runtime().block_on(async {
        let mut server = Server::start(&script(flood).stderr(stderr)).await;
        server.send("hello").await;
        assert_eq!(server.receive().await.as_deref(), Some("hello"));
        assert_eq!(server.handle.wait().await, Exit::Code(0));
        let tail = server.handle.stderr_tail();
        assert!(tail.starts_with("a line of twenty-five\n") && tail.ends_with("\nthe last"));
        assert!((16_000..=16_384).contains(&tail.len()), "{}", tail.len());
    });
    assert_eq!(count.load(Ordering::Relaxed), 200_001);
}

fn a_server_may_close_standard_error() {
    runtime().block_on(async {
        let mut server = Server::start(&script("exec 2>&-; cat")).await;
        server.send("hello").await;
        assert_eq!(server.receive().await.as_deref(), Some("hello"));
        assert_eq!(server.handle.exit(), None);
    });
}

fn what_was_set_is_hidden_in_standard_error() {
    let seen = Arc::new(Mutex::new(String::new()));
    let stderr = {
        let seen = Arc::clone(&seen);
        Stderr::lines(move |line| seen.lock().expect("nobody panics").push_str(line))
    };
    runtime().block_on(async {
        let command = script("echo bad key $KEY in $PATH, level $LEVEL >&2")
            .env("KEY", "sk-0123456789")
            .env("PATH", "/usr/bin:/bin")
            .env("LEVEL", "debug")
            .stderr(stderr);
        let server = Server::start(&command).await;
        server.handle.wait().await;
        let expected = "bad key [hidden] in /usr/bin:/bin, level debug";
        assert_eq!(server.handle.stderr_tail(), expected);
        assert_eq!(*seen.lock().expect("nobody panics"), expected);
    });
}

fn the_reason_is_known_when_a_server_ends_at_once() {
    runtime().block_on(async {
        let mut server = Server::start(&script("echo no API_KEY >&2; exit 1")).await;
        assert_eq!(server.receive().await, None);
        assert_eq!(server.handle.wait().await, Exit::Code(1));
        assert_eq!(server.handle.stderr_tail(), "no API_KEY");
    });
}

/// Covers B-101.
fn what_is_written_after_standard_output_was_closed_is_kept() {
    runtime().block_on(async {
        let late = "exec >&-; sleep 0.1; echo late >&2; exit 1";
        let mut server = Server::start(&script(late)).await;
        assert_eq!(server.receive().await, None);
        assert_eq!(server.handle.exit(), None, "it is still there");
        assert_eq!(server.handle.wait().await, Exit::Code(1));
        assert_eq!(server.handle.stderr_tail(), "late");
    });
}

fn a_server_that_is_gone_cannot_be_written_to() {
    runtime().block_on(async {
        let mut server = Server::start(&script("exit 0")).await;
        server.handle.wait().await;
        server.queue("is anybody there?");
        let error = server.flush().await.expect_err("nobody is");
        assert!(
            matches!(error, TransportError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
        );
    });
}
