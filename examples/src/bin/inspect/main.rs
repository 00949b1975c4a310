//! A client for the terminal: starts a server, or reaches it at a URL, asks it one thing, and shows the answer.
//!
//! ```sh
//! inspect tools -- npx -y @modelcontextprotocol/server-everything
//! inspect call add '{ "a": 1, "b": 2 }' -- calculator
//! inspect tools -- http://127.0.0.1:3000/mcp
//! inspect new my-server
//! ```
//!
//! `inspect --help` has the rest.

mod commands;
mod exit;
mod flags;
mod form;
mod host;
mod json;
mod new;
mod show;
mod signature;
mod terminal;
mod usage;
mod words;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::child::{ServerCommand, Stderr};
use mcp_client::{Client, ClientError, ServerNotification};
use mcp_transport_http::{HttpTransport, UrlError};
use tokio::signal::ctrl_c;
use tokio::task::JoinHandle;

use crate::commands::{Commands, print};
use crate::exit::Exit;
use crate::flags::{Asked, Flags, Server};
use crate::host::User;
use crate::terminal::Terminal;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let exit = match flags::parse(std::env::args_os().skip(1)) {
        Ok(Asked::Help) => {
            print(&usage::usage());
            Exit::Done
        }
        Ok(Asked::New(scaffold)) => match scaffold.write() {
            Ok(next) => {
                print(&next);
                Exit::Done
            }
            Err(why) => {
                Terminal::new(false).say(&format!("inspect: {why}"));
                Exit::Usage
            }
        },
        Ok(Asked::Run(flags)) => inspect(&flags).await,
        Err(why) => {
            Terminal::new(false).say(&format!("inspect: {why}; see `inspect --help`"));
            Exit::Usage
        }
    };
    ExitCode::from(exit.code())
}

async fn inspect(flags: &Flags) -> Exit {
    let terminal = Arc::new(Terminal::new(flags.quiet));
    let user = Arc::new(User::new(terminal.clone(), flags.answers.clone()));
    let client = tokio::select! {
        client = connect(flags, &terminal, user.clone()) => client,
        // What was started is killed.
        _ = ctrl_c() => return Exit::Interrupted,
    };
    let client = match client {
        Ok(client) => client,
        Err(NoClient::Url(error)) => {
            terminal.say(&format!("inspect: {error}"));
            return Exit::Usage;
        }
        Err(NoClient::Failed(error)) => {
            return failed(flags, &terminal, Exit::NotConnected, &error);
        }
    };
    let logs = logs(&client, &terminal);
    let commands = Commands {
        client: &client,
        flags,
        terminal: &terminal,
    };
    let exit = tokio::select! {
        outcome = run(&commands) => match outcome {
            Ok(exit) => exit,
            Err(error) => failed(flags, &terminal, Exit::of(&error), &error),
        },
        // The call that was waited for is dropped, and so cancelled.
        _ = ctrl_c() => Exit::Interrupted,
    };
    terminal.clear();
    user.end();
    tokio::select! {
        _ = client.close() => { let _ = logs.await; }
        // The server takes its time, and the user has none.
        _ = ctrl_c() => {}
    }
    exit
}

/// Why there is none.
enum NoClient {
    Url(UrlError),
    Failed(ClientError),
}

async fn connect(
    flags: &Flags,
    terminal: &Arc<Terminal>,
    user: Arc<User>,
) -> Result<Client, NoClient> {
    let builder = Client::builder("inspect", env!("CARGO_PKG_VERSION"))
        .host(user)
        .opening(flags.opening)
        .connect_timeout(flags.timeout)
        .timeout(flags.timeout)
        .longest(flags.timeout.max(LONGEST));
    let client = match &flags.server {
        Server::Url(url) => {
            let server = HttpTransport::new(url).map_err(NoClient::Url)?;
            builder.connect(server).await
        }
        Server::Program(words) => {
            let [command, args @ ..] = &words[..] else {
                unreachable!("a command line without a server is refused");
            };
            let lines = terminal.clone();
            let command = ServerCommand::new(command)
                .args(args)
                .envs(flags.env.iter().cloned())
                .stderr(Stderr::lines(move |line| lines.server(line)));
            builder.spawn(command).await
        }
    };
    client.map_err(NoClient::Failed)
}

/// How long a call may take that reports progress all the time.
const LONGEST: Duration = Duration::from_secs(3600);

async fn run(commands: &Commands<'_>) -> Result<Exit, ClientError> {
    if let Some(level) = commands.flags.log {
        commands.client.set_level(level).await?;
    }
    commands.run().await
}

/// Shows log messages as they come, until the connection has ended.
fn logs(client: &Client, terminal: &Arc<Terminal>) -> JoinHandle<()> {
    let (mut notifications, terminal) = (client.notifications(), terminal.clone());
    tokio::spawn(async move {
        while let Some(notification) = notifications.next().await {
            if let ServerNotification::LogMessage(log) = notification {
                let level = serde_json::to_string(&log.level).unwrap_or_default();
                let logger = log
                    .logger
                    .map(|name| format!(" {name}"))
                    .unwrap_or_default();
                let data = log.data.decode().unwrap_or_else(|_| log.data.to_string());
                terminal.say(&format!("[{}{logger}] {data}", level.trim_matches('"')));
            }
        }
    })
}

fn failed(flags: &Flags, terminal: &Terminal, exit: Exit, error: &ClientError) -> Exit {
    if flags.json {
        print(&format!("{}\n", exit.report(error)));
    }
    terminal.say(&format!("inspect: {}", reason(terminal, error)));
    exit
}

/// Why something failed, without what the user has seen already.
fn reason(terminal: &Terminal, error: &ClientError) -> String {
    match error {
        ClientError::Closed { report, .. } if terminal.has_shown(&report.stderr) => {
            let mut report = (**report).clone();
            report.stderr.clear();
            report.to_string()
        }
        ClientError::Rpc(error) => match &error.data {
            Some(data) => format!("the server refused: {error}: {data}"),
            None => format!("the server refused: {error}"),
        },
        error => error.to_string(),
    }
}
