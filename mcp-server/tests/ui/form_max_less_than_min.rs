use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    #[form(min = 18, max = 8)]
    age: u8,
}

fn main() {
    let _ = form::<Account>("Who?");
}
