use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
#[form(title = "Account")]
struct Account {
    name: String,
}

fn main() {
    let _ = form::<Account>("Who?");
}
