use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    #[form(minimum = 1)]
    name: String,
}

fn main() {
    let _ = form::<Account>("Who?");
}
