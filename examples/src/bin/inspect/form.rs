//! The fields of a question: how they are shown, and what a line of text is for them.

use mcp_client::types::{
    MultiSelectSchema, NumberKind, NumberSchema, PrimitiveSchema, RequestedSchema,
    SingleSelectSchema, StringFormat, StringSchema,
};
use serde_json::{Number, Value};

/// One field of a form.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    schema: &'a PrimitiveSchema,
    is_required: bool,
}

/// The value of a choice, and its name for people.
type Choice = (String, String);

impl<'a> Field<'a> {
    pub(crate) fn all(form: &'a RequestedSchema) -> Vec<Self> {
        let required = form.required.as_deref().unwrap_or_default();
        let fields = form.properties.iter().map(|(name, schema)| Self {
            name,
            schema,
            is_required: required.iter().any(|known| known == name),
        });
        fields.collect()
    }

    /// What the user sees before the line to be filled in.
    pub(crate) fn heading(&self) -> String {
        let (title, description) = match self.schema {
            PrimitiveSchema::String(schema) => (&schema.title, &schema.description),
            PrimitiveSchema::Number(schema) => (&schema.title, &schema.description),
            PrimitiveSchema::Boolean(schema) => (&schema.title, &schema.description),
            PrimitiveSchema::SingleSelect(schema) => (&schema.title, &schema.description),
            PrimitiveSchema::MultiSelect(schema) => (&schema.title, &schema.description),
            _ => (&None, &None),
        };
        let need = if self.is_required {
            ""
        } else {
            ", may be left out"
        };
        let title = title.as_deref().unwrap_or(self.name);
        let mut text = format!("{title} ({}{need})", self.kind());
        if let Some(description) = description {
            text += &format!("\n    {description}");
        }
        for (number, (value, name)) in (1..).zip(self.choices()) {
            text += &match value == name {
                true => format!("\n    {number}. {value}"),
                false => format!("\n    {number}. {name} ({value})"),
            };
        }
        text
    }

    fn kind(&self) -> String {
        match self.schema {
            PrimitiveSchema::String(schema) => {
                let kind = schema.format.as_ref().map_or("text", StringFormat::as_str);
                let length = range(schema.min_length, schema.max_length);
                format!(
                    "{kind}{}",
                    length.map(|range| range + " letters").unwrap_or_default()
                )
            }
            PrimitiveSchema::Number(schema) => {
                let range = range(schema.minimum.as_ref(), schema.maximum.as_ref());
                format!("{}{}", schema.kind, range.unwrap_or_default())
            }
            PrimitiveSchema::Boolean(_) => "yes or no".to_owned(),
            PrimitiveSchema::SingleSelect(_) => "one of".to_owned(),
            PrimitiveSchema::MultiSelect(schema) => {
                let range = range(schema.min_items, schema.max_items);
                format!("any of{}, with commas between", range.unwrap_or_default())
            }
            _ => "JSON".to_owned(),
        }
    }

    /// What an empty line stands for.
    fn default(&self) -> Option<Value> {
        match self.schema {
            PrimitiveSchema::String(schema) => schema.default_value.clone().map(Value::from),
            PrimitiveSchema::Number(schema) => schema.default_value.clone().map(Value::from),
            PrimitiveSchema::Boolean(schema) => schema.default_value.map(Value::from),
            PrimitiveSchema::SingleSelect(schema) => schema.default_value.clone().map(Value::from),
            PrimitiveSchema::MultiSelect(schema) => schema.default_value.clone().map(Value::from),
            _ => None,
        }
    }

