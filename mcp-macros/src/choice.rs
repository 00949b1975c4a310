//! The derive for choices, which is small enough for one file.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Path, Result};

use crate::ast::snake_case;
use crate::attr::{read, text, value};
use crate::expand::{home, unreadable};
use crate::valid::{attributes_are_known, refuse};

/// What stands in `#[choice(…)]`, on the enum or on a variant.
#[derive(Default)]
struct Attrs {
    name: Option<LitStr>,
    title: Option<LitStr>,
    krate: Option<Path>,
    /// The first mistake.
    error: Option<Error>,
}

/// A choice: a variant.
struct One<'a> {
    ident: &'a Ident,
    fields: &'a Fields,
    name: LitStr,
    attrs: Attrs,
}

pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let attrs = Attrs::read(&input.attrs, false);
    let choices = match &input.data {
        Data::Enum(data) => Some(data.variants.iter().map(One::read).collect::<Vec<_>>()),
        Data::Struct(_) | Data::Union(_) => None,
    };
    match valid(&attrs, choices.as_deref(), input) {
        Ok(()) => expand(&attrs, &choices.unwrap_or_default(), input),
        Err(error) => fallback(&attrs, input, &error),
    }
}

impl<'a> One<'a> {
    fn read(variant: &'a syn::Variant) -> Self {
        let attrs = Attrs::read(&variant.attrs, true);
        let ident = &variant.ident;
        let name = attrs
            .name
            .clone()
            .unwrap_or_else(|| LitStr::new(&snake_case(&ident.unraw().to_string()), ident.span()));
        Self {
            ident,
            fields: &variant.fields,
            name,
            attrs,
        }
    }
}

impl Attrs {
    fn read(attributes: &[Attribute], on_variant: bool) -> Self {
        let mut attrs = Self::default();
        let (_, error) = read(attributes, "choice", "title", |word, input| {
            match (word.to_string().as_str(), on_variant) {
                ("name", true) => attrs.name = Some(text(word, input)?),
                ("title", true) => attrs.title = Some(text(word, input)?),
                ("crate", false) => attrs.krate = Some(value(word, input, "path")?),
                _ => return Err(Error::new(word.span(), unknown(on_variant))),
            }
            Ok(())
        });
        attrs.error = error;
        attrs
    }
}

fn unknown(on_variant: bool) -> &'static str {
    if on_variant {
        "a choice has no such attribute; it has `name` and `title`"
    } else {
        "choices have no such attribute; they have `crate`, and others on the variants"
    }
}

fn valid(attrs: &Attrs, choices: Option<&[One<'_>]>, input: &DeriveInput) -> Result<()> {
    attributes_are_known(&attrs.error)?;
    let Some(choices) = choices else {
        return refuse(&input.ident, "`Choice` describes choices by an enum");
    };
    if !input.generics.params.is_empty() {
        let error = "there is one list of choices, so its type has no parameters";
        return Err(Error::new(input.generics.span(), error));
    }
    if choices.is_empty() {
        return refuse(&input.ident, "an enum without variants leaves no choice");
    }
    let mut names = HashSet::new();
    for one in choices {
        attributes_are_known(&one.attrs.error)?;
        if !matches!(one.fields, Fields::Unit) {
            return refuse(
                one.fields,
                "a choice is a word, so its variant has no fields",
            );
        }
        if !names.insert(one.name.value()) {
            let name = one.name.value();
            let error = format!("two choices are named `{name}`: write `#[choice(name = \"…\")]`");
            return Err(Error::new(one.name.span(), error));
        }
    }
    Ok(())
}

/// `impl Choice` and `impl Deserialize`, through an enum that has the names of the choices.
fn expand(attrs: &Attrs, choices: &[One<'_>], input: &DeriveInput) -> TokenStream {
    let home = home(attrs.krate.as_ref());
    let serde = quote!(#home::serde).to_string();
    let ident = &input.ident;
    let idents: Vec<_> = choices.iter().map(|one| one.ident).collect();
    let names: Vec<_> = choices.iter().map(|one| &one.name).collect();
    let schema = if choices.iter().any(|one| one.attrs.title.is_some()) {
        let titles = choices
            .iter()
            .map(|one| one.attrs.title.as_ref().unwrap_or(&one.name));
        quote!(titled(
            ::std::vec![#(#home::TitledChoice::new(#names, #titles)),*]
        ))
    } else {
        quote!(of([#(#names),*]))
    };
    quote! {
        const _: () = {
            #[derive(#home::serde::Deserialize)]
            #[serde(crate = #serde)]
            enum __Answer {
                #(#[serde(rename = #names)] #idents),*
            }

            #[automatically_derived]
            impl<'de> #home::serde::Deserialize<'de> for #ident {
                fn deserialize<D: #home::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    let answer = #home::serde::Deserialize::deserialize(deserializer)?;
                    ::core::result::Result::Ok(match answer {
                        #(__Answer::#idents => Self::#idents),*
                    })
                }
            }

            #[automatically_derived]
            impl #home::Choice for #ident {
                fn choices() -> #home::SingleSelectSchema {
                    #home::SingleSelectSchema::#schema
                }
            }
        };
    }
}

/// The refusal, and implementations that let the rest of the program be checked, so that no
/// other error comes of it.
fn fallback(attrs: &Attrs, input: &DeriveInput, error: &Error) -> TokenStream {
    let refusal = error.to_compile_error();
    let home = home(attrs.krate.as_ref());
    let ident = &input.ident;
    let (parameters, arguments, bounds) = input.generics.split_for_impl();
    let unread = unreadable(input, &home);
    quote! {
        #refusal

        #unread

        #[automatically_derived]
        impl #parameters #home::Choice for #ident #arguments #bounds {
            fn choices() -> #home::SingleSelectSchema {
                ::core::unreachable!()
            }
        }
    }
}
