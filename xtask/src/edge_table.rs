//! `cargo xtask edge-table`: the cases of `edges/`, played to our examples or to a program of somebody else's.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::edges::clients::Client;
use crate::edges::servers::Server;
use crate::edges::table::Table;
use crate::edges::{CLIENTS, SERVERS, cases_of};
use crate::flags::EdgeFlags;
use crate::workspace;

pub(crate) fn run(flags: &EdgeFlags) -> ExitCode {
    match tables(flags) {
        Ok(tables) => {
            for table in &tables {
                match flags.markdown {
                    true => println!("{}", table.markdown()),
                    false => println!("{}", table.text()),
                }
            }
            ExitCode::from(u8::from(tables.iter().any(|table| table.failed() > 0)))
        }
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tables(flags: &EdgeFlags) -> Result<Vec<Table>, String> {
    let theirs = |(name, command): &(String, Vec<String>)| {
        Server::theirs(name, command.clone(), &flags.tools)
    };
    let mut tables = Vec::new();
    let mut beside = flags
        .beside
        .iter()
        .map(theirs)
        .collect::<Result<Vec<_>, _>>()?;
    let folder = match flags.command.is_empty() {
        true => Some(examples()?),
        false => None,
    };
    if !flags.client {
        let first = match &folder {
            Some(folder) => Server::ours(folder.clone()),
            None => theirs(&("theirs".to_owned(), flags.command.clone()))?,
        };
        beside.insert(0, first);
        tables.push(Table::of_servers(&beside, &cases_of(SERVERS, &flags.only)?));
    }
    if flags.client || folder.is_some() {
        let theirs = |(name, command): &(String, Vec<String>)| Client {
            name: name.clone(),
            command: command.iter().map(Into::into).collect(),
        };
        let first = match &folder {
            Some(folder) => Client::ours(folder),
            None => theirs(&("theirs".to_owned(), flags.command.clone())),
        };
        let others = flags.beside_clients.iter().map(theirs);
        let clients: Vec<_> = [first].into_iter().chain(others).collect();
        tables.push(Table::of_clients(
            &clients,
            &cases_of(CLIENTS, &flags.only)?,
        ));
    }
    Ok(tables)
}

/// The folder in which the examples are, freshly built.
fn examples() -> Result<PathBuf, String> {
    let mut folder = PathBuf::new();
    for name in ["fixture", "everything", "inspect"] {
        folder = workspace::build_example(name, false)?;
        folder.pop();
    }
    Ok(folder)
}
