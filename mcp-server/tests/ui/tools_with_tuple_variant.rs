use mcp_server::prelude::*;

#[derive(Tools)]
enum Notes {
    Add(String),
    List,
}

impl RunTools for Notes {
    async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
        Ok(())
    }
}

fn main() {
    let _ = Server::new("test", "0").tools::<Notes>();
}
