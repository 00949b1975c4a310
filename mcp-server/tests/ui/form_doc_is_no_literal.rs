use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    #[doc = concat!("The ", "name.")]
    name: String,
}

fn main() {
    let _ = form::<Account>("Who?");
}
