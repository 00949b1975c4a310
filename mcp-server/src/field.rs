//! What a field of a form takes.

use mcp_protocol::types::{
    BooleanSchema, MultiSelectSchema, NumberKind, NumberSchema, PrimitiveSchema,
    SingleSelectSchema, StringFormat, StringSchema,
};
use serde::de::DeserializeOwned;
use serde_json::Number;

/// A type that a field of a form can have: text, a number, a yes or no, or a choice.
///
/// A type of one's own that is written as one of these implements it by hand:
///
/// ```
/// use mcp_server::input::{Field, Form};
/// use mcp_server::types::StringSchema;
///
/// #[derive(serde::Deserialize)]
/// struct Zip(String);
///
/// impl Field for Zip {
///     type Schema = StringSchema;
///
///     fn field() -> StringSchema {
///         StringSchema::new().min_length(5).max_length(5)
///     }
/// }
///
/// #[derive(Form)]
/// struct Address {
///     zip: Zip,
/// }
/// # let _ = Address::schema();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not a field",
    note = "a field is a `String`, a number, a `bool`, a type that implements `Choice`, or a `Vec` \
            of such a type; what may be left out is in an `Option`"
)]
pub trait Field: DeserializeOwned {
    /// Which kind of field it is.
    type Schema: FieldSchema;

    /// The field, without a title and a description.
    fn field() -> Self::Schema;
}

/// A type whose values are choices. A field of it takes one, and a field of a `Vec` of it any
/// number. Implemented by `#[derive(Choice)]`, for an enum without fields.
///
/// ```
/// use mcp_server::input::{Choice, Form};
///
/// #[derive(Choice)]
/// enum Size {
///     Small,
///     #[choice(name = "xl", title = "Very large")]
///     ExtraLarge,
/// }
///
/// #[derive(Form)]
/// struct Order {
///     #[form(default = "small")]
///     size: Size,
///     also: Vec<Size>,
/// }
/// # let _ = Order::schema();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not a field",
    note = "a field is a `String`, a number, a `bool`, a type that implements `Choice`, or a `Vec` \
            of such a type; what may be left out is in an `Option`"
)]
pub trait Choice: DeserializeOwned {
    /// The choices.
    fn choices() -> SingleSelectSchema;
}

/// A kind of field. For the schemas of fields only.
pub trait FieldSchema: Into<PrimitiveSchema> + sealed::Sealed {
    /// Says what a person reads.
    #[doc(hidden)]
    #[must_use]
    fn title(self, title: &str) -> Self;

    /// Says what is asked for.
    #[doc(hidden)]
    #[must_use]
    fn description(self, description: &str) -> Self;
}

mod sealed {
    /// Only these schemas have a title and a description that can be set.
    pub trait Sealed {}
}

macro_rules! schemas {
    ($($schema:ident),*) => {
        $(
            impl sealed::Sealed for $schema {}

            impl FieldSchema for $schema {
                fn title(self, title: &str) -> Self {
                    self.title(title)
                }

                fn description(self, description: &str) -> Self {
                    self.description(description)
                }
            }
        )*
    };
}
schemas!(
    StringSchema,
    NumberSchema,
    BooleanSchema,
    SingleSelectSchema,
    MultiSelectSchema
);

impl Field for String {
    type Schema = StringSchema;

    fn field() -> StringSchema {
        StringSchema::new()
    }
}

impl Field for bool {
    type Schema = BooleanSchema;

    fn field() -> BooleanSchema {
        BooleanSchema::new()
    }
}

macro_rules! numbers {
    ($schema:expr => $($number:ident),*) => {
        $(
            impl Field for $number {
                type Schema = NumberSchema;

                fn field() -> NumberSchema {
                    $schema
                }
            }
        )*
    };
}
numbers!(NumberSchema::new(NumberKind::Number) => f32, f64);
numbers!(NumberSchema::new(NumberKind::Integer) => i8, i16, i32, i64, isize);
// Without the least number, a user would be asked again and not told why.
numbers!(NumberSchema::new(NumberKind::Integer).minimum(0) => u8, u16, u32, u64, usize);

impl<T: Choice> Field for T {
    type Schema = SingleSelectSchema;

