//! A client that is much cheaper than what it measures.
//!
//! Its requests differ in nothing but an id, all ids are as long as each other, and so are the
//! replies: the first reply of a run is looked at, and the others must be like it. It writes all
//! that may be in flight at once, and reads all that is there before it writes again.

use std::io::{self, BufRead, BufReader, Error, Read, Write};
use std::time::{Duration, Instant};

/// A line with room for an id.
pub(super) struct Request {
    before_id: String,
    after_id: String,
    /// What the reply has in it.
    answer: String,
}

/// How a client says which revision it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    /// By `initialize`, 2025-06-18.
    Legacy,
    /// In each request, 2026-07-28.
    Modern,
}

impl Speech {
    fn request(self, method: &str, params: &str, answer: &str) -> Request {
        const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
        let meta = match self {
            Self::Legacy => "",
            Self::Modern => META,
        };
        let comma = if meta.is_empty() || params.is_empty() {
            ""
        } else {
            ","
        };
        Request {
            before_id: r#"{"jsonrpc":"2.0","id":"#.to_owned(),
            after_id: format!(",\"method\":\"{method}\",\"params\":{{{meta}{comma}{params}}}}}\n"),
            answer: answer.to_owned(),
        }
    }

    /// A call of `echo` with a text of so many bytes.
    pub(super) fn echo(self, length: usize) -> Request {
        const WORDS: &str = "what is said here comes back as it was said, every letter of it; ";
        let text = &WORDS.repeat(length / WORDS.len() + 1)[..length];
        let params = format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#);
        self.request("tools/call", &params, text)
    }

    /// A call of `sleep` for so many milliseconds.
    pub(super) fn sleep(self, ms: u64) -> Request {
        let params = format!(r#""name":"sleep","arguments":{{"ms":{ms}}}"#);
        self.request("tools/call", &params, "slept")
    }
}

/// When a run ends: it sends no more after either.
#[derive(Clone, Copy)]
pub(super) struct Until {
    pub(super) calls: usize,
    pub(super) time: Duration,
}

impl Until {
    pub(super) fn calls(calls: usize) -> Self {
        let time = Duration::MAX;
        Self { calls, time }
    }
}

/// What a run took.
pub(super) struct Timing {
    pub(super) calls: usize,
    pub(super) wall: Duration,
    /// The round trip of each call, if they came one after another.
    trips: Vec<Duration>,
}

impl Timing {
    pub(super) fn median_trip(mut self) -> Duration {
        self.trips.sort_unstable();
        self.trips
            .get(self.trips.len() / 2)
            .copied()
            .unwrap_or_default()
    }
}

/// One connection to a server.
pub(super) struct Connection {
    input: Box<dyn Write>,
    output: BufReader<Box<dyn Read>>,
    batch: Vec<u8>,
    line: Vec<u8>,
    next_id: usize,
}

/// All ids have as many digits.
const FIRST_ID: usize = 100_000_000;
const DIGITS: usize = 9;

impl Connection {
    pub(super) fn new(
        input: impl Write + 'static,
        output: impl Read + 'static,
        room: usize,
    ) -> Self {
        Self {
            input: Box::new(input),
            output: BufReader::with_capacity(room, Box::new(output)),
            batch: Vec::new(),
            line: Vec::new(),
            next_id: FIRST_ID,
        }
    }

    /// What a client says first.
    pub(super) fn open(&mut self, speech: Speech) -> io::Result<()> {
        let about = r#""protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}"#;
        let hello = match speech {
            Speech::Legacy => speech.request("initialize", about, "2025-06-18"),
            Speech::Modern => speech.request("server/discover", "", "2026-07-28"),
        };
        self.run(&hello, 1, Until::calls(1))?;
        match speech {
            Speech::Legacy => self
                .input
                .write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"),
            Speech::Modern => Ok(()),
        }
    }

    /// Calls until then, so many at once.
    pub(super) fn run(
        &mut self,
        request: &Request,
        depth: usize,
        until: Until,
    ) -> io::Result<Timing> {
        let first_id = self.next_id;
        let mut answered: Vec<bool> = Vec::new();
        let mut replies = Replies::default();
        let mut trips = Vec::new();
        let mut done = 0;
        let start = Instant::now();
        loop {
            let sent = answered.len();
            let free = (depth - (sent - done)).min(until.calls - sent);
            let begun = Instant::now();
            if free > 0 && begun - start < until.time {
                self.send(request, free)?;
                answered.resize(sent + free, false);
            }
            if done == answered.len() {
                break;
            }
            loop {
                let id = replies.read(self, &request.answer)?;
                let place = answered.get_mut(id.wrapping_sub(first_id));
                match place {
                    Some(answered) if !*answered => *answered = true,
                    _ => {
                        return Err(Error::other(format!(
                            "a reply to {id} again, or to nothing"
                        )));
                    }
                }
                done += 1;
                if !self.output.buffer().contains(&b'\n') {
                    break;
                }
            }
            if depth == 1 {
                trips.push(begun.elapsed());
            }
        }
        Ok(Timing {
            calls: done,
            wall: start.elapsed(),
            trips,
        })
    }

