//! Everything a server can do: what the official conformance suite and clients of other
//! languages call. Over stdio, or with `--http ADDRESS` over HTTP.
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
use std::time::Duration;

use mcp_server::prelude::*;
use mcp_transport_http::Http;
use tokio::net::TcpListener;

/// A picture of one pixel, as base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// How long a stream lasts before its client has to come back: short, so that clients show that
/// they do.
const STREAM_AGE: Duration = Duration::from_millis(1_500);

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
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(server.serve_stdio().await?),
        (Some("--http"), Some(address)) => {
            server.shut_down_on_signal();
            let http = Http::new(server.clone());
            let http = http.limits(|limits| limits.stream_age = Some(STREAM_AGE));
            http.serve(TcpListener::bind(address).await?).await;
            Ok(())
        }
        _ => Err("everything [--http ADDRESS]".into()),
    }
}
