use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Deploy {
    env: String,
}

struct Fleet;

impl Run<Fleet> for Deploy {
    async fn run(self, _: &Context<Fleet>) -> Result<String, ToolError> {
        Ok(self.env)
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
