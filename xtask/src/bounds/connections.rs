//! 1,000 clients of one server at once.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Row;
use crate::edges::pipes::SOON;
use crate::program::Program;
use crate::requests::{call, initialize, notification, ping};
use crate::{procfs, workspace};

const CONNECTIONS: usize = 1_000;

/// What a connection may take that has little to do.
const EACH: u64 = 32 << 10;

pub(super) fn run(release: bool) -> Result<Row, String> {
    let server = Sockets::start(release)?;
    // What is made once is made by the first.
    drop(Client::connect(&server)?);
    let before = server.settled(0)?;
    let idle = server.peak()?;
    let clients = (0..CONNECTIONS).map(|_| Client::connect(&server));
    let mut clients = clients.collect::<Result<Vec<_>, _>>()?;
    let open = procfs::held(server.program.id()).ok_or("it has ended")?;
    let (mut answered, mut refused) = (0, 0);
    // Who is refused asks again.
    let mut turns: Vec<_> = clients.iter_mut().collect();
    while !turns.is_empty() {
        for client in &mut turns {
            client.send(&call(1, "count", "{}"))?;
            client.send(&ping(2))?;
        }
        let mut again = Vec::new();
        for client in turns {
            match client.called()? {
                true => answered += 1,
                false => again.push(client),
            }
        }
        refused += again.len();
        turns = again;
    }
    let peak = server.peak()?.saturating_sub(idle);
    drop(clients);
    let after = server.settled(before)?;
    let limit = CONNECTIONS as u64 * EACH;
    let mut row = Row {
        what: format!("{CONNECTIONS} connections, each with a call that takes 200 ms"),
        memory: Some((peak, limit)),
        descriptors: (before, after),
        counts: format!(
            "{answered} answered, {refused} refused and made again; {} descriptors while open; {:.1} KiB each",
            open.descriptors,
            peak as f64 / 1024.0 / CONNECTIONS as f64,
        ),
        ..Row::default()
    };
    row.check(answered == CONNECTIONS, "each is served");
    row.check(
        open.descriptors <= before + CONNECTIONS,
        "one descriptor each",
    );
    Ok(row)
}

/// The example `sockets`; ended when it is dropped.
struct Sockets {
    program: Program,
    path: PathBuf,
}

impl Sockets {
    fn start(release: bool) -> Result<Self, String> {
        let program = workspace::build_example("sockets", release)?;
        let path = std::env::temp_dir().join(format!("bounds-{}.sock", std::process::id()));
        let program = Program::start(Command::new(program).arg(&path).stdin(Stdio::null()))?;
        Ok(Self { program, path })
    }

    fn peak(&self) -> Result<u64, String> {
        procfs::peak_memory(self.program.id()).ok_or("it has ended".to_owned())
    }

    /// How many descriptors it has, once these are as few as they were or stay more.
    fn settled(&self, before: usize) -> Result<usize, String> {
        let begin = Instant::now();
        loop {
            let held = procfs::held(self.program.id()).ok_or("it has ended")?;
            let patience = if before == 0 { SOON / 20 } else { SOON };
            if held.descriptors <= before || begin.elapsed() > patience {
                return Ok(held.descriptors);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

struct Client(BufReader<UnixStream>);

impl Client {
    /// Connects and shakes hands; the server may just be starting.
    fn connect(server: &Sockets) -> Result<Self, String> {
        let begin = Instant::now();
        let stream = loop {
            match UnixStream::connect(&server.path) {
                Ok(stream) => break stream,
                Err(error) if begin.elapsed() > SOON => return Err(format!("connect: {error}")),
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        };
        let patience = stream.set_read_timeout(Some(SOON));
        patience.map_err(|error| error.to_string())?;
        let mut client = Self(BufReader::with_capacity(1 << 10, stream));
        client.send(&initialize("2025-06-18"))?;
        client.receive()?;
        client.send(&notification("notifications/initialized", "{}"))?;
        Ok(client)
    }

    fn send(&mut self, line: &str) -> Result<(), String> {
        let sent = self.0.get_mut().write_all(line.as_bytes());
        sent.map_err(|error| format!("write: {error}"))
    }

    fn receive(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line);
        read.map_err(|error| format!("read: {error}"))?;
        serde_json::from_str(&line).map_err(|error| error.to_string())
    }

    /// Whether the call was served; the ping is answered in any case.
    fn called(&mut self) -> Result<bool, String> {
        let replies = [self.receive()?, self.receive()?];
        let reply = |id| replies.iter().find(|reply| reply["id"] == id);
        let ping = reply(2).ok_or("the ping is not answered")?;
        let call = reply(1).ok_or("the call is not answered")?;
        match ping["result"].is_object() {
            true => Ok(call["result"].is_object()),
            false => Err(format!("the ping is answered {ping}")),
        }
    }
}
