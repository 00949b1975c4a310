//! What stands in `#[tool(…)]`, `#[prompt(…)]`, `#[form(…)]` and `#[choice(…)]`.
//!
//! Reading goes on behind a mistake, so that the fallback knows the output type even then.

use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, LitBool, LitStr, Meta, Path, Result, Token, Type};

use crate::ast::snake_case;
use crate::doc::Doc;
use crate::form::literal::{Literal, literal, number};

/// What is said of a tool, a prompt, a form, or a part of one.
#[derive(Default)]
pub(crate) struct Attrs {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) output: Option<Type>,
    pub(crate) content: Option<Type>,
    pub(crate) read_only: Option<LitBool>,
    pub(crate) destructive: Option<LitBool>,
    pub(crate) idempotent: Option<LitBool>,
    pub(crate) open_world: Option<LitBool>,
    pub(crate) icons: Vec<LitStr>,
    pub(crate) open: Option<Span>,
    pub(crate) format: Option<LitStr>,
    pub(crate) min: Option<Literal>,
    pub(crate) max: Option<Literal>,
    pub(crate) default: Option<Literal>,
    pub(crate) krate: Option<Path>,
    /// The doc comment.
    pub(crate) doc: Doc,
    /// Every word that was given, in order.
    pub(crate) words: Vec<Ident>,
    /// The first mistake.
    pub(crate) error: Option<Error>,
}

/// Where attributes stand, which decides what they are called and which words they have.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// A tool, or a set of them.
    Tool,
    Prompt,
    Argument,
    Form,
    Field,
    /// All the choices that there are.
    Choices,
    Choice,
}

impl Place {
    /// The name of the attribute, and one of its words.
    fn attribute(self) -> (&'static str, &'static str) {
        match self {
            Self::Tool => ("tool", "name"),
            Self::Prompt | Self::Argument => ("prompt", "title"),
            Self::Form | Self::Field => ("form", "title"),
            Self::Choices | Self::Choice => ("choice", "title"),
        }
    }

    /// What is wrong with a word that is none of its.
    fn unknown(self) -> &'static str {
        match self {
            Self::Tool => {
                "a tool has no such attribute; it has `name`, `title`, `description`, \
                 `output`, `content`, `read_only`, `destructive`, `idempotent`, `open_world`, \
                 `icon`, `open` and `crate`"
            }
            Self::Prompt => {
                "a prompt has no such attribute; it has `name`, `title`, `description`, `icon` and \
                 `crate`"
            }
            Self::Argument => {
                "an argument of a prompt has no such attribute; it has `name`, `title` and \
                 `description`"
            }
            Self::Form => "a form has no such attribute; it has `crate`, and others on its fields",
            Self::Field => {
                "a field of a form has no such attribute; it has `name`, `title`, `description`, \
                 `format`, `min`, `max` and `default`"
            }
            Self::Choices => {
                "choices have no such attribute; they have `crate`, and others on the variants"
            }
            Self::Choice => "a choice has no such attribute; it has `name` and `title`",
        }
    }
}

impl Attrs {
    pub(crate) fn read(attributes: &[Attribute], place: Place) -> Self {
        let (name, example) = place.attribute();
        let usage =
            format!("attributes of a {name} stand in parentheses: `#[{name}({example} = \"…\")]`");
        let mut attrs = Self {
            doc: Doc::read(attributes),
            ..Self::default()
        };
        for attribute in attributes {
            if attribute.path().is_ident(name) {
                let error = items(attribute, &usage, |input| attrs.item(place, input));
                attrs.error = attrs.error.or(error);
            }
        }
        attrs
    }

