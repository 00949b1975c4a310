use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(output = u32, content = String)]
struct Deploy {
    env: String,
}

impl Run for Deploy {
    async fn run(self, _: &Context) -> Result<u32, ToolError> {
        todo!()
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
