//! `inspect new`: a server to begin with.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

/// What is to be written.
#[derive(Debug)]
pub(crate) struct Scaffold {
    /// The name of the package, and of its directory.
    pub(crate) name: String,
    /// A checkout of the SDK to build with, instead of what is published.
    pub(crate) sdk: Option<PathBuf>,
}

impl Scaffold {
    /// Writes it into a directory that is not there yet, and says what to do next.
    pub(crate) fn write(&self) -> Result<String, String> {
        let Self { name, .. } = self;
        if !is_package(name) {
            return Err(format!(
                "`{name}` cannot be the name of a package: a letter, then more of a-z A-Z 0-9 - _"
            ));
        }
        let sdk = self.sdk().map_err(|why| format!("no such SDK: {why}"))?;
        let directory = std::path::absolute(name).map_err(|why| why.to_string())?;
        create(&directory, &self.files(&directory, &sdk)).map_err(|why| match why.kind() {
            io::ErrorKind::AlreadyExists => {
                format!(
                    "`{}` exists already: nothing was written",
                    directory.display()
                )
            }
            _ => format!("cannot write `{}`: {why}", directory.display()),
        })?;
        Ok(format!(
            "Wrote {}\n\n  cd {name}\n  cargo test\n  cargo build\n  {} call greet '{{\"name\": \"Ada\"}}' -- target/debug/{name}{EXE_SUFFIX}\n\nIts README.md says how a host starts it.\n",
            directory.display(),
            myself()
        ))
    }

    /// How the package depends on the SDK.
    fn sdk(&self) -> io::Result<String> {
        let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
        let Some(sdk) = &self.sdk else {
            return Ok(version);
        };
        let path = fs::canonicalize(sdk.join("mcp-server"))?;
        // A string of JSON is one of TOML, too.
        let path = json!(path.to_string_lossy());
        Ok(format!("{version}, path = {path}"))
    }

    fn files(&self, directory: &Path, sdk: &str) -> [(&'static str, String); 4] {
        let program = directory.join(format!("target/release/{}{EXE_SUFFIX}", self.name));
        let program = program.to_string_lossy();
        let fill = |template: &str| {
            template
                .replace("{program_json}", &json!(program).to_string())
                .replace("{program_shell}", &format!("'{program}'"))
                .replace("{program}", &program)
                .replace("{sdk}", sdk)
                .replace("{name}", &self.name)
        };
        [
            ("Cargo.toml", fill(include_str!("new/Cargo.toml.txt"))),
            ("src/main.rs", include_str!("new/main.rs.txt").to_owned()),
            ("README.md", fill(include_str!("new/README.md.txt"))),
            (".gitignore", include_str!("new/gitignore.txt").to_owned()),
        ]
    }
}

/// How this program is called from elsewhere.
fn myself() -> String {
    match std::env::current_exe() {
        Ok(path) => path.display().to_string(),
        Err(_) => "inspect".to_owned(),
    }
}

fn create(directory: &Path, files: &[(&str, String)]) -> io::Result<()> {
    // Not `create_dir_all`, which takes what is there.
    fs::create_dir(directory)?;
    fs::create_dir(directory.join("src"))?;
    for (path, text) in files {
        fs::write(directory.join(path), text)?;
    }
    Ok(())
}

fn is_package(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_word)
}
