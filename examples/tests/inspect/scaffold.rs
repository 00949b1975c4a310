//! The server that `new` writes: builds, passes its own test, and is never written over.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::{Command, inspect};

const SDK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A directory outside of any workspace.
struct Outside(PathBuf);

impl Outside {
    fn of(test: &str) -> Self {
        let directory = env::temp_dir().join(format!("inspect-{test}-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("there is room for temporary files");
        Self(directory)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // What is left is in the way of nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn new(outside: &Outside, args: &[&str]) -> (Option<i32>, String) {
    let mut command = inspect(&[&["new"], args].concat());
    let output = command.current_dir(&outside.0).output();
    let output = output.expect("the client starts");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).expect("text is written");
    (output.status.code(), said)
}

#[test]
fn a_new_server_passes_its_own_test() {
    let outside = Outside::of("new");
    // As in a checkout of the SDK, whose workspace has no such member.
    let workspace = outside.0.join("Cargo.toml");
    fs::write(workspace, "[workspace]\n").expect("there is room for a file");
    let (code, said) = new(&outside, &["my-server", "--sdk", SDK]);
    assert_eq!(code, Some(0), "{said}");
    let server = outside.0.join("my-server");
    // What the workspace has built is built for this package, too, and without a network.
    fs::copy(format!("{SDK}/Cargo.lock"), server.join("Cargo.lock")).expect("it can be copied");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline"])
        .current_dir(&server)
        .env(
            "CARGO_TARGET_DIR",
            target.expect("it is within that of the workspace"),
        )
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");
    let readme = fs::read_to_string(server.join("README.md")).expect("there is one");
    assert!(
        readme.contains(r#""my-server": { "command": "/"#) || cfg!(windows),
        "{readme}"
    );
}

#[test]
fn what_is_there_is_not_written_over() {
    let outside = Outside::of("twice");
    fs::create_dir(outside.0.join("mine")).expect("there is room for a directory");
    let (code, said) = new(&outside, &["mine"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("exists already"), "{said}");
    let inside = fs::read_dir(outside.0.join("mine")).expect("it is there");
    assert_eq!(inside.count(), 0);
}

#[test]
fn a_name_is_that_of_a_package() {
    let outside = Outside::of("name");
    for name in ["../up", "1st", "with space", "ein-grüner"] {
        let (code, said) = new(&outside, &[name]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("cannot be the name"), "{said}");
    }
}
