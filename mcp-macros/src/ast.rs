//! What a derive's input says, not yet judged.

use quote::format_ident;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Fields, GenericArgument, Ident, LitStr, Meta, PathArguments,
    Token, Type,
};

use crate::attr::{Attrs, Place};

/// One tool: a struct, or a variant of an enum.
pub(crate) struct Tool<'a> {
    pub(crate) ident: &'a Ident,
    /// Everything that stands above it.
    pub(crate) source: &'a [Attribute],
    /// `None` for what is neither a struct nor a variant.
    pub(crate) fields: Option<&'a Fields>,
    pub(crate) attrs: Attrs,
}

/// Several tools: an enum.
pub(crate) struct Set<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) source: &'a [Attribute],
    pub(crate) attrs: Attrs,
    /// `None` for what is not an enum.
    pub(crate) tools: Option<Vec<Tool<'a>>>,
}

impl<'a> Tool<'a> {
    pub(crate) fn of_struct(input: &'a DeriveInput) -> Self {
        Self::new(&input.ident, &input.attrs, fields(input))
    }

    fn new(ident: &'a Ident, source: &'a [Attribute], fields: Option<&'a Fields>) -> Self {
        Self {
            ident,
            source,
            fields,
            attrs: Attrs::read(source, Place::Tool),
        }
    }

    /// The name that a call uses.
    pub(crate) fn name(&self) -> LitStr {
        self.attrs.type_name(self.ident)
    }

    /// The struct that holds the arguments of a variant.
    pub(crate) fn arguments(&self) -> Ident {
        format_ident!("__{}Arguments", self.ident.unraw())
    }

    /// Whether arguments that the tool does not have are refused.
    ///
    /// Not where serde does not know which ones it has.
    pub(crate) fn is_closed(&self) -> bool {
        const ELSEWHERE: [&str; 4] = ["from", "try_from", "transparent", "tag"];
        let flattened = |field: &syn::Field| serde_word(&field.attrs, "flatten").is_some();
        self.attrs.open.is_none()
            && ELSEWHERE
                .iter()
                .all(|word| serde_word(self.source, word).is_none())
            && !self
                .fields
                .is_some_and(|fields| fields.iter().any(flattened))
    }
}

impl<'a> Set<'a> {
    pub(crate) fn of_enum(input: &'a DeriveInput) -> Self {
        let tools = match &input.data {
            Data::Enum(data) => Some(
                data.variants
                    .iter()
                    .map(|variant| Tool::new(&variant.ident, &variant.attrs, Some(&variant.fields)))
                    .collect(),
            ),
            Data::Struct(_) | Data::Union(_) => None,
        };
        Self {
            ident: &input.ident,
            source: &input.attrs,
            attrs: Attrs::read(&input.attrs, Place::Tool),
            tools,
        }
    }
}

/// Those of a struct.
pub(crate) fn fields(input: &DeriveInput) -> Option<&Fields> {
    match &input.data {
        Data::Struct(data) => Some(&data.fields),
        Data::Enum(_) | Data::Union(_) => None,
    }
}

/// What stands in `#[serde(…)]`. What cannot be read is for serde to refuse.
pub(crate) fn serde(attributes: &[Attribute]) -> impl Iterator<Item = Meta> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"))
        .filter_map(|attribute| {
            attribute
                .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                .ok()
        })
        .flatten()
}

/// The place of a word in `#[serde(…)]`.
pub(crate) fn serde_word(attributes: &[Attribute], word: &str) -> Option<Meta> {
    serde(attributes).find(|meta| meta.path().is_ident(word))
}

/// `HttpGet2` as `http_get2`, `GetURL` as `get_url`.
pub(crate) fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let ends_word = before.is_some_and(|c| c.is_lowercase() || c.is_ascii_digit());
        let ends_capitals = before.is_some_and(|c| c.is_uppercase())
            && letters.get(at + 1).is_some_and(|c| c.is_lowercase());
        if letter.is_uppercase() && (ends_word || ends_capitals) {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// `T` of `Option<T>`, by how it is written: a derive knows no types.
pub(crate) fn optional(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(inner) if last.ident == "Option" => Some(inner),
        _ => None,
    }
}
