use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account<T> {
    name: T,
}

fn main() {
    let _ = form::<Account<String>>("Who?");
}
