//! The commands of `examples/README.md`.

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
