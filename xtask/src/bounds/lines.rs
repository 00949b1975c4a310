//! Lines that are long for nothing.

use super::peer::Peer;
use super::{MIB, Row};
use crate::requests::ping;

/// Longest message by default.
const FRAME: u64 = 16 * MIB;

const ENDLESS: u64 = 1_000_000_000;

/// What one line may take, of its own length or of the longest there may be.
const TIMES: u64 = 3;

pub(super) fn no_batch(release: bool) -> Result<Row, String> {
    let peer = Peer::start(release, "2025-06-18", &[])?;
    ones(
        peer,
        8 * MIB,
        "8 MiB of `1,` in 2025-06-18, which has no batches",
    )
}

pub(super) fn batch(release: bool) -> Result<Row, String> {
    let peer = Peer::start(release, "2025-03-26", &[])?;
    ones(
        peer,
        FRAME,
        "16 MiB of `1,` in 2025-03-26, which has batches",
    )
}

fn ones(mut peer: Peer, length: u64, what: &str) -> Result<Row, String> {
    let mut line = b"1,".repeat(length as usize / 2);
    line[0] = b'[';
    let last = line.len() - 1;
    line[last] = b']';
    line[last - 1] = b'1';
    line[1] = b' ';
    line.push(b'\n');
    peer.pipes.write(line)?;
    one_error(peer, what, TIMES * length)
}

pub(super) fn endless(release: bool) -> Result<Row, String> {
    let mut peer = Peer::start(release, "2025-06-18", &[])?;
    let piece = vec![b'a'; MIB as usize];
    let mut left = ENDLESS as usize;
    while left > 0 {
        let length = left.min(piece.len());
        peer.pipes.write(&piece[..length])?;
        left -= length;
    }
    peer.pipes.write("\n")?;
    one_error(peer, "a line of 1 GB", TIMES * FRAME)
}

/// What was sent is answered by one error, and what is sent then is answered, too.
fn one_error(mut peer: Peer, what: &str, limit: u64) -> Result<Row, String> {
    peer.pipes.write(ping(r#""then""#))?;
    let mut errors = Vec::new();
    loop {
        let (_, message) = peer.next()?;
        if message["id"] == "then" {
            break;
        }
        errors.push(message["error"]["code"].to_string());
    }
    let mut row = peer.row(what.to_owned(), limit)?;
    row.counts = format!("{} error: {}", errors.len(), errors.join(", "));
    row.check(errors.len() == 1 && errors[0] != "null", "one error");
    Ok(row)
}
