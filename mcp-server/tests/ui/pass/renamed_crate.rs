#![deny(warnings)]
#![allow(dead_code)]

extern crate mcp_server as renamed;

/// The path is to this, and nothing else is called that.
mod mcp_server {}

mod tools {
    use renamed::prelude::*;

    #[derive(Deserialize, JsonSchema, Tool)]
    #[tool(crate = renamed)]
    pub struct Deploy {
        env: Option<String>,
    }

    impl Run for Deploy {
        async fn run(self, _: &Context) -> Result<String, ToolError> {
            Ok(self.env.unwrap_or_default())
        }
    }

    #[derive(Prompt)]
    #[prompt(crate = renamed)]
    pub struct Review {
        code: String,
        lines: Option<u32>,
    }

    impl Render for Review {
        async fn render(self, _: &Context) -> Result<impl IntoMessages, ToolError> {
            Ok(format!("{} {:?}", self.code, self.lines))
        }
    }

    #[derive(Prompt)]
    #[prompt(crate = renamed)]
    pub struct Bare;

    impl Render for Bare {
        async fn render(self, _: &Context) -> Result<impl IntoMessages, ToolError> {
            Ok("bare")
        }
    }

    #[derive(renamed::input::Choice)]
    #[choice(crate = renamed)]
    pub enum Size {
        Small,
        #[choice(title = "Large")]
        Large,
    }

    #[derive(Form)]
    #[form(crate = renamed)]
    pub struct Account {
        /// Who.
        #[form(title = "Name", format = "email", min = 1, default = "a")]
        name: Option<String>,
        age: u8,
        size: Size,
    }

    #[derive(Tools)]
    #[tool(crate = renamed)]
    pub enum Notes {
        Add { text: String },
        List,
    }

    impl RunTools for Notes {
        async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
            Ok(match self {
                Self::Add { text } => text,
                Self::List => String::new(),
            })
        }
    }
}

fn main() {
    let server = renamed::Server::new("test", "0")
        .tool::<tools::Deploy>()
        .tools::<tools::Notes>()
        .prompt::<tools::Review>()
        .prompt::<tools::Bare>();
    assert!(server.build().is_ok());
}
