//! `cargo xtask interop`: the official clients against the example servers and ours against the official SDKs' servers,
//! over stdio and over HTTP.
//!
//! Each client runs one script (`xtask/interop/`) per era and server. Between client and server stands the spy of
//! `interop/spy.rs`, which sees what a client does not show: the server's exit status, replies after a cancel. Then
//! the example `check-server`, which is our client, starts a server on each SDK. Over HTTP nobody stands between, as
//! the scripts see by themselves what is sent. Last comes a page of another origin, which nobody serves.
//!
//! Exit status: 1 when a check failed, 3 when none failed but a registry did not answer, so that not all was tried.

pub(crate) mod install;
mod page;
pub(crate) mod spy;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use install::Missing;

use crate::flags::InteropFlags;
use crate::listener::Listener;
use crate::workspace;

const REGISTRY_SILENT: u8 = 3;

/// Longest time for one session. A script's own limits end it much earlier.
const SESSION: Duration = Duration::from_secs(120);

/// A client at its version, and the eras that it can speak; or revisions, if it can be told to speak an old one.
struct Client {
    name: &'static str,
    /// What is installed for it, and for a server.
    packages: &'static str,
    language: Language,
    eras: &'static [&'static str],
    /// How our client opens, and what revision comes of it with a server on the same SDK.
    serves: &'static [(&'static str, &'static str)],
    /// Whether its modern eras first ask a second server process, which they end by a signal.
    probes_apart: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Node,
}

const CLIENTS: &[Client] = &[
    Client {
        name: "py2",
        packages: "mcp==2.3.0",
        language: Language::Python,
        eras: &["legacy", "modern", "auto"],
        serves: &[("legacy", "2025-11-25"), ("auto", "2026-07-28")],
        probes_apart: false,
    },
    Client {
        name: "py1",
        packages: "mcp==1.30.0",
        language: Language::Python,
        eras: &["legacy"],
        serves: &[("auto", "2025-11-25")],
        probes_apart: false,
    },
    Client {
        name: "ts2",
        packages: "@modelcontextprotocol/client@2.4.0 @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/node@2.1.2",
        language: Language::Node,
        eras: &["legacy", "2025-06-18", "2025-03-26", "modern", "auto"],
        serves: &[("legacy", "2025-11-25"), ("auto", "2026-07-28")],
        probes_apart: true,
    },
    Client {
        name: "ts1",
        packages: "@modelcontextprotocol/sdk@1.32.2",
        language: Language::Node,
        eras: &["legacy"],
        serves: &[("auto", "2025-11-25")],
        probes_apart: false,
    },
];

/// An example, and how it is reached.
struct Server {
    name: &'static str,
    way: Way,
    /// Whether it is tried in the era `modern` too, in which a client is never told what a server can do.
    unknown: bool,
}

impl Server {
    fn is_tried_in(&self, era: &str) -> bool {
        match era {
            "legacy" | "auto" => true,
            "modern" => self.unknown,
            // Old revisions differ in what they need of HTTP.
            _ => matches!(self.way, Way::Http),
        }
    }
}

enum Way {
    /// It gets the client's own descriptors, which are sockets here.
    Inherit,
    /// Messages pass through the spy, so that they are checked and the server has pipes.
    Wire,
    Http,
}

const SERVERS: &[Server] = &[
    Server {
        name: "calculator",
        way: Way::Inherit,
        unknown: true,
    },
    Server {
        name: "echo",
        way: Way::Wire,
        unknown: true,
    },
    Server {
        name: "everything",
        way: Way::Wire,
        unknown: false,
    },
    Server {
        name: "everything",
        way: Way::Http,
        unknown: false,
    },
];

