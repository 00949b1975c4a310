use mcp_server::input::form;
use mcp_server::prelude::*;

#[derive(Form)]
struct Account {
    names: std::collections::BTreeMap<String, String>,
}

fn main() {
    let _ = form::<Account>("Who?");
}
