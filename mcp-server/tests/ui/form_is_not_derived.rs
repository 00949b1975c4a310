use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Deserialize)]
struct Account {
    name: String,
}

fn main() {
    let _ = form::<Account>("Who?");
}
