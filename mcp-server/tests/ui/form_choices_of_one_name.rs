use mcp_server::input::Choice;

#[derive(Choice)]
enum Size {
    Small,
    #[choice(name = "small")]
    Tiny,
}

fn main() {}
