//! Bytes, read as server-sent events as they come in: the same as what a reader finds that has it
//! all at hand, and takes the specification by its word.

#![no_main]

use std::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the client needs more of it")]
#[path = "../../../../mcp-transport-http/src/client/events.rs"]
mod events;

use events::{Events, Place};

#[derive(Arbitrary, Debug)]
struct Stream {
    most: u16,
    reads: Vec<u16>,
    bytes: Vec<u8>,
}

fuzz_target!(|stream: Stream| {
    let (read, place) = read(&stream);
    let (expected, expected_place, longest) = model(&stream.bytes);
    if let Some(read) = read {
        assert!(
            longest <= usize::from(stream.most),
            "{longest} bytes were taken"
        );
        assert_eq!(read, expected);
        assert_eq!(place, expected_place);
    } else {
        assert!(
            longest > usize::from(stream.most),
            "{longest} bytes are too long"
        );
    }
});

/// The data of all events, or `None` if one is too long.
fn read(stream: &Stream) -> (Option<Vec<Vec<u8>>>, Place) {
    let mut events = Events::new(Place::default(), stream.most.into());
    let mut reads = stream
        .reads
        .iter()
        .map(|read| usize::from(*read).max(1))
        .cycle();
    let (mut rest, mut read) = (&stream.bytes[..], Vec::new());
    while !rest.is_empty() {
        let len = reads.next().unwrap_or(usize::MAX).min(rest.len());
        if events.push(&rest[..len]).is_err() {
            return (None, events.place);
        }
        rest = &rest[len..];
        while let Some(data) = events.next() {
            read.push(data.to_vec());
        }
    }
    (Some(read), events.place)
}

/// The data of all events, where the stream can be gone on with, and the most that had to be kept.
fn model(bytes: &[u8]) -> (Vec<Vec<u8>>, Place, usize) {
    let (mut events, mut place, mut longest) = (Vec::new(), Place::default(), 0);
    let mut data: Vec<u8> = Vec::new();
    let (mut id, mut kind) = (None, Vec::new());
    let lines = lines(bytes);
    for (number, whole) in lines.iter().enumerate() {
        longest = longest.max(whole.len() + data.len());
        if number + 1 == lines.len() {
            // Nothing has ended it.
            break;
        }
        let mut line = &whole[..];
        if number == 0 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            if let Some(id) = std::mem::take(&mut id) {
                place.last = Some(id).filter(|id: &String| !id.is_empty());
            }
            let data = std::mem::take(&mut data);
            let kind = std::mem::take(&mut kind);
            // An empty kind is the kind `message`.
            let ours = kind.is_empty() || kind == b"message";
            if let Some((b'\n', data)) = data.split_last().filter(|_| ours) {
                events.extend(Some(data.to_vec()).filter(|data| !data.is_empty()));
            }
            continue;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => data.extend(value.iter().chain(b"\n")),
            b"event" => kind = value.to_vec(),
            b"id" if !value.contains(&0) => id = String::from_utf8(value.to_vec()).ok(),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let millis = std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse().ok());
                place.retry = millis.map(Duration::from_millis).or(place.retry);
            }
            _ => {}
        }
    }
    (events, place, longest)
}

/// What is between line ends: `\r\n`, `\n` or `\r`. The last one has no end.
fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    let mut rest = bytes.iter().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'\r' | b'\n' => {
                if *byte == b'\r' {
                    rest.next_if(|next| **next == b'\n');
                }
                lines.push(std::mem::take(&mut line));
            }
            byte => line.push(*byte),
        }
    }
    lines.push(line);
    lines
}
