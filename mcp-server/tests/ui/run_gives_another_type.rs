use mcp_server::prelude::*;

#[derive(Deserialize, JsonSchema, Tool)]
struct Add {
    a: i64,
    b: i64,
}

impl Run for Add {
    async fn run(self, _: &Context) -> Result<i64, ToolError> {
        Ok(self.a + self.b)
    }
}

fn main() {
    let _ = Server::new("test", "0").tool::<Add>();
}
