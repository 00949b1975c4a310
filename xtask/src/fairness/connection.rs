//! A small client: lines over a Unix socket, one thread.

use std::io::{BufRead as _, BufReader, Error, ErrorKind, Result, Write as _};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::requests::{call, initialize, notification, ping};

/// Longest wait for a reply.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the server said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Result(Value),
    /// `error` is what its data names.
    Error {
        id: Value,
        code: i64,
        error: String,
    },
    Other,
}

impl Line {
    fn parse(text: &str) -> Self {
        let mut message: Value = serde_json::from_str(text).unwrap_or_default();
        if let Some(result) = message.get_mut("result") {
            return Self::Result(result.take());
        }
        let Some(code) = message["error"]["code"].as_i64() else {
            return Self::Other;
        };
        let error = message["error"]["data"]["error"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        Self::Error {
            id: message["id"].take(),
            code,
            error,
        }
    }
}

pub(super) struct Connection {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    text: String,
}

impl Connection {
    /// Connects and shakes hands, as a client of 2025-06-18.
    pub(super) fn open(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket)?;
        let reader = BufReader::with_capacity(1 << 16, stream.try_clone()?);
        let mut connection = Self {
            stream,
            reader,
            text: String::new(),
        };
        connection.send(&initialize("2025-06-18"))?;
        connection.expect_result()?;
        connection.send(&notification("notifications/initialized", "{}"))?;
        Ok(connection)
    }

    /// A second way in, for a thread of its own.
    pub(super) fn writer(&self) -> Result<UnixStream> {
        self.stream.try_clone()
    }

    pub(super) fn send(&mut self, line: &str) -> Result<()> {
        self.stream.write_all(line.as_bytes())
    }

    /// One call of `echo`, and what came back.
    pub(super) fn echo(&mut self) -> Result<Line> {
        self.send(&call(1, "echo", r#"{"text":"hello"}"#))?;
        self.line()
    }

    /// The time of one ping.
    pub(super) fn ping(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.send(&ping(0))?;
        self.expect_result()?;
        Ok(start.elapsed())
    }

    pub(super) fn line(&mut self) -> Result<Line> {
        match self.line_within(PATIENCE)? {
            ControlFlow::Continue(line) => Ok(line),
            ControlFlow::Break(()) => Err(Error::new(ErrorKind::TimedOut, "no reply")),
        }
    }

    /// The next line; breaks off when none comes in this time.
    pub(super) fn line_within(&mut self, time: Duration) -> Result<ControlFlow<(), Line>> {
        self.stream.set_read_timeout(Some(time))?;
        self.text.clear();
        match self.reader.read_line(&mut self.text) {
            Ok(0) => Err(Error::new(
                ErrorKind::UnexpectedEof,
                "the server closed the connection",
            )),
            Ok(_) => Ok(ControlFlow::Continue(Line::parse(&self.text))),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(ControlFlow::Break(())),
            Err(error) => Err(error),
        }
    }

    fn expect_result(&mut self) -> Result<()> {
        match self.line()? {
            Line::Result(_) => Ok(()),
            other => Err(Error::other(format!("no result but {other:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        assert_eq!(
            Line::parse(r#"{"id":1,"result":{}}"#),
            Line::Result(Value::Object(Default::default()))
        );
        let busy = r#"{"id":1,"error":{"code":-31503,"message":"server_busy","data":{"error":"server_busy"}}}"#;
        let (id, code, error) = (1.into(), -31503, "server_busy".to_owned());
        assert_eq!(Line::parse(busy), Line::Error { id, code, error });
        assert_eq!(
            Line::parse(r#"{"method":"notifications/message"}"#),
            Line::Other
        );
    }
}
