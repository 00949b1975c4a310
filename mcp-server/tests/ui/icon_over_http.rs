use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(icon = "http://example.com/deploy.png")]
struct Deploy {
    env: String,
}

impl Run for Deploy {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        todo!()
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
