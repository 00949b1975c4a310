//! What a prompt's struct says, not yet judged.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Path, Result, Type};

use crate::ast::{optional, snake_case};
use crate::attr::{name_or, read, text, value};
use crate::doc::Doc;

/// A prompt: a struct.
pub(crate) struct Prompt<'a> {
    pub(crate) ident: &'a Ident,
    /// `None` for what is not a struct.
    pub(crate) fields: Option<&'a Fields>,
    /// Those of the fields that have a name.
    pub(crate) arguments: Vec<Argument<'a>>,
    pub(crate) attrs: Attrs,
}

/// An argument: a field.
pub(crate) struct Argument<'a> {
    pub(crate) ident: &'a Ident,
    /// What is read from the text.
    pub(crate) ty: &'a Type,
    pub(crate) required: bool,
    pub(crate) attrs: Attrs,
}

/// What stands in `#[prompt(…)]`, on the struct or on a field.
#[derive(Default)]
pub(crate) struct Attrs {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) icons: Vec<LitStr>,
    pub(crate) krate: Option<Path>,
    /// The doc comment.
    pub(crate) doc: Doc,
    /// The first mistake.
    pub(crate) error: Option<Error>,
}

impl<'a> Prompt<'a> {
    pub(crate) fn read(input: &'a DeriveInput) -> Self {
        let fields = match &input.data {
            Data::Struct(data) => Some(&data.fields),
            Data::Enum(_) | Data::Union(_) => None,
        };
        Self {
            ident: &input.ident,
            fields,
            arguments: fields
                .into_iter()
                .flatten()
                .filter_map(Argument::read)
                .collect(),
            attrs: Attrs::read(&input.attrs, Place::Prompt),
        }
    }

    pub(crate) fn name(&self) -> LitStr {
        self.attrs.name.clone().unwrap_or_else(|| {
            let name = snake_case(&self.ident.unraw().to_string());
            LitStr::new(&name, self.ident.span())
        })
    }
}

impl<'a> Argument<'a> {
    fn read(field: &'a Field) -> Option<Self> {
        let inner = optional(&field.ty);
        Some(Self {
            ident: field.ident.as_ref()?,
            ty: inner.unwrap_or(&field.ty),
            required: inner.is_none(),
            attrs: Attrs::read(&field.attrs, Place::Argument),
        })
    }

    pub(crate) fn name(&self) -> LitStr {
        name_or(self.attrs.name.as_ref(), self.ident)
    }
}

/// Where an attribute stands.
#[derive(Clone, Copy)]
enum Place {
    Prompt,
    Argument,
}

impl Attrs {
    fn read(attributes: &[Attribute], place: Place) -> Self {
        let mut attrs = Self {
            doc: Doc::read(attributes),
            ..Self::default()
        };
        let (_, error) = read(attributes, "prompt", "title", |word, input| {
            attrs.item(word, place, input)
        });
        attrs.error = error;
        attrs
    }

    fn item(&mut self, word: &Ident, place: Place, input: ParseStream<'_>) -> Result<()> {
        match (word.to_string().as_str(), place) {
            ("name", _) => self.name = Some(text(word, input)?),
            ("title", _) => self.title = Some(text(word, input)?),
            ("description", _) => self.description = Some(text(word, input)?),
            ("icon", Place::Prompt) => self.icons.push(text(word, input)?),
            ("crate", Place::Prompt) => self.krate = Some(value(word, input, "path")?),
            (_, place) => return Err(unknown(word.span(), place)),
        }
        Ok(())
    }
}

fn unknown(span: Span, place: Place) -> Error {
    let error = match place {
        Place::Prompt => {
            "a prompt has no such attribute; it has `name`, `title`, `description`, `icon` and \
             `crate`"
        }
        Place::Argument => {
            "an argument of a prompt has no such attribute; it has `name`, `title` and \
             `description`"
        }
    };
    Error::new(span, error)
}
