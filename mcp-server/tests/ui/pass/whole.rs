#![deny(warnings)]
#![allow(dead_code)]

use mcp_server::prelude::*;

struct Fleet;

#[derive(Serialize, JsonSchema)]
struct Shipped {
    build: u32,
}

/// Ship a build.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "ship.it", title = "Ship", output = Shipped, idempotent, destructive = false)]
struct Deploy {
    /// Where to.
    env: String,
}

impl Run<Fleet> for Deploy {
    async fn run(self, cx: &Context<Fleet>) -> Result<Shipped, ToolError> {
        let Fleet = cx.state();
        Ok(Shipped {
            build: "7".parse()?,
        })
    }
}

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(content = Vec<mcp_server::types::ContentBlock>)]
struct Show;

impl RunBlocking<Fleet> for Show {
    fn run(self, _: &Context<Fleet>) -> Result<Vec<mcp_server::types::ContentBlock>, ToolError> {
        Ok(vec!["a".into(), "b".into()])
    }
}

#[derive(Tools)]
enum Notes {
    /// Adds a note.
    Add {
        #[serde(default)]
        #[schemars(length(max = 10))]
        text: String,
    },
    #[tool(read_only, output = Vec<u32>)]
    List,
}

impl RunTools<Fleet> for Notes {
    async fn run(self, _: &Context<Fleet>) -> Result<impl IntoContent, ToolError> {
        Ok(match self {
            Self::Add { text } => text.into_content()?,
            Self::List => Structured(vec![1, 2]).into_content()?,
        })
    }
}

fn main() {
    let server = Server::with_state("test", "0", Fleet)
        .tool::<Deploy>()
        .blocking_tool::<Show>()
        .tools::<Notes>();
    assert!(server.build().is_ok());
}
