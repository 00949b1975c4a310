//! Where the workspace is, what is in it, and how cargo is called.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The folder of the root manifest.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
}

/// The cargo that runs this task, started in the root of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// Runs a command to its end; an error says how it ended.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command
        .status()
        .map_err(|error| not_started(command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(status.to_string())
}

/// What a command prints on its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        return Err(output.status.to_string());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// `cargo metadata` without the packages of others.
pub(crate) fn metadata() -> Result<Value, String> {
    let text = output(&mut cargo(&["metadata", "--format-version=1", "--no-deps"]))?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// The packages that are published: the crates that users depend on.
pub(crate) fn libraries() -> Result<Vec<String>, String> {
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let published = packages.filter(|package| package["publish"].is_null());
    let names = published.filter_map(|package| package["name"].as_str());
    Ok(names.map(str::to_owned).collect())
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> Result<PathBuf, String> {
    let metadata = metadata()?;
    let folder = metadata["target_directory"].as_str();
    Ok(folder.ok_or("cargo names no target folder")?.into())
}

/// Builds one example program and says where it is.
pub(crate) fn build_example(name: &str, release: bool) -> Result<PathBuf, String> {
    let profile = if release { "release" } else { "dev" };
    let text = output(&mut cargo(&[
        "build",
        "--package=mcp-examples",
        "--bin",
        name,
        "--profile",
        profile,
        "--message-format=json-render-diagnostics",
    ]))?;
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let program = messages
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    program.ok_or(format!("cargo built no program `{name}`"))
}

/// Why a program could not be started.
pub(crate) fn not_started(command: &Command, error: &std::io::Error) -> String {
    let program = Path::new(command.get_program());
    format!("start {}: {error}", program.display())
}
