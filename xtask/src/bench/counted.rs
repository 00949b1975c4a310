//! What other programs count while a server runs: instructions and system calls.

use std::fs;
use std::io;
use std::path::Path;

use super::compare::{Row, Take};
use super::counts;
use super::drive::{Speech, Until};
use super::peers::Peer;
use super::server::{Server, Wire};

pub(super) fn measure(peer: &Peer, take: Take<'_>) -> Result<(), String> {
    let file = crate::workspace::target_dir()?
        .join("peers")
        .join("counted");
    let file = file.as_path();
    if counts::is_there("strace") {
        for (row, depth) in [(Row::SystemCalls, 1), (Row::SystemCallsInFlight, 64)] {
            let count = counts::per_request(|calls| {
                let command = under(&strace(file), peer, Speech::Legacy);
                drive(&command, Speech::Legacy, depth, calls * 16)?;
                system_calls(file)
            })?;
            take(row, count / 16.0);
        }
    }
    if counts::is_there("valgrind") {
        for (row, speech) in [
            (Row::Instructions, Speech::Legacy),
            (Row::InstructionsModern, Speech::Modern),
        ] {
            let count = counts::per_request(|calls| {
                let command = under(&callgrind(file), peer, speech);
                drive(&command, speech, 1, calls * 4)?;
                counts::total(file)
            })?;
            take(row, count / 4.0);
        }
    }
    Ok(())
}

fn strace(file: &Path) -> Vec<String> {
    let words = ["strace", "-f", "-c", "-o"].map(str::to_owned);
    [&words[..], &[file.display().to_string()]].concat()
}

fn callgrind(file: &Path) -> Vec<String> {
    let out = format!("--callgrind-out-file={}", file.display());
    vec![
        "valgrind".to_owned(),
        "--tool=callgrind".to_owned(),
        "--quiet".to_owned(),
        out,
    ]
}

fn under(tool: &[String], peer: &Peer, speech: Speech) -> Vec<String> {
    [tool, peer.command(speech)].concat()
}

fn drive(command: &[String], speech: Speech, depth: usize, calls: u32) -> Result<(), String> {
    let drive = || -> io::Result<()> {
        let mut server = Server::start(command, Wire::Pipes, speech)?;
        let until = Until::calls(calls as usize);
        server.connection.run(&speech.echo(64), depth, until)?;
        server.close()
    };
    drive().map_err(|error| format!("{}: {error}", command[0]))
}

/// The sum of the table that strace writes.
fn system_calls(file: &Path) -> Result<f64, String> {
    let table = fs::read_to_string(file).map_err(|error| error.to_string())?;
    sum(&table).ok_or_else(|| "strace gave no total".to_owned())
}

/// `100.00    0.012345           3      4100        12 total`
fn sum(table: &str) -> Option<f64> {
    let line = table.lines().find(|line| line.ends_with(" total"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_calls() {
        let table = "% time     seconds  usecs/call     calls    errors syscall\n\
                     100.00    0.000000           0         8           write\n\
                     100.00    0.000000           0        12         1 total\n";
        assert_eq!(sum(table), Some(12.0));
        assert_eq!(sum("strace: no such process\n"), None);
    }
}
