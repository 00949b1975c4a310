use mcp_server::input::Choice;

#[derive(Choice)]
enum Size {
    Small,
    Other(String),
}

fn main() {}
