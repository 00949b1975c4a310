//! What the derive writes: what a person would write by hand, or a refusal.

use proc_macro2::{Literal as Token, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Ident, Path};

use super::ast::{Field, Form};
use super::literal::{Kind, Literal};
use crate::expand::{at, home, unreadable};

/// `impl Form` and `impl Deserialize`, through a struct that has the names of the form.
pub(crate) fn form(form: &Form<'_>) -> TokenStream {
    let home = home(form.attrs.krate.as_ref());
    let serde = quote!(#home::serde).to_string();
    let ident = form.ident;
    let idents: Vec<_> = form.fields.iter().map(|field| field.ident).collect();
    let answers = form.fields.iter().map(|field| {
        let (ident, name, ty) = (field.ident, field.name(), field.ty);
        quote!(#[serde(rename = #name)] #ident: #ty)
    });
    let shown = form.fields.iter().map(|field| shown(field, &home));
    let required: Vec<_> = form
        .fields
        .iter()
        .filter(|field| field.required)
        .map(Field::name)
        .collect();
    let required = (!required.is_empty())
        .then(|| quote!(.required(::std::vec![#(::std::string::String::from(#required)),*])));
    quote! {
        const _: () = {
            #[derive(#home::serde::Deserialize)]
            #[serde(crate = #serde)]
            struct __Answer {
                #(#answers),*
            }

            #[automatically_derived]
            impl<'de> #home::serde::Deserialize<'de> for #ident {
                fn deserialize<D: #home::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    let __Answer { #(#idents),* } =
                        #home::serde::Deserialize::deserialize(deserializer)?;
                    ::core::result::Result::Ok(Self { #(#idents),* })
                }
            }

            #[automatically_derived]
            impl #home::Form for #ident {
                fn schema() -> #home::RequestedSchema {
                    #[allow(unused_mut)]
                    let mut fields = #home::Properties::default();
                    #(#shown)*
                    #home::RequestedSchema::new(fields) #required
                }
            }
        };
    }
}

/// The refusal, and implementations that let the rest of the program be checked, so that no
/// other error comes of it.
pub(crate) fn fallback(form: &Form<'_>, input: &DeriveInput, error: &Error) -> TokenStream {
    let refusal = error.to_compile_error();
    let home = home(form.attrs.krate.as_ref());
    let ident = form.ident;
    let (parameters, arguments, bounds) = input.generics.split_for_impl();
    let unread = unreadable(input, &home);
    quote! {
        #refusal

        #unread

        #[automatically_derived]
        impl #parameters #home::Form for #ident #arguments #bounds {
            fn schema() -> #home::RequestedSchema {
                ::core::unreachable!()
            }
        }
    }
}

/// A field as the user sees it. Points at the type where a form cannot have that, and at an
/// attribute where the type does not take it.
fn shown(field: &Field<'_>, home: &Path) -> TokenStream {
    let (name, ty, attrs) = (field.name(), field.asked, &field.attrs);
    let located = at(ty.span(), home);
    let ask = quote_spanned!(ty.span()=> #located::field::<#ty>());
    let title = attrs
        .title
        .as_ref()
        .map(|title| quote!(let field = #home::FieldSchema::title(field, #title);));
    let description = attrs
        .text()
        .map(|text| quote!(let field = #home::FieldSchema::description(field, #text);));
    let format = attrs.format.as_ref().and_then(|written| {
        let format = format(&written.value())?;
        let format = quote!(#home::StringFormat::#format);
        let setter = quote_spanned!(written.span()=> of_format);
        Some(set(home, &setter, written.span(), &format))
    });
    let literal = |setter: &str, literal: &Option<Literal>| {
        let literal = literal.as_ref()?;
        let (setter, ty) = (Ident::new(setter, literal.span), literal.ty());
        let setter = quote_spanned!(literal.span=> #setter::<#ty, _>);
        Some(set(home, &setter, literal.span, literal))
    };
    let min = literal("at_least", &attrs.min);
    let max = literal("at_most", &attrs.max);
    let default = literal("preset", &attrs.default);
    quote! {
        let field = #ask;
        #title
        #description
        #format
        #min
        #max
        #default
        fields.insert(#name, field);
    }
}

fn set(home: &Path, setter: &TokenStream, span: Span, value: &impl ToTokens) -> TokenStream {
    let home = at(span, home);
    let value = at(span, value);
    quote_spanned!(span=> let field = #home::#setter(field, #value);)
}

/// The variant of `StringFormat`.
pub(crate) fn format(written: &str) -> Option<TokenStream> {
    Some(match written {
        "email" => quote!(Email),
        "uri" => quote!(Uri),
        "date" => quote!(Date),
        "date-time" => quote!(DateTime),
        _ => return None,
    })
}

impl Literal {
    /// Said, because an error names it then instead of a type that the compiler has guessed.
    fn ty(&self) -> TokenStream {
        let span = self.span;
        match &self.kind {
            Kind::Text(_) => quote_spanned!(span=> &::core::primitive::str),
            Kind::Flag(_) => quote_spanned!(span=> ::core::primitive::bool),
            Kind::Natural(_) => quote_spanned!(span=> ::core::primitive::u64),
            Kind::Negative(_) => quote_spanned!(span=> ::core::primitive::i64),
            Kind::Float(_) => quote_spanned!(span=> ::core::primitive::f64),
        }
    }
}

impl ToTokens for Literal {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.kind {
            Kind::Text(text) => text.to_tokens(tokens),
            Kind::Flag(flag) => flag.to_tokens(tokens),
            Kind::Natural(number) => Token::u64_suffixed(*number).to_tokens(tokens),
            Kind::Negative(number) => Token::i64_suffixed(*number).to_tokens(tokens),
            Kind::Float(number) => Token::f64_suffixed(*number).to_tokens(tokens),
        }
    }
}
