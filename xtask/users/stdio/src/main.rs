//! Sends every line back.

use std::future::poll_fn;

use mcp_transport_stdio::transport::{Receiver, Sender, Transport, TransportError};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), TransportError> {
    let (mut receiver, mut sender) = mcp_transport_stdio::stdio()?.split();
    while let Some(line) = poll_fn(|cx| receiver.poll_receive(cx)).await {
        sender.send(&line?, None);
        poll_fn(|cx| sender.poll_flush(cx)).await?;
    }
    Ok(())
}
