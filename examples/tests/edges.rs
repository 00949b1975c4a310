//! What goes wrong elsewhere at the edges of the protocol, played to the examples: the table of `cargo xtask edge-table`.
//!
//! Starts itself anew as a bad server, through a client.

#![expect(
    clippy::print_stdout,
    reason = "whoever runs it wants to see the table"
)]

#[expect(dead_code, unused_imports, reason = "the task needs more of it")]
#[path = "../../xtask/src/edges/mod.rs"]
mod edges;

use std::path::Path;
use std::process::ExitCode;

use edges::clients::{self, Client};
use edges::servers::Server;
use edges::table::Table;
use edges::{CLIENTS, SERVERS, cases_of};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some(clients::SERVER) {
        return clients::serve(&arguments.collect::<Vec<_>>());
    }
    // A word is a filter, as it is for other tests.
    let only: Vec<_> = first
        .into_iter()
        .filter(|word| !word.starts_with('-'))
        .collect();
    let folder = Path::new(env!("CARGO_BIN_EXE_fixture"));
    let folder = folder.parent().expect("a program is in a folder");
    let cases = |text| cases_of(text, &only).expect("the cases are well written");
    let tables = [
        Table::of_servers(&[Server::ours(folder.to_owned())], &cases(SERVERS)),
        Table::of_clients(&[Client::ours(folder)], &cases(CLIENTS)),
    ];
    for table in &tables {
        println!("{}", table.text());
    }
    let failed: usize = tables.iter().map(Table::failed).sum();
    ExitCode::from(u8::from(failed > 0))
}
