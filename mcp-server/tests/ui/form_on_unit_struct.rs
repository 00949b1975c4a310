use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account;

fn main() {
    let _ = form::<Account>("Who?");
}
