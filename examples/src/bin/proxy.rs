//! Several servers behind one: their tools under one name each, as `notes__read_file`.
//!
//! ```sh
//! cargo run --bin proxy -- servers.json    # the servers as in a host's configuration
//! ```
//!
//! In a host: `{ "mcpServers": { "all": { "command": "/path/to/proxy", "args": ["/home/me/servers.json"] } } }`
//!
//! Each server has a share of the calls in flight. One that ends costs its own tools, which are gone until it
//! is back. Progress, cancellations and changes of the lists of tools are passed on. Questions to the user are
//! not, so a tool that has some fails.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::child::{ServerCommand, Stderr};
use mcp_client::types::{self, CallToolResult, SubscriptionFilter};
use mcp_client::{Call, Client, ClientError};
use mcp_server::prelude::*;
use mcp_server::tool_fn;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Calls of one server that are in flight at once.
const SHARE: usize = 32;

/// How long the first list of tools waits for servers that take long to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long after its end a server is started again.
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Command>,
}

#[derive(Deserialize)]
struct Command {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// One of the servers.
struct Backend {
    name: String,
    command: Command,
    proxy: ServerHandle,
    share: Arc<Semaphore>,
    /// Dropped when the tools are there, or cannot be yet.
    starting: Option<mpsc::Sender<()>>,
}

impl Backend {
    /// Starts the server, and starts it again when it has ended, until the proxy ends.
    async fn keep(mut self) {
        while let Err(error) = self.run().await {
            eprintln!("{}: {error}", self.name);
            self.starting = None;
            tokio::select! {
                () = sleep(PAUSE) => {}
                () = self.proxy.ending() => return,
            }
        }
    }

    /// Starts the server and offers its tools until it ends, which is an error, or the proxy does.
    async fn run(&mut self) -> Result<(), ClientError> {
        let client = self.start().await?;
        // Before the list is got, so that no change is missed. Not every server tells of changes.
        let filter = SubscriptionFilter::new().tools_list_changed(true);
        let mut changes = client.listen(filter).await.ok();
        let mut offered = Offered {
            proxy: self.proxy.clone(),
            tools: Vec::new(),
        };
        loop {
            let tools = client.list_tools().await?;
            offered.set(tools.iter().map(|tool| self.tool(tool, &client)).collect());
            self.starting = None;
            tokio::select! {
                Some(_) = async { changes.as_mut()?.next().await } => {}
                report = client.closed() => return Err(ClientError::Closed { written: true, report }),
                () = self.proxy.ending() => {
                    client.close().await;
                    return Ok(());
                }
            }
        }
    }

    async fn start(&self) -> Result<Client, ClientError> {
        let name = self.name.clone();
        let command = ServerCommand::new(&self.command.command)
            .args(&self.command.args)
            .envs(&self.command.env)
            .stderr(Stderr::lines(move |line| eprintln!("{name}: {line}")));
        Client::builder("proxy", "1.0.0").spawn(command).await
    }

    /// A tool as the proxy offers it.
    fn tool(&self, tool: &types::Tool, client: &Client) -> Arc<dyn Tool<()>> {
        let (share, client, name) = (self.share.clone(), client.clone(), tool.name.clone());
        let mut definition = tool.clone();
        definition.name = format!("{}__{name}", self.name);
        Arc::new(tool_fn(definition, move |arguments, cx| {
            // How long it may take is for the client of the proxy to say.
            let call = client
                .call(&name, arguments)
                .timeout(Duration::MAX)
                .longest(Duration::MAX);
            forward(share.clone(), call, cx)
        }))
    }
}

/// Makes a call within a share. If it is cancelled, this is dropped, and the server hears of it.
async fn forward(
    share: Arc<Semaphore>,
    call: Call<CallToolResult>,
    cx: Context,
) -> Result<CallToolResult, ToolError> {
    let Ok(_place) = share.try_acquire() else {
        let busy =
            format!("{SHARE} calls of this server are in flight: try again when one has ended");
        return Err(ToolError::failed(busy));
    };
    let call = call.on_progress(move |report| match report.message {
        Some(message) => cx.progress_with(report.progress, report.total, message),
        None => cx.progress(report.progress, report.total),
    });
    match call.await {
        Err(ClientError::Rpc(error)) => Err(ToolError::refused(error)),
        result => Ok(result?),
    }
}

/// The tools of a server that the proxy offers, until this is dropped.
struct Offered {
    proxy: ServerHandle,
    tools: Vec<types::Tool>,
}

impl Offered {
    /// Offers these and no others. The clients of the proxy hear of what has changed.
    fn set(&mut self, tools: Vec<Arc<dyn Tool<()>>>) {
        let listed: Vec<_> = tools.iter().map(|tool| tool.definition()).collect();
        let (kept, gone): (Vec<_>, Vec<_>) = take(&mut self.tools)
            .into_iter()
            .partition(|tool| listed.contains(tool));
        self.tools = kept;
        for tool in gone {
            self.proxy.remove_tool(&tool.name);
        }
        for (tool, definition) in tools.into_iter().zip(listed) {
            if self.tools.contains(&definition) {
                continue;
            }
            match self.proxy.add_tool(tool) {
                Ok(()) => self.tools.push(definition),
                Err(error) => eprintln!("a tool is left out: {error}"),
            }
        }
    }
}

impl Drop for Offered {
    fn drop(&mut self) {
        for tool in &self.tools {
            self.proxy.remove_tool(&tool.name);
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("proxy CONFIG")?;
    let Config { servers } = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let calls = SHARE * servers.len();
    // Empty lists, because the tools come later; schemas as the servers have written them.
    let proxy = Server::new("proxy", "1.0.0")
        .empty_lists()
        .schemas_as_written()
        .max_in_flight(calls)
        .max_in_flight_per_connection(calls)
        .build()?;
    let (starting, mut all_started) = mpsc::channel(1);
    let mut backends = JoinSet::new();
    for (name, command) in servers {
        let backend = Backend {
            name,
            command,
            proxy: proxy.clone(),
            share: Arc::new(Semaphore::new(SHARE)),
            starting: Some(starting.clone()),
        };
        backends.spawn(backend.keep());
    }
    drop(starting);
    // Not every host lists the tools again when they change.
    let _ = timeout(PATIENCE, all_started.recv()).await;
    let served = proxy.serve_stdio().await;
    proxy.shut_down();
    let _ = timeout(PATIENCE, backends.join_all()).await;
    Ok(served?)
}
