//! `caller SERVER`: our client, which calls `echo` of a server as its standard input says.
//!
//! A line `CALLS DEPTH` makes it do so many calls, of which so many are in flight at once; then it
//! answers with a line, and waits for the next one.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, BufRead as _, Write as _};

use mcp_client::{Client, ClientError};
use serde_json::json;
use tokio::task::JoinSet;

// What reads the lines is the main thread, on which nothing else runs meanwhile.
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = std::env::args().nth(1).ok_or("caller SERVER")?;
    let client = Client::spawn(server, [""; 0]).await?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (calls, depth) = line.split_once(' ').ok_or("CALLS DEPTH")?;
        let (calls, depth): (usize, usize) = (calls.parse()?, depth.parse()?);
        let mut callers = JoinSet::new();
        for _ in 0..depth {
            callers.spawn(call(client.clone(), calls / depth));
        }
        while let Some(done) = callers.join_next().await {
            done??;
        }
        writeln!(io::stdout(), "done")?;
    }
    client.close().await;
    Ok(())
}

async fn call(client: Client, times: usize) -> Result<(), ClientError> {
    let text = "0123456789abcdef".repeat(4);
    for _ in 0..times {
        client.call("echo", json!({ "text": text })).await?;
    }
    Ok(())
}
