use mcp_server::prelude::*;

#[derive(Prompt)]
struct Review<const N: usize> {
    code: String,
}

impl Render for Review<1> {
    async fn render(self, _: &Context) -> Result<impl IntoMessages, ToolError> {
        Ok(String::new())
    }
}

fn main() {
    let _ = Server::new("test", "0").prompt::<Review<1>>();
}
