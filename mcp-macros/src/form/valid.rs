//! What is refused, where, and what to write instead.

use syn::{DeriveInput, Error, Fields, Result};

use super::ast::Form;
use super::expand::format;
use crate::attr::Attrs;
use crate::valid::{Names, attributes_are_known, has_no_parameters, refuse, text_is_known};

pub(crate) fn form(form: &Form<'_>, input: &DeriveInput) -> Result<()> {
    attributes_are_known(&form.attrs.error)?;
    let Some(shape) = form.shape else {
        return refuse(form.ident, "`Form` describes a form by a struct");
    };
    let why = "a form has one list of fields, so its type has no parameters";
    has_no_parameters(&input.generics, why)?;
    const NAMED: &str = "fields of a form have names: write a struct with named fields";
    match shape {
        Fields::Named(_) => {}
        Fields::Unnamed(fields) => return refuse(fields, NAMED),
        Fields::Unit => return refuse(form.ident, NAMED),
    }
    let mut names = Names::default();
    for field in &form.fields {
        attributes_are_known(&field.attrs.error)?;
        is_described(&field.attrs)?;
        names.add(&field.name(), "fields", "form")?;
    }
    Ok(())
}

fn is_described(attrs: &Attrs) -> Result<()> {
    text_is_known(attrs, "form")?;
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
