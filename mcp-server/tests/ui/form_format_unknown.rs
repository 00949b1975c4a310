use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    #[form(format = "e-mail")]
    name: String,
}

fn main() {
    let _ = form::<Account>("Who?");
}