    fn field() -> SingleSelectSchema {
        T::choices()
    }
}

impl<T: Choice> Field for Vec<T> {
    type Schema = MultiSelectSchema;

    fn field() -> MultiSelectSchema {
        let one = T::choices();
        match one.one_of {
            Some(titled) => MultiSelectSchema::titled(titled),
            None => MultiSelectSchema::of(one.choices.unwrap_or_default()),
        }
    }
}

/// A field that `min` and `max` can be said of.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` cannot be this here",
    label = "not a bound of `{Self}`",
    note = "they bound a number, and with a whole number from 0 the length of a text or how many \
            choices are taken"
)]
pub trait Bounded<B> {
    /// `min`.
    #[must_use]
    fn at_least(self, bound: B) -> Self;

    /// `max`.
    #[must_use]
    fn at_most(self, bound: B) -> Self;
}

/// A field that `default` can be said of.
#[diagnostic::on_unimplemented(
    message = "`default` cannot be this here",
    label = "not a value of `{Self}`",
    note = "it is a value of the field's type; a `Vec` of choices has none"
)]
pub trait Preset<D> {
    /// `default`.
    #[must_use]
    fn preset(self, value: D) -> Self;
}

/// A field that `format` can be said of.
#[diagnostic::on_unimplemented(
    message = "`format` is said of text",
    label = "`{Self}` is not text"
)]
pub trait Formatted {
    /// `format`.
    #[must_use]
    fn of_format(self, format: StringFormat) -> Self;
}

/// A field, for the derive.
#[must_use]
pub fn field<F: Field>() -> F::Schema {
    F::field()
}

/// `min`, for the derive.
pub fn at_least<B, S: Bounded<B>>(schema: S, bound: B) -> S {
    schema.at_least(bound)
}

/// `max`, for the derive.
pub fn at_most<B, S: Bounded<B>>(schema: S, bound: B) -> S {
    schema.at_most(bound)
}

/// `default`, for the derive.
pub fn preset<D, S: Preset<D>>(schema: S, value: D) -> S {
    schema.preset(value)
}

/// `format`, for the derive.
pub fn of_format<S: Formatted>(schema: S, format: StringFormat) -> S {
    schema.of_format(format)
}

macro_rules! whole_numbers {
    ($($number:ident),*) => {
        $(
            impl Bounded<$number> for NumberSchema {
                fn at_least(self, bound: $number) -> Self {
                    self.minimum(bound)
                }

                fn at_most(self, bound: $number) -> Self {
                    self.maximum(bound)
                }
            }

            impl Preset<$number> for NumberSchema {
                fn preset(self, value: $number) -> Self {
                    self.default_value(value)
                }
            }
        )*
    };
}
whole_numbers!(u64, i64);

// Every number that can be written out is finite, and so one of JSON's.
impl Bounded<f64> for NumberSchema {
    fn at_least(mut self, bound: f64) -> Self {
        self.minimum = Number::from_f64(bound);
        self
    }

    fn at_most(mut self, bound: f64) -> Self {
        self.maximum = Number::from_f64(bound);
        self
    }
}

impl Preset<f64> for NumberSchema {
    fn preset(mut self, value: f64) -> Self {
        self.default_value = Number::from_f64(value);
        self
    }
}

impl Bounded<u64> for StringSchema {
    fn at_least(self, bound: u64) -> Self {
        self.min_length(bound)
    }

    fn at_most(self, bound: u64) -> Self {
        self.max_length(bound)
    }
}

impl Bounded<u64> for MultiSelectSchema {
    fn at_least(self, bound: u64) -> Self {
        self.min_items(bound)
    }

    fn at_most(self, bound: u64) -> Self {
        self.max_items(bound)
    }
}

impl Preset<&str> for StringSchema {
    fn preset(self, value: &str) -> Self {
        self.default_value(value)
    }
}

impl Preset<&str> for SingleSelectSchema {
    fn preset(self, value: &str) -> Self {
        self.default_value(value)
    }
}

impl Preset<bool> for BooleanSchema {
    fn preset(self, value: bool) -> Self {
        self.default_value(value)
    }
}

impl Formatted for StringSchema {
    fn of_format(self, format: StringFormat) -> Self {
        self.format(format)
    }
}
