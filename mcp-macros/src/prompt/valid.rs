//! What is refused, where, and what to write instead.

use std::collections::HashSet;

use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Fields, Result};

use super::ast::{Attrs, Prompt};
use crate::valid::{attributes_are_known, icon, refuse};

pub(crate) fn prompt(prompt: &Prompt<'_>, input: &DeriveInput) -> Result<()> {
    attributes_are_known(&prompt.attrs.error)?;
    let Some(fields) = prompt.fields else {
        return refuse(prompt.ident, "`Prompt` describes a prompt by a struct");
    };
    if !input.generics.params.is_empty() {
        let error = "a prompt has one name and one list of arguments, so its type has no \
                     parameters";
        return Err(Error::new(input.generics.span(), error));
    }
    if let Fields::Unnamed(fields) = fields {
        let error = "arguments have names: write a struct with named fields";
        return refuse(fields, error);
    }
    prompt.attrs.icons.iter().try_for_each(icon)?;
    is_described(&prompt.attrs)?;
    let mut names = HashSet::new();
    for argument in &prompt.arguments {
        attributes_are_known(&argument.attrs.error)?;
        is_described(&argument.attrs)?;
        let name = argument.name();
        if !names.insert(name.value()) {
            let error = format!(
                "two arguments are named `{}`: write `#[prompt(name = \"…\")]`",
                name.value()
            );
            return Err(Error::new(name.span(), error));
        }
    }
    Ok(())
}

fn is_described(attrs: &Attrs) -> Result<()> {
    match (&attrs.description, &attrs.doc.unknown) {
        (None, Some(unknown)) => refuse(
            unknown,
            "a derive cannot know this text: write `#[prompt(description = \"…\")]`",
        ),
        _ => Ok(()),
    }
}
