//! Nothing is left behind, however often.

use std::sync::Arc;
use std::time::Duration;

use mcp_transport_stdio::child::{ServerCommand, Shutdown};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

use crate::server::{Server, checks, script};
use crate::traces::{descriptors, settled};

checks! {
    two_hundred_servers_of_each_kind_leave_nothing_behind,
}

const KINDS: &[&str] = &[
    "exec cat",
    "exit 1",
    "exec sleep 1000",
    "trap '' TERM; while :; do sleep 1000; done",
    "sleep 1000 & exec cat",
    "setsid sleep 1 & exec cat",
    "yes >&2 & exec cat",
    "exec yes",
    "printf half; exec >&-; exec sleep 1000",
];

const TIMES: u32 = 200;

/// Covers T08, B-266.
fn two_hundred_servers_of_each_kind_leave_nothing_behind() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.expect("threads are to be had");
    runtime.block_on(async {
        // Whatever is made once is made by these.
        run_all(1).await;
        settled(&[]);
        let before = descriptors();
        run_all(TIMES).await;
        settled(&before);
    });
}

async fn run_all(times: u32) {
    let room = Arc::new(Semaphore::new(24));
    let mut cycles = Vec::new();
    for number in 0..times {
        for kind in KINDS {
            let room = Arc::clone(&room).acquire_owned().await;
            cycles.push(tokio::spawn(async move {
                let _room = room;
                cycle(&command(kind), number).await;
            }));
        }
    }
    for cycle in cycles {
        cycle.await.expect("nothing panics");
    }
}

fn command(kind: &str) -> ServerCommand {
    let soon = Duration::from_millis(20);
    script(kind).max_frame(1_000).shutdown(Shutdown {
        after_eof: soon,
        after_term: soon,
        after_kill: Duration::from_secs(10),
        after_exit: soon,
    })
}

/// Starts a server and gets rid of it, in one way or another.
async fn cycle(command: &ServerCommand, number: u32) {
    let mut server = Server::start(command).await;
    match number % 4 {
        0 => drop(server),
        1 => {
            server.queue("hello");
            let _ = server.flush().await;
            server.handle.shut_down().await;
        }
        2 => {
            let handle = server.handle.clone();
            drop(server);
            handle.shut_down().await;
        }
        _ => {
            server.handle.kill();
            while server.receive_frame().await.is_some() {}
            server.handle.wait().await;
        }
    }
}
