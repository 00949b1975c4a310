//! A server inside of an axum app, which has other things to serve.
//!
//! ```sh
//! cargo run --bin mounted -- 127.0.0.1:3000
//! ```
//!
//! In a host: `{ "servers": { "mounted": { "type": "http", "url": "http://127.0.0.1:3000/mcp", "headers":
//! { "Authorization": "Bearer ann" } } } }`
//!
//! There is a page at `/`, and the server at `/mcp` for whoever has a token. Each user has a share of the
//! calls in flight, and sessions that nobody else gets at.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use mcp_server::prelude::*;
use mcp_transport_http::Http;
use tokio::net::TcpListener;

/// Say hello.
#[derive(Deserialize, JsonSchema, Tool)]
struct Greet {
    /// Whom to greet.
    name: String,
}

impl Run for Greet {
    async fn run(self, _cx: &Context) -> Result<String, ToolError> {
        Ok(format!("Hello, {}!", self.name))
    }
}

/// Whose token it is.
#[derive(Clone)]
struct User(String);

/// Lets in whoever has a token. This one takes any, and says that it is the user's name.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let header = request.headers().get(AUTHORIZATION);
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let Some(token) = token else {
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response();
    };
    let user = User(token.to_owned());
    request.extensions_mut().insert(user);
    next.run(request).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("mounted ADDRESS")?;
    let server = Server::new("mounted", "1.0.0").tool::<Greet>().build()?;
    server.shut_down_on_signal();

    let http = Http::new(server.clone())
        .principal(|request| request.extensions.get::<User>().map(|user| user.0.clone()));
    let app = Router::new()
        .route_service("/mcp", http)
        .route_layer(from_fn(authenticate))
        .route("/", get(|| async { "There is a server at /mcp." }));

    let listener = TcpListener::bind(address).await?;
    axum::serve(listener, app)
        .with_graceful_shutdown(async move { server.ending().await })
        .await?;
    Ok(())
}
