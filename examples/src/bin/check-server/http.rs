//! What there is over HTTP alone: streams that are cut off, sessions that end, servers that come
//! back.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::time::{Duration, Instant};

use mcp_client::{Client, ClientError, Opening};
use mcp_transport_http::HttpTransport;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::{Add, Checked, builder, check, check_all, expect, say, text};

pub(crate) async fn run(
    opening: Opening,
    version: &str,
    command: &str,
    args: &[String],
) -> Result<(), Box<dyn Error>> {
    let mut server = Server::start(command, args).await?;
    let url = format!("http://{}/mcp", server.address);
    let caller = Caller {
        url,
        opening,
        has_sessions: version < "2026-07-28",
    };
    let client = match caller.connect().await {
        Ok(client) => client,
        Err(error) => {
            say("connects", Err(error));
            return Ok(());
        }
    };
    check_all(&client, version).await;
    let cut = async { expect(text(&client, "cut").await?.as_str(), "whole") };
    check("reads on where a stream was cut off", cut).await;
    let began = Instant::now();
    client.close().await;
    let took = began.elapsed();
    say("closes within 2 s", expect(took.as_secs() < 2, true));
    check(
        "ends its session, and tells of one that has expired",
        expires(&caller),
    )
    .await;
    check(
        "outlives a server that starts again",
        restarts(&caller, &mut server),
    )
    .await;
    Ok(())
}

async fn expires(caller: &Caller) -> Checked {
    let client = caller.connect().await?;
    // That of the client before is not among them.
    let sessions = if caller.has_sessions { "1" } else { "0" };
    expect(text(&client, "forget_sessions").await?.as_str(), sessions)?;
    caller.goes_on(&client).await
}

async fn restarts(caller: &Caller, server: &mut Server) -> Checked {
    let client = caller.connect().await?;
    server.restart().await?;
    caller.goes_on(&client).await
}

struct Caller {
    url: String,
    opening: Opening,
    has_sessions: bool,
}

impl Caller {
    async fn connect(&self) -> Result<Client, Box<dyn Error>> {
        let transport = HttpTransport::new(&self.url)?;
        Ok(builder(self.opening).connect(transport).await?)
    }

    /// The server knows no session any more: a client that has one says so, and another is made.
    async fn goes_on(&self, client: &Client) -> Checked {
        let add = || Add { a: 2, b: 3 };
        if self.has_sessions {
            match client.call_tool(add()).await {
                Err(ClientError::Closed { .. }) => {}
                other => return Err(format!("a call without a session: {other:?}").into()),
            }
            let client = self.connect().await?;
            return expect(client.call_tool(add()).await?.sum, 5);
        }
        expect(client.call_tool(add()).await?.sum, 5)
    }
}

/// A server that listens at an address of its own. It ends with this value.
struct Server {
    command: Command,
    address: SocketAddr,
    process: Child,
}

impl Server {
    async fn start(command: &str, args: &[String]) -> Result<Self, Box<dyn Error>> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = free.local_addr()?;
        drop(free);
        let mut command = Command::new(command);
        command
            .args(args)
            .arg("--http")
            .arg(address.port().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.kill_on_drop(true);
        let process = command.spawn()?;
        listens(address).await?;
        Ok(Self {
            command,
            address,
            process,
        })
    }

    async fn restart(&mut self) -> Result<(), Box<dyn Error>> {
        self.process.kill().await?;
        self.process = self.command.spawn()?;
        listens(self.address).await
    }
}

async fn listens(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let limit = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(address).await.is_err() {
        if Instant::now() > limit {
            return Err("the server does not listen".into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
