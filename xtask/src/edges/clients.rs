//! Clients that are tried. A client is a command that is followed by the command of its server; it calls
//! the tool `echo` with the text `hello`, prints what comes of it, and ends with status 0 if that went
//! well. Its server is this very program, which plays the case and writes down how that went.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::cases::{self, Case, Opened};
use super::pipes::{Pipes, Process};
use super::play::{Play, Side, Step, Wrong, shortened};
use super::{CLIENTS, Outcome, Played};

/// The first argument of the program that is a bad server.
pub(crate) const SERVER: &str = "edge-server";

/// Longest time that what a server has started may take to go.
const GONE: Duration = Duration::from_secs(3);

pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) command: Vec<OsString>,
}

impl Client {
    /// The example `inspect`.
    pub(crate) fn ours(folder: &Path) -> Self {
        let flags = [
            "--timeout",
            "3",
            "call",
            "echo",
            r#"{"text":"hello"}"#,
            "--",
        ];
        let program = folder.join("inspect").into_os_string();
        let command = [program]
            .into_iter()
            .chain(flags.map(OsString::from))
            .collect();
        Self {
            name: "ours".to_owned(),
            command,
        }
    }

    pub(crate) fn try_case(&self, case: &Case) -> Outcome {
        Outcome::of(&case.eras, |era| {
            let mut heard = Vec::new();
            let ended = Record::new().and_then(|record| {
                let ended = self.play(case, era, &record, &mut heard);
                heard.extend(record.heard());
                ended
            });
            let ended = ended.map_err(|why| {
                let step = case.outcome.as_deref().unwrap_or_default();
                Wrong::new(&format!("= {step}"), why)
            });
            Played { heard, ended }
        })
    }

    fn play(&self, case: &Case, era: Opened, record: &Record, heard: &mut Vec<String>) -> Step {
        let outcome = case
            .outcome
            .as_deref()
            .ok_or("a case says how the client ends")?;
        let [verb, time, text @ ..] = &outcome.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            return Err("no such outcome".to_owned());
        };
        let time = time.parse().map_err(|_| "no number of milliseconds")?;
        let me = std::env::current_exe().map_err(|error| format!("find this program: {error}"))?;
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        if let Some(start) = &case.start {
            let start = start.replace("$MARK", &record.0.to_string_lossy());
            command.args(["sh", "-c", &format!("{start}\nexec \"$0\" \"$@\"")]);
        }
        command
            .arg(me)
            .args([SERVER, &case.name, era.name()])
            .arg(&record.0);
        let (mut process, mut pipes): (Process, Pipes) = Process::start(&mut command)?;
        pipes.close();
        pipes.read();
        let status = process.end(Duration::from_millis(time))?;
        heard.push(
            status
                .code()
                .map_or("killed".to_owned(), |code| format!("exit {code}")),
        );
        let mut said = String::new();
        while let Ok(Some((_, line))) = pipes.line(GONE) {
            said += &format!("{}\n", String::from_utf8_lossy(&line));
        }
        let printed = said.contains("hello");
        said += &process.stderr();
        record.was_played(case)?;
        record.is_forgotten()?;
        let expected = text.first().copied().unwrap_or_default();
        match *verb {
            "ok" if status.success() && printed => Ok(()),
            "fails" if !status.success() && said.contains(expected) => Ok(()),
            _ => Err(format!("{status}: {}", shortened(&said))),
        }
    }
}

/// Where bad servers write down how their parts went, one file each.
struct Record(PathBuf);

impl Record {
    fn new() -> Result<Self, String> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let nth = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("edge-table-{}-{nth}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self(folder))
    }

    fn parts(&self) -> Vec<String> {
        let files = (0..).map(|nth| fs::read_to_string(self.0.join(nth.to_string())));
        files.map_while(Result::ok).collect()
    }

    fn heard(&self) -> Vec<String> {
        let parts = self.parts();
        let lines = parts.iter().flat_map(|part| part.lines().skip(1));
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }

    /// Whether the servers have done all that they should, and heard what they should.
    fn was_played(&self, case: &Case) -> Step {
        let parts = self.parts();
        let steps = case.steps();
        let needed = match steps.is_empty() {
            true => 0,
            false => parts_of(&steps).len(),
        };
        if let Some(bad) = parts.iter().find(|part| !part.starts_with("ok\n")) {
            return Err(shortened(bad.lines().next().unwrap_or_default()));
        }
        match parts.len() >= needed {
            true => Ok(()),
            false => Err(format!(
                "it started a server {} times of {needed}",
                parts.len()
            )),
        }
    }

    /// Whether no process is left that has the record in its command line.
    fn is_forgotten(&self) -> Step {
        let mark = self.0.to_string_lossy();
        let is_left = || {
            let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
            let mut lines =
                processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
            lines.any(|line| String::from_utf8_lossy(&line).contains(&*mark))
        };
        let begin = Instant::now();
        while is_left() {
            if begin.elapsed() > GONE {
                return Err("a process is left behind".to_owned());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is played to a server's first process, to its second, and so on.
fn parts_of(steps: &[String]) -> Vec<&[String]> {
    steps.split(|step| step == "again").collect()
}

/// Is a bad server: `edge-server CASE ERA RECORD`.
pub(crate) fn serve(arguments: &[String]) -> ExitCode {
    let [name, era, record] = arguments else {
        eprintln!("this is for clients under test");
        return ExitCode::from(2);
    };
    match try_serve(name, era, Path::new(record)) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("{SERVER}: {why}");
            ExitCode::from(2)
        }
    }
}

fn try_serve(name: &str, era: &str, record: &Path) -> Result<u8, String> {
    let cases = cases::parse(CLIENTS)?;
    let case = cases
        .iter()
        .find(|case| case.name == name)
        .ok_or("no such case")?;
    let era = case
        .eras
        .iter()
        .find(|known| known.name() == era)
        .ok_or("no such era")?;
    let nth = fs::read_dir(record).map_or(0, Iterator::count);
    let file = record.join(nth.to_string());
    let note =
        |text: &str| fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()));
    note("the server was ended in the middle of it\n")?;
    let steps = case.steps();
    let parts = parts_of(&steps);
    let part = parts[nth.min(parts.len() - 1)];
    let (last, part) = match part.split_last() {
        Some((last, before)) if last.starts_with("! exit ") || last == "! stay" => {
            (&**last, before)
        }
        _ => ("", part),
    };
    let mut pipes = Pipes::new(std::io::stdout(), std::io::stdin());
    pipes.read();
    let mut play = Play::new(pipes, *era, Side::Client);
    // Once it has heard all that it should, the client may end it as it likes.
    let is_said = |step: &String| step.starts_with('>') || step.starts_with("! stderr");
    let said = part.iter().rev().take_while(|step| is_said(step)).count();
    let (part, said) = part.split_at(part.len() - said);
    let played = play.play(part);
    let heard = play.heard.join("\n");
    match &played {
        Ok(()) => note(&format!("ok\n{heard}\n"))?,
        Err(Wrong { step, why }) => note(&format!("{step}: {}\n{heard}\n", shortened(why)))?,
    }
    let played = played.and_then(|()| play.play(said));
    if let Some(code) = last.strip_prefix("! exit ") {
        return code.parse().map_err(|_| "no exit code".to_owned());
    }
    if last == "! stay" {
        loop {
            thread::park();
        }
    }
    if let (Ok(()), Err(Wrong { step, why })) = (played, play.close()) {
        note(&format!("{step}: {}\n{heard}\n", shortened(&why)))?;
    }
    Ok(0)
}
