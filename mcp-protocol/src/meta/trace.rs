//! Where a request stands in a distributed trace, read out of its `_meta`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::RequestMeta;
use crate::jsonrpc::RawJson;
use crate::wire::Key;

/// Where a request stands in a distributed trace: the two values of W3C Trace Context.
///
/// They are checked, so that a propagator can be given them as they are. What is not as the
/// format wants it is no trace context; as a member of `_meta` it can still be seen.
///
/// ```
/// use mcp_protocol::{RawJson, RequestMeta};
///
/// let text = r#"{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}"#;
/// let meta: RequestMeta = RawJson::parse(text)?.decode()?;
/// let trace = meta.trace_context().expect("it is well-formed");
/// assert_eq!(trace.trace_id(), "0af7651916cd43dd8448eb211c80319c");
/// assert_eq!(trace.parent_id(), "b7ad6b7169203331");
/// assert!(trace.is_sampled());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Spec: [`_meta`](https://modelcontextprotocol.io/specification/2026-07-28/basic#meta),
/// [Trace Context](https://www.w3.org/TR/trace-context-2/).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext<'a> {
    parent: Cow<'a, str>,
    state: Option<Cow<'a, str>>,
}

impl TraceContext<'_> {
    /// The `traceparent`: version, trace, parent and flags.
    #[must_use]
    pub fn traceparent(&self) -> &str {
        &self.parent
    }

    /// The `tracestate`: what tracing systems add of their own. One that is malformed is left
    /// out and the rest stands.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The trace, as 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        self.field(1)
    }

    /// The span of the sender, as 16 hexadecimal digits.
    #[must_use]
    pub fn parent_id(&self) -> &str {
        self.field(2)
    }

    /// Whether the sender may have recorded its span.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        let flags = u8::from_str_radix(self.field(3), 16);
        flags.is_ok_and(|flags| flags & 1 == 1)
    }

    fn field(&self, number: usize) -> &str {
        self.parent.split('-').nth(number).unwrap_or_default()
    }
}

impl RequestMeta {
    /// Where the request stands in a distributed trace, if the sender says so in the way it
    /// should.
    #[must_use]
    pub fn trace_context(&self) -> Option<TraceContext<'_>> {
        let parent = self.text("traceparent").filter(|text| is_parent(text))?;
        let state = self.text("tracestate").filter(|text| is_state(text));
        Some(TraceContext { parent, state })
    }

    /// What the sender gives along with a trace, or without one: pairs of names and values, as
    /// text that is well-formed. It comes from the client, and nothing else about it has been
    /// checked.
    ///
    /// Spec: [Baggage](https://www.w3.org/TR/baggage/).
    #[must_use]
    pub fn baggage(&self) -> Option<Cow<'_, str>> {
        self.text("baggage").filter(|text| is_baggage(text))
    }

    fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        let value = self.extra.get(key).map(RawJson::as_bytes)?;
        serde_json::from_slice::<Key<'_>>(value).ok().map(Key::into)
    }
}

/// `00-<trace>-<parent>-<flags>`. Of a version that is not known, what is known comes first.
fn is_parent(text: &str) -> bool {
    let mut fields = text.splitn(5, '-');
    let mut hex = |digits| {
        let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let field = fields.next();
        field.filter(|field| field.len() == digits && field.bytes().all(lower))
    };
    let zero = |id: &str| id.bytes().all(|digit| digit == b'0');
    let (Some(version), Some(trace), Some(parent), Some(_)) = (hex(2), hex(32), hex(16), hex(2))
    else {
        return false;
    };
    let has_more = fields.next().is_some();
    let is_known = match version {
        "00" => !has_more,
        version => version != "ff",
    };
    is_known && !zero(trace) && !zero(parent)
}

/// At most 32 of `<key>=<value>`, with commas between them. Some may be empty, and no key may
/// be there twice.
fn is_state(text: &str) -> bool {
    let mut keys = BTreeSet::new();
    let mut members = text
        .split(',')
        .map(trim)
        .filter(|member| !member.is_empty());
    let mut first = members.by_ref().take(32);
    first.all(|member| state_key(member).is_some_and(|key| keys.insert(key)))
        && members.next().is_none()
}

/// The key of a well-formed `<key>=<value>`.
fn state_key(member: &str) -> Option<&str> {
    let (key, value) = member.split_once('=')?;
    let in_key =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/@".contains(&byte);
    let in_value = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'=';
    let begins = key.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let fits = |part: &str| (1..=256).contains(&part.len());
    let is_key = begins && fits(key) && key.bytes().all(in_key);
    (is_key && fits(value) && value.bytes().all(in_value)).then_some(key)
}