    /// The line that would stand for the default, too.
    pub(crate) fn default_line(&self) -> Option<String> {
        Some(match self.default()? {
            Value::String(text) => text,
            Value::Bool(yes) => if yes { "yes" } else { "no" }.to_owned(),
            Value::Array(values) => {
                let values = values.iter().filter_map(Value::as_str);
                values.collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        })
    }

    /// The value of an empty line; none leaves the field out.
    pub(crate) fn empty(&self) -> Result<Option<Value>, String> {
        match (self.default(), self.schema) {
            (None, PrimitiveSchema::MultiSelect(_)) if self.is_required => self.read("").map(Some),
            (None, _) if self.is_required => Err("it must be filled in".to_owned()),
            (default, _) => Ok(default),
        }
    }

    /// The value that a line stands for.
    pub(crate) fn read(&self, line: &str) -> Result<Value, String> {
        match self.schema {
            PrimitiveSchema::String(schema) => text(schema, line).map(Value::from),
            PrimitiveSchema::Number(schema) => number(schema, line.trim()).map(Value::from),
            PrimitiveSchema::Boolean(_) => yes_or_no(line.trim()).map(Value::from),
            PrimitiveSchema::SingleSelect(_) => self.choice(line).map(Value::from),
            PrimitiveSchema::MultiSelect(schema) => self.several(schema, line).map(Value::from),
            _ => serde_json::from_str(line).map_err(|error| format!("no JSON: {error}")),
        }
    }

    fn choices(&self) -> Vec<Choice> {
        match self.schema {
            PrimitiveSchema::SingleSelect(SingleSelectSchema {
                one_of: Some(titled),
                ..
            }) => titled
                .iter()
                .map(|choice| (choice.value.clone(), choice.title.clone()))
                .collect(),
            PrimitiveSchema::SingleSelect(schema) => {
                let names = schema.choice_names.as_deref().unwrap_or_default();
                let values = schema.choices.iter().flatten().enumerate();
                let named = values
                    .map(|(at, value)| (value.clone(), names.get(at).unwrap_or(value).clone()));
                named.collect()
            }
            PrimitiveSchema::MultiSelect(schema) => {
                let plain = schema.items.choices.iter().flatten();
                let plain = plain.map(|value| (value.clone(), value.clone()));
                let titled = schema.items.any_of.iter().flatten();
                let titled = titled.map(|choice| (choice.value.clone(), choice.title.clone()));
                plain.chain(titled).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A choice by its value, else by its name, else by its number in the list.
    fn choice(&self, word: &str) -> Result<String, String> {
        let (word, choices) = (word.trim(), self.choices());
        let by_value = choices.iter().find(|(value, _)| value == word);
        let by_name = || {
            choices
                .iter()
                .find(|(_, name)| name.eq_ignore_ascii_case(word))
        };
        let by_number = || choices.get(word.parse::<usize>().ok()?.checked_sub(1)?);
        let found = by_value.or_else(by_name).or_else(by_number);
        found
            .map(|(value, _)| value.clone())
            .ok_or_else(|| format!("`{word}` is no choice"))
    }

    fn several(&self, schema: &MultiSelectSchema, line: &str) -> Result<Vec<String>, String> {
        let words = line.split(',').filter(|word| !word.trim().is_empty());
        let mut chosen = words
            .map(|word| self.choice(word))
            .collect::<Result<Vec<_>, _>>()?;
        chosen.sort();
        chosen.dedup();
        let count = chosen.len() as u64;
        let fits = schema.min_items.is_none_or(|least| count >= least)
            && schema.max_items.is_none_or(|most| count <= most);
        let range = range(schema.min_items, schema.max_items).unwrap_or_default();
        fits.then_some(chosen)
            .ok_or_else(|| format!("{count} are chosen; needed{range}"))
    }
}

fn text<'a>(schema: &StringSchema, line: &'a str) -> Result<&'a str, String> {
    let length = line.chars().count() as u64;
    if schema.min_length.is_some_and(|least| length < least) {
        return Err("it is too short".to_owned());
    }
    if schema.max_length.is_some_and(|most| length > most) {
        return Err("it is too long".to_owned());
    }
    let fits = match &schema.format {
        Some(StringFormat::Email) => line
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty()),
        Some(StringFormat::Uri) => line.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.starts_with(|letter: char| letter.is_ascii_alphabetic()) && !rest.is_empty()
        }),
        Some(StringFormat::Date) => is_date(line),
        Some(StringFormat::DateTime) => line.split_once(['T', 't']).is_some_and(|(date, time)| {
            let clock = time
                .get(..8)
                .is_some_and(|clock| fits_pattern(clock, "00:00:00"));
            is_date(date) && clock && time.len() > 8
        }),
        _ => true,
    };
    let kind = schema.format.as_ref().map_or("text", StringFormat::as_str);
    fits.then_some(line)
        .ok_or_else(|| format!("it is no {kind}"))
}

