//! The programs that are measured, and how they are built.

use std::fs;
use std::path::{Path, PathBuf};

use super::drive::Speech;
use crate::workspace;

/// A server that is compared.
pub(super) struct Peer {
    pub(super) name: String,
    legacy: Vec<String>,
    modern: Vec<String>,
}

impl Peer {
    /// How it is started, to be spoken to like this.
    pub(super) fn command(&self, speech: Speech) -> &[String] {
        match speech {
            Speech::Legacy => &self.legacy,
            Speech::Modern => &self.modern,
        }
    }
}

/// A client that is compared.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// Builds all clients that are compared. The first one is the floor, the second one is ours.
pub(super) fn clients() -> Result<Vec<Program>, String> {
    let program = |name: &str, path| Program {
        name: name.to_owned(),
        path,
    };
    Ok(vec![
        program("floor", build("caller-floor", &[])?.join("caller-floor")),
        program(&version("fairline-mcp-client")?, ours()?.join("caller")),
        program(
            &version("rmcp")?,
            build("caller-rmcp", &[])?.join("caller-rmcp"),
        ),
    ])
}

/// Builds all servers that are compared. The first one is the floor, the second one is ours.
pub(super) fn all() -> Result<Vec<Peer>, String> {
    let ours = ours()?;
    let floor = build("peer-floor", &[])?.join("peer-floor");
    let rmcp = build("peer-rmcp", &[])?.join("peer-rmcp");
    let tower = tower()?;
    let rmcp_name = version("rmcp")?;
    let peer = |name: &str, words: &[&str], program: &Path| {
        let mut command = vec![program.display().to_string()];
        command.extend(words.iter().map(|word| (*word).to_owned()));
        Peer {
            name: name.to_owned(),
            modern: command.clone(),
            legacy: command,
        }
    };
    Ok(vec![
        peer("floor", &[], &floor),
        peer(&version("fairline-mcp-server")?, &[], &ours.join("echo")),
        peer(&rmcp_name, &[], &rmcp),
        peer(&format!("{rmcp_name} tuned"), &["--tuned"], &rmcp),
        Peer {
            name: version("tower-mcp")?,
            legacy: vec![tower.0.display().to_string()],
            modern: vec![tower.1.display().to_string()],
        },
    ])
}

/// Builds our programs, and says where they are.
pub(super) fn ours() -> Result<PathBuf, String> {
    build("peer-ours", &[])
}

/// That of the older revisions, and that of the newest one, which is another build.
fn tower() -> Result<(PathBuf, PathBuf), String> {
    let folder = build("peer-tower-mcp", &["--features=modern"])?;
    let modern = folder.join("peer-tower-mcp-modern");
    fs::copy(folder.join("peer-tower-mcp"), &modern).map_err(|error| error.to_string())?;
    let legacy = build("peer-tower-mcp", &[])?.join("peer-tower-mcp");
    Ok((legacy, modern))
}

fn folder() -> PathBuf {
    super::counts::folder().join("peers")
}

/// Each package is built by itself, so that none has features that only another one asks for.
fn build(package: &str, more: &[&str]) -> Result<PathBuf, String> {
    println!("building {package}");
    let target = workspace::target_dir()?.join("peers");
    let mut command = workspace::cargo(&["build", "--release", "--quiet", "--locked"]);
    command.args(more).args(["--package", package]);
    command
        .arg("--manifest-path")
        .arg(folder().join("Cargo.toml"));
    command.arg("--target-dir").arg(&target);
    workspace::run(&mut command)?;
    Ok(target.join("release"))
}

/// The name of a package and the version that is measured.
pub(super) fn version(package: &str) -> Result<String, String> {
    let lock =
        fs::read_to_string(folder().join("Cargo.lock")).map_err(|error| error.to_string())?;
    version_in(&lock, package)
        .map(|version| {
            format!(
                "{} {version}",
                package
                    .trim_end_matches("-server")
                    .trim_end_matches("-client")
            )
        })
        .ok_or(format!("no package {package} is locked"))
}

fn version_in<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(version_in(lock, "b"), Some("2.0.0"));
        assert_eq!(version_in(lock, "c"), None);
    }
}
