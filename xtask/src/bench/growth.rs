//! `cargo xtask bench --growth`: what a request costs among more and more others.
//!
//! Each line of the plot is one thing that grows. All points of a line are measured in each round,
//! one right after another, and a point is the median of the rounds.

use std::io::{self, Error, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::compare::{digits, median, thousands};
use super::drive::{Connection, Speech, Until};
use super::plot::{self, Panel};
use super::server::{Process, Server, Wire};
use super::{counts, page, peers};
use crate::{procfs, workspace};

pub(super) fn run(rounds: usize, bless: bool) -> Result<(), String> {
    let program = peers::ours()?.join("grown");
    let mut lines = Vec::new();
    for line in LINES {
        println!("{}", line.of);
        let measure = || line.measure(&program, rounds);
        lines.push((
            line,
            measure().map_err(|error| format!("{}: {error}", line.of))?,
        ));
    }
    if counts::is_there("valgrind") {
        println!("{}", COUNTED.of);
        lines.push((&COUNTED, counted()?));
    }
    let text = format!(
        "<img src=\"xtask/bench/growth.svg\" alt=\"Plots of the figures below\">\n\n{}\n{}. Rounds: {rounds}.",
        lines
            .iter()
            .map(|(line, costs)| line.told(costs) + "\n")
            .collect::<String>(),
        page::circumstances()?
    );
    println!("\n{text}");
    if !bless {
        return Ok(());
    }
    let panels: Vec<_> = lines
        .iter()
        .map(|(line, costs)| line.panel(costs))
        .collect();
    let file = workspace::root().join("xtask/bench/growth.svg");
    std::fs::write(file, plot::svg(&panels)).map_err(|error| error.to_string())?;
    page::bless("growth", &text)
}

/// One thing that grows.
struct Line {
    of: &'static str,
    sizes: &'static [usize],
    unit: &'static str,
    /// The words for a size.
    size: fn(usize) -> String,
    cost: fn(&Path, usize) -> io::Result<f64>,
}

const LINES: &[Line] = &[
    Line {
        of: "connections",
        sizes: &[1, 10, 100, 1_000],
        unit: "µs of CPU per call",
        size: count,
        cost: among_connections,
    },
    Line {
        of: "calls in flight that wait, beside the call",
        sizes: &[1, 10, 100, 1_000, 10_000],
        unit: "µs of CPU per call",
        size: count,
        cost: beside_waiting,
    },
    Line {
        of: "calls that wait at once, each from start to end",
        sizes: &[1, 10, 100, 1_000, 10_000],
        unit: "µs of CPU per call",
        size: count,
        cost: waiting,
    },
    Line {
        of: "tools",
        sizes: &[2, 10, 100, 1_000, 5_000],
        unit: "µs of CPU per call",
        size: count,
        cost: of_tools,
    },
    Line {
        of: "size of a text",
        sizes: &[
            1 << 14,
            1 << 16,
            1 << 18,
            1 << 20,
            1 << 22,
            1 << 24,
            1 << 26,
        ],
        unit: "ns of CPU per byte",
        size: bytes,
        cost: of_bytes,
    },
];

/// The line of tools again, where nothing but the call is counted.
const COUNTED: Line = Line {
    of: "tools, instructions",
    sizes: &[1, 10, 100, 1_000, 5_000],
    unit: "thousand instructions per call",
    size: count,
    cost: |_, _| Ok(f64::NAN),
};

fn count(size: usize) -> String {
    thousands(size as f64)
}

fn bytes(size: usize) -> String {
    match size >> 20 {
        0 => format!("{} KiB", size >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

impl Line {
    fn measure(&self, program: &Path, rounds: usize) -> io::Result<Vec<f64>> {
        let mut samples = vec![Vec::new(); self.sizes.len()];
        for _ in 0..rounds {
            for (size, samples) in self.sizes.iter().zip(&mut samples) {
                samples.push((self.cost)(program, *size)?);
            }
        }
        Ok(samples.into_iter().filter_map(median).collect())
    }

    /// What became of the cost.
    fn told(&self, costs: &[f64]) -> String {
        let (Some(first), Some(last)) = (costs.first(), costs.last()) else {
            return String::new();
        };
        format!(
            "- **{}**, {} to {}: {}. {}: {}.",
            self.of,
            (self.size)(self.sizes[0]),
            (self.size)(self.sizes[costs.len() - 1]),
            trend(last / first),
            self.unit,
            costs
                .iter()
                .map(|cost| digits(*cost))
                .collect::<Vec<_>>()
                .join(", "),
        )
    }

    fn panel(&self, costs: &[f64]) -> Panel {
        let sizes = self.sizes.iter().map(|size| (self.size)(*size));
        let places = self.sizes.iter().map(|size| (*size as f64).ln());
        Panel {
            title: self.of,
            unit: self.unit,
            points: places.zip(costs.iter().copied()).collect(),
            labels: sizes.collect(),
        }
    }
}

/// Less than a quarter more or less is flat: two runs differ by as much.
fn trend(times: f64) -> String {
    let word = match times {
        times if times > 1.25 => "grows",
        times if times < 0.75 => "falls",
        _ => "flat",
    };
    format!("{word}, {} ×", digits(times))
}

/// Calls of one measurement.
const CALLS: usize = 4_000;

const SPEECH: Speech = Speech::Legacy;

/// What a call of `echo` costs on a connection, in microseconds.
fn echo(server: &mut Server) -> io::Result<f64> {
    let echo = SPEECH.echo(64);
    server.run(&echo, 1, Until::calls(CALLS / 4))?;
    Ok(server.run(&echo, 1, Until::calls(CALLS))?.cpu_per_call() / 1e3)
}

fn start(program: &Path, tools: usize) -> io::Result<Server> {
    let command = [program.display().to_string(), tools.to_string()];
    Server::start(&command, Wire::Pipes, SPEECH)
}

fn of_tools(program: &Path, tools: usize) -> io::Result<f64> {
    echo(&mut start(program, tools)?)
}

fn beside_waiting(program: &Path, calls: usize) -> io::Result<f64> {
    const UNTIL_THE_END: u64 = 3_600_000;
    let mut server = start(program, 2)?;
    server
        .connection
        .send(&SPEECH.sleep(UNTIL_THE_END), calls - 1)?;
    echo(&mut server)
}

fn waiting(program: &Path, calls: usize) -> io::Result<f64> {
    let mut server = start(program, 2)?;
    // Long enough for the last one to begin before the first one ends.
    let sleep = SPEECH.sleep(1 + calls as u64 / 100);
    server.run(&sleep, calls, Until::calls(calls.max(100)))?;
    let until = Until::calls(calls.max(400));
    Ok(server.run(&sleep, calls, until)?.cpu_per_call() / 1e3)
}

fn of_bytes(program: &Path, length: usize) -> io::Result<f64> {
    const BYTES: usize = 64 << 20;
    let mut server = start(program, 2)?;
    let echo = SPEECH.echo(length);
    server.run(&echo, 1, Until::calls(2))?;
    let until = Until::calls((BYTES / length).min(500));
    Ok(server.run(&echo, 1, until)?.cpu_per_call() / length as f64)
}

/// Each connection has its turn, one call after another.
fn among_connections(program: &Path, connections: usize) -> io::Result<f64> {
    let socket = std::env::temp_dir().join(format!("bench-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&socket);
    let mut command = Command::new(program);
    command.arg("2").arg(&socket).stdin(Stdio::null());
    let server = Process::new(command.spawn()?);
    let mut open = Vec::new();
    for _ in 0..connections {
        let stream = Arc::new(connect(&socket)?);
        let mut connection = Connection::new(Half(stream.clone()), Half(stream), 1024);
        connection.open(SPEECH)?;
        open.push(connection);
    }
    let echo = SPEECH.echo(64);
    let mut turns = (0..connections).cycle();
    let mut turn = |calls: usize| -> io::Result<()> {
        for connection in turns.by_ref().take(calls) {
            open[connection].run(&echo, 1, Until::calls(1))?;
        }
        Ok(())
    };
    turn(CALLS.max(10 * connections))?;
    let before = procfs::cpu(server.id)?;
    turn(CALLS)?;
    let used = procfs::cpu(server.id)?.saturating_sub(before);
    std::fs::remove_file(&socket)?;
    Ok(used.as_nanos() as f64 / CALLS as f64 / 1e3)
}

/// One direction of a socket: a descriptor for each would be too many.
struct Half(Arc<UnixStream>);

impl Read for Half {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(bytes)
    }
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Connects, as soon as somebody listens there.
fn connect(socket: &Path) -> io::Result<UnixStream> {
    const TRIES: usize = 2_000;
    for _ in 0..TRIES {
        match UnixStream::connect(socket) {
            Ok(stream) => return Ok(stream),
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
    Err(Error::other("nobody listens"))
}

fn counted() -> Result<Vec<f64>, String> {
    let program = counts::build()?;
    let counted = COUNTED.sizes.iter().map(|tools| {
        let others = (tools - 1).to_string();
        let count = |n: u32| {
            let words = ["router-legacy-call", &n.to_string(), &others];
            counts::instructions(&program, &words)
        };
        Ok(counts::per_request(count)? / 1e3)
    });
    counted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_grows_is_said_to_grow() {
        let words = [0.5, 1.0, 1.2, 2.0].map(trend);
        assert_eq!(
            words,
            [
                "falls, 0.50 ×",
                "flat, 1.00 ×",
                "flat, 1.20 ×",
                "grows, 2.00 ×"
            ]
        );
    }

    #[test]
    fn sizes_are_written_for_people() {
        assert_eq!([1 << 14, 1 << 26].map(bytes), ["16 KiB", "64 MiB"]);
    }
}
