//! What a prompt's struct says, not yet judged.

use syn::{DeriveInput, Field, Fields, Ident, LitStr, Type};

use crate::ast::{fields, optional};
use crate::attr::{Attrs, Place};

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

impl<'a> Prompt<'a> {
    pub(crate) fn read(input: &'a DeriveInput) -> Self {
        let fields = fields(input);
        let arguments = fields.into_iter().flatten().filter_map(Argument::read);
        Self {
            ident: &input.ident,
            fields,
            arguments: arguments.collect(),
            attrs: Attrs::read(&input.attrs, Place::Prompt),
        }
    }

    pub(crate) fn name(&self) -> LitStr {
        self.attrs.type_name(self.ident)
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
        self.attrs.field_name(self.ident)
    }
}
