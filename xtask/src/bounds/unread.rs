//! A client that asks for much and reads nothing of it.

use std::thread;
use std::time::Duration;

use super::peer::Peer;
use super::{MIB, Row};
use crate::requests::{call, cancel};

const RESULT: u64 = 1_000_000;

/// The defaults: calls that a connection may have in flight, their bytes, and those of replies.
const SHARE: u64 = 256;
const IN_FLIGHT: u64 = 64 * MIB;
const OUTPUT: u64 = 64 * MIB;

/// Calls of one wave, which end together when those of the next are not there yet. All but the
/// first wait in the pipe, which has room for two of them, as the server does not read on.
const WAVE: usize = 255;
const WAVES: usize = 3;
const CALL: Duration = Duration::from_millis(300);

pub(super) fn run(release: bool) -> Result<Row, String> {
    let mut peer = Peer::open(release, "2025-06-18", &[])?;
    peer.pipes.write(call(1, "sleep", r#"{"ms":600000}"#))?;
    let arguments = format!(r#"{{"bytes":{RESULT},"ms":{}}}"#, CALL.as_millis());
    let calls = WAVES * WAVE;
    let ids: Vec<_> = (2..2 + calls).collect();
    for wave in ids.chunks(WAVE) {
        let lines: String = wave.iter().map(|id| call(id, "big", &arguments)).collect();
        peer.pipes.write(lines)?;
        thread::sleep(CALL * 5);
    }
    peer.pipes.write(cancel(1))?;
    peer.listen()?;
    let mut answers = vec![0; 2 + calls];
    let (mut answered, mut refused) = (0, 0);
    while answered + refused < calls {
        let (_, line) = peer.line()?;
        let id = id(&line).filter(|id| *id < answers.len());
        answers[id.ok_or("something else is answered")?] += 1;
        match line.len() as u64 > RESULT {
            true => answered += 1,
            false => refused += 1,
        }
    }
    let limit = OUTPUT + IN_FLIGHT + SHARE * RESULT;
    let what = format!("{calls} calls with results of 1 MB, nothing read before all were made");
    let mut row = peer.row(what, limit)?;
    row.counts = format!("{answered} answered, {refused} refused, 1 cancelled");
    let once = answers[2..].iter().all(|times| *times == 1);
    row.check(once && answers[1] == 0, "each is answered once");
    row.check(answered >= WAVE, "what is in the share is answered");
    Ok(row)
}

/// The id of a reply, which may be too long to be parsed.
fn id(line: &[u8]) -> Option<usize> {
    let start = line.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?;
    let length = start.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&start[..length]).ok()?.parse().ok()
}
