//! Changes that a client has asked to hear of and does not read.

use std::thread;
use std::time::Duration;

use super::peer::Peer;
use super::{MIB, Row};
use crate::requests::{call, modern, request};

/// Of the resource, and as many of the list of tools.
const TIMES: usize = 10_000;

/// Notifications that are waiting to be read are kept, each of some 150 bytes.
const LIMIT: u64 = 16 * MIB;

pub(super) fn run(release: bool) -> Result<Row, String> {
    let mut peer = Peer::open(release, "2025-06-18", &["--changing"])?;
    let filter = r#"{"toolsListChanged":true,"resourceSubscriptions":["test://changing"]}"#;
    let listen = format!(r#"{{"notifications":{filter}}}"#);
    let asked = [
        request(1, "resources/subscribe", r#"{"uri":"test://changing"}"#),
        modern(2, "subscriptions/listen", &listen),
        call(3, "touch", &format!(r#"{{"times":{TIMES}}}"#)),
    ];
    peer.pipes.write(asked.concat())?;
    // All of them are made, and then read at leisure.
    thread::sleep(Duration::from_secs(3));
    peer.listen()?;
    let (mut heard, mut ended) = ([0; 2], false);
    // What was told before the reply of the last call is read before it.
    while !ended {
        let (_, message) = peer.next()?;
        match message["method"].as_str() {
            Some("notifications/resources/updated") => heard[0] += 1,
            Some("notifications/tools/list_changed") => heard[1] += 1,
            _ => ended = message["id"] == 3,
        }
        if (heard[0] + heard[1]) % 1_000 == 0 {
            thread::sleep(Duration::from_millis(10));
        }
    }
    // One subscription stays open, which is no call, and its task is that of the connection.
    let what = format!("2 × {TIMES} changes for two subscriptions, read slowly and late");
    let mut row = peer.row(what, LIMIT)?;
    row.counts = format!("{} and {} notifications", heard[0], heard[1]);
    let heard_of = heard.iter().all(|times| (1..=2 * TIMES).contains(times));
    row.check(heard_of, "changes are told");
    Ok(row)
}
