use std::rc::Rc;

use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Deploy {
    env: String,
}

impl Run for Deploy {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        let env = Rc::new(self.env);
        std::future::ready(()).await;
        Ok(env.to_string())
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy>();
}
