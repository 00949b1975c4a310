use mcp_server::prelude::*;

#[derive(Deserialize)]
struct Target {
    host: String,
}

#[derive(Deserialize, JsonSchema, Tool)]
struct Deploy {
    target: Target,
}

impl Run for Deploy {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        Ok(self.target.host)
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
