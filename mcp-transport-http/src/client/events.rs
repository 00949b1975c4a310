//! Server-sent events: bytes in, events out. This module never awaits.
//!
//! Spec: [the event stream format](https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

/// What is known of a stream, to come back to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Place {
    /// The id of the last event.
    pub(super) last: Option<String>,
    /// How long the server wants to be left alone before.
    pub(super) retry: Option<Duration>,
}

/// A stream of events, as far as it was read.
pub(super) struct Events {
    pub(super) place: Place,
    most: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return, which a line feed belongs to.
    returned: bool,
    /// Nothing was read yet.
    begins: bool,
    event: Event,
    complete: VecDeque<Bytes>,
}

/// An event that is not complete.
#[derive(Default)]
struct Event {
    data: Vec<u8>,
    id: Option<String>,
    /// It is of a kind that carries no message.
    foreign: bool,
}

/// An event is longer than this side takes.
#[derive(Debug, PartialEq)]
pub(super) struct TooLong;

impl Events {
    /// A stream that goes on from a place, none of whose events is longer than `most` bytes.
    pub(super) fn new(place: Place, most: usize) -> Self {
        Self {
            place,
            most,
            line: Vec::new(),
            returned: false,
            begins: true,
            event: Event::default(),
            complete: VecDeque::new(),
        }
    }

    /// Takes what was read.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            if std::mem::take(&mut self.returned) && piece == b"\n" {
                continue;
            }
            let (text, end) = match piece {
                [text @ .., end @ (b'\n' | b'\r')] => (text, Some(*end)),
                text => (text, None),
            };
            if self.line.len() + self.event.data.len() + text.len() > self.most {
                return Err(TooLong);
            }
            self.line.extend_from_slice(text);
            if let Some(end) = end {
                self.returned = end == b'\r';
                self.end_line();
            }
        }
        Ok(())
    }

    /// The data of the next event.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        self.complete.pop_front()
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut line = &line[..];
        if std::mem::take(&mut self.begins) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.event.data.extend_from_slice(value);
                self.event.data.push(b'\n');
            }
            b"event" => self.event.foreign = !matches!(value, b"" | b"message"),
            b"id" if !value.contains(&0) => {
                self.event.id = String::from_utf8(value.to_vec()).ok();
            }
            b"retry" => {
                let text = std::str::from_utf8(value).ok();
                let retry = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                let retry = retry.and_then(|text| text.parse().ok());
                self.place.retry = retry.map(Duration::from_millis).or(self.place.retry);
            }
            _ => {}
        }
    }

    fn end_event(&mut self) {
        let Event {
            mut data,
            id,
            foreign,
        } = std::mem::take(&mut self.event);
        if let Some(id) = id {
            self.place.last = Some(id).filter(|id| !id.is_empty());
        }
        data.pop();
        if !foreign && !data.is_empty() {
            self.complete.push_back(data.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&str]) -> (Vec<String>, Place) {
        let mut events = Events::new(Place::default(), 100);
        let mut read = Vec::new();
        for chunk in chunks {
            events.push(chunk.as_bytes()).expect("it is short enough");
            while let Some(data) = events.next() {
                read.push(String::from_utf8(data.to_vec()).expect("it was text"));
            }
        }
        (read, events.place)
    }

    #[test]
    fn lines_end_in_three_ways_and_chunks_end_anywhere() {
        let text = "\u{feff}data: a\r\ndata:b\n\r\n: comment\rdata: c\r\rdata: half";
        let whole = read(&[text]);
        assert_eq!(whole.0, ["a\nb", "c"]);
        let single: Vec<_> = text.split("").collect();
        assert_eq!(read(&single), whole);
    }

    #[test]
    fn an_event_without_data_says_where_to_go_on() {
        let (read, place) = read(&["id: 7\nretry: 500\ndata: \n\n", "id: 8\ndata: cut off"]);
        assert!(read.is_empty());
        assert_eq!(place.last.as_deref(), Some("7"));
        assert_eq!(place.retry, Some(Duration::from_millis(500)));
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let (read, place) =
            read(&["id: a\0b\nretry: +5\nnonsense\nevent: ping\ndata: x\n\ndata: y\n\n"]);
        assert_eq!(read, ["y"]);
        assert_eq!(place, Place::default());
    }

    #[test]
    fn an_event_without_end_is_too_long() {
        let mut events = Events::new(Place::default(), 100);
        let pushed = (0..100).find(|_| events.push(b"data: 1\n").is_err());
        assert!(pushed.is_some());
        let mut events = Events::new(Place::default(), 100);
        assert_eq!(events.push(&[b'x'; 101]), Err(TooLong));
    }
}
