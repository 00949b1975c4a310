use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Address {
    street: String,
}

#[derive(Form)]
struct Account {
    address: Address,
}

fn main() {
    let _ = form::<Account>("Who?");
}
