use mcp_server::prelude::*;

#[derive(Deserialize, Tool)]
struct Deploy {
    env: String,
}

fn main() {}
