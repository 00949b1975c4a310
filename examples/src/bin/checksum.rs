//! A long job that tells how far it is, and stops when nobody waits for it any more.
//!
//! ```sh
//! cargo run --bin checksum
//! ```
//!
//! In a host: `{ "mcpServers": { "checksum": { "command": "/path/to/checksum" } } }`
//!
//! A job that awaits is an `impl Run`, and is dropped when its call is cancelled, wherever it is. One that
//! computes, or waits for files, is an `impl RunBlocking` on a thread of its own, which can only stop by
//! itself: it asks `cx.is_cancelled()` now and then, and holds its place among the jobs until it returns.

use std::fs::File;
use std::io::Read as _;

use mcp_server::prelude::*;

/// Compute the SHA-256 of a file, which may take long.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(read_only, idempotent, open_world = false, output = Checksum)]
struct Sha256 {
    /// Absolute path of the file.
    path: String,
}

#[derive(Serialize, JsonSchema)]
struct Checksum {
    /// In hexadecimal.
    sha256: String,
    /// How many bytes were read.
    bytes: u64,
}

/// What is read between two looks at whether to go on, in bytes.
const CHUNK: usize = 1 << 20;

impl RunBlocking for Sha256 {
    fn run(self, cx: &Context) -> Result<Checksum, ToolError> {
        let about = |error| ToolError::failed(format!("`{}`: {error}", self.path));
        let mut file = File::open(&self.path).map_err(about)?;
        let data = file.metadata().map_err(about)?;
        if !data.is_file() {
            return Err(ToolError::failed(format!(
                "`{}` is no plain file",
                self.path
            )));
        }
        let mut hash = hmac_sha256::Hash::new();
        let (mut bytes, mut chunk) = (0, vec![0; CHUNK]);
        loop {
            if cx.is_cancelled() {
                // Nobody reads this: a cancelled call is not answered.
                return Err(ToolError::failed("cancelled"));
            }
            let read = file.read(&mut chunk).map_err(about)?;
            if read == 0 {
                break;
            }
            hash.update(&chunk[..read]);
            bytes += read as u64;
            // Sent if the client has asked for it, and left out where it reads slower than this.
            let message = format!("{} of {} MiB", bytes >> 20, data.len() >> 20);
            cx.progress_with(bytes as f64, Some(data.len() as f64), message);
        }
        let sha256 = hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Checksum { sha256, bytes })
    }
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    // Two jobs at once are enough for a disk; a third is told that the server is busy.
    let server = Server::new("checksum", "1.0.0")
        .blocking_tool::<Sha256>()
        .max_in_flight(2)
        .max_in_flight_per_connection(2);
    server.serve_stdio().await
}
