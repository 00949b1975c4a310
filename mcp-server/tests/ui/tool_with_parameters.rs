use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Deploy<T> {
    env: T,
}

impl Run for Deploy<String> {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        todo!()
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy<String>>();
}
