//! How servers end, and what ends with them.

use std::io;
use std::time::{Duration, Instant};

use mcp_protocol::transport::TransportError;
use mcp_transport_stdio::child::{Exit, Shutdown};
use rustix::process::{Pid, Signal, kill_process};
use tokio::join;
use tokio::time::timeout;

use crate::server::{IMPATIENT, PATIENT, Server, checks, runtime, script};
use crate::traces::{LONG, children, is_gone, state, threads, until};

checks! {
    a_server_that_heeds_the_end_of_its_input_gets_no_signal,
    a_server_is_told_to_end_when_the_end_of_input_is_not_enough,
    a_server_that_ignores_everything_is_killed,
    a_second_end_is_the_first,
    a_signal_from_elsewhere_is_named,
    what_a_server_started_ends_with_it,
    the_last_messages_may_come_from_what_a_server_started,
    what_left_the_group_holds_up_nobody,
    what_left_the_group_and_never_stops_talking_holds_up_nobody,
    the_end_is_known_when_nothing_more_is_received,
    a_writer_is_freed_when_the_input_is_ended,
    a_writer_is_freed_when_the_server_ends_though_its_input_is_held,
    a_server_may_end_its_output_and_live,
    a_dropped_server_is_killed_with_all_it_started,
    the_input_ends_with_the_sender,
    a_handle_keeps_a_server_alive,
    a_server_is_killed_without_a_runtime,
    a_server_that_nobody_waits_for_is_killed,
}

/// Shuts a server down, and says how and how fast it went and what it said meanwhile.
async fn shut_down(server: &mut Server) -> (Exit, Duration, Vec<String>) {
    let start = Instant::now();
    let handle = server.handle.clone();
    let mut heard = Vec::new();
    let read = async {
        while let Some(line) = server.receive().await {
            heard.push(line);
        }
    };
    let (exit, ()) = join!(handle.shut_down(), read);
    is_gone(handle.id());
    (exit, start.elapsed(), heard)
}

const ALL_PATIENCE: Shutdown = Shutdown {
    after_exit: LONG,
    ..PATIENT
};

/// Covers T08, A-34, B-269.
fn a_server_that_heeds_the_end_of_its_input_gets_no_signal() {
    let heeds = "trap 'echo told' TERM; echo ready; cat; echo ends";
    runtime().block_on(async {
        // Nothing holds the pipes behind its end, so that nothing is waited for.
        let mut server = Server::start(&script(heeds).shutdown(ALL_PATIENCE)).await;
        assert_eq!(server.receive().await.as_deref(), Some("ready"));
        server.send("before the end").await;
        let (exit, time, heard) = shut_down(&mut server).await;
        assert_eq!(heard, ["before the end", "ends"]);
        assert!(exit.is_success() && time < LONG / 2, "{exit:?} {time:?}");
    });
}

/// Covers T08, B-260.
fn a_server_is_told_to_end_when_the_end_of_input_is_not_enough() {
    runtime().block_on(async {
        for (ignores, expected) in [
            ("echo ready; exec sleep 1000", Exit::Terminated),
            (
                "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done",
                Exit::Code(3),
            ),
            (
                "trap 'exit 143' TERM; echo ready; while :; do sleep 0.01; done",
                Exit::Terminated,
            ),
        ] {
            let mut server = Server::start(&script(ignores).shutdown(IMPATIENT)).await;
            assert_eq!(server.receive().await.as_deref(), Some("ready"));
            let (exit, time, _) = shut_down(&mut server).await;
            assert!(
                exit == expected && time >= IMPATIENT.after_eof,
                "{ignores}: {exit:?} {time:?}"
            );
        }
    });
}

/// Covers T08, B-260.
fn a_server_that_ignores_everything_is_killed() {
    let ignores = "trap '' TERM INT HUP; sleep 1000 & echo $!; while :; do sleep 1000; done";
    runtime().block_on(async {
        let mut server = Server::start(&script(ignores).shutdown(IMPATIENT)).await;
        let grandchild = server.receive_id().await;
        let (exit, time, _) = shut_down(&mut server).await;
        assert!(exit == Exit::Killed && time < LONG, "{exit:?} {time:?}");
        assert!(time >= IMPATIENT.after_eof + IMPATIENT.after_term);
        is_gone(grandchild);
    });
}

