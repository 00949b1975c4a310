//! Words that may not stand in some part of some files.

use super::Finding;
use crate::source::{Source, occurrences};

/// The part of a file that a rule looks at.
#[derive(Clone, Copy)]
enum Part {
    /// Code without comments, text and unit tests.
    Product,
    /// Code without comments and text.
    Code,
    /// Code and comments; in a file that is not Rust, everything.
    CodeAndComments,
    /// Text literals outside of unit tests.
    Literals,
    Everything,
}

impl Part {
    fn of(self, source: &Source) -> &str {
        match self {
            Self::Product => source.product(),
            Self::Code => source.code(),
            Self::CodeAndComments => source.code_and_comments(),
            Self::Literals => source.literals(),
            Self::Everything => &source.text,
        }
    }
}

/// Words that may not stand somewhere.
struct Ban {
    files: fn(&Source) -> bool,
    part: Part,
    words: &'static [&'static str],
    says: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        files: |source| !knows_eras(source),
        part: Part::Product,
        words: &["Era"],
        says: "eras are decided in the protocol crate and known to a few listed files",
    },
    Ban {
        files: is_connection,
        part: Part::Product,
        words: &["Instant::now", "SystemTime"],
        says: "a connection reads no clock: time is an argument",
    },
    Ban {
        files: is_connection,
        part: Part::Product,
        words: &[
            ".await",
            "async",
            "spawn",
            "Mutex",
            "RwLock",
            ".lock(",
            "tracing",
            "log::",
            "println!",
            "eprintln!",
        ],
        says: "a connection never awaits, spawns, locks or logs",
    },
    Ban {
        files: |source| source.path.starts_with("mcp-protocol/src/"),
        part: Part::Code,
        words: &["tokio", "tracing"],
        says: "the protocol crate works without a runtime",
    },
    Ban {
        files: |source| source.path == "mcp-protocol/Cargo.toml",
        part: Part::Everything,
        words: &["tokio", "tracing"],
        says: "the protocol crate works without a runtime",
    },
    Ban {
        files: |source| source.path.starts_with("mcp-transport-") && !source.is_test(),
        part: Part::Literals,
        words: &[
            "tools/",
            "prompts/",
            "resources/",
            "completion/",
            "logging/",
            "sampling/",
            "elicitation/",
            "roots/",
            "tasks/",
            "subscriptions/",
            "notifications/",
            "server/discover",
            "initialize",
        ],
        says: "a transport moves bytes and knows no method",
    },
    Ban {
        // What the compiler must refuse never runs.
        files: |source| source.is_rust() && !source.path.contains("/tests/ui/"),
        part: Part::CodeAndComments,
        words: &["todo!", "unimplemented!", "dbg!", "#[ignore", "```ignore"],
        says: "nothing is left undone or untested",
    },
    Ban {
        files: |_| true,
        part: Part::CodeAndComments,
        words: &["TODO", "FIXME"],
        says: "nothing is left undone: an open end is an issue",
    },
    Ban {
        files: Source::is_rust,
        part: Part::Code,
        words: &["unsafe"],
        says: "there is no unsafe code",
    },
];

/// The banned words of one file.
pub(super) fn findings(source: &Source) -> Vec<Finding> {
    let bans = BANS.iter().filter(|ban| (ban.files)(source));
    bans.flat_map(|ban| hits(ban, ban.part.of(source)))
        .collect()
}

fn hits(ban: &'static Ban, text: &str) -> Vec<Finding> {
    let mut hits = Vec::new();
    for word in ban.words {
        let why = || format!("`{word}`: {}", ban.says);
        hits.extend(occurrences(text, word).map(|place| Finding::new(text, place, why())));
    }
    hits
}

fn is_connection(source: &Source) -> bool {
    source.path.starts_with("mcp-protocol/src/connection")
}

