use mcp_server::prelude::*;

#[derive(JsonSchema, Tool)]
struct Deploy {
    env: String,
}

impl Run for Deploy {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        Ok(self.env)
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
