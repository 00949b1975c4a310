//! What is refused, where, and what to write instead.

use syn::{DeriveInput, Fields, Result};

use super::ast::Prompt;
use crate::valid::{Names, attributes_are_known, has_no_parameters, icon, refuse, text_is_known};

pub(crate) fn prompt(prompt: &Prompt<'_>, input: &DeriveInput) -> Result<()> {
    attributes_are_known(&prompt.attrs.error)?;
    let Some(fields) = prompt.fields else {
        return refuse(prompt.ident, "`Prompt` describes a prompt by a struct");
    };
    let why = "a prompt has one name and one list of arguments, so its type has no parameters";
    has_no_parameters(&input.generics, why)?;
    if let Fields::Unnamed(fields) = fields {
        let error = "arguments have names: write a struct with named fields";
        return refuse(fields, error);
    }
    prompt.attrs.icons.iter().try_for_each(icon)?;
    text_is_known(&prompt.attrs, "prompt")?;
    let mut names = Names::default();
    for argument in &prompt.arguments {
        attributes_are_known(&argument.attrs.error)?;
        text_is_known(&argument.attrs, "prompt")?;
        names.add(&argument.name(), "arguments", "prompt")?;
    }
    Ok(())
}
