//! Named steps, one after another: each is timed, none stops the next, the sum comes last.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    Failed(String),
    /// Not checked here, and why.
    Skipped(String),
}

impl<E: ToString> From<Result<(), E>> for Ended {
    fn from(result: Result<(), E>) -> Self {
        match result {
            Ok(()) => Self::Passed,
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

/// The steps of one run.
pub(crate) struct Steps {
    only: Vec<String>,
    done: Vec<(String, Duration, Ended)>,
}

impl Steps {
    /// Runs only the steps whose name starts with one of `only`; all of them when it is empty.
    pub(crate) fn new(only: &[String]) -> Self {
        Self {
            only: only.to_vec(),
            done: Vec::new(),
        }
    }

    /// Runs one step, unless it was not asked for.
    pub(crate) fn step(&mut self, name: &str, run: impl FnOnce() -> Ended) {
        if !self.only.is_empty() && !self.only.iter().any(|only| name.starts_with(only)) {
            return;
        }
        println!("==> {name}");
        let start = Instant::now();
        let ended = run();
        let took = start.elapsed();
        println!("{}", line(name, took, &ended));
        self.done.push((name.to_owned(), took, ended));
    }

    /// Prints the sum and turns it into an exit status: 1 when a step failed or none ran.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\n==> summary");
        for (name, took, ended) in &self.done {
            println!("{}", line(name, *took, ended));
        }
        let count =
            |test: fn(&Ended) -> bool| self.done.iter().filter(|step| test(&step.2)).count();
        let failed = count(|ended| matches!(ended, Ended::Failed(_)));
        let skipped = count(|ended| matches!(ended, Ended::Skipped(_)));
        let passed = self.done.len() - failed - skipped;
        println!("steps: {passed} passed, {failed} failed, {skipped} skipped");
        ExitCode::from(u8::from(failed > 0 || self.done.is_empty()))
    }
}

fn line(name: &str, took: Duration, ended: &Ended) -> String {
    let (word, why) = match ended {
        Ended::Passed => ("ok     ", String::new()),
        Ended::Failed(why) => ("FAILED ", format!(": {why}")),
        Ended::Skipped(why) => ("skipped", format!(": NOT CHECKED, {why}")),
    };
    format!("{word} {:>6.1} s  {name}{why}", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_does_not_stop_the_next_step_and_decides_the_status() {
        let mut steps = Steps::new(&[]);
        let mut second = false;
        steps.step("first", || Ended::Failed("no".into()));
        steps.step("second", || {
            second = true;
            Ended::Passed
        });
        assert!(second);
        assert_eq!(steps.finish(), ExitCode::from(1));
    }

    #[test]
    fn a_skipped_step_is_no_failure() {
        let mut steps = Steps::new(&[]);
        steps.step("one", || Ended::Passed);
        steps.step("two", || Ended::Skipped("not here".into()));
        assert_eq!(steps.finish(), ExitCode::SUCCESS);
    }

    #[test]
    fn a_name_that_matches_nothing_is_a_failure() {
        let mut steps = Steps::new(&["clipy".to_owned()]);
        steps.step("clippy: workspace", || panic!("it was not asked for"));
        assert_eq!(steps.finish(), ExitCode::from(1));
    }
}
