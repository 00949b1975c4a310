use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Deploy<'a> {
    env: std::borrow::Cow<'a, str>,
}

impl Run for Deploy<'static> {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        todo!()
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Deploy<'static>>();
}
