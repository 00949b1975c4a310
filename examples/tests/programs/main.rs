//! The examples that people start from, each started as a host would, by the client of the SDK.

mod checksum;
mod files;
mod proxy;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod shell;
mod sqlite;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mcp_client::child::ServerCommand;
use mcp_client::types::CallToolResult;
use mcp_client::{Client, ClientBuilder, ClientError};
use serde_json::Value;

/// How long something may take that should happen at once: generous, as machines are busy.
const SOON: Duration = Duration::from_secs(20);

fn client() -> ClientBuilder {
    Client::builder("test", "1")
}

async fn start(program: &str, args: &[&str]) -> Client {
    let command = ServerCommand::new(program).args(args.iter().copied());
    client().spawn(command).await.expect("the example starts")
}

/// An empty directory of a test's own.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("it can be made");
    path
}

fn path(path: &std::path::Path) -> &str {
    path.to_str().expect("it is text")
}

async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_tools().await.expect("there are tools");
    tools.into_iter().map(|tool| tool.name).collect()
}

/// What a tool has done.
#[track_caller]
fn text(result: Result<CallToolResult, ClientError>) -> String {
    let (failed, text) = said(result);
    assert!(!failed, "{text}");
    text
}

/// Why a tool has failed.
#[track_caller]
fn failure(result: Result<CallToolResult, ClientError>) -> String {
    let (failed, text) = said(result);
    assert!(failed, "{text}");
    text
}

#[track_caller]
fn said(result: Result<CallToolResult, ClientError>) -> (bool, String) {
    let result = result.expect("the call has a result");
    let text = result.content[0].as_text().expect("it is text");
    (result.is_error == Some(true), text.to_owned())
}

/// The typed output of a tool.
#[track_caller]
fn output(result: Result<CallToolResult, ClientError>) -> Value {
    let result = result.expect("the call has a result");
    let output = result.structured_content.as_ref();
    let output = output.unwrap_or_else(|| panic!("no output: {result:?}"));
    output.decode().expect("it is JSON")
}