    /// Reads a word and what belongs to it.
    fn item(&mut self, place: Place, input: ParseStream<'_>) -> Result<()> {
        use Place::*;

        let word = &self.word(input)?;
        match (word.to_string().as_str(), place) {
            ("name", Tool | Prompt | Argument | Field | Choice) => {
                self.name = Some(text(word, input)?);
            }
            ("title", Tool | Prompt | Argument | Field | Choice) => {
                self.title = Some(text(word, input)?);
            }
            ("description", Tool | Prompt | Argument | Field) => {
                self.description = Some(text(word, input)?);
            }
            ("icon", Tool | Prompt) => self.icons.push(text(word, input)?),
            ("crate", Tool | Prompt | Form | Choices) => {
                self.krate = Some(value(word, input, "path")?);
            }
            ("output", Tool) => self.output = Some(value(word, input, "Type")?),
            ("content", Tool) => self.content = Some(value(word, input, "Type")?),
            ("read_only", Tool) => self.read_only = Some(flag(word, input)?),
            ("destructive", Tool) => self.destructive = Some(flag(word, input)?),
            ("idempotent", Tool) => self.idempotent = Some(flag(word, input)?),
            ("open_world", Tool) => self.open_world = Some(flag(word, input)?),
            ("open", Tool) => self.open = Some(word.span()),
            ("format", Field) => self.format = Some(text(word, input)?),
            ("min", Field) => self.min = Some(number(word, input)?),
            ("max", Field) => self.max = Some(number(word, input)?),
            ("default", Field) => self.default = Some(literal(word, input)?),
            _ => return Err(Error::new(word.span(), place.unknown())),
        }
        Ok(())
    }

    /// The word that an item begins with, which has not been given before, or may be repeated.
    fn word(&mut self, input: ParseStream<'_>) -> Result<Ident> {
        let word = input.call(Ident::parse_any)?;
        if word != "icon" && self.words.contains(&word) {
            let error = format!("`{word}` is given twice");
            return Err(Error::new(word.span(), error));
        }
        self.words.push(word.clone());
        Ok(word)
    }

    /// The name of a type or a variant: if none is given, its own in snake case.
    pub(crate) fn type_name(&self, ident: &Ident) -> LitStr {
        let own = || LitStr::new(&snake_case(&ident.unraw().to_string()), ident.span());
        self.name.clone().unwrap_or_else(own)
    }

    /// The name of a field: if none is given, its own.
    pub(crate) fn field_name(&self, ident: &Ident) -> LitStr {
        let own = || LitStr::new(&ident.unraw().to_string(), ident.span());
        self.name.clone().unwrap_or_else(own)
    }

    /// The description: if none is given, the doc comment.
    pub(crate) fn text(&self) -> Option<String> {
        let given = self.description.as_ref().map(LitStr::value);
        given.or_else(|| self.doc.text.clone())
    }
}

/// Reads what stands in an attribute's parentheses, each time one item, and goes on behind a
/// mistake. Gives the first one.
fn items(
    attribute: &Attribute,
    usage: &str,
    mut item: impl FnMut(ParseStream<'_>) -> Result<()>,
) -> Option<Error> {
    let Meta::List(list) = &attribute.meta else {
        return Some(Error::new_spanned(attribute, usage));
    };
    let mut first = None;
    let read = list.parse_args_with(|input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = item(input).and_then(|()| comma(input)) {
                first.get_or_insert(error);
                skip(input)?;
            }
        }
        Ok(())
    });
    first.or(read.err())
}

pub(crate) fn value<T: Parse>(word: &Ident, input: ParseStream<'_>, what: &str) -> Result<T> {
    if !input.peek(Token![=]) {
        let error = format!("`{word}` wants a value: `{word} = {what}`");
        return Err(Error::new(word.span(), error));
    }
    input.parse::<Token![=]>()?;
    input.parse()
}

fn text(word: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    let text: syn::Lit = value(word, input, "\"…\"")?;
    match text {
        syn::Lit::Str(text) if !text.value().trim().is_empty() => Ok(text),
        other => {
            let error = format!("`{word}` wants a text that is not empty: `{word} = \"…\"`");
            Err(Error::new(other.span(), error))
        }
    }
}

fn flag(word: &Ident, input: ParseStream<'_>) -> Result<LitBool> {
    if !input.peek(Token![=]) {
        return Ok(LitBool::new(true, word.span()));
    }
    let equals: Token![=] = input.parse()?;
    input.parse().map_err(|_| {
        let error = format!("`{word}` is `true` or `false`; alone it is `true`");
        Error::new(equals.spans[0], error)
    })
}

fn comma(input: ParseStream<'_>) -> Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

/// Goes on behind the next comma.
fn skip(input: ParseStream<'_>) -> Result<()> {
    while !input.is_empty() {
        if let TokenTree::Punct(punct) = input.parse()? {
            if punct.as_char() == ',' {
                break;
            }
        }
    }
    Ok(())
}
