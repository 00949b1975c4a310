//! Servers that are tried: ours, and those of others.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::cases::{Case, Opened};
use super::messages::parse;
use super::pipes::{Pipes, Process};
use super::play::{Play, Side, Wrong};
use super::{Outcome, Played};

/// A server, however often it is started.
pub(crate) struct Server {
    pub(crate) name: String,
    program: Program,
    /// What of the tools that cases call it has.
    tools: Vec<Tool>,
    /// How it can be opened.
    speaks: Vec<Opened>,
    /// Why a conversation did not end well with its input, for as many as did not.
    bad_ends: Mutex<Vec<String>>,
}

enum Program {
    /// The examples, in their folder.
    Ours(PathBuf),
    Theirs(Vec<String>),
}

/// A tool that cases call: its name, and the one argument that is theirs to name.
struct Tool {
    called: &'static str,
    argument: &'static str,
    there: (String, String),
}

/// What a case calls a tool and its argument, and the type of that.
const TOOLS: [(&str, &str, &str); 4] = [
    ("echo", "text", "string"),
    ("sleep", "ms", "integer"),
    ("block", "ms", "integer"),
    ("boom", "", "nothing"),
];

impl Server {
    /// The examples `fixture` and `everything`.
    pub(crate) fn ours(folder: PathBuf) -> Self {
        Self {
            name: "ours".to_owned(),
            program: Program::Ours(folder),
            tools: Vec::new(),
            speaks: Vec::new(),
            bad_ends: Mutex::default(),
        }
    }

    /// A program of somebody else's, which is asked what it speaks and what tools it has; a tool may
    /// have another name there.
    pub(crate) fn theirs(
        name: &str,
        command: Vec<String>,
        named: &[(&'static str, String)],
    ) -> Result<Self, String> {
        let mut server = Self {
            name: name.to_owned(),
            program: Program::Theirs(command),
            tools: Vec::new(),
            speaks: vec![Opened::Not],
            bad_ends: Mutex::default(),
        };
        let every = super::cases::parse("# all: eras.\nas legacy, 2026-07-28\n")?;
        for era in every[0].eras.iter().copied() {
            if let Ok(listed) = server.list_tools(era) {
                server.tools = tools(&listed, named);
                server.speaks.push(era);
            }
        }
        match server.speaks.len() {
            1 => Err(format!("{name} speaks no revision, or lists no tools")),
            _ => Ok(server),
        }
    }

    fn list_tools(&self, era: Opened) -> Result<Value, Wrong> {
        let wrong = |why| Wrong::new("tools/list", why);
        let command = &mut self.command("fixture", &[]);
        let mut play = self.start(command, era, json!({})).map_err(wrong)?;
        play.pipes.read();
        play.open()?;
        play.play(&["> 1 tools/list".to_owned()])?;
        let mut reply = play.receive().map_err(wrong)?.message;
        match reply["result"]["tools"].take() {
            listed @ Value::Array(_) => Ok(listed),
            _ => Err(wrong("it lists no tools".to_owned())),
        }
    }

    fn command(&self, example: &str, flags: &[String]) -> Command {
        let mut command = match &self.program {
            Program::Ours(folder) => Command::new(folder.join(example)),
            Program::Theirs(words) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            }
        };
        // A backtrace can take as long as what is being timed.
        command.args(flags).env("RUST_BACKTRACE", "0");
        command
    }

    fn start(&self, command: &mut Command, era: Opened, can: Value) -> Result<Play<'_>, String> {
        let (process, pipes): (Process, Pipes) = Process::start(command)?;
        let side = Side::Server {
            process,
            capabilities: can,
            fit: self,
        };
        Ok(Play::new(pipes, era, side))
    }

    /// Why a case is not for it.
    fn lacks(&self, case: &Case) -> Option<String> {
        if matches!(self.program, Program::Ours(_)) {
            return None;
        }
        if !case.with.is_empty() || case.on.is_some() {
            return Some("needs our example".to_owned());
        }
        let has = |tool: &&str| self.tools.iter().any(|has| has.called == *tool);
        case.tools()
            .iter()
            .find(|tool| !has(tool))
            .map(|tool| format!("needs `{tool}`"))
    }

