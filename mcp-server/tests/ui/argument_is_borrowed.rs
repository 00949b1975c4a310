use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Deploy {
    env: &'static str,
}

impl Run for Deploy {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        Ok(self.env.to_owned())
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
