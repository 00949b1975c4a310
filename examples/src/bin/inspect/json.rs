//! JSON to be read by people, with its members and numbers as they came.

use std::fmt;

use mcp_client::RawJson;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// What fits on a line with others is not spread over many.
const SHORT: usize = 60;

/// The members of an object, in order.
#[derive(Default)]
pub(crate) struct Members(pub(crate) Vec<(String, RawJson)>);

impl Members {
    /// None, if it is no object.
    pub(crate) fn of(value: &RawJson) -> Self {
        value.decode().unwrap_or_default()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&RawJson> {
        let member = self.0.iter().find(|(known, _)| known == name);
        member.map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members::default();
                while let Some(member) = map.next_entry()? {
                    members.0.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// Spreads a value over lines, if it is long.
pub(crate) fn pretty(value: &RawJson) -> String {
    spread(value, 0)
}

fn spread(value: &RawJson, depth: usize) -> String {
    let members: Vec<String> = match value.as_bytes() {
        text if text.len() <= SHORT => return value.to_string(),
        [b'{', ..] => {
            let members = Members::of(value).0.into_iter();
            let spread = |(name, value)| {
                format!(
                    "{}: {}",
                    serde_json::Value::from(name),
                    spread(&value, depth + 1)
                )
            };
            members.map(spread).collect()
        }
        [b'[', ..] => {
            let items: Vec<RawJson> = value.decode().unwrap_or_default();
            items.iter().map(|item| spread(item, depth + 1)).collect()
        }
        _ => return value.to_string(),
    };
    let (open, close) = match value.is_object() {
        true => ('{', '}'),
        false => ('[', ']'),
    };
    let indent = "  ".repeat(depth);
    let lines = members.join(&format!(",\n{indent}  "));
    format!("{open}\n{indent}  {lines}\n{indent}{close}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_long_is_spread() {
        let long = "x".repeat(SHORT);
        let text = format!(r#"{{"z":1.0,"a":{{"b":[1,2]}},"list":["{long}",[]]}}"#);
        let value = RawJson::parse(text).expect("it is JSON");
        let expected = format!(
            "{{\n  \"z\": 1.0,\n  \"a\": {{\"b\":[1,2]}},\n  \"list\": [\n    \"{long}\",\n    []\n  ]\n}}"
        );
        assert_eq!(pretty(&value), expected);
        assert_eq!(pretty(&RawJson::empty_object()), "{}");
    }
}
