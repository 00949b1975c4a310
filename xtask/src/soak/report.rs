//! What is said of a server in the end.

use crate::procfs::Held;

use super::Tally;

/// What a server held at one moment.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) held: Held,
    pub(super) tasks: u64,
}

/// The part of the time that a server has to warm up: its allocator and its pools come to what
/// they need.
const WARM_UP: usize = 4;

/// By how much the last third may be above the first, as the load is made of chance: a tenth and
/// so much more.
const MEMORY: u64 = 4 << 20;
const NUMBER: u64 = 16;

/// The medians of one figure in the three thirds.
type Thirds = [u64; 3];

pub(super) struct Series {
    memory: Thirds,
    descriptors: Thirds,
    tasks: Thirds,
}

impl Series {
    pub(super) fn of(samples: &[Sample]) -> Self {
        let warm = &samples[samples.len() / WARM_UP..];
        let third = warm.len().div_ceil(3).max(1);
        let thirds = |figure: fn(&Sample) -> u64| {
            let mut medians = warm.chunks(third).map(|samples| {
                let mut figures: Vec<_> = samples.iter().map(figure).collect();
                figures.sort_unstable();
                figures[figures.len() / 2]
            });
            std::array::from_fn(|_| medians.next().unwrap_or(u64::MAX))
        };
        Self {
            memory: thirds(|sample| sample.held.memory),
            descriptors: thirds(|sample| sample.held.descriptors as u64),
            tasks: thirds(|sample| sample.tasks),
        }
    }

    fn grown(&self) -> Vec<String> {
        let figures = [
            ("memory", self.memory, MEMORY),
            ("descriptors", self.descriptors, NUMBER),
            ("tasks", self.tasks, NUMBER),
        ];
        let grown = figures
            .into_iter()
            .filter(|(_, [first, .., last], slack)| *last > first + first / 10 + slack);
        grown
            .map(|(name, ..)| format!("{name} has grown"))
            .collect()
    }
}

/// Prints it, and whether all is as it must be.
pub(super) fn print(name: &str, series: &Series, tally: &Tally) -> bool {
    let figures = |figures: Thirds| figures.map(|figure| figure.to_string()).join(" → ");
    let mib = series
        .memory
        .map(|bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)));
    let counts: Vec<_> = tally
        .counts
        .iter()
        .map(|(what, times)| format!("{times} {what}"))
        .collect();
    println!("\n{name}");
    println!("  memory       {} MiB (medians of thirds)", mib.join(" → "));
    println!("  descriptors  {}", figures(series.descriptors));
    println!("  tasks        {}", figures(series.tasks));
    println!("  {}", counts.join(", "));
    let mut wrong = series.grown();
    wrong.extend(tally.wrong.iter().take(10).cloned());
    for wrong in &wrong {
        println!("  WRONG: {wrong}");
    }
    if wrong.is_empty() {
        println!("  each is answered once, and nothing grows");
    }
    wrong.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(figure: impl Fn(u64) -> (u64, usize, u64)) -> Vec<String> {
        let sample = |at| {
            let (memory, descriptors, tasks) = figure(at);
            let held = Held {
                memory,
                descriptors,
                threads: 0,
            };
            Sample { held, tasks }
        };
        let samples: Vec<_> = (0..400).map(sample).collect();
        Series::of(&samples).grown()
    }

    #[test]
    fn growth_is_seen_and_a_warm_up_is_none() {
        assert!(grown(|at| (at.min(100) << 20, 10, 10)).is_empty());
        assert_eq!(grown(|at| (at << 16, 10, 10)), ["memory has grown"]);
        assert_eq!(
            grown(|at| (0, at as usize / 10, 10)),
            ["descriptors has grown"]
        );
        assert_eq!(grown(|at| (0, 10, at / 10)), ["tasks has grown"]);
    }
}
