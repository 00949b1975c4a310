//! The longest line, for whoever reads it: a server and a client have the same transport.

use std::future::poll_fn;
use std::io::Cursor;

use mcp_protocol::transport::{Receiver as _, Transport as _, TransportError};
use mcp_transport_stdio::Framed;

const DEFAULT: usize = 16 << 20;

/// Covers B-090, B-090c, T15, T15c.
#[tokio::test]
async fn without_a_limit_of_its_own_a_line_may_have_16_mib() {
    for (length, is_taken) in [(DEFAULT, true), (DEFAULT + 1, false)] {
        let mut input = vec![b'x'; length];
        input.extend_from_slice(b"\nnext\n");
        let (mut receiver, _) = Framed::new(Cursor::new(input), tokio::io::sink()).split();
        let mut receive = async || poll_fn(|cx| receiver.poll_receive(cx)).await;
        match receive().await.expect("a line") {
            Ok(frame) => assert!(is_taken && frame.len() == length),
            Err(TransportError::TooLong { limit }) => assert!(!is_taken && limit == DEFAULT),
            Err(error) => panic!("{error}"),
        }
        let next = receive().await.expect("another line");
        assert_eq!(next.expect("it is short"), "next");
    }
}
