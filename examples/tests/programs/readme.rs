//! The commands of `examples/README.md`, and how little the first README asks for.

use std::path::Path;
use std::process::Command;

use crate::{directory, path};

/// Runs what its first table says, as a person at the root of the repository would.
#[test]
fn what_the_table_says_to_try_works() {
    let readme = include_str!("../../README.md");
    let inspect = Path::new(env!("CARGO_BIN_EXE_inspect"));
    let programs = path(inspect.parent().expect("it is in a directory"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("it is in one, too");
    let own = directory("readme");
    let config = include_str!("../../proxy.json").replace("target/debug", programs);
    std::fs::write(own.join("proxy.json"), config).expect("it can be written");
    let commands = readme
        .split('`')
        .filter(|code| code.starts_with("target/debug/inspect"));
    let commands: Vec<_> = commands
        .filter(|command| !command.contains("socat"))
        .collect();
    assert_eq!(commands.len(), 8);
    for command in commands {
        let command = command
            .replace("target/debug", programs)
            .replace("target/shop.db", path(&own.join("shop.db")))
            .replace("examples/proxy.json", path(&own.join("proxy.json")));
        let mut shell = Command::new("sh");
        let done = shell.args(["-c", &command]).current_dir(root).output();
        let done = done.expect("there is a shell");
        assert!(done.status.success(), "{command}: {done:?}");
    }
}

/// The documentation tests compile what is counted here.
#[test]
fn the_first_server_and_client_are_short() {
    let readme = include_str!("../../../README.md");
    let block = |after: &str, language: &str| {
        let (_, section) = readme.split_once(after).expect("the section is there");
        let (_, code) = section
            .split_once(&format!("```{language}\n"))
            .expect("it has code");
        let (code, _) = code.split_once("```").expect("the code ends");
        let lines = code.lines().filter(|line| !line.trim().is_empty());
        lines.collect::<Vec<_>>()
    };
    assert!(block("\n## A server\n", "rust,no_run").len() <= 15);
    assert!(block("\n## A client\n", "rust,no_run").len() <= 10);
    let manifest = block("\n## A server\n", "toml");
    let names = manifest.iter().filter_map(|line| line.split_once(" = "));
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    assert_eq!(names, ["mcp-server", "serde", "tokio"]);
}
