//! `cargo xtask bench --compare`: our server beside others, and beside the floor.
//!
//! Clocks lie on a machine that has other work, and they lie less if two programs are measured
//! one right after the other. So every figure is taken of all servers in each round, is divided
//! by the floor's of the same round, and the median of these ratios is shown.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use super::caller;
use super::counted;
use super::drive::{Speech, Until};
use super::page;
use super::peers::{self, Peer};
use super::server::{Server, Wire};

pub(super) fn run(rounds: usize, bless: bool) -> Result<(), String> {
    let (peers, clients) = (peers::all()?, peers::clients()?);
    let ours = &peers[OURS].command(Speech::Modern)[0];
    let mut samples = Samples::default();
    for round in 1..=rounds {
        println!("round {round} of {rounds}");
        for part in PARTS {
            for (number, peer) in peers.iter().enumerate() {
                if let Err(error) = part(peer, &mut |row, value| samples.add(row, number, value)) {
                    println!("{}: {error}", peer.name);
                }
            }
        }
        for (number, client) in clients.iter().enumerate() {
            let mut take = |row, value| samples.add(row, number, value);
            if let Err(error) = caller::measure(client, ours, &mut take) {
                println!("client of {}: {error}", client.name);
            }
        }
    }
    println!("counting");
    for (number, peer) in peers.iter().enumerate() {
        if let Err(error) =
            counted::measure(peer, &mut |row, value| samples.add(row, number, value))
        {
            println!("{}: {error}", peer.name);
        }
    }
    let text = format!(
        "{}\n{}\n{}. Rounds: {rounds}.",
        table(
            "server",
            peers.iter().map(|peer| &*peer.name),
            ROWS,
            &samples
        ),
        table(
            "client of our server",
            clients.iter().map(|client| &*client.name),
            CLIENT_ROWS,
            &samples
        ),
        page::circumstances()?
    );
    println!("\n{text}");
    match bless {
        true => page::bless("measured", &text),
        false => Ok(()),
    }
}

/// Which of the servers, and of the clients, is which.
const FLOOR: usize = 0;
const OURS: usize = 1;

/// A figure of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Row {
    Sequential,
    InFlight,
    ModernSequential,
    ModernInFlight,
    SocketsSequential,
    SocketsInFlight,
    Megabyte,
    Instructions,
    InstructionsModern,
    SystemCalls,
    SystemCallsInFlight,
    Trip,
    Sleeps,
    PeakSmall,
    PeakLarge,
    ClientSequential,
    ClientSequentialToServer,
    ClientInFlight,
    ClientInFlightToServer,
}

/// What stands at the beginning of a row, and how its values are written.
const ROWS: &[(Row, &str, Unit)] = &[
    (Row::Sequential, "CPU, one call after another", Unit::Time),
    (Row::InFlight, "CPU, 64 calls in flight", Unit::Time),
    (
        Row::ModernSequential,
        "… 2026-07-28, one after another",
        Unit::Time,
    ),
    (
        Row::ModernInFlight,
        "… 2026-07-28, 64 in flight",
        Unit::Time,
    ),
    (
        Row::SocketsSequential,
        "… sockets as stdio, one after another",
        Unit::Time,
    ),
    (
        Row::SocketsInFlight,
        "… sockets as stdio, 64 in flight",
        Unit::Time,
    ),
    (Row::Megabyte, "CPU, a text of 1 MB", Unit::Time),
    (Row::Instructions, "instructions", Unit::Count),
    (Row::InstructionsModern, "… 2026-07-28", Unit::Count),
    (
        Row::SystemCalls,
        "system calls, one after another",
        Unit::Number,
    ),
    (
        Row::SystemCallsInFlight,
        "system calls, 64 in flight",
        Unit::Number,
    ),
    (Row::Trip, "round trip, median", Unit::Time),
    (
        Row::Sleeps,
        "200 `sleep` of 50 ms at once, all done",
        Unit::Time,
    ),
    (Row::PeakSmall, "peak memory, 64 B texts", Unit::Memory),
    (Row::PeakLarge, "peak memory, a text of 16 MB", Unit::Memory),
];

