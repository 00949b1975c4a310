use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Deploy {
    env: String,
}

impl Run for Deploy {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        Ok(self.env)
    }
}

fn main() {}
