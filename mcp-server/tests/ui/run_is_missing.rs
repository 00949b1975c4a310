use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Deploy {
    env: String,
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
