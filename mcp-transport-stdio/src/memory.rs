//! Two peers in one process.

use tokio::io::{DuplexStream, duplex};

use crate::framed::Framed;

/// One end of a [`pair`].
///
/// What it sends arrives as bytes, encoded and framed as on any other stream.
pub type Memory = Framed<DuplexStream, DuplexStream>;

/// Two transports that are connected to each other, for tests and for a server inside the
/// process of its client.
///
/// Each direction holds up to 64 KiB; beyond that, flushing waits until the other end reads.
/// Dropping the sender of one end ends what the other receives.
///
/// ```
/// use mcp_transport_stdio::memory;
///
/// let (client, server) = memory::pair();
/// # drop((client, server));
/// ```
#[must_use]
pub fn pair() -> (Memory, Memory) {
    // One duplex stream each way and not one for both, whose end would be seen only after
    // both halves of the other end are gone.
    let (near_reader, far_writer) = duplex(CAPACITY);
    let (far_reader, near_writer) = duplex(CAPACITY);
    (
        Framed::new(near_reader, near_writer),
        Framed::new(far_reader, far_writer),
    )
}

/// Bytes on their way in one direction.
const CAPACITY: usize = 64 * 1024;
