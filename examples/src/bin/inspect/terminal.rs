//! Standard error: what the server writes there, what is said to the user, and below it one line
//! that changes.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_client::types::ProgressParams;

pub(crate) struct Terminal {
    is_terminal: bool,
    has_colors: bool,
    quiet: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The line that stays below the others: how far a call is, or a question.
    below: String,
    /// Whether a question is there, and not how far a call is.
    asks: bool,
    /// What the server wrote last.
    server: String,
}

impl Terminal {
    pub(crate) fn new(quiet: bool) -> Self {
        let is_terminal = io::stderr().is_terminal();
        Self {
            is_terminal,
            has_colors: is_terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            quiet,
            state: Mutex::default(),
        }
    }

    /// Whether somebody is there to be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.is_terminal && io::stdin().is_terminal()
    }

    /// A line that the server has written to standard error.
    pub(crate) fn server(&self, line: &str) {
        if self.quiet {
            return;
        }
        let mut state = self.lock();
        line.clone_into(&mut state.server);
        let line = visible(line);
        self.write(
            &state,
            &match self.has_colors {
                true => format!("\x1b[2m[server] {line}\x1b[0m\n"),
                false => format!("[server] {line}\n"),
            },
        );
    }

    /// Whether the user has seen this, the end of what the server has written.
    pub(crate) fn has_shown(&self, stderr: &str) -> bool {
        let state = self.lock();
        !state.server.is_empty() && stderr.ends_with(&state.server)
    }

    /// Lines for the user.
    pub(crate) fn say(&self, text: &str) {
        self.write(&self.lock(), &(visible(text) + "\n"));
    }

    /// How far a call is: only for who watches.
    pub(crate) fn progress(&self, report: &ProgressParams, since: Duration) {
        let mut state = self.lock();
        if self.is_terminal && !state.asks {
            state.below = bar(report, since);
            self.write(&state, "");
        }
    }

    /// Leaves a question below the other lines, until it is [`answered`](Self::answered).
    pub(crate) fn ask(&self, question: &str) {
        let mut state = self.lock();
        (state.below, state.asks) = (visible(question), true);
        self.write(&state, "");
    }

    /// Whatever the user has typed ends the line.
    pub(crate) fn answered(&self) {
        let mut state = self.lock();
        (state.below, state.asks) = (String::new(), false);
    }

    /// Takes the line below away, before something else is printed.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        state.below.clear();
        self.write(&state, "");
    }

    /// Writes lines, and the one below them again.
    fn write(&self, state: &State, lines: &str) {
        let text = match self.is_terminal {
            true => format!("\r\x1b[K{lines}{}", state.below),
            false => lines.to_owned(),
        };
        // Nobody is left to be told that nobody reads.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Text of the server's without what moves the cursor, changes colours or hides other text.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(letter.escape_unicode());
            }
            _ if letter.is_control() => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    shown
}

/// Letters of the bar alone.
const BAR: usize = 30;

/// Letters of the whole line: more would not be erased where the window ends.
const LINE: usize = 79;

fn bar(report: &ProgressParams, since: Duration) -> String {
    let message = visible(report.message.as_deref().unwrap_or_default()).replace('\n', " ");
    let seconds = since.as_secs_f64();
    let line = match report.total.filter(|total| *total > 0.0) {
        Some(total) => {
            let done = (report.progress / total).clamp(0.0, 1.0);
            let full = (done * BAR as f64) as usize;
            let (full, rest) = ("#".repeat(full), "-".repeat(BAR - full));
            format!(
                "[{full}{rest}] {:3.0} % {seconds:.1} s {message}",
                done * 100.0
            )
        }
        None => format!("{} {seconds:.1} s {message}", report.progress),
    };
    line.chars().take(LINE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_command_the_terminal() {
        assert_eq!(visible("a\n\tb é 🧪"), "a\n\tb é 🧪");
        assert_eq!(visible("\x1b[31m\r\u{202e}"), "\\u{1b}[31m\\u{d}\\u{202e}");
    }

    #[test]
    fn a_bar_fits_on_a_line() {
        let report = ProgressParams::new(1, 1.0)
            .total(2.0)
            .message("m".repeat(200));
        let line = bar(&report, Duration::from_millis(1500));
        assert!(
            line.starts_with("[###############---------------]  50 % 1.5 s mmm"),
            "{line}"
        );
        assert_eq!(line.len(), LINE);
        let unknown = bar(&ProgressParams::new(1, 7.0), Duration::ZERO);
        assert_eq!(unknown, "7 0.0 s ");
        let beyond = bar(&ProgressParams::new(1, 9.0).total(2.0), Duration::ZERO);
        assert!(beyond.contains(" 100 %"), "{beyond}");
    }
}
