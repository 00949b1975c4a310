use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
enum Account {
    Named { name: String },
}

fn main() {
    let _ = form::<Account>("Who?");
}
