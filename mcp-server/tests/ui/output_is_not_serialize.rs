use mcp_server::prelude::*;

#[derive(JsonSchema)]
struct Shipped {
    build: u32,
}

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(output = Shipped)]
struct Deploy {
    env: String,
}

impl Run for Deploy {
    async fn run(self, _: &Context) -> Result<Shipped, ToolError> {
        todo!()
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
