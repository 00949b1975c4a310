use mcp_server::prelude::*;

#[derive(Tools)]
enum Notes {
    Add { text: String },
    List,
}

impl RunTools for Notes {
    async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
        match self {
            Self::Add { text } => Ok(text),
        }
    }
}

fn main() {}