pub(crate) fn run(flags: &InteropFlags) -> ExitCode {
    match try_run(flags) {
        Ok(tally) => tally.finish(),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(flags: &InteropFlags) -> Result<Tally, String> {
    let cache = match std::env::var_os("MCP_INTEROP_CACHE") {
        Some(folder) => PathBuf::from(folder),
        None => workspace::target_dir()?.join("interop"),
    };
    // Clients run in folders of their own.
    let cache = std::path::absolute(&cache).map_err(|error| format!("the cache: {error}"))?;
    let mut tally = Tally::default();
    let mut programs = Vec::new();
    for client in CLIENTS {
        let mut sessions = sessions(client, &flags.only);
        sessions.extend(our_sessions(client, &flags.only));
        if sessions.is_empty() {
            continue;
        }
        match install::install(client, &cache) {
            Ok(program) => programs.push((client, program, sessions)),
            Err(Missing::Registry(why)) => {
                tally.registry_silent = true;
                tally.line(&format!(
                    "SKIP {}: the registry does not answer: {why}",
                    client.name
                ));
            }
            Err(Missing::Tool(why)) => tally.line(&format!("SKIP {}: {why}", client.name)),
            Err(Missing::Other(why)) => {
                tally.line(&format!("FAIL {}: install: {why}", client.name))
            }
        }
    }
    let page = page::is_wanted(&flags.only);
    if page || !programs.is_empty() {
        let servers = servers(flags)?;
        for (client, program, sessions) in &programs {
            for session in sessions {
                session.run(client, program, &servers, &cache, &mut tally)?;
            }
        }
        if page {
            page::run(&servers.join("everything"), &mut tally)?;
        }
    }
    Ok(tally)
}

/// The folder in which the examples are.
fn servers(flags: &InteropFlags) -> Result<PathBuf, String> {
    if let Some(folder) = &flags.servers {
        return folder
            .canonicalize()
            .map_err(|error| format!("{}: {error}", folder.display()));
    }
    let names = SERVERS.iter().map(|server| server.name);
    let built: Result<Vec<_>, _> = names
        .chain([OUR_CLIENT])
        .map(|name| workspace::build_example(name, false))
        .collect();
    let parent = built?
        .first()
        .and_then(|program| program.parent().map(Path::to_owned));
    parent.ok_or("a program is in a folder".into())
}

/// One client process with one server.
struct Session {
    name: String,
    era: &'static str,
    other: Other,
}

/// What the client of a session is, or its server, that the SDK is not.
enum Other {
    Server(&'static Server),
    /// Our client, which is to come by its server in this way, and expects this revision.
    Client(&'static str, &'static str),
}

/// The example that is our client.
const OUR_CLIENT: &str = "check-server";

fn sessions(client: &Client, only: &[String]) -> Vec<Session> {
    let pairs = client
        .eras
        .iter()
        .flat_map(|era| SERVERS.iter().map(move |server| (*era, server)));
    let all = pairs.filter(|(era, server)| server.is_tried_in(era));
    let all = all.map(|(era, server)| Session {
        name: match server.way {
            Way::Http => format!("{}/{era}/{}/http", client.name, server.name),
            _ => format!("{}/{era}/{}", client.name, server.name),
        },
        era,
        other: Other::Server(server),
    });
    all.filter(|session| session.is_wanted(only)).collect()
}

fn our_sessions(server: &Client, only: &[String]) -> Vec<Session> {
    let serves = server.serves.iter();
    let all = serves.flat_map(|(era, version)| {
        ["stdio", "http"].map(|way| Session {
            name: format!("ours/{era}/{}/{way}", server.name),
            era,
            other: Other::Client(way, version),
        })
    });
    all.filter(|session| session.is_wanted(only)).collect()
}

impl Session {
    fn is_wanted(&self, only: &[String]) -> bool {
        only.is_empty() || only.iter().any(|part| self.name.contains(part))
    }

    fn run(
        &self,
        client: &Client,
        program: &install::Program,
        examples: &Path,
        cache: &Path,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let records = cache.join("records").join(self.name.replace('/', "-"));
        let start = Instant::now();
        let lines = self.lines(client, program, examples, &records)?;
        println!("== {} ({:.1} s)", self.name, start.elapsed().as_secs_f64());
        for line in lines {
            tally.line(&self.named(&line));
        }
        Ok(())
    }

    fn lines(
        &self,
        client: &Client,
        program: &install::Program,
        examples: &Path,
        records: &Path,
    ) -> Result<Vec<String>, String> {
        match self.other {
            Other::Server(Server { name, way, .. }) => {
                let mut command = program.command();
                command.args([self.era, name]);
                let server = examples.join(name);
                let spying = match way {
                    Way::Inherit => "inherit",
                    Way::Wire => "wire",
                    Way::Http => return over_http(command, &server),
                };
                let mut lines = lines_of(spied(command, spying, &server, records)?)?;
                let throwaway = usize::from(client.probes_apart && self.era != "legacy");
                lines.extend(spy::judge(records, throwaway));
                Ok(lines)
            }
            Other::Client(way, version) => {
                let client = examples.join(OUR_CLIENT);
                lines_of(program.served_to(&client, &[way, self.era, version]))
            }
        }
    }

    /// `PASS check` becomes `PASS client/era/server: check`.
    fn named(&self, line: &str) -> String {
        match line.split_once(' ') {
            Some((word @ ("PASS" | "FAIL" | "SKIP"), check)) => {
                format!("{word} {}: {check}", self.name)
            }
            _ => line.to_owned(),
        }
    }
}

/// A client with the spy before its server.
fn spied(
    mut client: Command,
    spying: &str,
    server: &Path,
    records: &Path,
) -> Result<Command, String> {
    empty_folder(records).map_err(|error| format!("{}: {error}", records.display()))?;
    let spy = std::env::current_exe().map_err(|error| format!("find xtask: {error}"))?;
    client.arg(spy).arg("interop-spy");
    client.arg(records).arg(spying).arg(server);
    Ok(client)
}

/// What a client says of a server that listens, and how that one ends.
fn over_http(mut client: Command, server: &Path) -> Result<Vec<String>, String> {
    let server = Listener::start(server)?;
    client.arg(server.url());
    let mut lines = lines_of(client)?;
    const CHECK: &str = "the server ends by itself with status 0";
    lines.push(match server.end() {
        Ok(()) => format!("PASS {CHECK}"),
        Err(why) => format!("FAIL {CHECK}: {why}"),
    });
    Ok(lines)
}

fn empty_folder(folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)
}

/// What a script prints, and a last line of ours when it failed or took too long.
fn lines_of(mut command: Command) -> Result<Vec<String>, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| workspace::not_started(&command, &error))?;
    let mut lines = Vec::new();
    let in_time = collect(&stdout_of(&mut child), &mut lines);
    if !in_time {
        lines.push(format!(
            "FAIL session: not over after {} s",
            SESSION.as_secs()
        ));
        child
            .kill()
            .map_err(|error| format!("end a client: {error}"))?;
    }
    let status = child
        .wait()
        .map_err(|error| format!("wait for a client: {error}"))?;
    if in_time && !status.success() {
        lines.push(format!("FAIL session: the client ended with {status}"));
    }
    Ok(lines)
}

