//! Answers what comes on standard input, without a runtime: a server that offers nothing.

use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;

use mcp_protocol::connection::{Output, ServerConfig, ServerConnection};
use mcp_protocol::types::Implementation;
use mcp_protocol::{Encode as _, Frame, Incoming};

fn main() -> io::Result<()> {
    let config = ServerConfig::new(Implementation::new("alone", "1.0.0"));
    let mut connection = ServerConnection::new(Arc::new(config));
    for line in io::stdin().lock().lines() {
        connection.receive(Incoming::parse(&Frame::from(line?.into_bytes())));
        while let Some(output) = connection.poll() {
            if let Output::Send(reply) = output {
                let mut text = Vec::new();
                reply.message.encode(&mut text);
                text.push(b'\n');
                io::stdout().write_all(&text)?;
            }
        }
    }
    Ok(())
}
