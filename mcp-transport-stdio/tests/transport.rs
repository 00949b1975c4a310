//! What every transport must do, tried on all that this crate can make.

use std::future::poll_fn;
use std::time::Duration;

use mcp_protocol::Encode;
use mcp_protocol::transport::{Receiver, Sender, Transport, TransportError};
use mcp_transport_stdio::{Framed, memory};
use tokio::join;
use tokio::time::timeout;

struct Text(String);

impl Encode for Text {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_bytes());
    }
}

/// One end of a connection.
struct Peer<T: Transport> {
    receiver: T::Receiver,
    sender: T::Sender,
}

impl<T: Transport> Peer<T> {
    fn new(transport: T) -> Self {
        let (receiver, sender) = transport.split();
        Self { receiver, sender }
    }

    fn send(&mut self, text: &str) {
        self.sender.send(&Text(text.to_owned()), None);
    }

    async fn flush(&mut self) {
        flush(&mut self.sender)
            .await
            .expect("the other end is there");
    }

    async fn receive(&mut self) -> Option<String> {
        receive(&mut self.receiver).await
    }

    /// Sends a text and receives as much, both at once, for neither may wait for the other.
    async fn exchange(&mut self, text: &str) -> Option<String> {
        self.send(text);
        let (flushed, received) = join!(flush(&mut self.sender), receive(&mut self.receiver));
        flushed.expect("the other end is there");
        received
    }
}

async fn flush(sender: &mut impl Sender) -> Result<(), TransportError> {
    poll_fn(|cx| sender.poll_flush(cx)).await
}

async fn receive(receiver: &mut impl Receiver) -> Option<String> {
    let frame = poll_fn(|cx| receiver.poll_receive(cx)).await?;
    let frame = frame.expect("the other end sends only what is short enough");
    Some(String::from_utf8(frame.to_vec()).expect("the other end sends only text"))
}

/// Runs every check on pairs of connected transports.
async fn conforms<A: Transport, B: Transport>(pair: impl AsyncFn() -> (A, B)) {
    let peers = async || {
        let (a, b) = pair().await;
        (Peer::new(a), Peer::new(b))
    };
    timeout(Duration::from_secs(60), async {
        keeps_order(peers().await).await;
        carries_any_text(peers().await).await;
        carries_messages_of_any_size_both_ways_at_once(peers().await).await;
        loses_nothing_when_a_poll_is_dropped(peers().await).await;
        delivers_what_was_flushed_before_the_end(peers().await).await;
        fails_to_write_when_the_other_end_is_gone(peers().await).await;
    })
    .await
    .expect("no check takes long");
}

async fn keeps_order<A: Transport, B: Transport>((mut a, mut b): (Peer<A>, Peer<B>)) {
    for number in 0..1_000 {
        a.send(&format!("a {number}"));
        b.send(&format!("b {number}"));
    }
    let from_a = async {
        for number in 0..1_000 {
            assert_eq!(receive(&mut b.receiver).await, Some(format!("a {number}")));
        }
    };
    let from_b = async {
        for number in 0..1_000 {
            assert_eq!(receive(&mut a.receiver).await, Some(format!("b {number}")));
        }
    };
    let (a, b, (), ()) = join!(flush(&mut a.sender), flush(&mut b.sender), from_a, from_b);
    assert!(a.is_ok() && b.is_ok());
}

async fn carries_any_text<A: Transport, B: Transport>((mut a, mut b): (Peer<A>, Peer<B>)) {
    let text = "{\"\u{2028}\": \"\u{2029}\u{85}\\n\\r\u{1f980}\u{feff}\"}";
    let (from_b, from_a) = join!(a.exchange(text), b.exchange(text));
    assert_eq!(from_b.as_deref(), Some(text));
    assert_eq!(from_a.as_deref(), Some(text));
}

async fn carries_messages_of_any_size_both_ways_at_once<A: Transport, B: Transport>(
    (mut a, mut b): (Peer<A>, Peer<B>),
) {
    let around = |size| [size - 1, size, size + 1];
    let sizes = [4, 8, 16, 64].map(|kib| around(kib * 1024));
    for size in sizes.into_iter().flatten().chain([1024 * 1024]) {
        let from_a = "a".repeat(size);
        let from_b = "b".repeat(size);
        let (at_a, at_b) = join!(a.exchange(&from_a), b.exchange(&from_b));
        assert!(at_a == Some(from_b) && at_b == Some(from_a), "{size} bytes");
    }
}

async fn loses_nothing_when_a_poll_is_dropped<A: Transport, B: Transport>(
    (mut a, mut b): (Peer<A>, Peer<B>),
) {
    let text = "x".repeat(1024 * 1024);
    a.send(&text);
    // Each round both are polled once and dropped, whatever they were in the middle of.
    let received = loop {
        tokio::select! {
            biased;
            received = b.receive() => break received,
            Err(error) = flush(&mut a.sender) => panic!("the other end is there: {error}"),
            () = tokio::task::yield_now() => {}
        }
    };
    assert!(received == Some(text));
}

async fn delivers_what_was_flushed_before_the_end<A: Transport, B: Transport>(
    (mut a, mut b): (Peer<A>, Peer<B>),
) {
    a.send("one");
    a.send("two");
    a.flush().await;
    let Peer {
        mut receiver,
        sender,
    } = a;
    drop(sender);
    assert_eq!(b.receive().await.as_deref(), Some("one"));
    assert_eq!(b.receive().await.as_deref(), Some("two"));
    assert_eq!(b.receive().await, None);

    b.send("three");
    b.flush().await;
    assert_eq!(
        receive(&mut receiver).await.as_deref(),
        Some("three"),
        "the other way goes on"
    );
}

async fn fails_to_write_when_the_other_end_is_gone<A: Transport, B: Transport>(
    (mut a, b): (Peer<A>, Peer<B>),
) {
    drop(b);
    // What was sent before the end was noticed may seem to arrive.
    let error = loop {
        a.send("is anybody there?");
        if let Err(error) = flush(&mut a.sender).await {
            break error;
        }
        tokio::task::yield_now().await;
    };
    assert!(matches!(error, TransportError::Io(_)), "{error}");
}

#[tokio::test]
async fn a_pair_in_memory_conforms() {
    conforms(async || memory::pair()).await;
}

#[tokio::test]
async fn framed_tcp_conforms() {
    conforms(async || {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let (a, b) = join!(tokio::net::TcpStream::connect(address), listener.accept());
        let (a, b) = (
            a.expect("it listens").into_split(),
            b.expect("it connects").0.into_split(),
        );
        (Framed::new(a.0, a.1), Framed::new(b.0, b.1))
    })
    .await;
}

#[cfg(unix)]
#[tokio::test]
async fn framed_unix_sockets_conform() {
    conforms(async || {
        let (a, b) = tokio::net::UnixStream::pair().expect("sockets are to be had");
        let (a, b) = (a.into_split(), b.into_split());
        (Framed::new(a.0, a.1), Framed::new(b.0, b.1))
    })
    .await;
}

/// Covers T01, T01c, B-079, B-079c, B-158, B-158c, B-161, B-161c.
#[cfg(unix)]
#[tokio::test]
async fn framed_pipes_conform() {
    conforms(async || {
        let (near_writer, far_reader) =
            tokio::net::unix::pipe::pipe().expect("pipes are to be had");
        let (far_writer, near_reader) =
            tokio::net::unix::pipe::pipe().expect("pipes are to be had");
        (
            Framed::new(near_reader, near_writer),
            Framed::new(far_reader, far_writer),
        )
    })
    .await;
}
