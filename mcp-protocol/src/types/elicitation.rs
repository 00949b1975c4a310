//! Questions to the user.
//!
//! Spec: [elicitation](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

use super::TaskMetadata;
use crate::RawJson;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};
use crate::wire::{Extra, schema, wire, words};

wire! {
    /// The parameters of `elicitation/create`. Since 2025-06-18.
    pub open struct ElicitParams {
        /// What the user is told.
        required "message" => message: String,
        /// How the user is asked. If absent: by a form. Since 2025-11-25.
        optional "mode" => mode: ElicitMode,
        /// What the form asks for. Only for a form, and required there.
        optional "requestedSchema" => requested_schema: RequestedSchema,
        /// Where the user is sent. Only for a web page, and required there.
        optional "url" => url: String,
        /// What `notifications/elicitation/complete` will name. Only for a web page, in
        /// 2025-11-25 only, and required there.
        optional "elicitationId" => elicitation_id: String,
        /// Asks for a task instead of a result. 2025-11-25 only.
        optional "task" => task: TaskMetadata,
        /// Reserved and foreign metadata. Up to 2025-11-25.
        optional "_meta" => meta: RequestMeta,
    }
}

impl ElicitParams {
    /// Asks by a form.
    #[must_use]
    pub fn form(message: impl Into<String>, schema: impl Into<RequestedSchema>) -> Self {
        Self::new(message).requested_schema(schema)
    }

    /// Sends the user to a web page. Since 2025-11-25.
    #[must_use]
    pub fn page(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(message).mode(ElicitMode::Url).url(url)
    }
}

words! {
    /// How the user is asked.
    pub enum ElicitMode {
        /// By a form.
        Form = "form",
        /// By a web page.
        Url = "url",
    }
}

wire! {
    /// What a form asks for: a flat object schema.
    pub open struct RequestedSchema is "type" = "object" {
        /// The fields.
        required "properties" => properties: Properties,
        /// The fields that must be filled in.
        optional "required" => required: Vec<String>,
        /// The dialect. Since 2025-11-25.
        optional "$schema" => schema: String,
    }
}

/// The fields of a form, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties(Vec<(String, PrimitiveSchema)>);

impl Properties {
    /// A field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PrimitiveSchema> {
        self.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, schema)| schema)
    }

    /// Adds a field, or replaces the one of that name.
    pub fn insert(&mut self, name: impl Into<String>, schema: impl Into<PrimitiveSchema>) {
        let (name, schema) = (name.into(), schema.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = schema,
            None => self.0.push((name, schema)),
        }
    }

    /// All fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PrimitiveSchema)> {
        self.0.iter().map(|(name, schema)| (&**name, schema))
    }

    pub(crate) fn schemas_mut(&mut self) -> impl Iterator<Item = &mut PrimitiveSchema> {
        self.0.iter_mut().map(|(_, schema)| schema)
    }
}

impl<N: Into<String>, S: Into<PrimitiveSchema>> FromIterator<(N, S)> for Properties {
    fn from_iter<I: IntoIterator<Item = (N, S)>>(fields: I) -> Self {
        let mut properties = Self::default();
        for (name, schema) in fields {
            properties.insert(name, schema);
        }
        properties
    }
}

impl<N: Into<String>, S: Into<PrimitiveSchema>, const LEN: usize> From<[(N, S); LEN]>
    for Properties
{
    fn from(fields: [(N, S); LEN]) -> Self {
        fields.into_iter().collect()
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Extra::deserialize(deserializer)?;
        let fields = fields.iter();
        Ok(fields
            .map(|(name, schema)| (name, PrimitiveSchema::read(schema)))
            .collect())
    }
}

schema! {
    Properties, "Properties",
    generator => std::collections::BTreeMap::<String, PrimitiveSchema>::json_schema(generator)
}

/// What a field of a form takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum PrimitiveSchema {
    /// Text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of some choices.
    SingleSelect(SingleSelectSchema),
    /// Any of some choices. Since 2025-11-25.
    MultiSelect(MultiSelectSchema),
    /// Of a kind that this crate does not know.
    Unknown(RawJson),
}

impl PrimitiveSchema {
    /// Only a look at the members that tell the kind; a schema that has them but does not fit
    /// its kind is as unknown as one that has none.
    fn read(schema: &RawJson) -> Self {
        let kind: Kind = schema.decode().unwrap_or_default();
        let read = match kind.kind.as_deref() {
            Some("string") if kind.choices.is_some() || kind.one_of.is_some() => {
                schema.decode().map(Self::SingleSelect)
            }
            Some("string") => schema.decode().map(Self::String),
            Some("number" | "integer") => schema.decode().map(Self::Number),
            Some("boolean") => schema.decode().map(Self::Boolean),
            Some("array") => schema.decode().map(Self::MultiSelect),
            _ => return Self::Unknown(schema.clone()),
        };
        read.unwrap_or_else(|_| Self::Unknown(schema.clone()))
    }
}

impl<'de> Deserialize<'de> for PrimitiveSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawJson::deserialize(deserializer).map(|schema| Self::read(&schema))
    }
}

macro_rules! primitive {
    ($($schema:ident => $variant:ident),*) => {
        $(
            impl From<$schema> for PrimitiveSchema {
                fn from(schema: $schema) -> Self {
                    Self::$variant(schema)
                }
            }
        )*
    };
}
primitive! {
    StringSchema => String,
    NumberSchema => Number,
    BooleanSchema => Boolean,
    SingleSelectSchema => SingleSelect,
    MultiSelectSchema => MultiSelect
}

wire! {
    /// The members that tell the kind of a [`PrimitiveSchema`].
    struct Kind {
        optional "type" => kind: String,
        optional "enum" => choices: RawJson,
        optional "oneOf" => one_of: RawJson,
    }
}