fn is_date(text: &str) -> bool {
    fits_pattern(text, "0000-00-00")
}

/// Whether there is a digit for each `0`, and the same letter for each other one.
fn fits_pattern(text: &str, pattern: &str) -> bool {
    let fits = |(letter, wanted): (u8, u8)| match wanted {
        b'0' => letter.is_ascii_digit(),
        _ => letter == wanted,
    };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(fits)
}

fn number(schema: &NumberSchema, word: &str) -> Result<Number, String> {
    let number: Number = word.parse().map_err(|_| format!("`{word}` is no number"))?;
    if schema.kind == NumberKind::Integer && number.is_f64() {
        return Err(format!("`{word}` is no whole number"));
    }
    let value = number.as_f64();
    let below = schema
        .minimum
        .as_ref()
        .is_some_and(|least| value < least.as_f64());
    let above = schema
        .maximum
        .as_ref()
        .is_some_and(|most| value > most.as_f64());
    match below || above {
        true => Err(format!(
            "`{word}` is not{}",
            range(schema.minimum.as_ref(), schema.maximum.as_ref()).unwrap_or_default()
        )),
        false => Ok(number),
    }
}

fn yes_or_no(word: &str) -> Result<bool, String> {
    match word.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Ok(true),
        "n" | "no" | "false" => Ok(false),
        _ => Err(format!("`{word}` is neither yes nor no")),
    }
}

