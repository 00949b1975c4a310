//! Bytes, cut into lines as they come in: the same as those of a splitter that has it all at hand.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use mcp_transport_stdio::Lines;

#[derive(Arbitrary, Debug)]
struct Stream {
    max_frame: u16,
    /// How much is read at a time, over and over.
    reads: Vec<u16>,
    /// Whether frames are in use until the end, so that the buffer is not used again.
    holds: bool,
    bytes: Vec<u8>,
}

type Cut = Vec<Result<Vec<u8>, usize>>;

fuzz_target!(|stream: Stream| {
    assert_eq!(cut(&stream), model(&stream));
});

fn cut(stream: &Stream) -> Cut {
    let max_frame = usize::from(stream.max_frame);
    let mut lines = Lines::new(max_frame);
    let mut reads = stream
        .reads
        .iter()
        .map(|read| usize::from(*read).max(1))
        .cycle();
    let (mut rest, mut frames, mut held) = (&stream.bytes[..], Vec::new(), Vec::new());
    while !rest.is_empty() {
        let read = reads.next().unwrap_or(usize::MAX).min(rest.len());
        lines.buffer().extend_from_slice(&rest[..read]);
        rest = &rest[read..];
        while let Some(frame) = lines.next_frame() {
            frames.push(
                frame
                    .as_ref()
                    .map(|frame| frame.to_vec())
                    .map_err(|long| long.limit),
            );
            held.extend(frame.ok().filter(|_| stream.holds));
        }
        let kept = lines.buffer().capacity();
        // The room for the next read, and what `BytesMut` rounds up to.
        assert!(
            kept <= 2 * (max_frame + read) + (16 << 10),
            "{kept} bytes are kept"
        );
    }
    frames.extend(lines.finish().map(|frame| Ok(frame.to_vec())));
    if stream.holds {
        let known = frames.iter().flatten().zip(&held);
        known.for_each(|(known, held)| assert_eq!(known, held, "a frame has changed"));
    }
    frames
}

fn model(stream: &Stream) -> Cut {
    let max_frame = usize::from(stream.max_frame);
    let mut frames = Vec::new();
    for (number, mut line) in stream.bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.len() > max_frame {
            frames.push(Err(max_frame));
            continue;
        }
        if number == 0 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.trim_ascii().is_empty() {
            frames.push(Ok(line.to_vec()));
        }
    }
    frames
}
