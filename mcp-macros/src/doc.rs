//! Doc comments as descriptions.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// A doc comment.
#[derive(Default)]
pub(crate) struct Doc {
    /// The text, `None` when there is none.
    pub(crate) text: Option<String>,
    /// A part that is not a literal, whose text a derive cannot know.
    pub(crate) unknown: Option<Expr>,
}

impl Doc {
    pub(crate) fn read(attributes: &[Attribute]) -> Self {
        let mut lines = Vec::new();
        let mut unknown = None;
        for attribute in attributes {
            let Meta::NameValue(meta) = &attribute.meta else {
                continue;
            };
            if !meta.path.is_ident("doc") {
                continue;
            }
            match &meta.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => lines.extend(text.value().split('\n').map(str::to_owned)),
                other => unknown = Some(other.clone()),
            }
        }
        let text = join(&lines);
        Self {
            text: (!text.is_empty()).then_some(text),
            unknown,
        }
    }
}

/// Joins the lines of a paragraph, which end where the editor's window did. Paragraphs, lists,
/// tables, quotes, headings and code keep their lines.
fn join(lines: &[String]) -> String {
    let mut out = String::new();
    let mut code = false;
    for line in lines {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        let fence = line.trim_start().starts_with("```");
        let keeps = code || fence || line.is_empty() || starts_block(line);
        match out.chars().last() {
            None | Some('\n') => {}
            Some(_) if keeps => out.push('\n'),
            Some(_) => out.push(' '),
        }
        out.push_str(if keeps { line } else { line.trim_start() });
        code ^= fence;
        if code || fence || line.is_empty() {
            out.push('\n');
        }
    }
    out.trim().to_owned()
}

fn starts_block(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .starts_with(". ")
        && line.starts_with(|c: char| c.is_ascii_digit());
    numbered
        || ["- ", "* ", "+ ", "#", ">", "|"]
            .iter()
            .any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::join;

    fn joined(text: &str) -> String {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        join(&lines)
    }

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        assert_eq!(joined(" One\n two\n three."), "One two three.");
    }

    #[test]
    fn paragraphs_are_kept() {
        assert_eq!(
            joined(" One\n two.\n\n Three\n four."),
            "One two.\n\nThree four."
        );
    }

    #[test]
    fn lists_and_tables_keep_their_lines() {
        assert_eq!(
            joined(" Any of:\n - one, which\n   is long\n - two\n 1. three\n\n | a |\n | b |"),
            "Any of:\n- one, which is long\n- two\n1. three\n\n| a |\n| b |",
        );
    }

    #[test]
    fn code_is_kept_as_it_is() {
        assert_eq!(
            joined(" Like\n ```\n a\n   b\n\n c\n ```\n this."),
            "Like\n```\na\n  b\n\nc\n```\nthis.",
        );
    }

    #[test]
    fn a_number_in_a_sentence_starts_no_list() {
        assert_eq!(joined(" At most\n 10 of them"), "At most 10 of them");
    }
}
