//! The command line of every task.

use std::path::PathBuf;
use std::str::FromStr;

use crate::fuzz::is_target;

/// What one task is called, what it does and which flags it has: the table that `usage` prints.
struct Entry {
    name: &'static str,
    about: &'static str,
    flags: &'static [(&'static str, &'static str)],
}

const TASKS: &[Entry] = &[
    Entry {
        name: "bench",
        about: "counts what the hot paths of a server cost: fails when one has grown by more than 5 %",
        flags: &[
            (
                "--compare",
                "measure servers instead: ours, rmcp, tower-mcp, and the floor",
            ),
            (
                "--growth",
                "… or what a request costs among more and more others",
            ),
            ("--rounds N", "… in so many rounds (7)"),
            ("--steps", "… or run the Criterion benches of each step"),
            (
                "--bless",
                "write it down: counts in counts.txt, the others in README.md",
            ),
        ],
    },
    Entry {
        name: "bounds",
        about: "what a peer can make a server or a client hold at worst, as a table: fails when a bound is broken",
        flags: &[
            (
                "--only TEXT,…",
                "only cases whose name has one of these in it",
            ),
            ("--release", "measure optimised builds"),
        ],
    },
    Entry {
        name: "ci",
        about: "every check of a change but `cargo test`: format, lints, docs, tidy, coverage table, dependencies, oldest compiler",
        flags: &[(
            "--only STEP,…",
            "only the steps whose name starts with one of these",
        )],
    },
    Entry {
        name: "conformance",
        about: "the official conformance suite against the examples `everything` and `conformance-client`, over HTTP",
        flags: &[("--url URL", "a server that runs already, and nothing else")],
    },
    Entry {
        name: "coverage-table",
        about: "writes COVERAGE.md: which test proves which requirement",
        flags: &[],
    },
    Entry {
        name: "edge-table",
        about: "what goes wrong elsewhere, played to a server and a client over pipes: ours, or any",
        flags: &[
            (
                "--only TEXT,…",
                "only cases whose kind or name has one of these in it",
            ),
            ("--markdown", "a table for documents"),
            (
                "--beside NAME=CMD",
                "another server in a column of its own; its words are split at spaces",
            ),
            (
                "--client",
                "what follows `--` is a client, not a server: `CMD SERVER…` calls `echo` with `hello`",
            ),
            (
                "--echo NAME",
                "what the other servers call the tool that returns a text (echo)",
            ),
            (
                "--slow NAME",
                "… and the one that waits so many milliseconds (sleep)",
            ),
            ("-- CMD ARGS…", "this program instead of ours"),
        ],
    },
    Entry {
        name: "fairness",
        about: "floods a server from one connection and measures another: nobody else may be refused",
        flags: &[
            ("--calls N", "calls in the flood (100000)"),
            ("--cap N", "calls in flight per server (512)"),
            ("--share N", "calls in flight per connection (256)"),
            (
                "--floods N,…",
                "how many connections flood at once, with a pace (1,2,8)",
            ),
            ("--release", "measure an optimised build of the server"),
            (
                "--server PATH",
                "this program instead of the `fixture` example",
            ),
        ],
    },
    Entry {
        name: "fuzz",
        about: "made-up input for everything that reads what a peer sends; with a TARGET, for that one: lines, jsonrpc, server, client, headers, events",
        flags: &[
            ("--seconds N", "how long for each target (60)"),
            ("--smoke", "all of them, for a few seconds each"),
        ],
    },
    Entry {
        name: "interop",
        about: "the official SDKs, over stdio and HTTP: their clients with the examples, our client with their servers",
        flags: &[
            (
                "--only NAME,…",
                "only sessions whose name contains one of these: py2, ts1, modern, echo, http …",
            ),
            (
                "--servers DIR",
                "use the programs in DIR instead of building the examples",
            ),
        ],
    },
    Entry {
        name: "kills",
        about: "`kill -9` of servers and clients while calls run: the other side recovers or ends, and no process is left",
        flags: &[
            ("--times N", "how many are killed (1000)"),
            ("--seed N", "other moments (1)"),
        ],
    },
    Entry {
        name: "release",
        about: "whether the crates can be published: packages each, builds programs on the packages, asks whether the names are free",
        flags: &[(
            "--dry-run",
            "nothing else is done here: publishing is for a person",
        )],
    },
    Entry {
        name: "schedules",
        about: "the server's locks, counters and shutdown in one order of events after another, on shuttle",
        flags: &[("--runs N", "orders for each test, of two kinds (500)")],
    },
    Entry {
        name: "soak",
        about: "a load with every kind of fault over pipes, sockets and HTTP: each call is answered once, and nothing grows",
        flags: &[
            ("--minutes N", "how long (15)"),
            ("--seed N", "other faults (1)"),
            ("--release", "use an optimised build of the server"),
        ],
    },
    Entry {
        name: "tidy",
        about: "who may depend on whom, and the other rules of this repository that no compiler checks",
        flags: &[],
    },
];

