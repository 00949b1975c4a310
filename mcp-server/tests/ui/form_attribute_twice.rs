use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    #[form(min = 1, min = 2)]
    name: String,
}

fn main() {
    let _ = form::<Account>("Who?");
}
