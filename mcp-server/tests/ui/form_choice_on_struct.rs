use mcp_server::input::Choice;

#[derive(Choice)]
struct Size {
    small: bool,
}

fn main() {}
