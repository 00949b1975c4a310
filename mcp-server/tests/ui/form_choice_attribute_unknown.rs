use mcp_server::input::{Choice, Form};

#[derive(Choice)]
enum Size {
    #[choice(label = "Small")]
    Small,
}

#[derive(Form)]
struct Order {
    size: Size,
}

fn main() {}
