//! What goes wrong elsewhere at the edges of the protocol, as cases that are played to any server
//! and any client over pipes, byte by byte. Nothing here is of the code under test.
//!
//! `servers.txt` and `clients.txt` have the cases, `play.rs` plays one, `servers.rs` and `clients.rs`
//! know who is tried and which cases are for whom, `table.rs` shows what came of it.

pub(crate) mod cases;
pub(crate) mod clients;
pub(crate) mod messages;
pub(crate) mod pipes;
pub(crate) mod play;
pub(crate) mod servers;
pub(crate) mod table;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use cases::{Case, Opened};
use play::Wrong;

pub(crate) const SERVERS: &str = include_str!("servers.txt");
pub(crate) const CLIENTS: &str = include_str!("clients.txt");

/// Conversations at the same time: most of them wait most of the time.
const AT_ONCE: usize = 6;

/// What came of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    /// In this era.
    Failed(String, Wrong),
    /// It was not tried, and why.
    NotApplicable(String),
}

/// What came of one case with one program.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// What was answered, in brief.
    pub(crate) answer: String,
}

/// What one conversation came to.
pub(crate) struct Played {
    pub(crate) heard: Vec<String>,
    pub(crate) ended: Result<(), Wrong>,
}

impl Outcome {
    pub(crate) fn not_applicable(why: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::NotApplicable(why.into()),
            answer: String::new(),
        }
    }

    /// Plays a case in each of its eras until one fails.
    pub(crate) fn of(eras: &[Opened], play: impl Fn(Opened) -> Played) -> Self {
        let mut answer = String::new();
        for era in eras {
            let played = play(*era);
            answer = played.heard.join(", ");
            if let Err(wrong) = played.ended {
                let verdict = Verdict::Failed(era.name().to_owned(), wrong);
                return Self { verdict, answer };
            }
        }
        let verdict = Verdict::Passed;
        Self { verdict, answer }
    }
}

/// The cases of a file that are asked for.
pub(crate) fn cases_of(text: &str, only: &[String]) -> Result<Vec<Case>, String> {
    let mut cases = cases::parse(text)?;
    let is_wanted = |case: &Case| {
        let names = [&case.kind, &case.name];
        only.is_empty()
            || only
                .iter()
                .any(|part| names.iter().any(|name| name.contains(part)))
    };
    cases.retain(is_wanted);
    Ok(cases)
}

/// Does something for each number, several at once, and has the results in order.
pub(crate) fn for_each<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(count) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let result = work(number);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
