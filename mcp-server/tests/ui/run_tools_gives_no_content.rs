use mcp_server::prelude::*;

#[derive(Tools)]
enum Notes {
    List,
}

#[derive(Serialize)]
struct Note {
    text: String,
}

impl RunTools for Notes {
    async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
        Ok(vec![Note {
            text: "x".to_owned(),
        }])
    }
}

fn main() {}
