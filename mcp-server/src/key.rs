//! The keys of `_meta` and the identifiers of extensions: labels, a slash, a name.
//!
//! Spec: [`_meta`](https://modelcontextprotocol.io/specification/2026-07-28/basic#meta).

/// Whether a text is a key. The prefix may be left out.
pub(crate) fn is_key(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let is_label = |label: &str| {
        is_word(label, b"-") && label.starts_with(|first: char| first.is_ascii_alphabetic())
    };
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label)) && is_word(name, b"-_.")
}

/// Whether the prefix of a key is one that the specification keeps for itself: the one whose
/// second label is its name.
pub(crate) fn is_reserved(key: &str) -> bool {
    key.split_once('/').is_some_and(|(prefix, _)| {
        let second = prefix.split('.').nth(1);
        matches!(second, Some("modelcontextprotocol" | "mcp"))
    })
}

/// Letters and digits, with some others between them.
fn is_word(word: &str, inner: &[u8]) -> bool {
    let end = |letter: char| letter.is_ascii_alphanumeric();
    let within = |byte: u8| byte.is_ascii_alphanumeric() || inner.contains(&byte);
    word.starts_with(end) && word.ends_with(end) && word.bytes().all(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Covers M11.
    #[test]
    fn a_key_is_a_name_with_or_without_a_prefix() {
        for text in [
            "com.acme/thing",
            "a/b",
            "io.x-1.y/a-b_c.d",
            "com.acme/1",
            "thing",
            "a.b_c-d",
        ] {
            assert!(is_key(text), "{text}");
        }
        for text in [
            "",
            "/",
            "/thing",
            "com.acme/",
            "com..acme/a",
            ".com/a",
            "com./a",
            "1com/a",
            "-a/b",
            "a-/b",
            "a/-b",
            "a/b-",
            "a/b/c",
            "a_b/c",
            "a b/c",
            "\u{e9}/a",
            "a/\u{e9}",
            "a/b c",
            "a b",
            "_a",
            "a\n",
        ] {
            assert!(!is_key(text), "{text}");
        }
    }

    /// Covers M11.
    #[test]
    fn the_second_label_reserves_a_prefix() {
        for key in [
            "io.modelcontextprotocol/x",
            "dev.mcp/x",
            "org.modelcontextprotocol.api/x",
            "com.mcp.tools/x",
        ] {
            assert!(is_reserved(key), "{key}");
        }
        for key in [
            "com.example.mcp/x",
            "mcp/x",
            "modelcontextprotocol.io/x",
            "com.mcps/x",
            "a.mcp",
            "x",
        ] {
            assert!(!is_reserved(key), "{key}");
        }
    }
}
