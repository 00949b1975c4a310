//! The derive for choices, which is small enough for one file.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, LitStr, Result};

use crate::attr::{Attrs, Place};
use crate::expand::{home, unreadable};
use crate::valid::{Names, attributes_are_known, has_no_parameters, refuse};

/// A choice: a variant.
struct One<'a> {
    ident: &'a Ident,
    fields: &'a Fields,
    name: LitStr,
    attrs: Attrs,
}

pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let attrs = Attrs::read(&input.attrs, Place::Choices);
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
        let attrs = Attrs::read(&variant.attrs, Place::Choice);
        Self {
            ident: &variant.ident,
            fields: &variant.fields,
            name: attrs.type_name(&variant.ident),
            attrs,
        }
    }
}

fn valid(attrs: &Attrs, choices: Option<&[One<'_>]>, input: &DeriveInput) -> Result<()> {
    attributes_are_known(&attrs.error)?;
    let Some(choices) = choices else {
        return refuse(&input.ident, "`Choice` describes choices by an enum");
    };
    let why = "there is one list of choices, so its type has no parameters";
    has_no_parameters(&input.generics, why)?;
    if choices.is_empty() {
        return refuse(&input.ident, "an enum without variants leaves no choice");
    }
    let mut names = Names::default();
    for one in choices {
        attributes_are_known(&one.attrs.error)?;
        if !matches!(one.fields, Fields::Unit) {
            return refuse(
                one.fields,
                "a choice is a word, so its variant has no fields",
            );
        }
        names.add(&one.name, "choices", "choice")?;
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
