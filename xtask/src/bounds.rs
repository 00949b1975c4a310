//! `cargo xtask bounds`: what a peer can make a server or a client hold, at worst.
//!
//! Each case starts a program and drives it with raw bytes; one row says what it took, what is
//! allowed, and whether that was kept. Memory is the peak of the process above what it had before
//! the case began.

mod changes;
mod connections;
mod cycles;
mod floods;
mod lines;
mod peer;
mod unread;

use std::process::ExitCode;

use crate::flags::BoundsFlags;

const MIB: u64 = 1 << 20;

/// What a case is called, and what it does; the flag is whether the build is an optimised one.
type Case = (&'static str, fn(bool) -> Result<Row, String>);

const CASES: &[Case] = &[
    ("slow-calls", floods::legacy),
    ("slow-calls-modern", floods::modern),
    ("never-reads", unread::run),
    ("line-of-8-mib", lines::no_batch),
    ("batch-of-16-mib", lines::batch),
    ("endless-line", lines::endless),
    ("connections", connections::run),
    ("changes", changes::run),
    ("bad-servers", cycles::run),
];

/// What came of a case.
#[derive(Default)]
struct Row {
    what: String,
    /// Bytes above idle, and how many there may be.
    memory: Option<(u64, u64)>,
    /// Before and after, of the program that was tried; none where it tells of them itself.
    descriptors: (usize, usize),
    tasks: Option<(u64, u64)>,
    counts: String,
    /// What does not hold.
    broken: Vec<String>,
}

impl Row {
    /// Notes what does not hold.
    fn check(&mut self, holds: bool, what: impl Into<String>) {
        if !holds {
            self.broken.push(what.into());
        }
    }

    fn markdown(&mut self, name: &str) -> String {
        if let Some((peak, limit)) = self.memory {
            self.check(peak < limit, "memory");
        }
        let (before, after) = self.descriptors;
        self.check(after <= before, "descriptors are left");
        if let Some((before, after)) = self.tasks {
            self.check(after <= before, "tasks are left");
        }
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / MIB as f64);
        let (peak, limit) = match self.memory {
            Some((peak, limit)) => (mib(peak), mib(limit)),
            None => ("".into(), "".into()),
        };
        let tasks = self.tasks.map_or(String::new(), |(before, after)| {
            format!("{before} → {after}")
        });
        let descriptors = match self.descriptors {
            (0, _) => String::new(),
            (before, after) => format!("{before} → {after}"),
        };
        let pass = match self.broken.is_empty() {
            true => "yes".to_owned(),
            false => format!("**NO**: {}", self.broken.join(", ")),
        };
        format!(
            "| `{name}`: {} | {peak} | {limit} | {descriptors} | {tasks} | {} | {pass} |",
            self.what, self.counts,
        )
    }
}

pub(crate) fn run(flags: &BoundsFlags) -> ExitCode {
    let is_chosen =
        |name: &str| flags.only.is_empty() || flags.only.iter().any(|only| name.contains(only));
    let chosen: Vec<_> = CASES.iter().filter(|(name, _)| is_chosen(name)).collect();
    if chosen.is_empty() {
        eprintln!("xtask: no case has such a name");
        return ExitCode::FAILURE;
    }
    println!(
        "| case | peak memory above idle | limit | descriptors | tasks | answered and refused | kept |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut kept = true;
    for (name, case) in chosen {
        let mut row = match case(flags.release) {
            Ok(row) => row,
            Err(why) => Row {
                broken: vec![why],
                ..Row::default()
            },
        };
        println!("{}", row.markdown(name));
        kept &= row.broken.is_empty();
    }
    ExitCode::from(u8::from(!kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(memory: (u64, u64), descriptors: (usize, usize), tasks: (u64, u64)) -> Vec<String> {
        let mut row = Row {
            memory: Some(memory),
            descriptors,
            tasks: Some(tasks),
            ..Row::default()
        };
        row.markdown("case");
        row.broken
    }

    #[test]
    fn what_is_not_kept_is_named() {
        assert!(row((9, 10), (5, 5), (3, 3)).is_empty());
        assert_eq!(row((10, 10), (5, 5), (3, 3)), ["memory"]);
        assert_eq!(row((9, 10), (5, 6), (3, 3)), ["descriptors are left"]);
        assert_eq!(row((9, 10), (5, 5), (3, 4)), ["tasks are left"]);
    }
}
