//! What servers get of an environment and of its interrupts, asked by a process that has one of
//! its own.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use mcp_transport_stdio::child::{EnvPolicy, LoginPath, ServerCommand};

use rustix::process::{Signal, kill_current_process_group};
use tokio::signal::unix::{SignalKind, signal};

use crate::server::{ROLE, Server, checks, runtime, script};

checks! {
    by_default_nothing_but_what_is_allowed_passes,
    everything_passes_when_inherited,
    nothing_passes_when_empty,
    what_is_set_or_removed_wins,
    an_interrupt_from_the_terminal_is_not_for_servers,
}

/// Starts a server as a role says and prints what it says.
pub(crate) fn play(role: &str) -> ExitCode {
    if role == "interrupted" {
        return interrupted();
    }
    let env = || ServerCommand::new("/usr/bin/env").login_path(LoginPath::Never);
    let tool = || ServerCommand::new("mcp-test-tool");
    let commands = match role {
        "allow list" => vec![env()],
        "inherit" => vec![env().env_policy(EnvPolicy::Inherit)],
        "empty" => vec![env().env_policy(EnvPolicy::Empty)],
        "changes" => vec![
            env()
                .env("A", "1")
                .env("SECRET", "no")
                .env_remove("SECRET")
                .env("USER", "somebody"),
            env()
                .env_policy(EnvPolicy::Inherit)
                .env("SECRET", "other")
                .env_remove("USER"),
        ],
        "login twice" => vec![tool(), tool()],
        "login always" => vec![ServerCommand::new("/usr/bin/env").login_path(LoginPath::Always)],
        "login never" => vec![tool().login_path(LoginPath::Never)],
        "explicit path" => vec![tool().env("PATH", "/usr/bin:/bin")],
        _ => panic!("there is no such part: {role}"),
    };
    runtime().block_on(async {
        // All at once, since they may wait for the same.
        let tasks: Vec<_> = commands
            .into_iter()
            .map(|command| tokio::spawn(async move { print_lines(&command).await }))
            .collect();
        for task in tasks {
            task.await.expect("nothing panics");
        }
    });
    ExitCode::SUCCESS
}

/// Asks a server something after an interrupt, as one by Ctrl+C, of the whole process group.
fn interrupted() -> ExitCode {
    runtime().block_on(async {
        let mut interrupts = signal(SignalKind::interrupt()).expect("signals can be had");
        let mut server = Server::start(&script("exec cat")).await;
        kill_current_process_group(Signal::INT).expect("it is our own");
        interrupts.recv().await;
        let answer = server.exchange("still there").await;
        println!("{}", answer.expect("it answers"));
    });
    ExitCode::SUCCESS
}

async fn print_lines(command: &ServerCommand) {
    let mut server = match command.spawn().await {
        Ok(child) => Server::new(child),
        Err(error) => return println!("{error}"),
    };
    while let Some(line) = server.receive().await {
        println!("{line}");
    }
}

/// Plays a role in a process that has nothing but `variables` in its environment, and a process
/// group of its own.
pub(crate) fn lines(role: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().expect("this program has a name"));
    command
        .env_clear()
        .env(ROLE, role)
        .process_group(0)
        .envs(variables.iter().copied());
    let output = command.output().expect("this program can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("it is text");
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

const VARIABLES: &[(&str, &str)] = &[
    ("HOME", "/home/me"),
    ("LANG", "C"),
    ("PATH", "/usr/bin:/bin"),
    ("SECRET", "hunter2"),
    ("USER", "() { :; }; echo me"),
];

/// Covers A-32, B-204.
fn by_default_nothing_but_what_is_allowed_passes() {
    assert_eq!(
        lines("allow list", VARIABLES),
        ["HOME=/home/me", "PATH=/usr/bin:/bin"]
    );
}

/// Covers A-32, B-204.
fn everything_passes_when_inherited() {
    let mut all: Vec<_> = VARIABLES
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    all.push(format!("{ROLE}=inherit"));
    all.sort();
    assert_eq!(lines("inherit", VARIABLES), all);
}

/// Covers B-204.
fn nothing_passes_when_empty() {
    assert!(lines("empty", VARIABLES).is_empty());
}

/// Covers A-32, B-202.
fn what_is_set_or_removed_wins() {
    let lines = lines("changes", VARIABLES);
    for (line, times) in [
        ("A=1", 1),
        ("USER=somebody", 1),
        ("SECRET=other", 1),
        ("LANG=C", 1),
        ("HOME=/home/me", 2),
        ("PATH=/usr/bin:/bin", 2),
    ] {
        assert_eq!(
            lines.iter().filter(|printed| *printed == line).count(),
            times,
            "{line}"
        );
    }
    assert!(
        !lines
            .iter()
            .any(|line| line.contains("hunter2") || line.contains("()"))
    );
}

/// Covers B-195, B-196.
fn an_interrupt_from_the_terminal_is_not_for_servers() {
    assert_eq!(lines("interrupted", VARIABLES), ["still there"]);
}
