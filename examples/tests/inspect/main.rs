//! The client for the terminal, as a script sees it: against `everything` in both eras, and against servers that do it ill.

mod asking;
mod commands;
mod ends;
mod scaffold;
mod url;

use std::process::{Command, Stdio};

use serde_json::Value;

const EVERYTHING: &str = env!("CARGO_BIN_EXE_everything");

const ERAS: [&str; 2] = ["legacy", "modern"];

/// What came of a run.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Run {
    #[track_caller]
    fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        let json = serde_json::from_str(&self.stdout);
        json.unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    #[track_caller]
    fn prints(&self, stdout: &str) {
        assert_eq!(self.stdout, stdout, "{self:?}");
    }

    #[track_caller]
    fn says(&self, words: &str) {
        assert!(self.stderr.contains(words), "{words}: {self:?}");
    }
}

/// The client, with nobody who could be asked.
fn inspect(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inspect"));
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(args: &[&str]) -> Run {
    let output = inspect(args).output().expect("the client starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text is written");
    Run {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Runs a command against `everything`.
fn everything(era: &str, args: &[&str]) -> Run {
    run(&[args, &["--era", era, "--", EVERYTHING]].concat())
}

/// A shell script that is a server of 2025-11-25, from behind the handshake.
#[cfg(unix)]
fn script(rest: &str) -> String {
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"script","version":"1"}}}"#;
    format!("read initialize; echo '{result}'; read initialized; {rest}")
}

/// Runs a command against a script.
#[cfg(unix)]
fn scripted(args: &[&str], rest: &str) -> Run {
    let script = script(rest);
    run(&[args, &["--era", "legacy", "--", "sh", "-c", &script]].concat())
}