/// `<name>=<value>`, each with properties after semicolons, with commas between them.
fn is_baggage(text: &str) -> bool {
    let is_name = |name: &str| {
        let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !name.is_empty() && name.bytes().all(in_name)
    };
    let is_value = |value: &str| {
        let in_value = |byte: u8| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte);
        value.bytes().all(in_value)
    };
    let is_pair = |pair: &str| {
        pair.split_once('=')
            .is_some_and(|(name, value)| is_name(trim(name)) && is_value(trim(value)))
    };
    text.split(',').all(|member| {
        let mut parts = member.split(';').map(trim);
        parts.next().is_some_and(is_pair) && parts.all(|part| is_name(part) || is_pair(part))
    })
}

/// Without the white space that may stand around a member.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn meta(meta: serde_json::Value) -> RequestMeta {
        serde_json::from_value(meta).expect("it is an object")
    }

    #[test]
    fn a_parent_is_of_four_fields() {
        let mut good = vec![PARENT.to_owned(), PARENT.replace("-01", "-fe")];
        // A later version may have more to say.
        good.extend([
            PARENT.replacen("00", "cc", 1),
            format!("cc{}-x-y", &PARENT[2..]),
        ]);
        for parent in good {
            let meta = meta(json!({ "traceparent": parent }));
            let trace = meta.trace_context().expect("it is well-formed");
            assert_eq!(trace.traceparent(), parent);
            assert_eq!(trace.trace_id(), "0af7651916cd43dd8448eb211c80319c");
            assert_eq!(trace.parent_id(), "b7ad6b7169203331");
            assert_eq!(trace.is_sampled(), !parent.ends_with("fe"));
        }
        let zeros = "0".repeat(32);
        let bad = [
            String::new(),
            PARENT.to_uppercase(),
            PARENT.replacen("00", "ff", 1),
            PARENT.replace("0af7651916cd43dd8448eb211c80319c", &zeros),
            PARENT.replace("b7ad6b7169203331", &zeros[..16]),
            PARENT.replace('-', "_"),
            PARENT.replace("-01", "-0é"),
            PARENT[..54].to_owned(),
            format!("{PARENT}0"),
            format!("{PARENT}-00"),
            format!(" {PARENT}"),
        ];
        for parent in bad {
            let meta = meta(json!({ "traceparent": parent, "tracestate": "a=b" }));
            assert_eq!(meta.trace_context(), None, "{parent:?}");
        }
        for parent in [json!(null), json!(7), json!([PARENT]), json!({})] {
            assert_eq!(meta(json!({ "traceparent": parent })).trace_context(), None);
        }
    }

    #[test]
    fn a_malformed_state_leaves_the_parent() {
        let state = |state: &str| {
            let meta = meta(json!({ "traceparent": PARENT, "tracestate": state }));
            let trace = meta.trace_context().expect("the parent is well-formed");
            trace.tracestate().map(str::to_owned)
        };
        let many = |count| {
            let members = (0..count).map(|n| format!("a{n}=b"));
            members.collect::<Vec<_>>().join(",")
        };
        let long = "x".repeat(256);
        let good = [
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
            "0@a=b c\"\\,\t,z*-_/=~ ",
            "",
            &format!("{long}={long}"),
            &many(32),
        ];
        for text in good {
            assert_eq!(state(text).as_deref(), Some(text));
        }
        let bad = [
            "a",
            "a=",
            "=b",
            "A=b",
            "@a=b",
            "a=b=c",
            "a=é",
            "a=b\n",
            &format!("{long}x=b"),
            &format!("a={long}x"),
            &many(33),
            "a=b,c=d, a=e",
        ];
        for text in bad {
            assert_eq!(state(text), None, "{text:?}");
        }
    }

    #[test]
    fn baggage_is_pairs() {
        let baggage = |text: &str| {
            let meta = meta(json!({ "baggage": text }));
            meta.baggage().map(Cow::into_owned)
        };
        let good = [
            "userId=alice,serverNode=DF%2028,isProduction=false",
            "a = b ; p ; q = r\t, c=",
            "a=b=c/d",
        ];
        for text in good {
            assert_eq!(baggage(text).as_deref(), Some(text));
        }
        for text in [
            "", "a", "=b", "a=b,", "a b=c", "a=b c", "a=\"b\"", "a=b;", "a=é", "é=a",
        ] {
            assert_eq!(baggage(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_malformed_is_seen_as_it_came() {
        let meta = meta(json!({ "traceparent": "x", "baggage": 7 }));
        assert_eq!((meta.trace_context(), meta.baggage()), (None, None));
        let seen = |key| meta.extra.get(key).map(RawJson::as_str);
        assert_eq!(seen("traceparent"), Some("\"x\""));
        assert_eq!(seen("baggage"), Some("7"));
    }
}
