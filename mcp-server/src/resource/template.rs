//! URI templates, read backwards: which values would a URI have been made of.
//!
//! A template is compiled once into a list of steps. Matching fills a table of which steps can
//! finish from which place of the URI, so its time is the number of steps times the length of
//! the URI, whatever the two are like.
//!
//! Spec: [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570), levels 1 to 3.

use std::collections::BTreeMap;

/// The longest URI that is matched, in bytes. Bounds the table.
const LONGEST_URI: usize = 64 << 10;

/// What the variables of a URI template stand for, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// The value of a variable, if the URI has one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All that have a value, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Why a text is not a URI template that can be matched, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TemplateError {
    /// Bytes before the place.
    pub(crate) at: usize,
    pub(crate) why: &'static str,
}

/// A URI template, ready to be matched.
#[derive(Debug)]
pub(crate) struct UriTemplate {
    variables: Vec<String>,
    steps: Vec<Step>,
}

/// One thing that a URI has to have next.
#[derive(Debug)]
enum Step {
    Literal(Vec<Letter>),
    /// The value of a variable, up to one of these letters.
    Value {
        variable: usize,
        until: &'static [u8],
        may_be_empty: bool,
    },
    /// A variable has a value, even if it should be empty.
    Present(usize),
    /// Goes on with the next step or, if that cannot be, with another.
    Either(usize),
    /// Goes on with another step. It comes later, as with `Either`.
    Jump(usize),
}

/// A letter of a URI. An escaped one is the same as it is by itself only if it means nothing
/// in a URI: `%2F` is no `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Letter {
    byte: u8,
    escaped: bool,
}

impl Letter {
    fn new(byte: u8, escaped: bool) -> Self {
        let reserved = byte.is_ascii() && is_reserved(byte) || byte == b'%';
        Self {
            byte,
            escaped: escaped && reserved,
        }
    }

    fn is_one_of(self, letters: &[u8]) -> bool {
        !self.escaped && letters.contains(&self.byte)
    }
}