/// A task with its flags.
#[derive(Debug, PartialEq)]
pub(crate) enum Task {
    Help,
    Bench(BenchFlags),
    Bounds(BoundsFlags),
    Ci(CiFlags),
    Conformance(ConformanceFlags),
    CoverageTable,
    /// Started by `edge-table` through a client; not for people.
    EdgeServer(Vec<String>),
    EdgeTable(EdgeFlags),
    Fairness(FairnessFlags),
    Fuzz(FuzzFlags),
    Interop(InteropFlags),
    Kills(KillsFlags),
    Release,
    Schedules(SchedulesFlags),
    Soak(SoakFlags),
    /// Started by `interop` between a client and a server; not for people.
    Spy(SpyFlags),
    Tidy,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BenchFlags {
    pub(crate) what: Measured,
    pub(crate) rounds: usize,
    pub(crate) bless: bool,
}

/// What `bench` is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Measured {
    Counts,
    Compare,
    Growth,
    Steps,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BoundsFlags {
    pub(crate) only: Vec<String>,
    pub(crate) release: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CiFlags {
    pub(crate) only: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ConformanceFlags {
    pub(crate) url: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgeFlags {
    pub(crate) only: Vec<String>,
    pub(crate) markdown: bool,
    pub(crate) client: bool,
    /// Names of servers and of clients, and how they are started.
    pub(crate) beside: Vec<(String, Vec<String>)>,
    pub(crate) beside_clients: Vec<(String, Vec<String>)>,
    /// Tools of cases, and what they are called by the other servers.
    pub(crate) tools: Vec<(&'static str, String)>,
    pub(crate) command: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FairnessFlags {
    pub(crate) calls: usize,
    pub(crate) cap: usize,
    pub(crate) share: usize,
    pub(crate) floods: Vec<usize>,
    pub(crate) release: bool,
    pub(crate) server: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FuzzFlags {
    /// The only one that is run; all of them without.
    pub(crate) target: Option<String>,
    pub(crate) seconds: u32,
    pub(crate) smoke: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct InteropFlags {
    pub(crate) only: Vec<String>,
    pub(crate) servers: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KillsFlags {
    pub(crate) times: usize,
    pub(crate) seed: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SchedulesFlags {
    pub(crate) runs: usize,
}

#[derive(Debug, PartialEq)]
pub(crate) struct SoakFlags {
    pub(crate) minutes: f64,
    pub(crate) seed: u64,
    pub(crate) release: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SpyFlags {
    /// Folder that gets one record per server process.
    pub(crate) records: PathBuf,
    /// Whether the messages pass through the spy; otherwise the server has the client's own descriptors.
    pub(crate) wire: bool,
    pub(crate) server: PathBuf,
}

/// Reads the arguments that follow `cargo xtask`.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Task, String> {
    let mut words = Words(arguments.collect::<Vec<_>>().into_iter());
    let Some(task) = words.next() else {
        return Ok(Task::Help);
    };
    match task.as_str() {
        "bench" => bench(words).map(Task::Bench),
        "bounds" => bounds(words).map(Task::Bounds),
        "ci" => ci(words).map(Task::Ci),
        "conformance" => conformance(words).map(Task::Conformance),
        "coverage-table" => words.end().map(|()| Task::CoverageTable),
        "edge-server" => Ok(Task::EdgeServer(words.0.collect())),
        "edge-table" => edge_table(words).map(Task::EdgeTable),
        "fairness" => fairness(words).map(Task::Fairness),
        "fuzz" => fuzz(words).map(Task::Fuzz),
        "interop" => interop(words).map(Task::Interop),
        "kills" => kills(words).map(Task::Kills),
        "schedules" => schedules(words).map(Task::Schedules),
        "soak" => soak(words).map(Task::Soak),
        "interop-spy" => spy(words).map(Task::Spy),
        "release" => release(words).map(|()| Task::Release),
        "tidy" => words.end().map(|()| Task::Tidy),
        "help" | "--help" | "-h" => Ok(Task::Help),
        other => Err(format!("no task `{other}`")),
    }
}

/// The list of tasks and flags.
pub(crate) fn usage() -> String {
    let mut text = String::from("cargo xtask TASK\n");
    for task in TASKS {
        text += &format!("\n  {:<16}{}\n", task.name, task.about);
        for (flag, about) in task.flags {
            text += &format!("      {flag:<18}{about}\n");
        }
    }
    text
}

fn bench(mut words: Words) -> Result<BenchFlags, String> {
    let mut flags = BenchFlags {
        what: Measured::Counts,
        rounds: 7,
        bless: false,
    };
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--compare" => flags.what = Measured::Compare,
            "--growth" => flags.what = Measured::Growth,
            "--steps" => flags.what = Measured::Steps,
            "--rounds" => flags.rounds = words.value(&flag)?,
            "--bless" => flags.bless = true,
            _ => return Err(unknown(&flag)),
        }
    }
    match flags.rounds {
        0 => Err("`--rounds` must be more than 0".into()),
        _ => Ok(flags),
    }
}

fn bounds(mut words: Words) -> Result<BoundsFlags, String> {
    let mut flags = BoundsFlags::default();
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--only" => flags.only = words.list(&flag)?,
            "--release" => flags.release = true,
            _ => return Err(unknown(&flag)),
        }
    }
    Ok(flags)
}

fn ci(mut words: Words) -> Result<CiFlags, String> {
    let mut flags = CiFlags::default();
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--only" => flags.only = words.list(&flag)?,
            _ => return Err(unknown(&flag)),
        }
    }
    Ok(flags)
}

fn conformance(mut words: Words) -> Result<ConformanceFlags, String> {
    let mut flags = ConformanceFlags::default();
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--url" => flags.url = Some(words.value(&flag)?),
            _ => return Err(unknown(&flag)),
        }
    }
    Ok(flags)
}

fn edge_table(mut words: Words) -> Result<EdgeFlags, String> {
    let mut flags = EdgeFlags::default();
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--only" => flags.only = words.list(&flag)?,
            "--markdown" => flags.markdown = true,
            "--client" => flags.client = true,
            "--beside" => flags.beside.push(named(&mut words, &flag)?),
            "--beside-client" => flags.beside_clients.push(named(&mut words, &flag)?),
            "--echo" => flags.tools.push(("echo", words.value(&flag)?)),
            "--slow" => flags.tools.push(("sleep", words.value(&flag)?)),
            "--" => flags.command = words.0.by_ref().collect(),
            _ => return Err(unknown(&flag)),
        }
    }
    if flags.client && flags.command.is_empty() {
        return Err("`--client` needs the command of one behind `--`".into());
    }
    Ok(flags)
}

