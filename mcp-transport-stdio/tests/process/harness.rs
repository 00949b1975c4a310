//! As much of a test harness as is needed: names, a filter, a time limit, a last line.

use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) type Check = (&'static str, fn());

/// Runs the checks whose names contain the first argument that is no option.
pub(crate) fn run(checks: &[Check]) -> ExitCode {
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let chosen: Vec<_> = checks
        .iter()
        .filter(|(name, _)| {
            filter
                .as_ref()
                .is_none_or(|filter| name.contains(filter.as_str()))
        })
        .collect();
    let start = Instant::now();
    println!("\nrunning {} tests", chosen.len());
    let mut failed = 0;
    for (name, check) in &chosen {
        let result = outcome(*check);
        failed += usize::from(result.is_err());
        println!("test {name} ... {}", result.err().unwrap_or("ok"));
    }
    println!(
        "\ntest result: {}. {} passed; {failed} failed; 0 ignored; 0 measured; {} filtered out; \
         finished in {:.2}s\n",
        if failed == 0 { "ok" } else { "FAILED" },
        chosen.len() - failed,
        checks.len() - chosen.len(),
        start.elapsed().as_secs_f32(),
    );
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn outcome(check: fn()) -> Result<(), &'static str> {
    let (done, ended) = mpsc::channel();
    let thread = thread::spawn(move || {
        // Dropped, and so heard of, when the check panics too.
        let _done: mpsc::Sender<()> = done;
        check();
    });
    match ended.recv_timeout(LIMIT) {
        Err(mpsc::RecvTimeoutError::Timeout) => Err("FAILED: it hangs"),
        _ => thread.join().map_err(|_| "FAILED"),
    }
}

const LIMIT: Duration = Duration::from_secs(30);
