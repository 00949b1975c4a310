//! SDKs from their registries, one folder each, once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Client, Language};
use crate::workspace;

/// Why a client is not there.
pub(crate) enum Missing {
    /// Its registry cannot be reached, so nothing is known about us.
    Registry(String),
    /// This machine has no Python or Node.
    Tool(String),
    Other(String),
}

/// How the scripts on an SDK are started.
pub(super) struct Program {
    interpreter: PathBuf,
    client: PathBuf,
    server: PathBuf,
    folder: PathBuf,
}

impl Program {
    /// Its client.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.interpreter);
        command.arg(&self.client).current_dir(&self.folder);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// A client of ours with these arguments, and with its server.
    pub(super) fn served_to(&self, client: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(client);
        command.args(arguments).current_dir(&self.folder);
        command.arg(&self.interpreter).arg(&self.server);
        command
    }
}

/// Installs the client unless the folder has it at this version.
pub(super) fn install(client: &Client, cache: &Path) -> Result<Program, Missing> {
    let folder = cache.join(client.name);
    let mark = folder.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|packages| packages == client.packages) {
        return Ok(program(client, folder));
    }
    println!("installing {}", client.packages);
    super::empty_folder(&folder).map_err(|error| other(&error))?;
    match client.language {
        Language::Python => python(client.packages, &folder)?,
        Language::Node => node(client.packages, &folder)?,
    }
    fs::write(mark, client.packages).map_err(|error| other(&error))?;
    Ok(program(client, folder))
}

fn program(client: &Client, folder: PathBuf) -> Program {
    let scripts = workspace::root().join("xtask/interop");
    let (interpreter, client, server) = match client.language {
        Language::Python => (folder.join("bin/python"), "py_client.py", "py_server.py"),
        Language::Node => ("node".into(), "ts_client.mjs", "ts_server.mjs"),
    };
    Program {
        interpreter,
        client: scripts.join(client),
        server: scripts.join(server),
        folder,
    }
}

fn python(packages: &str, folder: &Path) -> Result<(), Missing> {
    present("python3")?;
    finish(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let pip = [
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "--retries=1",
        "--timeout=30",
    ];
    finish(
        Command::new(folder.join("bin/python"))
            .args(pip)
            .arg("install")
            .args(packages.split(' ')),
    )
}

/// Installs packages of npm into a folder that has nothing else.
pub(crate) fn node(packages: &str, folder: &Path) -> Result<(), Missing> {
    present("node")?;
    present("npm")?;
    fs::write(folder.join("package.json"), r#"{"private":true}"#).map_err(|error| other(&error))?;
    let npm = [
        "--loglevel=error",
        "--no-audit",
        "--no-fund",
        "--fetch-retries=1",
        "--fetch-timeout=30000",
    ];
    finish(
        Command::new("npm")
            .args(npm)
            .arg("install")
            .args(packages.split(' '))
            .current_dir(folder),
    )
}

fn present(tool: &str) -> Result<(), Missing> {
    let version = Command::new(tool).arg("--version").output();
    version
        .map(drop)
        .map_err(|error| Missing::Tool(format!("{tool}: {error}")))
}

fn finish(command: &mut Command) -> Result<(), Missing> {
    let output = command.output().map_err(|error| other(&error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(sort(&String::from_utf8_lossy(&said)))
}

/// Tells a network that is not there from everything else, by what pip and npm say then.
fn sort(said: &str) -> Missing {
    const NETWORK: &[&str] = &[
        "newconnectionerror",
        "connecttimeout",
        "readtimeout",
        "nameresolutionerror",
        "temporary failure in name resolution",
        "connection refused",
        "connection reset",
        "connection aborted",
        "network is unreachable",
        "proxyerror",
        "etimedout",
        "econnrefused",
        "econnreset",
        "enotfound",
        "eai_again",
        "enetunreach",
        "503 service unavailable",
        "502 bad gateway",
    ];
    let named = |line: &&str| {
        NETWORK
            .iter()
            .any(|word| line.to_lowercase().contains(word))
    };
    if let Some(line) = said.lines().find(named) {
        return Missing::Registry(line.trim().to_owned());
    }
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Missing::Other(last.unwrap_or("it said nothing").trim().to_owned())
}

fn other(error: &std::io::Error) -> Missing {
    Missing::Other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_registry_is_told_from_a_wrong_version() {
        let silent = [
            "WARNING: Retrying after connection broken by 'NewConnectionError'\nERROR: No matching distribution found",
            "npm error code EAI_AGAIN\nnpm error errno EAI_AGAIN",
        ];
        for said in silent {
            assert!(matches!(sort(said), Missing::Registry(_)), "{said}");
        }
        let wrong = "ERROR: No matching distribution found for mcp==99\n";
        assert!(matches!(sort(wrong), Missing::Other(last) if last == wrong.trim()));
    }
}
