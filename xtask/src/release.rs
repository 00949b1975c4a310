//! `cargo xtask release`: whether the crates can be published as they are. It publishes nothing.
//!
//! Every crate is packaged and built from its package. The programs in `xtask/users`, which are
//! what a user of one of the crates has, are built on the packages and run, and so is the server
//! that `inspect new` writes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use crate::steps::{Ended, Steps};
use crate::workspace;

/// The programs of `xtask/users`: what is sent to each, and what it answers.
const USERS: &[(&str, &str, &str)] = &[
    ("protocol", PING, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    ("stdio", PING, PING),
    ("server", CALL, r#""text":"as it was""#),
];

/// The name of the server that is written anew, with a test of its own.
const SCAFFOLD: &str = "scaffold";

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"as it was"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// The longest that the code of a server with one tool may be.
const SERVER_LINES: usize = 12;

pub(crate) fn run() -> ExitCode {
    let release = match Release::find() {
        Ok(release) => release,
        Err(error) => {
            eprintln!("xtask: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut steps = Steps::new(&[]);
    steps.step("manifests are complete", || release.manifests().into());
    steps.step("packages", || release.package().into());
    steps.step("programs on the packages", || release.users().into());
    steps.step("a new server on the packages", || release.scaffold().into());
    steps.step("names are free, or ours", || release.names());
    steps.step("public interface", || release.interface());
    steps.finish()
}

/// What would be published.
struct Release {
    /// The packages, as `cargo metadata` has them.
    packages: Vec<Value>,
    /// Where everything is made.
    folder: PathBuf,
}

impl Release {
    fn find() -> Result<Self, String> {
        let metadata = workspace::metadata()?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let published = packages.filter(|package| package["publish"].is_null());
        Ok(Self {
            packages: published.cloned().collect(),
            folder: workspace::target_dir()?.join("release-check"),
        })
    }

    fn names(&self) -> Ended {
        let mut taken = Vec::new();
        for name in self.names_of() {
            let mut asked = workspace::cargo(&["info", "--quiet", "--registry=crates-io", name]);
            // Outside of the workspace, where the name is not that of a member.
            asked.current_dir(std::env::temp_dir());
            match asked.output() {
                Ok(output) if output.status.success() => taken.push(name),
                Ok(output) => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    if !said.contains("could not find") {
                        return Ended::Skipped(format!("crates.io: {}", said.trim()));
                    }
                }
                Err(error) => return Ended::Failed(error.to_string()),
            }
        }
        match &*taken {
            [] => Ended::Passed,
            taken => Ended::Skipped(format!(
                "on crates.io already, by whom is to be looked at: {}",
                taken.join(", ")
            )),
        }
    }

    fn names_of(&self) -> impl Iterator<Item = &str> {
        let names = self.packages.iter().map(|package| package["name"].as_str());
        names.map(|name| name.expect("a package has a name"))
    }

    /// Everything that crates.io and docs.rs show of a crate is there.
    fn manifests(&self) -> Result<(), String> {
        let wanted = [
            "description",
            "license",
            "documentation",
            "readme",
            "rust_version",
        ];
        let lists = ["keywords", "categories"];
        let mut missing = Vec::new();
        for package in &self.packages {
            let absent = wanted
                .iter()
                .filter(|key| package[**key].as_str().is_none());
            let empty = lists
                .iter()
                .filter(|key| package[**key].as_array().is_none_or(Vec::is_empty));
            missing.extend(
                absent
                    .chain(empty)
                    .map(|key| format!("{}: {key}", package["name"])),
            );
        }
        all_there(&missing)
    }

    /// Packages all crates at once, so that those that stand on each other are found, and
    /// unpacks them.
    fn package(&self) -> Result<(), String> {
        let mut command = workspace::cargo(&["package", "--quiet", "--allow-dirty", "--no-verify"]);
        command.args(self.names_of().flat_map(|name| ["--package", name]));
        command.env("CARGO_TARGET_DIR", &self.folder);
        workspace::run(&mut command)?;
        for package in &self.packages {
            let mut unpack = Command::new("tar");
            unpack.current_dir(self.folder.join("package"));
            workspace::run(unpack.args(["-xzf", &format!("{}.crate", versioned(package))]))?;
        }
        Ok(())
    }

    /// Builds each package with all its features, and the programs that users have, and runs
    /// these.
    fn users(&self) -> Result<(), String> {
        let users = workspace::root().join("xtask/users");
        let server = fs::read_to_string(users.join("server/src/main.rs")).map_err(text)?;
        let lines = server
            .lines()
            .filter(|line| !line.trim().is_empty())
            .count();
        if lines > SERVER_LINES {
            return Err(format!("a server with one tool has {lines} lines"));
        }
        let scratch = self.folder.join("users");
        let manifest = self.manifest_of_users(&users)?;
        fs::create_dir_all(&scratch).map_err(text)?;
        fs::write(scratch.join("Cargo.toml"), manifest).map_err(text)?;
        let in_scratch = |arguments: &[&str]| {
            let mut command = workspace::cargo(arguments);
            command
                .current_dir(&scratch)
                .env("CARGO_TARGET_DIR", scratch.join("target"));
            workspace::run(&mut command)
        };
        in_scratch(&["build", "--quiet"])?;
        for (name, sent, wanted) in USERS {
            let program = scratch.join(format!("target/debug/uses-{name}"));
            let said = converse(&program, sent)?;
            if !said.contains(wanted) {
                return Err(format!("`{name}` was sent {sent} and said {said:?}"));
            }
        }
        for package in &self.packages {
            let manifest = format!("../package/{}/Cargo.toml", versioned(package));
            in_scratch(&[
                "check",
                "--quiet",
                "--all-features",
                "--config=Cargo.toml",
                "--manifest-path",
                &manifest,
            ])?;
        }
        Ok(())
    }

    /// Writes a server as a user of the published crates does, and runs its test on the packages.
    fn scaffold(&self) -> Result<(), String> {
        let users = self.folder.join("users");
        let server = self.folder.join(SCAFFOLD);
        if server.exists() {
            fs::remove_dir_all(&server).map_err(text)?;
        }
        let inspect = workspace::build_example("inspect", false)?;
        let mut new = Command::new(inspect);
        workspace::run(new.args(["new", SCAFFOLD]).current_dir(&self.folder))?;
        let mut test = workspace::cargo(&["test", "--quiet", "--config"]);
        // What says where the packages are, to the programs as well.
        test.arg(users.join("Cargo.toml")).current_dir(&server);
        test.env("CARGO_TARGET_DIR", users.join("target"));
        let said = workspace::output(&mut test)?;
        if said.contains("1 passed") {
            return Ok(());
        }
        Err(format!("the test of a new server said {said:?}"))
    }

    /// A workspace of copies of the programs, which takes our crates from their packages.
    fn manifest_of_users(&self, users: &Path) -> Result<String, String> {
        let scratch = self.folder.join("users");
        let mut manifest = String::from(
            "[workspace]\nresolver = \"3\"\nmembers = [\"members/*\"]\n\n[patch.crates-io]\n",
        );
        for (name, ..) in USERS {
            let member = scratch.join("members").join(name);
            fs::create_dir_all(member.join("src")).map_err(text)?;
            for file in ["Cargo.toml", "src/main.rs"] {
                fs::copy(users.join(name).join(file), member.join(file)).map_err(text)?;
            }
        }
        for package in &self.packages {
            let unpacked = self.folder.join("package").join(versioned(package));
            manifest += &format!("{} = {{ path = {unpacked:?} }}\n", package["name"]);
        }
        Ok(manifest)
    }

    /// Writes what is public of each crate, so that two states can be compared.
    fn interface(&self) -> Ended {
        let installed = Command::new("cargo-public-api").arg("--version").output();
        if installed.is_err() {
            return Ended::Skipped("there is no cargo-public-api".into());
        }
        let folder = self.folder.join("public");
        self.write_interface(&folder).into()
    }

    fn write_interface(&self, folder: &Path) -> Result<(), String> {
        fs::create_dir_all(folder).map_err(text)?;
        for name in self.names_of().filter(|name| !name.ends_with("macros")) {
            let mut document = workspace::cargo(&["rustdoc", "--quiet", "--lib", "--all-features"]);
            document.args(["--package", name, "--", "-Zunstable-options"]);
            document.args(["--output-format=json", "--cap-lints=allow"]);
            // JSON for tools is not stable yet.
            document
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_DIR", &self.folder);
            workspace::run(&mut document)?;
            let library = name.trim_start_matches("fairline-").replace('-', "_");
            let json = self.folder.join(format!("doc/{library}.json"));
            let mut list = Command::new("cargo-public-api");
            list.args(["public-api", "-sss", "--rustdoc-json"])
                .arg(json);
            let items = workspace::output(&mut list)?;
            let file = folder.join(format!("{library}.txt"));
            println!("{:>6} items: {}", items.lines().count(), file.display());
            fs::write(file, items).map_err(text)?;
        }
        Ok(())
    }
}

/// How cargo calls what it makes of a package.
fn versioned(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    format!("{}-{}", text("name"), text("version"))
}

/// Sends one line, ends the input, and gives what comes.
fn converse(program: &Path, line: &str) -> Result<String, String> {
    let mut command = Command::new(program);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| workspace::not_started(&command, &error))?;
    let mut stdin = child.stdin.take().ok_or("no pipe")?;
    writeln!(stdin, "{line}").map_err(text)?;
    drop(stdin);
    let output = child.wait_with_output().map_err(text)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn all_there(missing: &[String]) -> Result<(), String> {
    match missing {
        [] => Ok(()),
        missing => Err(format!("missing: {}", missing.join("; "))),
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
