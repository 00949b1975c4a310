//! `caller-rmcp SERVER`: the client of rmcp, which calls `echo` of a server as its standard input
//! says.
//!
//! A line `CALLS DEPTH` makes it do so many calls, of which so many are in flight at once; then it
//! answers with a line, and waits for the next one.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, BufRead as _, Write as _};

use rmcp::model::CallToolRequestParams;
use rmcp::service::{Peer, RoleClient, ServiceError};
use rmcp::transport::TokioChildProcess;
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = std::env::args().nth(1).ok_or("caller-rmcp SERVER")?;
    let client = ().serve(TokioChildProcess::new(Command::new(server))?).await?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (calls, depth) = line.split_once(' ').ok_or("CALLS DEPTH")?;
        let (calls, depth): (usize, usize) = (calls.parse()?, depth.parse()?);
        let mut callers = JoinSet::new();
        for _ in 0..depth {
            callers.spawn(call(client.peer().clone(), calls / depth));
        }
        while let Some(done) = callers.join_next().await {
            done??;
        }
        writeln!(io::stdout(), "done")?;
    }
    client.cancel().await?;
    Ok(())
}

async fn call(client: Peer<RoleClient>, times: usize) -> Result<(), ServiceError> {
    let text = "0123456789abcdef".repeat(4);
    for _ in 0..times {
        let mut params = CallToolRequestParams::new("echo");
        if let Value::Object(arguments) = json!({ "text": text }) {
            params = params.with_arguments(arguments);
        }
        client.call_tool(params).await?;
    }
    Ok(())
}