    /// Sends so many requests, and does not wait for a reply.
    pub(super) fn send(&mut self, request: &Request, count: usize) -> io::Result<()> {
        self.batch.clear();
        for id in self.next_id..self.next_id + count {
            self.batch.extend_from_slice(request.before_id.as_bytes());
            self.batch.extend_from_slice(id.to_string().as_bytes());
            self.batch.extend_from_slice(request.after_id.as_bytes());
        }
        self.next_id += count;
        self.input.write_all(&self.batch)
    }
}

/// What all replies of one run have in common.
#[derive(Default)]
struct Replies {
    /// Where the id begins, and how long a reply is.
    like: Option<(usize, usize)>,
}

impl Replies {
    /// The id of the next reply.
    fn read(&mut self, connection: &mut Connection, answer: &str) -> io::Result<usize> {
        let line = &mut connection.line;
        loop {
            line.clear();
            if connection.output.read_until(b'\n', line)? == 0 {
                return Err(Error::other("the server has closed the connection"));
            }
            if let Some(id) = self.id(line, answer)? {
                return Ok(id);
            }
        }
    }

    /// The id of a reply; of a notification, nothing.
    fn id(&mut self, line: &[u8], answer: &str) -> io::Result<Option<usize>> {
        let unlike = || {
            let text = String::from_utf8_lossy(&line[..line.len().min(300)]);
            Error::other(format!("not the reply that was expected: {text}"))
        };
        let at = match self.like {
            Some((at, length)) if length == line.len() => at,
            None => {
                let text = std::str::from_utf8(line).map_err(|_| unlike())?;
                if text.contains(r#""method":"#) && !text.contains(answer) {
                    return Ok(None);
                }
                let known = text.contains(r#""result":"#) && text.contains(answer);
                let at = text.find(r#""id":"#).filter(|_| known).ok_or_else(unlike)? + 5;
                self.like = Some((at, line.len()));
                at
            }
            Some(_) if line.windows(9).any(|word| word == br#""method":"#) => return Ok(None),
            Some(_) => return Err(unlike()),
        };
        let digits = line.get(at..at + DIGITS).map(std::str::from_utf8);
        let id = digits.and_then(|digits| digits.ok()?.parse().ok());
        id.map(Some).ok_or_else(unlike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a run makes of these lines, which it reads for its requests with the ids 100000000 and so on.
    fn run(lines: &str, calls: usize) -> Result<usize, String> {
        let output = io::Cursor::new(lines.replace("ID", "10000000").into_bytes());
        let mut connection = Connection::new(io::sink(), output, 100);
        let request = Speech::Legacy.sleep(1);
        let timing = connection.run(&request, calls, Until::calls(calls));
        timing
            .map(|timing| timing.calls)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn replies_come_in_any_order_and_notifications_between_them() {
        let lines = "{\"id\":ID1,\"result\":\"slept\"}\n{\"method\":\"a\"}\n{\"id\":ID0,\"result\":\"slept\"}\n";
        assert_eq!(run(lines, 2), Ok(2));
    }

    #[test]
    fn what_is_no_answer_is_not_measured() {
        for lines in [
            "{\"id\":ID0,\"error\":{}}\n",
            "{\"id\":ID0,\"result\":\"slept\"}\n{\"id\":ID0,\"result\":\"slept\"}\n",
            "{\"id\":ID0,\"result\":\"slept\"}\n{\"id\":ID1,\"error\":\"slept\"}   \n",
            "{\"id\":ID2,\"result\":\"slept\"}\n",
            "",
        ] {
            assert!(run(lines, 2).is_err(), "{lines}");
        }
    }

    #[test]
    fn requests_are_json_in_both_eras() {
        for speech in [Speech::Legacy, Speech::Modern] {
            for request in [speech.echo(64), speech.request("server/discover", "", "")] {
                let line = format!("{}1{}", request.before_id, request.after_id);
                let value: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
                let meta = value["params"].get("_meta").is_some();
                assert_eq!(meta, speech == Speech::Modern);
            }
        }
    }
}