/// Its lines, read by a thread of their own so that a time limit can end the wait.
fn stdout_of(child: &mut Child) -> Receiver<String> {
    let stdout = child.stdout.take().expect("stdout was asked for as a pipe");
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Whether the end of `from` came in time.
fn collect(from: &Receiver<String>, lines: &mut Vec<String>) -> bool {
    let end = Instant::now() + SESSION;
    loop {
        match from.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => lines.push(line),
            Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// How many checks went how.
#[derive(Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    pub(crate) registry_silent: bool,
}

impl Tally {
    pub(crate) fn line(&mut self, line: &str) {
        println!("{line}");
        match line.split(' ').next() {
            Some("PASS") => self.passed += 1,
            Some("FAIL") => self.failed += 1,
            Some("SKIP") => self.skipped += 1,
            _ => {}
        }
    }

    pub(crate) fn finish(&self) -> ExitCode {
        println!(
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        );
        if self.failed > 0 {
            ExitCode::FAILURE
        } else if self.registry_silent {
            ExitCode::from(REGISTRY_SILENT)
        } else {
            // Where nothing could be tried, nothing is known to work.
            ExitCode::from(u8::from(self.passed == 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(lines: &[&str], registry_silent: bool) -> ExitCode {
        let mut tally = Tally {
            registry_silent,
            ..Tally::default()
        };
        lines.iter().for_each(|line| tally.line(line));
        tally.finish()
    }

    #[test]
    fn the_status_tells_a_failure_from_a_silent_registry() {
        assert_eq!(
            exit(&["PASS a", "a word of the client"], false),
            ExitCode::SUCCESS
        );
        assert_eq!(exit(&["PASS a", "FAIL b: no"], true), ExitCode::FAILURE);
        assert_eq!(
            exit(&["PASS a", "SKIP b: no"], true),
            ExitCode::from(REGISTRY_SILENT)
        );
        assert_eq!(exit(&["SKIP b: no node"], false), ExitCode::FAILURE);
    }

    #[test]
    fn every_client_has_a_session_per_era_and_server() {
        let names = |only: &[String]| {
            CLIENTS
                .iter()
                .flat_map(|client| sessions(client, only))
                .count()
        };
        assert_eq!(names(&[]), 30);
        let ours = CLIENTS.iter().flat_map(|client| our_sessions(client, &[]));
        assert_eq!(ours.count(), 12);
        assert_eq!(names(&["py2/modern".to_owned(), "ts1".to_owned()]), 6);
        assert_eq!(names(&["everything".to_owned()]), 14);
        assert_eq!(names(&["http".to_owned()]), 8);
    }

    #[test]
    fn a_line_carries_the_name_of_its_session() {
        let session = &sessions(&CLIENTS[0], &[])[0];
        assert_eq!(
            session.named("FAIL adds: 6"),
            "FAIL py2/legacy/calculator: adds: 6"
        );
        assert_eq!(session.named("warning"), "warning");
    }
}
