//! Everything a server can do: what the official conformance suite and clients of other
//! languages call.
//!
//! Names and texts are theirs. All of it is the same for a client of any revision.

mod asking;
mod changing;
mod interop;
mod prompts;
mod resources;
mod results;

use std::env;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use mcp_server::prelude::*;

/// A picture of one pixel, as base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// What the handlers share.
type Fixture = Arc<Shared>;

#[derive(Default)]
struct Shared {
    /// The server they are handlers of, for those that change it.
    server: OnceLock<ServerHandle<Fixture>>,
    /// How many calls of `interop_sleep` were given up.
    cancelled: AtomicUsize,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shared = Fixture::default();
    let mut server = Server::with_state("everything", "1.0.0", Arc::clone(&shared))
        .logging()
        // The suite looks for keywords that not every host understands.
        .schemas_as_written()
        .tools::<results::Results>()
        .dyn_tool(results::contact())
        .tools::<asking::Asking>()
        .tools::<changing::Changing>()
        .tools::<interop::Interop>();
    server = prompts::add_to(resources::add_to(server));
    if let Ok(items) = env::var("INTEROP_PAGE_SIZE") {
        server = server.page_size(items.parse()?);
    }
    let server = server.build()?;
    let server = shared.server.get_or_init(|| server);
    Ok(server.serve_stdio().await?)
}
