use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Greet {
    name: String,
}

impl Run for Greet {
    async fn run(self, _: &Context) -> String {
        format!("Hello, {}!", self.name)
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Greet>();
}
