//! What the derive writes: what a person would write by hand, or a refusal.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Path};

use super::ast::{Argument, Prompt};
use crate::expand::{at, home, said};

/// `impl PromptArgs`.
pub(crate) fn prompt(prompt: &Prompt<'_>) -> TokenStream {
    let home = home(prompt.attrs.krate.as_ref());
    let ident = prompt.ident;
    let name = prompt.name();
    let said = said(&prompt.attrs, &home);
    let arguments = &prompt.arguments;
    let shown = arguments.iter().map(|argument| shown(argument, &home));
    let shown = (!arguments.is_empty()).then(|| quote!(.arguments(::std::vec![#(#shown),*])));
    let fields = arguments.iter().map(|argument| field(argument, &home));
    quote! {
        #[automatically_derived]
        impl #home::PromptArgs for #ident {
            const NAME: &'static str = #name;

            fn definition() -> #home::Prompt {
                #home::Prompt::new(Self::NAME)
                    #said
                    #shown
            }

            fn parse(
                arguments: &::std::collections::BTreeMap<
                    ::std::string::String,
                    ::std::string::String,
                >,
            ) -> ::core::result::Result<Self, #home::ArgumentError> {
                let _ = arguments;
                ::core::result::Result::Ok(Self { #(#fields),* })
            }
        }
    }
}

/// The refusal, and an implementation that lets the rest of the program be checked, so that no
/// other error comes of it.
pub(crate) fn fallback(prompt: &Prompt<'_>, input: &DeriveInput, error: &Error) -> TokenStream {
    let refusal = error.to_compile_error();
    let home = home(prompt.attrs.krate.as_ref());
    let ident = prompt.ident;
    let (parameters, arguments, bounds) = input.generics.split_for_impl();
    let predicates = bounds.map(|bounds| &bounds.predicates);
    quote! {
        #refusal

        #[automatically_derived]
        impl #parameters #home::PromptArgs for #ident #arguments
        where
            Self: ::core::marker::Send + 'static,
            #predicates
        {
            const NAME: &'static str = "";

            fn definition() -> #home::Prompt {
                ::core::unreachable!()
            }

            fn parse(
                _: &::std::collections::BTreeMap<::std::string::String, ::std::string::String>,
            ) -> ::core::result::Result<Self, #home::ArgumentError> {
                ::core::unreachable!()
            }
        }
    }
}

/// An argument as `prompts/list` shows it.
fn shown(argument: &Argument<'_>, home: &Path) -> TokenStream {
    let name = argument.name();
    let said = said(&argument.attrs, home);
    let required = argument.required.then(|| quote!(.required(true)));
    quote!(#home::PromptArgument::new(#name) #said #required)
}

/// Points at the type where that cannot be read from text.
fn field(argument: &Argument<'_>, home: &Path) -> TokenStream {
    let (ident, name, ty) = (argument.ident, argument.name(), argument.ty);
    let span = ty.span();
    let read = if argument.required {
        quote_spanned!(span=> required_argument)
    } else {
        quote_spanned!(span=> optional_argument)
    };
    let home = at(span, home);
    quote_spanned!(span=> #ident: #home::#read::<#ty>(arguments, #name)?)
}
