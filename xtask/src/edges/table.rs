//! What came of the cases, as text for a terminal or as Markdown.

use std::fmt::Write as _;

use super::cases::Case;
use super::clients::Client;
use super::play::{Wrong, cut};
use super::servers::Server;
use super::{Outcome, Verdict, for_each};

/// A row per case, a column per program.
pub(crate) struct Table {
    programs: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    kind: String,
    name: String,
    rule: String,
    outcomes: Vec<Outcome>,
}

impl Table {
    pub(crate) fn of_servers(servers: &[Server], cases: &[Case]) -> Self {
        let names = servers.iter().map(|server| server.name.clone()).collect();
        let mut table = Self::of(names, cases, |nth, case| servers[nth].try_case(case));
        let ends = |server: &Server| Outcome {
            verdict: match server.ends() {
                Ok(()) => Verdict::Passed,
                Err(wrong) => Verdict::Failed("all".to_owned(), wrong),
            },
            answer: String::new(),
        };
        table.rows.push(Row {
            kind: "EOF".to_owned(),
            name: "every-end".to_owned(),
            rule: "Each conversation above that went well ends with the input: not another word, status 0."
                .to_owned(),
            outcomes: servers.iter().map(ends).collect(),
        });
        table
    }

    pub(crate) fn of_clients(clients: &[Client], cases: &[Case]) -> Self {
        let names = clients.iter().map(|client| client.name.clone()).collect();
        Self::of(names, cases, |nth, case| clients[nth].try_case(case))
    }

    fn of(
        programs: Vec<String>,
        cases: &[Case],
        try_case: impl Fn(usize, &Case) -> Outcome + Sync,
    ) -> Self {
        let width = programs.len();
        let mut outcomes = for_each(cases.len() * width, |number| {
            try_case(number % width, &cases[number / width])
        })
        .into_iter();
        let rows = cases.iter().map(|case| Row {
            kind: case.kind.clone(),
            name: case.name.clone(),
            rule: case.rule.clone(),
            outcomes: outcomes.by_ref().take(width).collect(),
        });
        let rows = rows.collect();
        Self { programs, rows }
    }

    /// How many cases failed with the first program.
    pub(crate) fn failed(&self) -> usize {
        let first = self.rows.iter().filter_map(|row| row.outcomes.first());
        first
            .filter(|outcome| matches!(outcome.verdict, Verdict::Failed(..)))
            .count()
    }

    /// A paragraph per case that failed, a line per case that did not.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            for (program, outcome) in self.programs.iter().zip(&row.outcomes) {
                let (word, why) = match &outcome.verdict {
                    Verdict::Passed => ("pass", String::new()),
                    Verdict::Failed(era, Wrong { step, why }) => {
                        ("FAIL", format!("{era}: {step}: {why}"))
                    }
                    Verdict::NotApplicable(why) => ("n/a", why.clone()),
                };
                let Row { name, rule, .. } = row;
                let _ = writeln!(text, "{word:<5}{program}: {name}: {rule}");
                if !outcome.answer.is_empty() {
                    let _ = writeln!(text, "       -> {}", cut(&outcome.answer, 100));
                }
                if !why.is_empty() {
                    let _ = writeln!(text, "       {why}");
                }
            }
        }
        text + &self.sums()
    }

    /// Without the cases that are for the first program alone, where there are others.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("| kind | what is right | {} |\n", self.programs.join(" | "));
        text += &format!("|---|---|{}\n", "---|".repeat(self.programs.len()));
        let mut left_out = 0;
        for row in &self.rows {
            let others = row.outcomes.iter().skip(1);
            let is_tried =
                |outcome: &Outcome| !matches!(outcome.verdict, Verdict::NotApplicable(_));
            if others.len() > 0 && !others.clone().any(is_tried) {
                left_out += 1;
                continue;
            }
            let cells: Vec<_> = row.outcomes.iter().map(cell_of).collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                row.kind,
                cell(&row.rule),
                cells.join(" | ")
            );
        }
        if left_out > 0 {
            let _ = writeln!(
                text,
                "\n{left_out} more cases are about what only our examples have."
            );
        }
        format!("{text}\n{}", self.sums())
    }

    fn sums(&self) -> String {
        let mut text = String::new();
        for (nth, program) in self.programs.iter().enumerate() {
            let count = |is: fn(&Verdict) -> bool| {
                self.rows
                    .iter()
                    .filter(|row| is(&row.outcomes[nth].verdict))
                    .count()
            };
            let passed = count(|verdict| *verdict == Verdict::Passed);
            let failed = count(|verdict| matches!(verdict, Verdict::Failed(..)));
            let rest = self.rows.len() - passed - failed;
            let _ = writeln!(text, "{program}: {passed} pass, {failed} fail, {rest} n/a");
        }
        text
    }
}

fn cell_of(outcome: &Outcome) -> String {
    let Verdict::Failed(era, wrong) = &outcome.verdict else {
        let word = match outcome.verdict {
            Verdict::NotApplicable(_) => "n/a",
            _ => "pass",
        };
        return word.to_owned();
    };
    // What came is shown as a whole in the other form.
    let last = outcome.answer.rsplit(", ").next().unwrap_or_default();
    let why = match wrong.why.starts_with("heard ") && !last.is_empty() {
        true => format!("`{last}`"),
        false => cell(&wrong.why),
    };
    format!("**fail**: {era}: {why}")
}

/// A text that fits a cell of a table.
fn cell(text: &str) -> String {
    cut(text, 120).replace('|', "\\|").replace('<', "&lt;")
}