wire! {
    /// A field that takes text.
    pub open struct StringSchema is "type" = "string" {
        /// For people.
        optional "title" => title: String,
        /// What is asked for.
        optional "description" => description: String,
        /// The shortest text, in characters.
        integer "minLength" => min_length: u64,
        /// The longest text, in characters.
        integer "maxLength" => max_length: u64,
        /// What kind of text.
        optional "format" => format: StringFormat,
        /// What stands there at first. Since 2025-11-25.
        optional "default" => default_value: String,
    }
}

words! {
    /// A kind of text.
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A day.
        Date = "date",
        /// A day and a time.
        DateTime = "date-time",
    }
}

wire! {
    /// A field that takes a number.
    pub open struct NumberSchema {
        /// Which numbers.
        required "type" => kind: NumberKind,
        /// For people.
        optional "title" => title: String,
        /// What is asked for.
        optional "description" => description: String,
        /// The least.
        optional "minimum" => minimum: Number,
        /// The greatest.
        optional "maximum" => maximum: Number,
        /// What stands there at first. Since 2025-11-25.
        optional "default" => default_value: Number,
    }
}

words! {
    /// Which numbers a field takes.
    pub enum NumberKind {
        /// All.
        Number = "number",
        /// Whole ones.
        Integer = "integer",
    }
}

wire! {
    /// A field that takes yes or no.
    pub open struct BooleanSchema is "type" = "boolean" {
        /// For people.
        optional "title" => title: String,
        /// What is asked for.
        optional "description" => description: String,
        /// What stands there at first.
        optional "default" => default_value: bool,
    }

    /// A field that takes one of some choices.
    ///
    /// They are in `enum`, or since 2025-11-25, with a name for people, in `oneOf`.
    pub open struct SingleSelectSchema is "type" = "string" {
        /// For people.
        optional "title" => title: String,
        /// What is asked for.
        optional "description" => description: String,
        /// The choices.
        optional "enum" => choices: Vec<String>,
        /// Names for the choices, in the same order: the older form of `oneOf`.
        optional "enumNames" => choice_names: Vec<String>,
        /// The choices, with names. Since 2025-11-25.
        optional "oneOf" => one_of: Vec<TitledChoice>,
        /// What is chosen at first. Since 2025-11-25.
        optional "default" => default_value: String,
    }

    /// A field that takes any of some choices. Since 2025-11-25.
    pub open struct MultiSelectSchema is "type" = "array" {
        /// The choices.
        required "items" => items: MultiSelectItems,
        /// For people.
        optional "title" => title: String,
        /// What is asked for.
        optional "description" => description: String,
        /// How many at least.
        integer "minItems" => min_items: u64,
        /// How many at most.
        integer "maxItems" => max_items: u64,
        /// What is chosen at first.
        optional "default" => default_value: Vec<String>,
    }

    /// The choices of a [`MultiSelectSchema`]: `type` and `enum`, or `anyOf`.
    pub open struct MultiSelectItems {
        /// `string`, if the choices are in `enum`.
        optional "type" => kind: String,
        /// The choices.
        optional "enum" => choices: Vec<String>,
        /// The choices, with names.
        optional "anyOf" => any_of: Vec<TitledChoice>,
    }

    /// A choice with a name for people. Since 2025-11-25.
    pub open struct TitledChoice {
        /// The value.
        required "const" => value: String,
        /// Its name.
        required "title" => title: String,
    }
}

impl SingleSelectSchema {
    /// Choices that are their own names.
    #[must_use]
    pub fn of<T: Into<String>>(choices: impl IntoIterator<Item = T>) -> Self {
        Self::new().choices(choices.into_iter().map(Into::into).collect::<Vec<_>>())
    }

    /// Choices with names. Since 2025-11-25.
    #[must_use]
    pub fn titled(choices: impl Into<Vec<TitledChoice>>) -> Self {
        Self::new().one_of(choices)
    }
}

impl MultiSelectSchema {
    /// Choices that are their own names.
    #[must_use]
    pub fn of<T: Into<String>>(choices: impl IntoIterator<Item = T>) -> Self {
        let choices: Vec<_> = choices.into_iter().map(Into::into).collect();
        Self::new(MultiSelectItems::new().kind("string").choices(choices))
    }

    /// Choices with names.
    #[must_use]
    pub fn titled(choices: impl Into<Vec<TitledChoice>>) -> Self {
        Self::new(MultiSelectItems::new().any_of(choices))
    }
}

wire! {
    /// The result of `elicitation/create`.
    pub open struct ElicitResult {
        /// What the user did.
        required "action" => action: ElicitAction,
        /// What the user filled in, an object. Only for a form that was accepted.
        optional "content" => content: RawJson,
        /// Reserved and foreign metadata. Up to 2025-11-25.
        optional "_meta" => meta: ResultMeta,
    }
}

impl ElicitResult {
    /// The user has filled in the form. What it holds is an object.
    #[must_use]
    pub fn accepted(content: impl Into<RawJson>) -> Self {
        Self::new(ElicitAction::Accept).content(content)
    }

    /// The user has refused.
    #[must_use]
    pub fn declined() -> Self {
        Self::new(ElicitAction::Decline)
    }
}

words! {
    /// What the user did about a question.
    pub enum ElicitAction {
        /// Answered it, or agreed to visit the page.
        Accept = "accept",
        /// Refused.
        Decline = "decline",
        /// Went away without deciding.
        Cancel = "cancel",
    }
}

wire! {
    /// The parameters of `notifications/elicitation/complete`. 2025-11-25 only.
    pub open struct ElicitationCompleteParams {
        /// The question whose web page is done with.
        required "elicitationId" => elicitation_id: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: NotificationMeta,
    }
}