impl UriTemplate {
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut template = Self {
            variables: Vec::new(),
            steps: Vec::new(),
        };
        let mut rest = text;
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            if let Some(begun) = rest.strip_prefix('{') {
                let Some((expression, behind)) = begun.split_once('}') else {
                    let why = "a `{` without its `}`";
                    return Err(TemplateError { at, why });
                };
                template.expression(expression, at + 1)?;
                rest = behind;
            } else {
                let (before, behind) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
                template.steps.push(Step::Literal(literal(before, at)?));
                rest = behind;
            }
        }
        Ok(template)
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.variables.iter().any(|variable| variable == name)
    }

    /// Adds what stands between `{` and `}`, and begins `at` this place.
    fn expression(&mut self, text: &str, at: usize) -> Result<(), TemplateError> {
        let known = OPERATORS.iter().find(|known| text.starts_with(known.sign));
        let operator = known.unwrap_or(&SIMPLE);
        let names = text.strip_prefix(operator.sign).unwrap_or(text);
        let first = self.variables.len();
        let mut at = at + operator.sign.len();
        for name in names.split(',') {
            check_name(name, at)?;
            if self.has_variable(name) {
                let why = "a variable that was there before";
                return Err(TemplateError { at, why });
            }
            self.variables.push(name.to_owned());
            at += name.len() + 1;
        }
        let count = self.variables.len() - first;
        if operator.named {
            self.named(operator, first, count);
        } else {
            self.in_order(operator, first, count);
        }
        Ok(())
    }

    /// Values by their place: those at the end may be missing.
    fn in_order(&mut self, operator: &Operator, first: usize, count: usize) {
        let until = if count == 1 {
            operator.until
        } else {
            operator.until_next
        };
        let mut open = Vec::new();
        for index in 0..count {
            let before = if index == 0 {
                operator.first
            } else {
                operator.separator
            };
            if !before.is_empty() {
                open.push(self.push(Step::Either(0)));
                self.steps.push(Step::Literal(raw(before)));
            }
            self.steps.push(Step::Value {
                variable: first + index,
                until,
                may_be_empty: false,
            });
        }
        self.close(&open);
    }

    /// Values by their name: each may be missing. They are there twice, for the one that
    /// comes first begins in another way than those that come later.
    fn named(&mut self, operator: &Operator, first: usize, count: usize) {
        let mut after = Vec::new();
        for variable in first..first + count {
            let without = self.push(Step::Either(0));
            self.pair(operator.first, operator.until, variable);
            after.push(self.push(Step::Jump(0)));
            self.close(&[without]);
        }
        after.push(self.push(Step::Jump(0)));
        for (later, variable) in (first + 1..first + count).enumerate() {
            self.close(&[after[later]]);
            let without = self.push(Step::Either(0));
            self.pair(operator.separator, operator.until, variable);
            self.close(&[without]);
        }
        self.close(&after[count - 1..]);
    }

    /// `&name=value`, or `&name` for an empty value.
    fn pair(&mut self, before: &str, until: &'static [u8], variable: usize) {
        let name = format!("{before}{}", self.variables[variable]);
        self.steps.push(Step::Literal(raw(&name)));
        self.steps.push(Step::Present(variable));
        let bare = self.push(Step::Either(0));
        self.steps.push(Step::Literal(raw("=")));
        self.steps.push(Step::Value {
            variable,
            until,
            may_be_empty: true,
        });
        self.close(&[bare]);
    }

    /// Adds a step, and says where it is.
    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Lets these steps go on with the one that is added next.
    fn close(&mut self, open: &[usize]) {
        let next = self.steps.len();
        for &step in open {
            if let Step::Either(to) | Step::Jump(to) = &mut self.steps[step] {
                *to = next;
            }
        }
    }

    /// The values that this URI was made of, if it was made of this template.
    ///
    /// Where there is a choice, each value is as short as can be. What is escaped is decoded
    /// once; a URI that is not UTF-8 then does not match.
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        if uri.len() > LONGEST_URI {
            return None;
        }
        let uri = letters(uri).ok()?;
        if let Some(Step::Literal(literal)) = self.steps.first() {
            // Most templates are not meant, and this tells without a table.
            uri.starts_with(literal).then_some(())?;
        }
        let finishes = self.finishes(&uri);
        if !finishes[0][0] {
            return None;
        }
        let mut values = vec![None; self.variables.len()];
        let (mut step, mut at) = (0, 0);
        while let Some(this) = self.steps.get(step) {
            step += 1;
            match this {
                Step::Literal(literal) => at += literal.len(),
                Step::Present(variable) => values[*variable] = Some(at..at),
                Step::Either(other) if !finishes[step][at] => step = *other,
                Step::Either(_) => {}
                Step::Jump(to) => step = *to,
                Step::Value {
                    variable,
                    may_be_empty,
                    ..
                } => {
                    let begin = at;
                    at += usize::from(!may_be_empty);
                    while !finishes[step][at] {
                        at += 1;
                    }
                    values[*variable] = Some(begin..at);
                }
            }
        }
        let mut variables = Variables::default();
        for (name, value) in self.variables.iter().zip(values) {
            let Some(value) = value else { continue };
            let value = uri[value].iter().map(|letter| letter.byte).collect();
            let value = String::from_utf8(value).ok()?;
            variables.0.insert(name.clone(), value);
        }
        Some(variables)
    }

    /// For each step and each place, whether the URI from that place on can be all that the
    /// steps from that one on make.
    fn finishes(&self, uri: &[Letter]) -> Vec<Vec<bool>> {
        let mut table = vec![vec![false; uri.len() + 1]; self.steps.len() + 1];
        table[self.steps.len()][uri.len()] = true;
        for (index, step) in self.steps.iter().enumerate().rev() {
            let (these, later) = table.split_at_mut(index + 1);
            let (this, next) = (&mut these[index], &later[0]);
            match step {
                Step::Literal(literal) => {
                    for at in 0..(uri.len() + 1).saturating_sub(literal.len()) {
                        let end = at + literal.len();
                        this[at] = next[end] && uri[at..end] == literal[..];
                    }
                }
                Step::Value {
                    until,
                    may_be_empty,
                    ..
                } => {
                    // Whether a value can go on from a place, having begun before it.
                    let mut goes_on = next[uri.len()];
                    this[uri.len()] = *may_be_empty && goes_on;
                    for at in (0..uri.len()).rev() {
                        let more = goes_on && !uri[at].is_one_of(until);
                        this[at] = more || *may_be_empty && next[at];
                        goes_on = more || next[at];
                    }
                }
                Step::Present(_) => this.clone_from(next),
                Step::Jump(to) => this.clone_from(&later[to - index - 1]),
                Step::Either(other) => {
                    let other = &later[other - index - 1];
                    for (this, (next, other)) in this.iter_mut().zip(next.iter().zip(other)) {
                        *this = *next || *other;
                    }
                }
            }
        }
        table
    }
}

/// What an expression's first letter says of its variables.
#[derive(Debug)]
struct Operator {
    sign: &'static str,
    /// Before the first value.
    first: &'static str,
    /// Before each further one.
    separator: &'static str,
    /// Whether names stand before the values.
    named: bool,
    /// What ends the value of an only variable.
    until: &'static [u8],
    /// What ends the value of one of several.
    until_next: &'static [u8],
}

