//! The rows of `requirements.txt`, whose head says what the columns are.

use std::collections::HashSet;
use std::fmt;

/// Rows that belong together.
pub(super) struct Family {
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
}

/// One requirement, or the half of it that one side has to keep.
pub(super) struct Row {
    pub(super) id: String,
    pub(super) level: String,
    pub(super) side: Side,
    pub(super) revisions: String,
    pub(super) title: String,
    /// Why no test can show it.
    pub(super) unseen: Option<String>,
}

/// Who has to keep a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Server,
    Client,
    Http,
}

impl Side {
    pub(super) const ALL: [Self; 3] = [Self::Server, Self::Client, Self::Http];
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Http => "HTTP",
        })
    }
}

/// Reads the list; a requirement of both sides gives two rows.
pub(super) fn parse(text: &str) -> Result<Vec<Family>, String> {
    let mut families: Vec<Family> = Vec::new();
    let mut ids = HashSet::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            families.push(Family {
                title: title.to_owned(),
                rows: Vec::new(),
            });
        } else if !line.is_empty() && !line.starts_with('#') {
            let family = families.last_mut().ok_or("a row stands before a family")?;
            let rows = row(line).ok_or(format!("this is no requirement: {line}"))?;
            for row in rows {
                if !ids.insert(row.id.clone()) {
                    return Err(format!("`{}` is listed twice", row.id));
                }
                family.rows.push(row);
            }
        }
    }
    Ok(families)
}

fn row(line: &str) -> Option<Vec<Row>> {
    const LEVELS: &[&str] = &["M", "MN", "S", "SN", "Y", "X", "R"];
    let (line, reason) = match line.split_once(" | ") {
        Some((line, reason)) => (line, Some(reason)),
        None => (line, None),
    };
    let [id, level, who, revisions, title] = line.splitn(5, ' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let halves: &[(Side, &str)] = match who {
        "s" => &[(Side::Server, "")],
        "c" => &[(Side::Client, "")],
        "b" => &[(Side::Server, ""), (Side::Client, "c")],
        "h" => &[(Side::Http, "")],
        _ => return None,
    };
    if !LEVELS.contains(&level) || title.split(' ').count() > 8 {
        return None;
    }
    let rows = halves.iter().map(|&(side, suffix)| {
        Some(Row {
            id: format!("{id}{suffix}"),
            level: level.to_owned(),
            side,
            revisions: revisions.to_owned(),
            title: title.to_owned(),
            unseen: unseen(reason, side)?,
        })
    });
    rows.collect()
}

/// The reason as far as it is this side's; nothing when it is no reason.
fn unseen(reason: Option<&str>, side: Side) -> Option<Option<String>> {
    const REASONS: &[&str] = &["host", "review", "unbuilt", "windows"];
    let Some(reason) = reason else {
        return Some(None);
    };
    let (of, reason) = match reason.split_once(':') {
        Some(("s", reason)) => (Some(Side::Server), reason),
        Some(("c", reason)) => (Some(Side::Client), reason),
        Some(_) => return None,
        None => (None, reason),
    };
    if !REASONS.contains(&reason) {
        return None;
    }
    let ours = of.is_none_or(|of| of == side);
    Some(ours.then(|| reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_of_both_sides_has_two_halves() {
        let families = parse("# head\n\n## J Messages\nJ01 M b all one two | c:host\n");
        let families = families.expect("it is a list");
        let rows: Vec<_> = families[0]
            .rows
            .iter()
            .map(|row| (row.id.as_str(), row.side, row.unseen.as_deref()))
            .collect();
        assert_eq!(
            rows,
            [
                ("J01", Side::Server, None),
                ("J01c", Side::Client, Some("host"))
            ]
        );
        assert_eq!(families[0].title, "J Messages");
        assert_eq!(families[0].rows[0].title, "one two");
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| parse(text).err().expect("it is wrong");
        assert!(error("J01 M s all a").contains("before a family"));
        let twice = "## J\nJ01 M s all a\nJ01 M s all b";
        assert!(error(twice).contains("`J01` is listed twice"));
        for row in [
            "J01 M s all",
            "J01 must s all a",
            "J01 M x all a",
            "J01 M s all a | because",
            "J01 M s all a | x:host",
            "J01 M s all one two three four five six seven eight nine",
        ] {
            assert!(error(&format!("## J\n{row}")).contains(row), "{row}");
        }
    }
}