/// `NAME=COMMAND`, whose words are split at spaces.
fn named(words: &mut Words, flag: &str) -> Result<(String, Vec<String>), String> {
    let word: String = words.value(flag)?;
    let (name, command) = word
        .split_once('=')
        .ok_or(format!("`{flag}` is NAME=CMD"))?;
    let command: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
    match command.is_empty() {
        true => Err(format!("`{flag}` is NAME=CMD")),
        false => Ok((name.to_owned(), command)),
    }
}

fn fairness(mut words: Words) -> Result<FairnessFlags, String> {
    let mut flags = FairnessFlags {
        calls: 100_000,
        cap: 512,
        share: 256,
        floods: vec![1, 2, 8],
        release: false,
        server: None,
    };
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--calls" => flags.calls = words.value(&flag)?,
            "--cap" => flags.cap = words.value(&flag)?,
            "--share" => flags.share = words.value(&flag)?,
            "--floods" => {
                let numbers = words.list(&flag)?;
                let numbers = numbers.iter().map(|number| number.parse());
                let numbers: Result<Vec<usize>, _> = numbers.collect();
                flags.floods = numbers.map_err(|_| format!("`{flag}` has numbers"))?;
            }
            "--release" => flags.release = true,
            "--server" => flags.server = Some(words.value(&flag)?),
            _ => return Err(unknown(&flag)),
        }
    }
    if flags.floods.contains(&0) {
        return Err("`--floods` must be more than 0".into());
    }
    // Each needs a call in flight, and so does the one that is measured.
    flags.floods.retain(|floods| *floods < flags.cap);
    if flags.calls <= flags.share || flags.share == 0 {
        return Err("`--calls` must be more than `--share`, and `--share` more than 0".into());
    }
    Ok(flags)
}

fn fuzz(mut words: Words) -> Result<FuzzFlags, String> {
    let mut flags = FuzzFlags {
        target: None,
        seconds: 60,
        smoke: false,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => flags.seconds = words.value(&word)?,
            "--smoke" => flags.smoke = true,
            name if is_target(name) => flags.target = Some(word),
            _ => return Err(unknown(&word)),
        }
    }
    Ok(flags)
}

