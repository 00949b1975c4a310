use mcp_server::prelude::*;

#[derive(Tools)]
enum Notes {
    List,
}

fn main() {
    let _ = Server::new("test", "0").tools::<Notes>();
}
