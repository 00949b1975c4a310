//! What starts, and what is said of what does not.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use mcp_transport_stdio::child::{EnvPolicy, LoginPath, ServerCommand, SpawnError};

use crate::server::{Server, checks, folder, program, runtime, script};

checks! {
    a_command_that_is_not_found_is_named_with_the_path_that_was_searched,
    without_a_search_path_nothing_is_found,
    a_search_path_from_here_is_none,
    an_empty_command_is_refused,
    a_working_directory_that_is_none_is_named,
    a_file_that_cannot_be_run_is_named,
    a_command_is_looked_up_in_the_path_of_the_server,
    a_command_with_a_separator_is_seen_from_the_working_directory,
    arguments_arrive_as_they_are,
    a_command_can_be_started_again,
    no_value_of_the_environment_is_shown,
    a_server_has_no_other_descriptors,
    a_server_has_the_usual_signals,
}

fn refused(command: &ServerCommand) -> SpawnError {
    let spawned = runtime().block_on(command.spawn());
    spawned.expect_err("it cannot be started")
}

/// Covers B-200, B-205.
fn a_command_that_is_not_found_is_named_with_the_path_that_was_searched() {
    let command = ServerCommand::new("no-such-server").env("PATH", "/no/where:/else/where");
    let error = refused(&command);
    assert!(matches!(error, SpawnError::NotFound { .. }));
    assert_eq!(
        error.to_string(),
        "start `no-such-server`: not found in PATH /no/where:/else/where"
    );
}

fn without_a_search_path_nothing_is_found() {
    let error = refused(&ServerCommand::new("sh").env_policy(EnvPolicy::Empty));
    assert_eq!(
        error.to_string(),
        "start `sh`: not found in no search path, for PATH is not set"
    );
}

fn a_search_path_from_here_is_none() {
    let bin = "../".repeat(30) + "bin";
    let error = refused(&ServerCommand::new("sh").env("PATH", &bin));
    assert!(matches!(error, SpawnError::NotFound { path, .. } if path == Some(bin.into())));
}

fn an_empty_command_is_refused() {
    for command in ["", " \t"] {
        let error = refused(&ServerCommand::new(command));
        assert!(matches!(error, SpawnError::NoCommand));
    }
}

fn a_working_directory_that_is_none_is_named() {
    for (directory, kind) in [
        ("/no/such/folder", io::ErrorKind::NotFound),
        ("", io::ErrorKind::NotFound),
        ("/dev/null", io::ErrorKind::NotADirectory),
    ] {
        match refused(&ServerCommand::new("sh").current_dir(directory)) {
            SpawnError::Directory {
                directory: named,
                error,
                ..
            } => assert_eq!(
                (named.as_path(), error.kind()),
                (Path::new(directory), kind)
            ),
            error => panic!("{error}"),
        }
    }
}

fn a_file_that_cannot_be_run_is_named() {
    let folder = folder("cannot-be-run");
    let file = folder.join("server");
    fs::write(&file, "text").expect("there is room");
    for (command, kind) in [
        (file, io::ErrorKind::PermissionDenied),
        (folder.join("other"), io::ErrorKind::NotFound),
    ] {
        let error = refused(&ServerCommand::new(&command));
        assert!(
            error
                .to_string()
                .contains(command.to_str().expect("it is text"))
        );
        assert!(matches!(error, SpawnError::Failed { error, .. } if error.kind() == kind));
    }
}

fn greeting(command: &ServerCommand) -> String {
    let said = runtime().block_on(async { Server::start(command).await.receive().await });
    said.expect("the server says something")
}

/// Covers B-200.
fn a_command_is_looked_up_in_the_path_of_the_server() {
    let folder = folder("looked-up");
    program(&folder.join("server"), "#!/bin/sh\necho here\n");
    let path = format!("relative::{}", folder.display());
    let command = ServerCommand::new("server").env("PATH", path);
    assert_eq!(greeting(&command), "here");
}

fn a_command_with_a_separator_is_seen_from_the_working_directory() {
    let folder = folder("separator");
    fs::create_dir(folder.join("bin")).expect("there is room");
    program(&folder.join("bin/server"), "#!/bin/sh\npwd\n");
    for command in ["bin/server", "./bin/server"] {
        let command = ServerCommand::new(command).current_dir(&folder);
        assert_eq!(Path::new(&greeting(&command)), folder);
    }
}

/// Covers SE03.
fn arguments_arrive_as_they_are() {
    let odd = ["", "a b", "$HOME", "\"'\\", "*", "%PATH%", "-"];
    let command = script("printf '%s|' \"$@\"").arg("sh").args(odd);
    assert_eq!(
        greeting(&command),
        odd.map(|arg| format!("{arg}|")).concat()
    );
}

fn a_command_can_be_started_again() {
    let command = script("echo $$");
    assert_ne!(greeting(&command), greeting(&command));
}

/// Covers SE06c.
fn no_value_of_the_environment_is_shown() {
    let command = ServerCommand::new("no-such-server")
        .env("API_KEY", "hunter2 and more")
        .login_path(LoginPath::Never);
    let shown = format!("{command:?} {0} {0:?}", refused(&command));
    assert!(
        shown.contains("API_KEY") && !shown.contains("hunter2"),
        "{shown}"
    );
}

/// Descriptors that nobody closed for them go to all children; ours do not.
///
/// Covers B-038c.
fn a_server_has_no_other_descriptors() {
    let list = "echo /proc/self/fd/*";
    let other = Command::new("sh").args(["-c", list]).output();
    let other = other.expect("there is a shell").stdout;
    let listed = runtime().block_on(async {
        let mut servers = Vec::new();
        for _ in 0..3 {
            servers.push(Server::start(&script("exec cat")).await);
        }
        Server::start(&script(list)).await.receive().await
    });
    let listed = listed.expect("the server says something") + "\n";
    assert_eq!(listed.as_bytes(), other);
}

fn a_server_has_the_usual_signals() {
    let masks = greeting(&script(
        "grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\\n'; echo",
    ));
    let (_, masks) = masks.split_once("SigBlk:\t").expect("it is the first");
    let (blocked, ignored) = masks.split_once("SigIgn:\t").expect("it is the second");
    let mask = |text| u64::from_str_radix(text, 16).expect("it is a number");
    assert_eq!(mask(blocked), 0);
    // This process ignores that signal, as programs in Rust do.
    assert_eq!(mask(ignored) & (1 << (SIGPIPE - 1)), 0);
}

const SIGPIPE: u32 = 13;