fn interop(mut words: Words) -> Result<InteropFlags, String> {
    let mut flags = InteropFlags::default();
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--only" => flags.only = words.list(&flag)?,
            "--servers" => flags.servers = Some(words.value(&flag)?),
            _ => return Err(unknown(&flag)),
        }
    }
    Ok(flags)
}

fn kills(mut words: Words) -> Result<KillsFlags, String> {
    let mut flags = KillsFlags {
        times: 1_000,
        seed: 1,
    };
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--times" => flags.times = words.value(&flag)?,
            "--seed" => flags.seed = words.value(&flag)?,
            _ => return Err(unknown(&flag)),
        }
    }
    match flags.times {
        0 => Err("`--times` must be more than 0".into()),
        _ => Ok(flags),
    }
}

fn release(mut words: Words) -> Result<(), String> {
    match words.next() {
        Some(flag) if flag != "--dry-run" => Err(unknown(&flag)),
        _ => words.end(),
    }
}

fn schedules(mut words: Words) -> Result<SchedulesFlags, String> {
    let mut flags = SchedulesFlags { runs: 500 };
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--runs" => flags.runs = words.value(&flag)?,
            _ => return Err(unknown(&flag)),
        }
    }
    Ok(flags)
}

fn soak(mut words: Words) -> Result<SoakFlags, String> {
    let mut flags = SoakFlags {
        minutes: 15.0,
        seed: 1,
        release: false,
    };
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--minutes" => flags.minutes = words.value(&flag)?,
            "--seed" => flags.seed = words.value(&flag)?,
            "--release" => flags.release = true,
            _ => return Err(unknown(&flag)),
        }
    }
    match flags.minutes > 0.0 && flags.minutes < 1e6 {
        true => Ok(flags),
        false => Err("`--minutes` must be more than 0".into()),
    }
}

fn spy(mut words: Words) -> Result<SpyFlags, String> {
    let records = words.value("RECORDS")?;
    let wire = match words.value::<String>("wire or inherit")?.as_str() {
        "wire" => true,
        "inherit" => false,
        other => return Err(unknown(other)),
    };
    let server = words.value("SERVER")?;
    words.end()?;
    Ok(SpyFlags {
        records,
        wire,
        server,
    })
}

/// The arguments that are still to be read.
struct Words(std::vec::IntoIter<String>);

impl Words {
    fn next(&mut self) -> Option<String> {
        self.0.next()
    }

    fn value<T: FromStr>(&mut self, flag: &str) -> Result<T, String> {
        let word = self.next().ok_or(format!("`{flag}` needs a value"))?;
        word.parse()
            .map_err(|_| format!("`{flag}` cannot be `{word}`"))
    }

    fn list(&mut self, flag: &str) -> Result<Vec<String>, String> {
        let words: String = self.value(flag)?;
        Ok(words.split(',').map(str::to_owned).collect())
    }

    fn end(&mut self) -> Result<(), String> {
        self.next().map_or(Ok(()), |word| Err(unknown(&word)))
    }
}

fn unknown(flag: &str) -> String {
    format!("no flag `{flag}` here")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Task, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn no_task_prints_the_list() {
        assert_eq!(words(""), Ok(Task::Help));
        for task in TASKS {
            assert!(usage().contains(task.name));
            assert!(words(task.name).is_ok(), "{} is in the list", task.name);
        }
    }

    #[test]
    fn flags_are_read() {
        let Ok(Task::Fairness(flags)) = words("fairness --cap 8 --share 4 --calls 10 --release")
        else {
            panic!("it parses");
        };
        assert_eq!(
            (flags.cap, flags.share, flags.calls, flags.release),
            (8, 4, 10, true)
        );
        assert_eq!(flags.floods, [1, 2], "there is room for these");
        let Ok(Task::Fuzz(flags)) = words("fuzz lines --seconds 9") else {
            panic!("it parses");
        };
        assert_eq!((flags.target.as_deref(), flags.seconds), (Some("lines"), 9));
        let only = vec!["py2".to_owned(), "echo".to_owned()];
        let servers = None;
        assert_eq!(
            words("interop --only py2,echo"),
            Ok(Task::Interop(InteropFlags { only, servers }))
        );
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(words("tidi"), Err("no task `tidi`".into()));
        assert_eq!(words("tidy --fast"), Err("no flag `--fast` here".into()));
        assert_eq!(words("fairness --cap"), Err("`--cap` needs a value".into()));
        assert_eq!(
            words("fairness --cap x"),
            Err("`--cap` cannot be `x`".into())
        );
        assert!(words("fairness --share 0").is_err());
        assert!(words("bench --compare --rounds 0").is_err());
        assert_eq!(words("fuzz line"), Err("no flag `line` here".into()));
    }
}
