//! What the crates bring with them: licences, duplicates, and the size of the trees.

use std::collections::BTreeSet;
use std::process::Stdio;

use crate::steps::Ended;
use crate::workspace;

/// Most crates in the tree of a server, itself included. A user compiles each of them.
const MOST_CRATES: usize = 60;

/// Crates that the protocol crate must work without: no runtime, no logging.
const NOT_IN_PROTOCOL: &[&str] = &["tokio", "tracing"];

/// Crates that a server which is not on HTTP must work without.
const NOT_IN_SERVER: &[&str] = &["http", "hyper"];

/// Licences and duplicate versions, as `deny.toml` says.
pub(super) fn deny() -> Ended {
    let mut version = workspace::cargo(&["deny", "--version"]);
    let installed = version.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !installed.is_ok_and(|status| status.success()) {
        return Ended::Skipped("there is no cargo-deny: cargo install --locked cargo-deny".into());
    }
    workspace::run(&mut workspace::cargo(&[
        "deny",
        "--all-features",
        "check",
        "--hide-inclusion-graph",
        "bans",
        "licenses",
    ]))
    .into()
}

/// What the trees of the protocol crate and of servers may hold.
pub(super) fn trees() -> Result<(), String> {
    let protocol = tree("fairline-mcp-protocol")?;
    let server = tree("fairline-mcp-server")?;
    let http = tree("fairline-mcp-transport-http")?;
    println!(
        "crates in the normal tree: protocol {}, stdio server {}, HTTP server {} (at most {MOST_CRATES})",
        protocol.len(),
        server.len(),
        http.len()
    );
    without(&protocol, NOT_IN_PROTOCOL)?;
    without(&server, NOT_IN_SERVER)?;
    small(&server)?;
    small(&http)
}

fn without(tree: &BTreeSet<String>, names: &[&str]) -> Result<(), String> {
    let found = tree.iter().filter_map(|line| line.split(' ').next());
    match found
        .filter(|name| names.contains(name))
        .collect::<Vec<_>>()
    {
        found if found.is_empty() => Ok(()),
        found => Err(format!("a crate depends on {}", found.join(", "))),
    }
}

fn small(tree: &BTreeSet<String>) -> Result<(), String> {
    match tree.len() {
        crates if crates > MOST_CRATES => Err(format!("a server is built of {crates} crates")),
        _ => Ok(()),
    }
}

/// The package and all that it needs when it runs or is built, one `name version` each.
fn tree(package: &str) -> Result<BTreeSet<String>, String> {
    let mut command = workspace::cargo(&[
        "tree",
        "--edges=normal",
        "--prefix=none",
        "--package",
        package,
    ]);
    Ok(parse(&workspace::output(&mut command)?))
}

/// Keeps the first two words of each line: what follows them are marks such as `(*)`.
fn parse(tree: &str) -> BTreeSet<String> {
    let lines = tree
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "fairline-mcp-protocol v0.1.0 (/src)\nserde v1.0.2\nserde_derive v1.0.2 (proc-macro)\nserde v1.0.2 (*)\n";

    #[test]
    fn a_crate_counts_once() {
        assert_eq!(parse(TREE).len(), 3);
    }

    #[test]
    fn a_runtime_in_the_protocol_crate_is_refused() {
        assert_eq!(without(&parse(TREE), NOT_IN_PROTOCOL), Ok(()));
        let with_tokio = parse(&format!("{TREE}tokio v1.46.0\n"));
        assert_eq!(
            without(&with_tokio, NOT_IN_PROTOCOL),
            Err("a crate depends on tokio".into())
        );
    }

    #[test]
    fn a_large_server_is_refused() {
        assert_eq!(small(&parse(TREE)), Ok(()));
        let large = (0..=MOST_CRATES)
            .map(|n| format!("crate-{n} v1.0.0"))
            .collect();
        assert!(small(&large).is_err());
    }
}
