//! What stands in `#[tool(…)]`.
//!
//! Reading goes on behind a mistake, so that the fallback knows the output type even then.

use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, LitBool, LitStr, Meta, Path, Result, Token, Type};

use crate::doc::Doc;

/// The attributes of a tool, or of a set of them.
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
    pub(crate) krate: Option<Path>,
    /// The doc comment.
    pub(crate) doc: Doc,
    /// Every word that was given, in order.
    pub(crate) words: Vec<Ident>,
    /// The first mistake.
    pub(crate) error: Option<Error>,
}

impl Attrs {
    pub(crate) fn read(attributes: &[Attribute]) -> Self {
        let mut attrs = Self {
            doc: Doc::read(attributes),
            ..Self::default()
        };
        let (words, error) = read(attributes, "tool", "name", |word, input| {
            attrs.item(word, input)
        });
        (attrs.words, attrs.error) = (words, error);
        attrs
    }

    fn item(&mut self, word: &Ident, input: ParseStream<'_>) -> Result<()> {
        match word.to_string().as_str() {
            "name" => self.name = Some(text(word, input)?),
            "title" => self.title = Some(text(word, input)?),
            "description" => self.description = Some(text(word, input)?),
            "icon" => self.icons.push(text(word, input)?),
            "output" => self.output = Some(value(word, input, "Type")?),
            "content" => self.content = Some(value(word, input, "Type")?),
            "crate" => self.krate = Some(value(word, input, "path")?),
            "read_only" => self.read_only = Some(flag(word, input)?),
            "destructive" => self.destructive = Some(flag(word, input)?),
            "idempotent" => self.idempotent = Some(flag(word, input)?),
            "open_world" => self.open_world = Some(flag(word, input)?),
            "open" => self.open = Some(word.span()),
            _ => {
                return Err(Error::new(
                    word.span(),
                    "a tool has no such attribute; it has `name`, `title`, `description`, \
                     `output`, `content`, `read_only`, `destructive`, `idempotent`, `open_world`, \
                     `icon`, `open` and `crate`",
                ));
            }
        }
        Ok(())
    }
}

/// Reads what stands in the attributes of this name, `example` among it, each time a word and
/// what belongs to it. Gives the words, in order, and the first mistake.
pub(crate) fn read(
    attributes: &[Attribute],
    name: &str,
    example: &str,
    mut item: impl FnMut(&Ident, ParseStream<'_>) -> Result<()>,
) -> (Vec<Ident>, Option<Error>) {
    let usage =
        format!("attributes of a {name} stand in parentheses: `#[{name}({example} = \"…\")]`");
    let mut words = Vec::new();
    let mut first = None;
    for attribute in attributes {
        if attribute.path().is_ident(name) {
            let error = items(attribute, &usage, |input| {
                let word = word(&mut words, input)?;
                item(&word, input)
            });
            first = first.or(error);
        }
    }
    (words, first)
}

/// The name that an attribute gives, or else that of what it stands on.
pub(crate) fn name_or(given: Option<&LitStr>, ident: &Ident) -> LitStr {
    let own = || LitStr::new(&ident.unraw().to_string(), ident.span());
    given.cloned().unwrap_or_else(own)
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

/// The word that an item begins with, which has not been given before, or may be repeated.
fn word(given: &mut Vec<Ident>, input: ParseStream<'_>) -> Result<Ident> {
    let word = input.call(Ident::parse_any)?;
    if word != "icon" && given.contains(&word) {
        let error = format!("`{word}` is given twice");
        return Err(Error::new(word.span(), error));
    }
    given.push(word.clone());
    Ok(word)
}

pub(crate) fn value<T: Parse>(word: &Ident, input: ParseStream<'_>, what: &str) -> Result<T> {
    if !input.peek(Token![=]) {
        let error = format!("`{word}` wants a value: `{word} = {what}`");
        return Err(Error::new(word.span(), error));
    }
    input.parse::<Token![=]>()?;
    input.parse()
}

pub(crate) fn text(word: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
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
