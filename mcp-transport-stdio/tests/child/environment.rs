//! What servers get of an environment, asked by a process that has one of its own.

use std::process::{Command, ExitCode};

use mcp_transport_stdio::child::{EnvPolicy, LoginPath, ServerCommand};

use crate::server::{ROLE, Server, checks, runtime};

checks! {
    by_default_nothing_but_what_is_allowed_passes,
    everything_passes_when_inherited,
    nothing_passes_when_empty,
    what_is_set_or_removed_wins,
}

/// Starts a server as a role says and prints what it says.
pub(crate) fn play(role: &str) -> ExitCode {
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

async fn print_lines(command: &ServerCommand) {
    let mut server = match command.spawn().await {
        Ok(child) => Server::new(child),
        Err(error) => return println!("{error}"),
    };
    while let Some(line) = server.receive().await {
        println!("{line}");
    }
}

/// Plays a role in a process that has nothing but `variables` in its environment.
pub(crate) fn lines(role: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().expect("this program has a name"));
    command
        .env_clear()
        .env(ROLE, role)
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

fn by_default_nothing_but_what_is_allowed_passes() {
    assert_eq!(
        lines("allow list", VARIABLES),
        ["HOME=/home/me", "PATH=/usr/bin:/bin"]
    );
}

fn everything_passes_when_inherited() {
    let mut all: Vec<_> = VARIABLES
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    all.push(format!("{ROLE}=inherit"));
    all.sort();
    assert_eq!(lines("inherit", VARIABLES), all);
}

fn nothing_passes_when_empty() {
    assert!(lines("empty", VARIABLES).is_empty());
}

fn what_is_set_or_removed_wins() {
    let lines = lines("changes", VARIABLES);
    for (line, times) in [
        ("A=1", 1),
        ("USER=somebody", 1),
        ("SECRET=other", 1),
        ("LANG=C", 1),
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
