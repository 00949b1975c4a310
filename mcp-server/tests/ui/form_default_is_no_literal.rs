use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    #[form(default = name())]
    name: String,
}

fn main() {
    let _ = form::<Account>("Who?");
}