    pub(crate) fn try_case(&self, case: &Case) -> Outcome {
        if let Some(why) = self.lacks(case) {
            return Outcome::not_applicable(why);
        }
        let speaks = |era: &Opened| self.speaks.is_empty() || self.speaks.contains(era);
        let eras: Vec<_> = case.eras.iter().copied().filter(speaks).collect();
        match eras.is_empty() {
            true => Outcome::not_applicable("is of revisions that it does not speak"),
            false => Outcome::of(&eras, |era| self.play(case, era)),
        }
    }

    fn play(&self, case: &Case, era: Opened) -> Played {
        let mut heard = Vec::new();
        let ended = self.try_play(case, era, &mut heard);
        Played { heard, ended }
    }

    fn try_play(&self, case: &Case, era: Opened, heard: &mut Vec<String>) -> Result<(), Wrong> {
        let example = case.on.as_deref().unwrap_or("fixture");
        let mut command = self.command(example, &case.with);
        command.envs(case.environment.iter().map(|(name, value)| (name, value)));
        let started = parse(&case.capabilities).and_then(|can| self.start(&mut command, era, can));
        let mut play = started.map_err(|why| Wrong::new("the start", why))?;
        if !case.unread {
            play.pipes.read();
        }
        let played = play.open().and_then(|()| play.play(&case.steps()));
        heard.clone_from(&play.heard);
        played?;
        if let Err(wrong) = play.close() {
            let why = format!("{} {}: {}", case.name, era.name(), wrong.why);
            let mut ends = self
                .bad_ends
                .lock()
                .expect("nothing panics while it is held");
            ends.push(why);
        }
        Ok(())
    }

    /// Whether each conversation that went well so far also ended well: nothing more was said after
    /// it, and the process ended with its input and status 0.
    pub(crate) fn ends(&self) -> Result<(), Wrong> {
        let ends = self
            .bad_ends
            .lock()
            .expect("nothing panics while it is held");
        match ends.first() {
            None => Ok(()),
            Some(first) => {
                let why = format!("{} did not: {first}", ends.len());
                Err(Wrong::new("the end", why))
            }
        }
    }
}

/// What a tool that a case calls is called there, and its arguments.
pub(crate) trait Fit {
    fn fit(&self, tool: &str, arguments: Value) -> (String, Value) {
        (tool.to_owned(), arguments)
    }
}

/// As the case has it.
impl Fit for () {}

impl Fit for Server {
    fn fit(&self, tool: &str, mut arguments: Value) -> (String, Value) {
        let Some(known) = self.tools.iter().find(|known| known.called == tool) else {
            return (tool.to_owned(), arguments);
        };
        let (name, argument) = &known.there;
        if let Some(members) = arguments.as_object_mut() {
            if let Some(value) = members.remove(known.argument) {
                members.insert(argument.clone(), value);
            }
        }
        (name.clone(), arguments)
    }
}

/// The tools of a list that cases call: by name, with the first argument of the right type.
fn tools(listed: &Value, named: &[(&'static str, String)]) -> Vec<Tool> {
    let listed = || listed.as_array().into_iter().flatten();
    let known = TOOLS.into_iter().filter_map(|(called, argument, kind)| {
        let named = named.iter().find(|(tool, _)| *tool == called);
        let name = named.map_or(called, |(_, name)| name);
        let tool = listed().find(|tool| tool["name"] == *name)?;
        let properties = tool["inputSchema"]["properties"].as_object();
        let fits = |(_, schema): &(&String, &Value)| {
            schema["type"] == kind || (schema["type"] == "number" && kind == "integer")
        };
        let first = properties.into_iter().flatten().find(fits);
        let there = first.map_or(argument.to_owned(), |(name, _)| name.clone());
        Some(Tool {
            called,
            argument,
            there: (name.to_owned(), there),
        })
    });
    known.collect()
}