/// The same of the clients.
const CLIENT_ROWS: &[(Row, &str, Unit)] = &[
    (
        Row::ClientSequential,
        "CPU, one call after another",
        Unit::Time,
    ),
    (
        Row::ClientSequentialToServer,
        "… divided by the server's",
        Unit::Number,
    ),
    (Row::ClientInFlight, "CPU, 64 calls in flight", Unit::Time),
    (
        Row::ClientInFlightToServer,
        "… divided by the server's",
        Unit::Number,
    ),
];

#[derive(Clone, Copy)]
enum Unit {
    /// In nanoseconds.
    Time,
    Count,
    Number,
    /// In MiB.
    Memory,
}

impl Unit {
    fn write(self, value: f64) -> String {
        match self {
            Self::Time if value < 1e6 => format!("{} µs", digits(value / 1e3)),
            Self::Time => format!("{} ms", digits(value / 1e6)),
            Self::Count => thousands(value),
            Self::Number => digits(value),
            Self::Memory => format!("{} MiB", digits(value)),
        }
    }
}

/// Three of them, or all before the point.
pub(super) fn digits(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// A count with its digits in groups of three.
pub(super) fn thousands(value: f64) -> String {
    let text = format!("{value:.0}");
    let first = text.len() % 3;
    let groups = text.as_bytes()[first..].chunks(3);
    let groups = groups.map(|group| String::from_utf8_lossy(group).into_owned());
    let mut all: Vec<_> = groups.collect();
    if first > 0 {
        all.insert(0, text[..first].to_owned());
    }
    all.join(",")
}

/// What was measured: for a figure and a program, a value of each round.
#[derive(Default)]
struct Samples(BTreeMap<(Row, usize), Vec<f64>>);

impl Samples {
    fn add(&mut self, row: Row, program: usize, value: f64) {
        self.0.entry((row, program)).or_default().push(value);
    }

    /// The values of a program; none unless it has one of each round.
    fn of(&self, row: Row, program: usize) -> &[f64] {
        let values = |program| self.0.get(&(row, program)).map_or(&[][..], Vec::as_slice);
        match values(program) {
            values_here if values_here.len() == values(FLOOR).len() => values_here,
            _ => &[],
        }
    }
}

pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Takes what a part of a round has found out about one program.
pub(super) type Take<'a> = &'a mut dyn FnMut(Row, f64);

/// A round: each part of all servers, then the next part.
const PARTS: &[fn(&Peer, Take<'_>) -> io::Result<()>] = &[legacy, modern, sockets, large];

/// How long one figure is measured, at most.
const MEASURED: Until = Until {
    calls: 50_000,
    time: Duration::from_millis(250),
};

/// What a server does before it is measured.
const WARM: Until = Until {
    calls: 5_000,
    time: Duration::from_millis(60),
};

fn legacy(peer: &Peer, take: Take<'_>) -> io::Result<()> {
    let speech = Speech::Legacy;
    let mut server = Server::start(peer.command(speech), Wire::Pipes, speech)?;
    let trip = both(&mut server, speech, (Row::Sequential, Row::InFlight), take)?;
    take(Row::Trip, trip.as_nanos() as f64);
    take(Row::PeakSmall, server.peak()?);
    let sleeps = server.run(&speech.sleep(50), 200, Until::calls(200))?;
    take(Row::Sleeps, sleeps.timing.wall.as_nanos() as f64);
    let text = speech.echo(1_000_000);
    server.run(&text, 1, Until::calls(5))?;
    take(
        Row::Megabyte,
        server.run(&text, 1, MEASURED)?.cpu_per_call(),
    );
    Ok(())
}

fn modern(peer: &Peer, take: Take<'_>) -> io::Result<()> {
    let speech = Speech::Modern;
    let mut server = Server::start(peer.command(speech), Wire::Pipes, speech)?;
    let rows = (Row::ModernSequential, Row::ModernInFlight);
    both(&mut server, speech, rows, take).map(drop)
}

fn sockets(peer: &Peer, take: Take<'_>) -> io::Result<()> {
    let speech = Speech::Legacy;
    let mut server = Server::start(peer.command(speech), Wire::Sockets, speech)?;
    let rows = (Row::SocketsSequential, Row::SocketsInFlight);
    both(&mut server, speech, rows, take).map(drop)
}

fn large(peer: &Peer, take: Take<'_>) -> io::Result<()> {
    let speech = Speech::Legacy;
    let mut server = Server::start(peer.command(speech), Wire::Pipes, speech)?;
    server.run(&speech.echo(16_000_000), 1, Until::calls(3))?;
    take(Row::PeakLarge, server.peak()?);
    Ok(())
}

/// Calls one after another and then 64 at once; gives the median of the round trips.
fn both(
    server: &mut Server,
    speech: Speech,
    rows: (Row, Row),
    take: Take<'_>,
) -> io::Result<Duration> {
    let echo = speech.echo(64);
    server.run(&echo, 1, WARM)?;
    let sequential = server.run(&echo, 1, MEASURED)?;
    take(rows.0, sequential.cpu_per_call());
    server.run(&echo, 64, WARM)?;
    take(rows.1, server.run(&echo, 64, MEASURED)?.cpu_per_call());
    Ok(sequential.timing.median_trip())
}

fn table<'a>(
    of: &str,
    names: impl Iterator<Item = &'a str>,
    rows: &[(Row, &str, Unit)],
    samples: &Samples,
) -> String {
    let names: Vec<_> = names.collect();
    let mut text = format!("| {of}, per call | {} |\n", names.join(" | "));
    text += &format!("|---|{}\n", "---:|".repeat(names.len()));
    for (row, name, unit) in rows {
        let cells: Vec<_> = (0..names.len())
            .map(|program| cell(samples, *row, *unit, program))
            .collect();
        text += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    text
}

/// How many times the floor's, and how much that is.
fn cell(samples: &Samples, row: Row, unit: Unit, program: usize) -> String {
    let (values, floor) = (samples.of(row, program), samples.of(row, FLOOR));
    let Some(value) = median(values.iter().copied()) else {
        return "–".to_owned();
    };
    if program == FLOOR {
        return unit.write(value);
    }
    let ratios = values.iter().zip(floor).map(|(value, floor)| value / floor);
    let ratio = median(ratios).unwrap_or(f64::NAN);
    let ratio = format!("{} ×", digits(ratio));
    let ratio = if program == OURS {
        format!("**{ratio}**")
    } else {
        ratio
    };
    format!("{ratio} ({})", unit.write(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_the_same_round() {
        let mut samples = Samples::default();
        for (floor, ours) in [(1e3, 2e3), (10e3, 20e3), (2e3, 4e3)] {
            samples.add(Row::Trip, FLOOR, floor);
            samples.add(Row::Trip, OURS, ours);
        }
        assert_eq!(cell(&samples, Row::Trip, Unit::Time, FLOOR), "2.00 µs");
        assert_eq!(
            cell(&samples, Row::Trip, Unit::Time, OURS),
            "**2.00 ×** (4.00 µs)"
        );
    }

    #[test]
    fn who_misses_a_round_has_no_figure() {
        let mut samples = Samples::default();
        samples.add(Row::Trip, FLOOR, 1.0);
        samples.add(Row::Trip, FLOOR, 1.0);
        samples.add(Row::Trip, 2, 1.0);
        assert_eq!(cell(&samples, Row::Trip, Unit::Time, 2), "–");
    }

    #[test]
    fn each_figure_is_in_the_table_once() {
        let rows = [ROWS, CLIENT_ROWS].concat();
        let mut rows: Vec<_> = rows.into_iter().map(|(row, ..)| row).collect();
        rows.dedup();
        assert_eq!(rows.len(), Row::ClientInFlightToServer as usize + 1);
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([1.234, 12.34, 123.4].map(digits), ["1.23", "12.3", "123"]);
        assert_eq!(
            [1.0, 999.0, 1000.0, 1234567.0].map(thousands),
            ["1", "999", "1,000", "1,234,567"]
        );
        assert_eq!(Unit::Time.write(2_500_000.0), "2.50 ms");
    }
}