///
fn a_second_end_is_the_first() {
    runtime().block_on(async {
        let server = Server::start(&script("cat >/dev/null; exit 5")).await;
        let other = server.handle.clone();
        let (one, two) = tokio::join!(server.handle.shut_down(), other.shut_down());
        assert_eq!((one, two), (Exit::Code(5), Exit::Code(5)));
        server.handle.kill();
        assert_eq!(server.handle.shut_down().await, Exit::Code(5));
        assert_eq!(server.handle.exit(), Some(Exit::Code(5)));
    });
}

fn a_signal_from_elsewhere_is_named() {
    runtime().block_on(async {
        for (script_, expected) in [
            ("kill -SEGV $$", 11),
            ("kill -TERM $$", 15),
            ("kill -KILL $$", 9),
        ] {
            let server = Server::start(&script(script_)).await;
            assert_eq!(server.handle.wait().await, Exit::Signal(expected));
        }
    });
}

/// Covers B-188.
fn what_a_server_started_ends_with_it() {
    runtime().block_on(async {
        let mut server = Server::start(&script("sleep 1000 & echo $!; exit 7")).await;
        let grandchild = server.receive_id().await;
        assert_eq!(server.receive().await, None, "though the pipes are held");
        assert_eq!(server.handle.wait().await, Exit::Code(7));
        is_gone(grandchild);
    });
}

fn the_last_messages_may_come_from_what_a_server_started() {
    let late = "(sleep 0.3; echo late; echo very late) & exit 0";
    runtime().block_on(async {
        let command = script(late).shutdown(ALL_PATIENCE);
        let mut server = Server::start(&command).await;
        assert_eq!(server.receive().await.as_deref(), Some("late"));
        assert_eq!(server.receive().await.as_deref(), Some("very late"));
        assert_eq!(server.receive().await, None);
    });
}

/// Ends what left its server.
fn kill(escaped: u32) {
    let id = i32::try_from(escaped).expect("it is small");
    let id = Pid::from_raw(id).expect("it is not zero");
    kill_process(id, Signal::KILL).expect("it lives");
}

/// Covers B-266.
fn what_left_the_group_holds_up_nobody() {
    let escape = "setsid sh -c 'echo $$; exec sleep 1000' & cat";
    runtime().block_on(async {
        let mut server = Server::start(&script(escape)).await;
        let escaped = server.receive_id().await;
        let (exit, time, _) = shut_down(&mut server).await;
        assert!(
            exit.is_success() && time < Duration::from_secs(2),
            "{exit:?} {time:?}"
        );
        kill(escaped);
    });
}

fn what_left_the_group_and_never_stops_talking_holds_up_nobody() {
    let escape = "setsid sh -c 'echo $$; exec yes a line, and not a short one' & cat >/dev/null";
    runtime().block_on(async {
        let mut server = Server::start(&script(escape)).await;
        let escaped = server.receive_id().await;
        let (exit, time, _) = shut_down(&mut server).await;
        assert!(
            exit.is_success() && time < Duration::from_secs(5),
            "{exit:?} {time:?}"
        );
        kill(escaped);
    });
}

fn the_end_is_known_when_nothing_more_is_received() {
    let escape = "setsid sh -c 'echo $$; exec sleep 1000' & exit 4";
    runtime().block_on(async {
        let mut server = Server::start(&script(escape)).await;
        let escaped = server.receive_id().await;
        assert_eq!(server.receive().await, None);
        assert_eq!(server.handle.exit(), Some(Exit::Code(4)));
        kill(escaped);
    });
}