const SIMPLE: Operator = Operator {
    sign: "",
    first: "",
    separator: ",",
    named: false,
    until: b"/?#",
    until_next: b"/?#,",
};

const OPERATORS: [Operator; 7] = [
    Operator {
        sign: "+",
        until: b"",
        until_next: b",",
        ..SIMPLE
    },
    Operator {
        sign: "#",
        first: "#",
        until: b"",
        until_next: b",",
        ..SIMPLE
    },
    Operator {
        sign: ".",
        first: ".",
        separator: ".",
        until_next: b"/?#.",
        ..SIMPLE
    },
    Operator {
        sign: "/",
        first: "/",
        separator: "/",
        until_next: b"/?#",
        ..SIMPLE
    },
    Operator {
        sign: ";",
        first: ";",
        separator: ";",
        named: true,
        until: b"/?#;",
        until_next: b"/?#;",
    },
    Operator {
        sign: "?",
        first: "?",
        separator: "&",
        named: true,
        until: b"#&",
        until_next: b"#&",
    },
    Operator {
        sign: "&",
        first: "&",
        separator: "&",
        named: true,
        until: b"#&",
        until_next: b"#&",
    },
];

fn check_name(name: &str, at: usize) -> Result<(), TemplateError> {
    if name.is_empty() {
        let why = "a variable without a name";
        return Err(TemplateError { at, why });
    }
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    let wrong = |byte: u8| match byte {
        b'*' | b':' => "a modifier, which is not supported: `{+name}` spans slashes",
        b'=' | b'!' | b'@' | b'|' => "an operator that RFC 6570 reserves",
        _ => "a letter that no variable's name has",
    };
    let mut bytes = name.bytes().enumerate();
    if let Some((place, byte)) = bytes.find(|(_, byte)| !is_letter(*byte)) {
        return Err(TemplateError {
            at: at + place,
            why: wrong(byte),
        });
    }
    match name.split('.').any(str::is_empty) {
        false => Ok(()),
        true => Err(TemplateError {
            at,
            why: "a variable's name with a dot beside nothing",
        }),
    }
}

/// What stands outside of expressions, and begins `at` this place.
fn literal(text: &str, at: usize) -> Result<Vec<Letter>, TemplateError> {
    let never = |byte: u8| byte.is_ascii_control() || b" \"<>\\^`|}".contains(&byte);
    match text.bytes().position(never) {
        Some(place) => Err(TemplateError {
            at: at + place,
            why: "a letter that no URI template has",
        }),
        None => letters(text).map_err(|place| TemplateError {
            at: at + place,
            why: "a `%` without two hexadecimal digits",
        }),
    }
}

/// Letters that are not escaped.
fn raw(text: &str) -> Vec<Letter> {
    let letter = |byte| Letter::new(byte, false);
    text.bytes().map(letter).collect()
}

/// The letters of a URI, or where it has a `%` that escapes nothing.
fn letters(text: &str) -> Result<Vec<Letter>, usize> {
    let mut letters = Vec::with_capacity(text.len());
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        let letter = match byte {
            b'%' => Letter::new(
                escaped(bytes.by_ref().map(|(_, digit)| digit)).ok_or(at)?,
                true,
            ),
            byte => Letter::new(byte, false),
        };
        letters.push(letter);
    }
    Ok(letters)
}

/// The byte that the next two hexadecimal digits stand for.
fn escaped(mut digits: impl Iterator<Item = u8>) -> Option<u8> {
    let mut digit = || char::from(digits.next()?).to_digit(16);
    u8::try_from(digit()? << 4 | digit()?).ok()
}

