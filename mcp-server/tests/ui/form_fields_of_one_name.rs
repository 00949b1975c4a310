use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    name: String,
    #[form(name = "name")]
    text: String,
}

fn main() {
    let _ = form::<Account>("Who?");
}
