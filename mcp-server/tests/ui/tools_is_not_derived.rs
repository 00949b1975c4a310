use mcp_server::prelude::*;

enum Notes {
    List,
}

impl RunTools for Notes {
    async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
        Ok("none")
    }
}

fn main() {}