/// The places that may name an era. A new one is a decision about the architecture.
fn knows_eras(source: &Source) -> bool {
    const LISTED: &[&str] = &[
        "mcp-server/src/rounds.rs",
        "mcp-client/src/connect.rs",
        "mcp-client/src/answers.rs",
        "mcp-transport-http/src/server.rs",
        "mcp-transport-http/src/client.rs",
    ];
    let folders = ["mcp-protocol/", "examples/", "xtask/"];
    source.is_test()
        || folders.iter().any(|folder| source.path.starts_with(folder))
        || LISTED.contains(&source.path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<Finding> {
        findings(&Source::new(path.to_owned(), text.to_owned()))
    }

    #[track_caller]
    fn refused(path: &str, text: &str, line: usize, word: &str) {
        let found = found(path, text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].line, line);
        assert!(
            found[0].why.starts_with(&format!("`{word}`: ")),
            "{found:?}"
        );
    }

    #[track_caller]
    fn fine(path: &str, text: &str) {
        assert_eq!(found(path, text), []);
    }

    #[test]
    fn eras_stay_where_they_are_decided() {
        refused(
            "mcp-server/src/router.rs",
            "fn f() {\n    Era::Legacy;\n}",
            2,
            "Era",
        );
        fine("mcp-server/src/rounds.rs", "fn f() { Era::Legacy; }");
        fine("mcp-protocol/src/version.rs", "fn f() { Era::Legacy; }");
        fine("mcp-server/tests/serve.rs", "fn f() { Era::Legacy; }");
        fine(
            "mcp-server/src/router.rs",
            "/// Any Era.\nfn f() { \"Era\"; Erase; }",
        );
        fine(
            "mcp-server/src/router.rs",
            "#[cfg(test)]\nmod tests {\n    fn f() { Era::Legacy; }\n}",
        );
        refused(
            "mcp-server/src/router.rs",
            "#[cfg(test)]\nmod tests { fn f() {} }\nuse a::Era;",
            3,
            "Era",
        );
    }

    #[test]
    fn a_connection_is_a_value() {
        let path = "mcp-protocol/src/connection/calls.rs";
        refused(path, "fn f() { Instant::now() }", 1, "Instant::now");
        refused(path, "fn f() { SystemTime::UNIX_EPOCH }", 1, "SystemTime");
        refused(path, "fn f() { x.await }", 1, ".await");
        refused(path, "async fn f() {}", 1, "async");
        refused(path, "use std::sync::Mutex;", 1, "Mutex");
        refused(path, "fn f() { spawn(x) }", 1, "spawn");
        refused(
            "mcp-protocol/src/connection.rs",
            "fn f() { log::warn(1) }",
            1,
            "log::",
        );
        fine(
            path,
            "fn log(now: Instant) {} // never calls Instant::now, never awaits: .await",
        );
        fine(
            path,
            "#[cfg(test)]\nmod tests { fn f() { Instant::now() } }",
        );
        fine("mcp-server/src/serve.rs", "async fn f() { Instant::now() }");
    }

    #[test]
    fn the_protocol_crate_has_no_runtime() {
        refused(
            "mcp-protocol/src/transport.rs",
            "use tokio::io::AsyncRead;",
            1,
            "tokio",
        );
        refused(
            "mcp-protocol/Cargo.toml",
            "[dependencies]\ntracing = \"1\"",
            2,
            "tracing",
        );
        fine(
            "mcp-protocol/src/transport.rs",
            "//! Works with tokio and without.",
        );
    }

    #[test]
    fn a_transport_knows_no_method() {
        refused(
            "mcp-transport-stdio/src/framed.rs",
            "fn f() { x == \"tools/call\" }",
            1,
            "tools/",
        );
        refused(
            "mcp-transport-http/src/server.rs",
            "fn f() {\n x == r#\"initialize\"# }",
            2,
            "initialize",
        );
        fine(
            "mcp-transport-stdio/src/framed.rs",
            "/// Say `tools/call`: \"tools/call\".\nfn f() {}",
        );
        fine(
            "mcp-transport-stdio/tests/pair.rs",
            "fn f() { \"tools/call\" }",
        );
        fine(
            "mcp-transport-stdio/src/framed.rs",
            "#[cfg(test)]\nmod tests { const A: &str = \"tools/call\"; }",
        );
    }

    #[test]
    fn nothing_is_left_undone() {
        for word in ["todo!", "unimplemented!", "dbg!"] {
            refused(
                "mcp-server/src/serve.rs",
                &format!("fn f() {{\n{word}() }}"),
                2,
                word,
            );
            refused(
                "mcp-server/tests/serve.rs",
                &format!("/// {word}()\nfn f() {{}}"),
                1,
                word,
            );
        }
        refused(
            "mcp-server/tests/serve.rs",
            "#[test]\n#[ignore]\nfn f() {}",
            2,
            "#[ignore",
        );
        refused(
            "mcp-server/tests/serve.rs",
            "#[ignore = \"slow\"]\nfn f() {}",
            1,
            "#[ignore",
        );
        refused(
            "mcp-server/src/serve.rs",
            "/// ```ignore\n/// ```\nfn f() {}",
            1,
            "```ignore",
        );
        fine(
            "mcp-server/src/serve.rs",
            "const WORDS: &str = \"todo!\"; fn my_dbg() {}",
        );
        fine("mcp-server/tests/ui/on_enum.rs", "fn f() { todo!() }");
        for mark in ["TODO", "FIXME"] {
            refused(
                "mcp-server/src/serve.rs",
                &format!("fn f() {{}} // {mark} later"),
                1,
                mark,
            );
            refused(
                "README.md",
                &format!("# Title\n\n{mark}: write this"),
                3,
                mark,
            );
        }
    }

    #[test]
    fn there_is_no_unsafe_code() {
        refused(
            "mcp-server/src/serve.rs",
            "fn f() { unsafe { x() } }",
            1,
            "unsafe",
        );
        fine(
            "mcp-server/src/serve.rs",
            "#![forbid(unsafe_code)] // unsafe\nfn f() { \"unsafe\"; }",
        );
    }
}