/// Covers B-266.
fn a_writer_is_freed_when_the_input_is_ended() {
    runtime().block_on(async {
        let mut server = Server::start(&script("exec sleep 1000")).await;
        blocks(&mut server).await;
        let handle = server.handle.clone();
        tokio::spawn(async move { handle.shut_down().await });
        is_freed(&mut server).await;
        assert_eq!(server.handle.exit(), None, "it is not over");
    });
}

fn a_writer_is_freed_when_the_server_ends_though_its_input_is_held() {
    let escape = "exec 3<&0; setsid sh -c 'echo $$; exec sleep 1000' <&3 & exec sleep 1000";
    runtime().block_on(async {
        let mut server = Server::start(&script(escape)).await;
        let escaped = server.receive_id().await;
        blocks(&mut server).await;
        server.handle.kill();
        is_freed(&mut server).await;
        kill(escaped);
    });
}

/// Writes more than a pipe holds.
async fn blocks(server: &mut Server) {
    server.queue(&"x".repeat(1_000_000));
    let blocked = timeout(Duration::from_millis(50), server.flush()).await;
    assert!(blocked.is_err(), "the server does not read");
}

async fn is_freed(server: &mut Server) {
    let start = Instant::now();
    let freed = timeout(LONG / 2, server.flush()).await;
    // A last look is taken when the time is up, which is not what is meant.
    assert!(start.elapsed() < LONG / 2);
    let error = freed.expect("it is freed").expect_err("it fails");
    assert!(
        matches!(error, TransportError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    );
}

fn a_server_may_end_its_output_and_live() {
    runtime().block_on(async {
        let mut server =
            Server::start(&script("exec >&-; while read line; do :; done; exit 0")).await;
        assert_eq!(server.receive().await, None);
        assert_eq!(server.handle.exit(), None);
        assert_eq!(server.handle.shut_down().await, Exit::Code(0));
    });
}

const FAMILY: &str = "trap '' TERM; sleep 1000 & echo $!; sleep 1000 <&0";

/// Covers B-189, B-262.
fn a_dropped_server_is_killed_with_all_it_started() {
    runtime().block_on(async {
        let mut server = Server::start(&script(FAMILY)).await;
        let (id, grandchild) = (server.handle.id(), server.receive_id().await);
        drop(server);
        is_gone(id);
        is_gone(grandchild);
    });
}

fn the_input_ends_with_the_sender() {
    runtime().block_on(async {
        let Server { sender, handle, .. } = Server::start(&script("exec cat")).await;
        drop(sender);
        assert_eq!(handle.wait().await, Exit::Code(0));
    });
}

fn a_handle_keeps_a_server_alive() {
    runtime().block_on(async {
        let child = script("trap '' TERM; echo $$; sleep 1000").spawn().await;
        let child = child.expect("it starts");
        let handle = child.handle();
        let mut server = Server::new(child);
        server.receive_id().await;
        drop(server);
        assert!(handle.exit().is_none());
        let other = handle.clone();
        drop(handle);
        assert!(state(other.id()).is_some_and(|(state, _)| state != 'Z'));
        let id = other.id();
        drop(other);
        is_gone(id);
    });
}

/// Covers B-264.
fn a_server_is_killed_without_a_runtime() {
    let runtime = runtime();
    let (child, other, grandchild) = runtime.block_on(async {
        let mut other = Server::start(&script(FAMILY)).await;
        let grandchild = other.receive_id().await;
        let child = script("sleep 1000").spawn().await;
        (child.expect("it starts"), other, grandchild)
    });
    drop(runtime);
    let ids = [child.handle().id(), other.handle.id(), grandchild];
    drop(child);
    drop(other);
    ids.into_iter().for_each(is_gone);
}

fn a_server_that_nobody_waits_for_is_killed() {
    let command = script("exec sleep 1000");
    runtime().block_on(async {
        tokio::select! {
            biased;
            spawned = command.spawn() => drop(spawned),
            () = tokio::task::yield_now() => {}
        }
    });
    until(|| threads() == 0, "no thread is left");
    until(|| children().is_empty(), "no child is left, dead or alive");
}