fn range<T: ToString>(least: Option<T>, most: Option<T>) -> Option<String> {
    Some(match (least, most) {
        (Some(least), Some(most)) => format!(" from {} to {}", least.to_string(), most.to_string()),
        (Some(least), None) => format!(" from {}", least.to_string()),
        (None, Some(most)) => format!(" up to {}", most.to_string()),
        (None, None) => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What lines are for a field that need not be filled in.
    #[track_caller]
    fn check(schema: Value, lines: &[(&str, Result<Value, &str>)]) {
        let form = json!({ "type": "object", "properties": { "field": schema } });
        let form: RequestedSchema = serde_json::from_value(form).expect("it is a form");
        for (line, expected) in lines {
            let read = Field::all(&form)[0].read(line);
            assert_eq!(read, expected.clone().map_err(str::to_owned), "{line}");
        }
    }

    #[test]
    fn a_text_is_as_long_as_it_may_be() {
        check(
            json!({ "type": "string", "minLength": 2, "maxLength": 3 }),
            &[
                ("é", Err("it is too short")),
                ("éé", Ok(json!("éé"))),
                ("éééé", Err("it is too long")),
            ],
        );
    }

    #[test]
    fn a_text_is_of_its_format() {
        for (format, good, bad) in [
            ("email", "a@b", "@b"),
            ("uri", "urn:a", "a b"),
            ("date", "2026-07-28", "28.7.2026"),
            ("date-time", "2026-07-28T01:02:03Z", "2026-07-28T01:02:0é"),
            ("unheard-of", "anything", ""),
        ] {
            let why = format!("it is no {format}");
            let bad = (bad, Err(why.as_str()));
            let bad = if format == "unheard-of" {
                ("", Ok(json!("")))
            } else {
                bad
            };
            check(
                json!({ "type": "string", "format": format }),
                &[(good, Ok(json!(good))), bad],
            );
        }
    }

    #[test]
    fn a_number_is_in_its_range() {
        check(
            json!({ "type": "integer", "minimum": 1, "maximum": 5 }),
            &[
                (" 5 ", Ok(json!(5))),
                ("0", Err("`0` is not from 1 to 5")),
                ("6", Err("`6` is not from 1 to 5")),
                ("2.5", Err("`2.5` is no whole number")),
                ("five", Err("`five` is no number")),
            ],
        );
        check(
            json!({ "type": "number" }),
            &[("2.5", Ok(json!(2.5))), ("-1", Ok(json!(-1)))],
        );
    }

    #[test]
    fn yes_and_no_have_several_words() {
        check(
            json!({ "type": "boolean" }),
            &[
                ("Y", Ok(json!(true))),
                ("no", Ok(json!(false))),
                ("1", Err("`1` is neither yes nor no")),
            ],
        );
    }

    #[test]
    fn a_choice_has_a_value_a_name_and_a_number() {
        let titled = json!([{ "const": "b", "title": "Bee" }, { "const": "1", "title": "One" }]);
        check(
            json!({ "type": "string", "oneOf": titled }),
            &[
                ("b", Ok(json!("b"))),
                ("bee", Ok(json!("b"))),
                ("1", Ok(json!("1"))),
                ("2", Ok(json!("1"))),
                ("0", Err("`0` is no choice")),
                ("c", Err("`c` is no choice")),
            ],
        );
        check(
            json!({ "type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"] }),
            &[("why", Ok(json!("y")))],
        );
    }

    #[test]
    fn several_choices_have_commas_between() {
        let items = json!({ "type": "string", "enum": ["a", "b", "c"] });
        check(
            json!({ "type": "array", "items": items, "minItems": 1, "maxItems": 2 }),
            &[
                ("b, a,b", Ok(json!(["a", "b"]))),
                ("", Err("0 are chosen; needed from 1 to 2")),
                ("a,b,c", Err("3 are chosen; needed from 1 to 2")),
                ("a,d", Err("`d` is no choice")),
            ],
        );
    }

    #[test]
    fn an_empty_line_is_the_default_or_leaves_out() {
        let form = json!({
            "type": "object",
            "properties": {
                "optional": { "type": "string" },
                "needed": { "type": "string" },
                "default": { "type": "integer", "default": 7 },
                "none": { "type": "array", "items": { "enum": ["a"] } },
                "odd": { "type": "object" },
            },
            "required": ["needed", "default", "none"],
        });
        let form: RequestedSchema = serde_json::from_value(form).expect("it is a form");
        let fields = Field::all(&form);
        let empty = |name: &str| {
            fields
                .iter()
                .find(|field| field.name == name)
                .map(Field::empty)
        };
        assert_eq!(empty("optional"), Some(Ok(None)));
        assert_eq!(
            empty("needed"),
            Some(Err("it must be filled in".to_owned()))
        );
        assert_eq!(empty("default"), Some(Ok(Some(json!(7)))));
        assert_eq!(empty("none"), Some(Ok(Some(json!([])))));
        assert_eq!(empty("odd"), Some(Ok(None)));
    }

    #[test]
    fn a_field_says_what_it_takes() {
        let form = json!({
            "type": "object",
            "properties": {
                "size": {
                    "type": "integer", "title": "Size", "description": "Of the box.",
                    "minimum": 1, "default": 2,
                },
                "kind": { "type": "string", "enum": ["x"], "enumNames": ["Ex"] },
            },
            "required": ["size"],
        });
        let form: RequestedSchema = serde_json::from_value(form).expect("it is a form");
        let headings: Vec<_> = Field::all(&form).iter().map(Field::heading).collect();
        assert_eq!(
            headings,
            [
                "kind (one of, may be left out)\n    1. Ex (x)",
                "Size (integer from 1)\n    Of the box.",
            ]
        );
    }
}
