//! The cases as data: `servers.txt` and `clients.txt`, whose heads say how they are written.

/// How a conversation is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// Not at all: the steps do it, if anybody does.
    Not,
    /// With `initialize`, in this revision.
    Legacy(&'static str),
    /// As 2026-07-28 has it: each request says who asks.
    Modern,
}

impl Opened {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Not => "unopened",
            Self::Legacy(version) => version,
            Self::Modern => MODERN,
        }
    }
}

pub(crate) const MODERN: &str = "2026-07-28";

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// One thing that goes wrong somewhere, and what is right.
#[derive(Debug)]
pub(crate) struct Case {
    /// The kind of failure that it is of.
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) rule: String,
    /// The requirements that it proves.
    pub(crate) covers: Vec<String>,
    /// Where it begins in its file.
    pub(crate) line: usize,
    pub(crate) eras: Vec<Opened>,
    /// Flags of our server, without which the case cannot be.
    pub(crate) with: Vec<String>,
    /// The example that it is about, if it is not `fixture`.
    pub(crate) on: Option<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// What the client can do, as JSON.
    pub(crate) capabilities: String,
    /// What a shell does before it becomes the server.
    pub(crate) start: Option<String>,
    /// Whether nobody reads what the server writes until a step says so.
    pub(crate) unread: bool,
    /// How a client has to end.
    pub(crate) outcome: Option<String>,
    steps: Vec<String>,
    /// Columns, then rows.
    table: Vec<Vec<String>>,
    /// Where the steps of a row begin, and where they end if they are not the last.
    rows: (usize, Option<usize>),
}

impl Case {
    fn new(kind: &str, head: &str, line: usize) -> Option<Self> {
        let (name, rule) = head.split_once(": ")?;
        Some(Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            rule: rule.to_owned(),
            covers: Vec::new(),
            line,
            eras: vec![Opened::Legacy("2025-11-25"), Opened::Modern],
            with: Vec::new(),
            on: None,
            environment: Vec::new(),
            capabilities: "{}".to_owned(),
            start: None,
            unread: false,
            outcome: None,
            steps: Vec::new(),
            table: Vec::new(),
            rows: (0, None),
        })
    }

    fn read(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words = || rest.split_whitespace().map(str::to_owned).collect();
        match word {
            "covers" => self.covers = rest.split(", ").map(str::to_owned).collect(),
            "as" => {
                let eras: Option<Vec<_>> = rest.split(", ").map(opened).collect();
                self.eras = eras?.concat();
            }
            "with" => self.with = words(),
            "on" => self.on = Some(rest.to_owned()),
            "env" => self.environment.push(pair(rest.split_once('=')?)),
            "can" => self.capabilities = rest.to_owned(),
            "start" => self.start = Some(rest.to_owned()),
            "unread" => self.unread = true,
            "=" => self.outcome = Some(rest.to_owned()),
            "|" => {
                self.rows.0 = self.steps.len();
                self.table
                    .push(rest.split(" | ").map(str::to_owned).collect());
            }
            "then" => self.rows.1 = Some(self.steps.len()),
            ">" | ">>" | "<" | "<*" | "<?" | "-" | "!" | "again" => {
                self.steps.push(line.to_owned())
            }
            _ => return None,
        }
        Some(())
    }

    /// The steps as they are played: those below the table once for each row.
    pub(crate) fn steps(&self) -> Vec<String> {
        let (before, rest) = self.steps.split_at(self.rows.0);
        let (in_row, after) = match self.rows.1 {
            Some(end) => rest.split_at(end - self.rows.0),
            None => (rest, &[][..]),
        };
        let mut steps = before.to_vec();
        match self.table.split_first() {
            None => steps.extend_from_slice(in_row),
            Some((columns, rows)) => {
                for row in rows {
                    steps.extend(in_row.iter().map(|step| filled(step, columns, row)));
                }
            }
        }
        steps.extend_from_slice(after);
        steps.iter().map(|step| repeat(step)).collect()
    }

    /// The tools that it calls, but for those that nobody has.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let called = |step: &'_ str| {
            let (_, rest) = step.split_once(" call ")?;
            rest.split(' ')
                .next()
                .map(str::len)
                .map(|length| (step.len() - rest.len(), length))
        };
        let tools = self.steps.iter().filter_map(|step| {
            let (start, length) = called(step)?;
            Some(&step[start..start + length])
        });
        tools.filter(|tool| !tool.starts_with("no-such")).collect()
    }
}

fn filled(step: &str, columns: &[String], row: &[String]) -> String {
    let cells = columns.iter().zip(row);
    cells.fold(step.to_owned(), |step, (column, value)| {
        step.replace(column, value)
    })
}

fn pair((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn opened(word: &str) -> Option<Vec<Opened>> {
    Some(match word {
        "unopened" => vec![Opened::Not],
        "legacy" => LEGACY.map(Opened::Legacy).to_vec(),
        MODERN => vec![Opened::Modern],
        _ => vec![Opened::Legacy(
            LEGACY.iter().find(|version| **version == word)?,
        )],
    })
}

/// `«x*3»` is `xxx`.
fn repeat(step: &str) -> String {
    let Some((before, rest)) = step.split_once('«') else {
        return step.to_owned();
    };
    let expanded = rest.split_once('»').and_then(|(inside, after)| {
        let (text, times) = inside.rsplit_once('*')?;
        Some((text.repeat(times.parse().ok()?), after))
    });
    let (text, after) = expanded.expect("a repetition is «TEXT*TIMES»");
    format!("{before}{text}{}", repeat(after))
}

/// The cases of a file, in its order; an error names the line.
pub(crate) fn parse(text: &str) -> Result<Vec<Case>, String> {
    let mut kind = "";
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let read = if line.is_empty() || line.starts_with("//") {
            Some(())
        } else if let Some(title) = line.strip_prefix("## ") {
            kind = title;
            Some(())
        } else if let Some(head) = line.strip_prefix("# ") {
            Case::new(kind, head, number).map(|case| cases.push(case))
        } else {
            cases.last_mut().and_then(|case| case.read(line))
        };
        read.ok_or(format!("line {number} is no part of a case: {line}"))?;
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_below_a_table_is_played_for_each_row() {
        let case = "# a: b.\n> 0 ping\n| $X | $Y\n| 1 | «a*3»\n| 2 | b\n> $X ping\n< $X ok $Y\nthen\n! eof";
        let steps = parse(case).expect("it is a case")[0].steps();
        let expected = [
            "> 0 ping",
            "> 1 ping",
            "< 1 ok aaa",
            "> 2 ping",
            "< 2 ok b",
            "! eof",
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, line) in [("> 1 ping", 1), ("# a: b.\nwhat\n", 2), ("# a", 1)] {
            let error = parse(text).expect_err("it is no case");
            assert!(error.starts_with(&format!("line {line} ")), "{error}");
        }
    }
}
