#![deny(warnings)]
#![allow(dead_code)]

//! What a tool gives back may borrow from the state.

use mcp_server::prelude::*;

#[derive(Tools)]
enum Names {
    First,
}

impl RunTools<Vec<String>> for Names {
    async fn run(self, cx: &Context<Vec<String>>) -> Result<impl IntoContent, ToolError> {
        let first = cx
            .state()
            .first()
            .ok_or(ToolError::failed("there is none"))?;
        Ok(first.as_str())
    }
}

fn main() {
    let names = vec!["Ada".to_owned()];
    assert!(
        Server::with_state("test", "0", names)
            .tools::<Names>()
            .build()
            .is_ok()
    );
}
