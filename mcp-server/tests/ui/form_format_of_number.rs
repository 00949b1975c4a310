use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    #[form(format = "email")]
    age: u8,
}

fn main() {
    let _ = form::<Account>("Who?");
}
