//! What is refused, where, and what to write instead.

use std::collections::HashSet;

use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Fields, Result};

use super::ast::{Attrs, Form};
use super::expand::format;
use crate::valid::{attributes_are_known, refuse};

pub(crate) fn form(form: &Form<'_>, input: &DeriveInput) -> Result<()> {
    attributes_are_known(&form.attrs.error)?;
    let Some(shape) = form.shape else {
        return refuse(form.ident, "`Form` describes a form by a struct");
    };
    if !input.generics.params.is_empty() {
        let error = "a form has one list of fields, so its type has no parameters";
        return Err(Error::new(input.generics.span(), error));
    }
    const NAMED: &str = "fields of a form have names: write a struct with named fields";
    match shape {
        Fields::Named(_) => {}
        Fields::Unnamed(fields) => return refuse(fields, NAMED),
        Fields::Unit => return refuse(form.ident, NAMED),
    }
    let mut names = HashSet::new();
    for field in &form.fields {
        attributes_are_known(&field.attrs.error)?;
        is_described(&field.attrs)?;
        let name = field.name();
        if !names.insert(name.value()) {
            let error = format!(
                "two fields are named `{}`: write `#[form(name = \"…\")]`",
                name.value()
            );
            return Err(Error::new(name.span(), error));
        }
    }
    Ok(())
}

fn is_described(attrs: &Attrs) -> Result<()> {
    if let (None, Some(unknown)) = (&attrs.description, &attrs.doc.unknown) {
        let error = "a derive cannot know this text: write `#[form(description = \"…\")]`";
        return refuse(unknown, error);
    }
    if let Some(written) = &attrs.format {
        if format(&written.value()).is_none() {
            let error = "a text is of the format `email`, `uri`, `date` or `date-time`";
            return refuse(written, error);
        }
    }
    if let (Some(min), Some(max)) = (&attrs.min, &attrs.max) {
        if min.number() > max.number() {
            return Err(Error::new(max.span, "`max` is less than `min`"));
        }
    }
    Ok(())
}
