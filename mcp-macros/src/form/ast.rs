//! What a form's struct says, not yet judged.

use syn::{DeriveInput, Fields, Ident, LitStr, Type};

use crate::ast::{fields, optional};
use crate::attr::{Attrs, Place};

/// A form: a struct.
pub(crate) struct Form<'a> {
    pub(crate) ident: &'a Ident,
    /// `None` for what is not a struct.
    pub(crate) shape: Option<&'a Fields>,
    /// Those of the fields that have a name.
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) attrs: Attrs,
}

/// A field of a form.
pub(crate) struct Field<'a> {
    pub(crate) ident: &'a Ident,
    /// What is read from the answer.
    pub(crate) ty: &'a Type,
    /// What the user fills in: without `Option`.
    pub(crate) asked: &'a Type,
    pub(crate) required: bool,
    pub(crate) attrs: Attrs,
}

impl<'a> Form<'a> {
    pub(crate) fn read(input: &'a DeriveInput) -> Self {
        let shape = fields(input);
        let fields = shape.into_iter().flatten().filter_map(Field::read);
        Self {
            ident: &input.ident,
            shape,
            fields: fields.collect(),
            attrs: Attrs::read(&input.attrs, Place::Form),
        }
    }
}

impl<'a> Field<'a> {
    fn read(field: &'a syn::Field) -> Option<Self> {
        let inner = optional(&field.ty);
        Some(Self {
            ident: field.ident.as_ref()?,
            ty: &field.ty,
            asked: inner.unwrap_or(&field.ty),
            required: inner.is_none(),
            attrs: Attrs::read(&field.attrs, Place::Field),
        })
    }

    pub(crate) fn name(&self) -> LitStr {
        self.attrs.field_name(self.ident)
    }
}