/// Letters that mean something in a URI: RFC 3986, section 2.2.
fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matched(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        let template = UriTemplate::parse(template).expect("a template");
        let variables = template.matches(uri)?;
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Some(variables.iter().map(owned).collect())
    }

    /// `expected` is `name=value` for each variable, or nothing if there is no match.
    fn check(template: &str, uri: &str, expected: Option<&str>) {
        let shown = matched(template, uri).map(|variables| {
            let pair = |(name, value)| format!("{name}={value}");
            let pairs: Vec<String> = variables.into_iter().map(pair).collect();
            pairs.join(" ")
        });
        assert_eq!(shown.as_deref(), expected, "{template} {uri}");
    }

    /// Covers B-329.
    #[test]
    fn each_operator_gives_back_what_it_was_given() {
        for (template, uri, expected) in [
            ("a://b", "a://b", Some("")),
            ("a://b", "a://b/", None),
            ("a://{x}", "a://1", Some("x=1")),
            ("a://{x}", "a://", None),
            ("a://{x}", "a://1/2", None),
            ("a://{x}", "a://1%2F2", Some("x=1/2")),
            ("a://{x}/{y}", "a://1/2", Some("x=1 y=2")),
            ("a://{x,y}", "a://1,2", Some("x=1 y=2")),
            ("a://{x,y}", "a://1", Some("x=1")),
            ("a://{x,y}", "a://1,2,3", None),
            ("a://{x}", "a://1,2", Some("x=1,2")),
            ("a://{+x}", "a://1/2?3#4", Some("x=1/2?3#4")),
            ("a://{+x}/{y}", "a://1/2/3", Some("x=1/2 y=3")),
            ("a://{+x,y}", "a://1/2,3", Some("x=1/2 y=3")),
            ("a://b{#x}", "a://b#1/2", Some("x=1/2")),
            ("a://b{#x}", "a://b", Some("")),
            ("a://b{.x}", "a://b.tar.gz", Some("x=tar.gz")),
            ("a://b{.x,y}", "a://b.tar.gz", Some("x=tar y=gz")),
            ("a://{x}{.y}", "a://b.gz", Some("x=b y=gz")),
            ("a://{x}{.y}", "a://b", Some("x=b")),
            ("a://b{/x,y}", "a://b/1/2", Some("x=1 y=2")),
            ("a://b{/x,y}", "a://b/1", Some("x=1")),
            ("a://b{/x,y}/z", "a://b/z", Some("")),
            ("a://b{/x}", "a://b/1/2", None),
            ("a://b{;x,y}", "a://b;x=1;y=2", Some("x=1 y=2")),
            ("a://b{;x,y}", "a://b;x;y=2", Some("x= y=2")),
            ("a://b{?x,y}", "a://b?x=1&y=2", Some("x=1 y=2")),
            ("a://b{?x,y}", "a://b?y=2", Some("y=2")),
            ("a://b{?x,y}", "a://b?x=1", Some("x=1")),
            ("a://b{?x,y}", "a://b", Some("")),
            ("a://b{?x,y}", "a://b?x=", Some("x=")),
            ("a://b{?x,y}", "a://b?x&y", Some("x= y=")),
            ("a://b{?x,y}", "a://b&y=2", None),
            ("a://b{?x,y}", "a://b?x=1?y=2", Some("x=1?y=2")),
            ("a://b{?x,y}", "a://b?z=2", None),
            ("a://b{?x,y,z}", "a://b?x=1&z=3", Some("x=1 z=3")),
            ("a://b{?x,y,z}", "a://b?y=2&z=3", Some("y=2 z=3")),
            ("a://b{?x,y,z}#c", "a://b#c", Some("")),
            ("a://b?c=1{&x}", "a://b?c=1&x=a%26b", Some("x=a&b")),
            ("a://{+x}{?q}", "a://1/2?q=3", Some("q=3 x=1/2")),
            ("{+x}", "a://b", Some("x=a://b")),
            ("{x}", "", None),
            ("", "", Some("")),
        ] {
            check(template, uri, expected);
        }
    }

    #[test]
    fn a_literal_may_be_escaped_where_that_means_nothing() {
        check("a://é/{x}", "a://é/1", Some("x=1"));
        check("a://é/{x}", "a://%C3%a9/1", Some("x=1"));
        check("a://%c3%A9/{x}", "a://é/1", Some("x=1"));
        check("a://~b/{x}", "a://%7eb/1", Some("x=1"));
        check("a://b/{x}", "a://b%2F1", None);
        check("a://b%2f{x}", "a://b/1", None);
        check("a://b%2f{x}", "a://b%2F1", Some("x=1"));
        check("a://b%25{x}", "a://b%251", Some("x=1"));
    }

    /// Covers B-327.
    #[test]
    fn a_value_is_decoded_once() {
        check(
            "a://{x}",
            "a://hello%20world.txt",
            Some("x=hello world.txt"),
        );
        check("a://{x}", "a://hello world.txt", Some("x=hello world.txt"));
        check("a://{x}", "a://a%2520b", Some("x=a%20b"));
        check("a://{x}", "a://%C3%A9é", Some("x=éé"));
        for not_a_uri in ["a://%", "a://%4", "a://%zz", "a://%+1", "a://1%"] {
            check("a://{x}", not_a_uri, None);
        }
        check("a://{x}", "a://%ff", None);
    }

    #[test]
    fn what_cannot_be_matched_is_refused_with_its_place() {
        for (template, at, why) in [
            ("a://{x", 4, "without its"),
            ("a://x}", 5, "no URI template"),
            ("a://{x{y}}", 6, "no variable"),
            ("a b", 1, "no URI template"),
            ("a://\n", 4, "no URI template"),
            ("a://%4", 4, "hexadecimal"),
            ("a://é%zz", 6, "hexadecimal"),
            ("a://{}", 5, "without a name"),
            ("a://{+}", 6, "without a name"),
            ("a://{x,}", 7, "without a name"),
            ("a://{x*}", 6, "modifier"),
            ("a://{/x,yy:3}", 10, "modifier"),
            ("a://{=x}", 5, "reserves"),
            ("a://{x}/{y,x}", 11, "before"),
            ("a://{x-y}", 6, "no variable"),
            ("a://{x..y}", 5, "a dot"),
        ] {
            let error = UriTemplate::parse(template).expect_err(template);
            assert_eq!(error.at, at, "{template}: {error:?}");
            assert!(error.why.contains(why), "{template}: {error:?}");
        }
        assert!(UriTemplate::parse("a://{user.name}{?a_b,C9}").is_ok());
    }

    /// Covers SE06.
    #[test]
    fn a_hostile_pair_takes_no_longer_than_another() {
        let variables: Vec<String> = (0..100).map(|index| format!("{{+x{index}}}a")).collect();
        let template = format!("{}b", variables.concat());
        let template = UriTemplate::parse(&template).expect("a template");
        assert_eq!(template.matches(&"a".repeat(4000)), None);
    }

    #[test]
    fn a_uri_that_is_too_long_does_not_match() {
        let template = UriTemplate::parse("{x}").expect("a template");
        assert!(template.matches(&"a".repeat(LONGEST_URI)).is_some());
        assert!(template.matches(&"a".repeat(LONGEST_URI + 1)).is_none());
    }

    /// Writes the URI that values make, as the RFC says; `None` is an undefined one.
    fn expand(operator: &Operator, values: &[(String, Option<String>)]) -> String {
        let keeps_reserved = matches!(operator.sign, "+" | "#");
        let mut uri = String::new();
        let mut before = operator.first;
        for (name, value) in values {
            let Some(value) = value else { continue };
            uri += before;
            before = operator.separator;
            if operator.named {
                uri += name;
                if !(value.is_empty() && operator.sign == ";") {
                    uri += "=";
                }
            }
            for byte in value.bytes() {
                let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
                if unreserved || keeps_reserved && is_reserved(byte) {
                    uri.push(char::from(byte));
                } else {
                    uri += &format!("%{byte:02X}");
                }
            }
        }
        uri
    }

    fn operator() -> impl Strategy<Value = &'static Operator> {
        (0..=OPERATORS.len()).prop_map(|index| OPERATORS.get(index).unwrap_or(&SIMPLE))
    }

    /// Values of which none holds what stands between two where the operator leaves it as it is.
    fn value(operator: &'static Operator) -> BoxedStrategy<String> {
        let pattern = match operator.sign {
            ";" | "?" | "&" => "\\PC{0,8}",
            "." => "[^.\\pC]{1,8}",
            "+" | "#" => "[^,\\pC]{1,8}",
            _ => "\\PC{1,8}",
        };
        pattern.boxed()
    }

    proptest! {
        #[test]
        fn what_was_expanded_matches_with_the_same_values(
            (operator, values) in operator().prop_flat_map(|operator| {
                (Just(operator), prop::collection::vec(value(operator), 1..5))
            }),
            defined in prop::collection::vec(any::<bool>(), 5),
        ) {
            let count = values.len();
            let defined = |index: usize| if operator.named {
                defined[index]
            } else {
                // Of those without names only the last can be told to be missing.
                index == 0 && operator.first.is_empty() || defined[..=index].iter().all(|it| *it)
            };
            let values: Vec<_> = values.into_iter().enumerate().map(|(index, value)| {
                (format!("v{index}"), defined(index).then_some(value))
            }).collect();
            let names: Vec<_> = (0..count).map(|index| format!("v{index}")).collect();
            let template = format!("a://b{{{}{}}}", operator.sign, names.join(","));
            let uri = format!("a://b{}", expand(operator, &values));
            let expected: Vec<_> = values
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .collect();
            prop_assert_eq!(matched(&template, &uri), Some(expected), "{} {}", template, uri);
        }

        #[test]
        fn no_template_and_no_uri_panics(template in "[a-c/?#%{}+.;&,=4]{0,24}", uri in "[a-c/?#%.;&,=4]{0,40}") {
            if let Ok(template) = UriTemplate::parse(&template) {
                template.matches(&uri);
            }
        }
    }
}
