use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Größe {
    env: String,
}

impl Run for Größe {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        todo!()
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Größe>();
}
