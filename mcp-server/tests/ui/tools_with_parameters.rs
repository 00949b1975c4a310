use mcp_server::prelude::*;

#[derive(Tools)]
enum Notes<T> {
    Add { text: T },
}

impl RunTools for Notes<String> {
    async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
        Ok(())
    }
}

fn main() {
    let _ = Server::new("test", "0").tools::<Notes<String>>();
}
