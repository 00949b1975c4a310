//! What is checked.

use std::thread;
use std::time::Duration;

use crate::harness::Check;
#[cfg(target_os = "linux")]
use crate::peer::shared_sockets;
use crate::peer::{Connect, pipes};
#[cfg(unix)]
use crate::peer::{
    Peer, command, non_blocking_terminal, one_socket, shared_pipes, sockets, terminal,
};

macro_rules! checks {
    ($($(#[$attribute:meta])* $name:ident,)*) => {
        pub(crate) const ALL: &[Check] = &[$($(#[$attribute])* (stringify!($name), $name),)*];
    };
}

checks! {
    pipes_carry_messages_of_any_size,
    everything_is_written_before_the_process_ends,
    the_last_line_needs_no_line_feed,
    a_second_call_is_refused,
    a_peer_that_vanished_is_an_error,
    a_process_ends_when_main_returns_though_its_input_is_open,
    #[cfg(unix)]
    sockets_carry_messages_of_any_size,
    #[cfg(unix)]
    a_terminal_carries_messages,
    #[cfg(unix)]
    files_carry_messages,
    #[cfg(unix)]
    what_else_prints_or_reads_stays_out_of_the_stream,
    #[cfg(unix)]
    closed_streams_are_empty,
    #[cfg(unix)]
    a_pipe_that_others_share_stays_blocking,
    #[cfg(target_os = "linux")]
    child_processes_do_not_get_the_descriptors,
    #[cfg(target_os = "linux")]
    only_what_cannot_be_waited_for_has_threads,
    #[cfg(target_os = "linux")]
    a_pipe_of_another_user_has_threads,
}

/// Every way to be connected in which two sides talk for as long as they like.
const WAYS: &[Connect] = &[
    pipes,
    #[cfg(unix)]
    sockets,
    #[cfg(unix)]
    one_socket,
    #[cfg(unix)]
    terminal,
    #[cfg(unix)]
    non_blocking_terminal,
];

/// Covers B-079.
fn pipes_carry_messages_of_any_size() {
    carries_messages_of_any_size(pipes);
}

/// Writes all of them without waiting for an answer, so that both directions are full.
fn carries_messages_of_any_size(connect: Connect) {
    let mut peer = connect("echo");
    let around = |size| [size - 1, size, size + 1];
    let sizes = [4 << 10, 8 << 10, 16 << 10, 64 << 10, 1 << 20].map(around);
    let mut input = peer.input.take().expect("it was not ended");
    let writing = thread::spawn(move || {
        for size in sizes.into_iter().flatten() {
            let line = "x".repeat(size) + "\n";
            input.write_all(line.as_bytes()).expect("the child reads");
        }
        input
    });
    for size in sizes.into_iter().flatten() {
        assert_eq!(peer.receive().len(), size);
    }
    peer.input = Some(writing.join().expect("nothing panics"));
    let end = peer.finish();
    assert!(end.status.success() && end.output.is_empty());
}

/// Covers B-081.
fn everything_is_written_before_the_process_ends() {
    let mut peer = pipes("answer a lot");
    peer.send("go\n");
    let end = peer.finish();
    assert!(end.status.success());
    assert_eq!(end.output.len(), (4 << 20) + 1);
}

/// Covers T12, T13.
fn the_last_line_needs_no_line_feed() {
    for connect in [
        pipes,
        #[cfg(unix)]
        sockets,
    ] {
        let mut peer = connect("echo");
        peer.send("one\r\n\ntwo");
        let end = peer.finish();
        assert!(end.status.success());
        assert_eq!(end.output, "one\ntwo\n");
    }
}

fn a_second_call_is_refused() {
    let answer = pipes("take twice").ask("go");
    assert!(answer.contains("called before"), "{answer}");
}

fn a_peer_that_vanished_is_an_error() {
    for connect in [
        pipes,
        #[cfg(unix)]
        sockets,
        #[cfg(unix)]
        one_socket,
    ] {
        let mut peer = connect("shout");
        peer.send("go\n");
        peer.receive();
        peer.output = None;
        peer.input = None;
        let end = peer.wait_for_end();
        assert!(!end.status.success());
        assert!(
            ["BrokenPipe\n", "ConnectionReset\n"].contains(&&*end.errors),
            "{}",
            end.errors
        );
    }
}

/// Covers B-030, B-292.
fn a_process_ends_when_main_returns_though_its_input_is_open() {
    for connect in WAYS {
        for role in ["leave", "leave several threads"] {
            let mut peer = connect(role);
            assert_eq!(peer.ask("one"), "one");
            assert!(peer.ends_within(Duration::from_secs(1)), "{role}");
            assert!(peer.wait_for_end().status.success());
        }
    }
}

#[cfg(unix)]
fn sockets_carry_messages_of_any_size() {
    carries_messages_of_any_size(sockets);
    carries_messages_of_any_size(one_socket);
}

#[cfg(unix)]
fn a_terminal_carries_messages() {
    for connect in [terminal, non_blocking_terminal] {
        let mut peer = connect("echo");
        for line in ["one", "two", &"x".repeat(1_000)] {
            assert_eq!(peer.ask(line), line);
        }
        assert!(peer.finish().status.success());
    }
}

#[cfg(unix)]
fn files_carry_messages() {
    use std::fs::File;

    let folder = std::env::temp_dir();
    let [input, output] = ["input", "output"]
        .map(|name| folder.join(format!("mcp-stdio-test-{}-{name}", std::process::id())));
    let text = format!("one\n{}\nthree\n", "x".repeat(1_000_000));
    std::fs::write(&input, &text).expect("there is room");
    let status = command("echo")
        .stdin(File::open(&input).expect("it was written"))
        .stdout(File::create(&output).expect("there is room"))
        .status()
        .expect("the child can be started");
    let answer = std::fs::read_to_string(&output);
    for file in [input, output] {
        let _ = std::fs::remove_file(file);
    }
    assert!(status.success());
    assert!(answer.is_ok_and(|answer| answer == text));
}

/// Covers T02, B-093, B-095, B-311, B-314, B-326.
#[cfg(unix)]
fn what_else_prints_or_reads_stays_out_of_the_stream() {
    for connect in WAYS {
        let mut peer = connect("print");
        for line in ["one", "two", "three"] {
            assert_eq!(peer.ask(line), line);
        }
        let end = peer.finish();
        assert!(
            end.status.success() && end.output.is_empty(),
            "{}",
            end.output
        );
        for (noise, times) in [("from println", 3), ("from a child", 3), ("unfinished", 3)] {
            assert_eq!(end.errors.matches(noise).count(), times, "{}", end.errors);
        }
    }
}

#[cfg(unix)]
fn closed_streams_are_empty() {
    let start = |role, redirection| {
        let mut shell = std::process::Command::new("sh");
        let program = std::env::current_exe().expect("this program has a name");
        shell
            .arg("-c")
            .arg(format!("exec \"$0\" {redirection}"))
            .arg(program);
        shell
            .env(crate::child::ROLE, role)
            .stderr(std::process::Stdio::piped());
        Peer::piped(&mut shell).expect("there is a shell")
    };

    let end = start("echo", "<&-").wait_for_end();
    assert!(end.status.success() && end.output.is_empty());

    let mut peer = start("echo", ">&-");
    peer.send("one\n");
    let end = peer.finish();
    assert!(end.status.success() && end.output.is_empty());

    let mut peer = start("print", "2>&-");
    assert_eq!(peer.ask("one"), "one");
    let end = peer.finish();
    assert!(end.status.success() && end.output.is_empty());
}

#[cfg(unix)]
fn a_pipe_that_others_share_stays_blocking() {
    use rustix::fs::{OFlags, fcntl_getfl};

    let (mut peer, shared) = shared_pipes("echo");
    assert_eq!(peer.ask("one"), "one");
    for end in &shared {
        assert!(
            !fcntl_getfl(end)
                .expect("it is open")
                .contains(OFlags::NONBLOCK)
        );
    }
}

/// Covers B-038, B-095.
#[cfg(target_os = "linux")]
fn child_processes_do_not_get_the_descriptors() {
    use std::os::fd::AsRawFd;

    for connect in [shared_pipes, shared_sockets] {
        let (mut peer, shared) = connect("list descriptors");
        let list = peer.ask("go");
        assert!(list.contains("/dev/null"), "{list}");
        for end in shared {
            let name = std::fs::read_link(format!("/proc/self/fd/{}", end.as_raw_fd()));
            let name = name.expect("it is open").to_string_lossy().into_owned();
            assert!(
                name.contains(":[") && !list.contains(&name),
                "{name} is in {list}"
            );
        }
    }
}

#[cfg(target_os = "linux")]
fn only_what_cannot_be_waited_for_has_threads() {
    for connect in [pipes, sockets, one_socket] {
        let mut peer = connect("echo");
        assert_eq!(peer.ask("one"), "one");
        assert!(peer.threads().is_empty());
    }
    let mut peer = terminal("echo");
    assert_eq!(peer.ask("one"), "one");
    assert_eq!(peer.threads(), ["mcp-input", "mcp-output"]);
}

/// Needs the right to start a process as another user, and checks nothing without it.
#[cfg(target_os = "linux")]
fn a_pipe_of_another_user_has_threads() {
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65_534;
    let Ok(mut peer) = Peer::piped(command("echo").uid(NOBODY).gid(NOBODY)) else {
        return;
    };
    assert_eq!(peer.ask("one"), "one");
    assert_eq!(peer.threads(), ["mcp-input", "mcp-output"]);
    assert!(peer.finish().status.success());
}
