//! One text for a JSON value, whatever order and space its members are in.
//!
//! Scalars keep their text: as a number of Rust's, `1e999` would be none, and of two long
//! integers one could be taken for the other.

use std::collections::BTreeMap;

use mcp_protocol::RawJson;

/// Deeper values are refused, as serde_json refuses them.
const DEPTH: usize = 128;

/// The text; `None` of a value that two readers could read differently: one with half a
/// surrogate pair or with a member that is there twice, or one that is too deep.
///
/// Reads each byte once, so that a client gains nothing by nesting.
pub(crate) fn canonical(json: &RawJson) -> Option<String> {
    let mut out = String::with_capacity(json.as_bytes().len());
    Reader(json.as_str()).value(DEPTH, &mut out)?;
    Some(out)
}

/// What is left of a text that is known to be well-formed.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn value(&mut self, depth: usize, out: &mut String) -> Option<()> {
        match self.peek() {
            '{' => self.object(depth.checked_sub(1)?, out),
            '[' => self.array(depth.checked_sub(1)?, out),
            '"' => {
                out.push_str(&self.string()?);
                Some(())
            }
            _ => {
                let end = |letter: char| matches!(letter, ',' | ']' | '}') || is_space(letter);
                let end = self.0.find(end).unwrap_or(self.0.len());
                let (scalar, rest) = self.0.split_at(end);
                out.push_str(scalar);
                self.0 = rest;
                Some(())
            }
        }
    }

    fn object(&mut self, depth: usize, out: &mut String) -> Option<()> {
        let mut members = BTreeMap::new();
        while self.next_item('}') {
            let name = self.string()?;
            self.peek();
            self.skip(); // the colon
            let mut value = String::new();
            self.value(depth, &mut value)?;
            if members.insert(name, value).is_some() {
                return None;
            }
        }
        out.push('{');
        for (name, value) in members {
            out.extend([&*name, ":", &*value, ","]);
        }
        out.push('}');
        Some(())
    }

    fn array(&mut self, depth: usize, out: &mut String) -> Option<()> {
        out.push('[');
        while self.next_item(']') {
            self.value(depth, out)?;
            out.push(',');
        }
        out.push(']');
        Some(())
    }

    /// Steps over the bracket or the comma before the next item of an object or an array; over
    /// its end, if there is none.
    fn next_item(&mut self, end: char) -> bool {
        let at_end = self.peek() == end;
        self.skip();
        if at_end {
            return false;
        }
        let is_empty = self.peek() == end;
        if is_empty {
            self.skip();
        }
        !is_empty
    }

    /// A string with the escapes that serde_json writes.
    fn string(&mut self) -> Option<String> {
        self.peek();
        let mut escaped = false;
        let end = self.0.get(1..)?.find(|letter| {
            let end = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            end
        })?;
        let (text, rest) = self.0.split_at_checked(end + 2)?;
        self.0 = rest;
        let text: String = serde_json::from_str(text).ok()?;
        RawJson::encode(&text).ok().map(|json| json.to_string())
    }

    /// The next letter that is no white space, and the one that is read next.
    fn peek(&mut self) -> char {
        self.0 = self.0.trim_start_matches(is_space);
        self.0.chars().next().unwrap_or_default()
    }

    fn skip(&mut self) {
        self.0 = self.0.get(1..).unwrap_or_default();
    }
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        canonical(&RawJson::parse(text.to_owned()).expect("JSON"))
    }

    #[test]
    fn order_space_and_escapes_do_not_matter() {
        let same = [
            r#"{"b":[1,{"d":true,"c":null}],"a":"é/\"","":{},"e":[]}"#,
            " { \"\" : { } , \"e\":[\t],\n\"a\":\"\\u00e9\\/\\u0022\", \"b\" :[ 1 , { \"c\" : null ,\"d\":true}\r] } ",
        ];
        let text = of(same[0]).expect("it can be read");
        assert_eq!(
            text,
            r#"{"":{},"a":"é/\"","b":[1,{"c":null,"d":true,},],"e":[],}"#
        );
        assert_eq!(of(same[1]), Some(text));
    }

    #[test]
    fn numbers_are_texts() {
        let texts = [
            "1e999",
            "1e998",
            "-0",
            "0",
            "1",
            "1.0",
            "170141183460469231731687303715884105727",
            "170141183460469231731687303715884105728",
        ];
        for text in texts {
            assert_eq!(of(text).as_deref(), Some(text));
            assert_eq!(of(&format!(" [ {text} ] ")), Some(format!("[{text},]")));
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for text in [
            r#"{"a":1,"b":2,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"a":{"b":["\ud800"]}}"#,
            r#"{"\udc00":1}"#,
            &deep(DEPTH + 1),
            &deep(1_000_000),
        ] {
            assert_eq!(of(text), None, "{text:.20}");
        }
        assert!(of(&deep(DEPTH)).is_some());
        assert!(of(r#"{"a":"\ud83d\ude00"}"#).is_some());
    }
}
