use mcp_server::prelude::*;

#[derive(Prompt)]
struct Review {
    code: String,
}

fn main() {
    let _ = Server::new("test", "0").prompt::<Review>();
}
