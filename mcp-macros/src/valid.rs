//! What is refused, where, and what to write instead.

use std::collections::HashSet;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput, Error, Field, Fields, Generics, LitStr, Result, Type};

use crate::ast::{self, Set, Tool};
use crate::attr::Attrs;

/// Checks a struct that describes a tool.
pub(crate) fn tool(tool: &Tool<'_>, input: &DeriveInput) -> Result<()> {
    attributes_are_known(&tool.attrs.error)?;
    let Some(fields) = tool.fields else {
        let error = "`Tool` describes one tool by a struct; for an enum with a variant for each \
                     tool, derive `Tools`";
        return refuse(tool.ident, error);
    };
    has_no_generics(&input.generics)?;
    if let Fields::Unnamed(fields) = fields {
        let error = "arguments have names: write a struct with named fields";
        return refuse(fields, error);
    }
    if let (Some(_), Some(content)) = (&tool.attrs.output, &tool.attrs.content) {
        let error = "a tool has an `output`, which is structured, or a `content`, not both";
        return refuse(content, error);
    }
    is_described(tool)
}

/// Checks an enum that describes tools.
pub(crate) fn set(set: &Set<'_>, input: &DeriveInput) -> Result<()> {
    attributes_are_known(&set.attrs.error)?;
    let Some(tools) = &set.tools else {
        let error = "`Tools` describes several tools by an enum; for one tool by a struct, \
                     derive `Tool`";
        return refuse(set.ident, error);
    };
    has_no_generics(&input.generics)?;
    if let Some(word) = set.attrs.words.iter().find(|word| *word != "crate") {
        let error = format!("`{word}` is said of a tool: write it on a variant");
        return refuse(word, error);
    }
    if let Some(attribute) = foreign(set.source) {
        let error = "this concerns the arguments of one tool: write it on a variant";
        return refuse(attribute, error);
    }
    if tools.is_empty() {
        return refuse(set.ident, "an enum without variants describes no tool");
    }
    let mut names = Names::default();
    for tool in tools {
        variant(tool)?;
        names.add(&tool.name(), "tools", "tool")?;
    }
    Ok(())
}

fn variant(tool: &Tool<'_>) -> Result<()> {
    attributes_are_known(&tool.attrs.error)?;
    if let Some(Fields::Unnamed(fields)) = tool.fields {
        let error = format!(
            "arguments have names: write `{} {{ name: Type }}`",
            tool.ident
        );
        return refuse(fields, error);
    }
    if let Some(content) = &tool.attrs.content {
        let error = "what a variant gives is what `run` returns, so there is no `content` here";
        return refuse(content, error);
    }
    if let Some(path) = &tool.attrs.krate {
        return refuse(
            path,
            "`crate` is said once for all tools: write it on the enum",
        );
    }
    for word in ast::serde(tool.source) {
        if word.path().is_ident("rename") {
            let error = "the name of a tool is given by `#[tool(name = \"…\")]`";
            return refuse(word, error);
        }
        let allowed = ["rename_all", "deny_unknown_fields"];
        if !allowed.iter().any(|allowed| word.path().is_ident(allowed)) {
            let error = "of serde's attributes a variant has only `rename_all` and \
                         `deny_unknown_fields`; write others on its fields";
            return refuse(word, error);
        }
    }
    is_described(tool)
}

/// What holds for a struct and for a variant.
fn is_described(tool: &Tool<'_>) -> Result<()> {
    let name = tool.name();
    if !is_name(&name.value()) {
        let error = format!(
            "`{}` cannot be the name of a tool, which is 1 to 128 of A-Z a-z 0-9 _ - . \
             and is given by `#[tool(name = \"…\")]`",
            name.value()
        );
        return Err(Error::new(name.span(), error));
    }
    text_is_known(&tool.attrs, "tool")?;
    let is_true = |flag: &Option<syn::LitBool>| flag.as_ref().is_some_and(|flag| flag.value);
    if let (true, Some(flag)) = (is_true(&tool.attrs.read_only), &tool.attrs.destructive) {
        if flag.value {
            return refuse(flag, "a tool that is `read_only` destroys nothing");
        }
    }
    tool.attrs.icons.iter().try_for_each(icon)?;
    if let (Some(span), Some(_)) = (
        tool.attrs.open,
        ast::serde_word(tool.source, "deny_unknown_fields"),
    ) {
        let error = "`open` ignores what `deny_unknown_fields` refuses: remove one of them";
        return Err(Error::new(span, error));
    }
    match tool.fields {
        Some(fields) => fields.iter().try_for_each(argument),
        None => Ok(()),
    }
}

pub(crate) fn icon(icon: &LitStr) -> Result<()> {
    let source = icon.value();
    if source.starts_with("https://") || source.starts_with("data:") {
        return Ok(());
    }
    refuse(icon, "an icon is at an `https:` or a `data:` URI")
}

fn argument(field: &Field) -> Result<()> {
    if let Type::Reference(borrowed) = &field.ty {
        return refuse(borrowed, OWNED);
    }
    match field.attrs.iter().find(|attr| attr.path().is_ident("tool")) {
        Some(attribute) => refuse(
            attribute,
            "an argument is described by its doc comment, `#[serde(…)]` and `#[schemars(…)]`",
        ),
        None => Ok(()),
    }
}

pub(crate) fn attributes_are_known(error: &Option<Error>) -> Result<()> {
    error.clone().map_or(Ok(()), Err)
}

fn has_no_generics(generics: &Generics) -> Result<()> {
    let why = match generics.lifetimes().next() {
        Some(_) => OWNED,
        None => "a tool has one name and one schema, so its type has no parameters",
    };
    has_no_parameters(generics, why)
}

pub(crate) fn has_no_parameters(generics: &Generics, why: &str) -> Result<()> {
    if generics.params.is_empty() {
        return Ok(());
    }
    Err(Error::new(generics.span(), why))
}

/// Checks what has a doc comment or a description, in the attribute of this name.
pub(crate) fn text_is_known(attrs: &Attrs, attribute: &str) -> Result<()> {
    let (None, Some(unknown)) = (&attrs.description, &attrs.doc.unknown) else {
        return Ok(());
    };
    let error =
        format!("a derive cannot know this text: write `#[{attribute}(description = \"…\")]`");
    refuse(unknown, error)
}

/// Names, of which no two are the same.
#[derive(Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// Adds the name of one of these, which the attribute can change.
    pub(crate) fn add(&mut self, name: &LitStr, these: &str, attribute: &str) -> Result<()> {
        if self.0.insert(name.value()) {
            return Ok(());
        }
        let error = format!(
            "two {these} are named `{}`: write `#[{attribute}(name = \"…\")]`",
            name.value()
        );
        Err(Error::new(name.span(), error))
    }
}

const OWNED: &str = "arguments outlive the message that they are read from, so they own what they \
                     hold: write `String` for `&str`, `Vec<T>` for `&[T]`, and no lifetime";

fn foreign(attributes: &[Attribute]) -> Option<&Attribute> {
    attributes.iter().find(|attribute| {
        attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
    })
}

fn is_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

pub(crate) fn refuse(at: impl ToTokens, error: impl std::fmt::Display) -> Result<()> {
    Err(Error::new_spanned(at, error))
}
