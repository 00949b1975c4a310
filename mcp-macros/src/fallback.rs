//! What a derive writes when it refuses its input: the refusal, and an implementation that lets
//! the rest of the program be checked, so that no other error comes of it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error};

use crate::ast::{Set, Tool};
use crate::expand::{home, output};

pub(crate) fn tool(tool: &Tool<'_>, input: &DeriveInput, error: &Error) -> TokenStream {
    let refusal = error.to_compile_error();
    let home = home(tool.attrs.krate.as_ref());
    let output = output(&tool.attrs);
    let ident = tool.ident;
    let (parameters, arguments, bounds) = input.generics.split_for_impl();
    let predicates = bounds.map(|bounds| &bounds.predicates);
    quote! {
        #refusal

        #[automatically_derived]
        impl #parameters #home::ToolArgs for #ident #arguments
        where
            Self: ::core::marker::Send + 'static,
            #output: ::core::marker::Send,
            #predicates
        {
            type Output = #output;

            const NAME: &'static str = "";

            fn definition() -> #home::Tool {
                ::core::unreachable!()
            }

            fn parse(
                _: &#home::RawJson,
            ) -> ::core::result::Result<Self, #home::ArgumentError> {
                ::core::unreachable!()
            }

            fn result(
                _: Self::Output,
            ) -> #home::serde_json::Result<#home::CallToolResult> {
                ::core::unreachable!()
            }
        }
    }
}

pub(crate) fn set(set: &Set<'_>, input: &DeriveInput, error: &Error) -> TokenStream {
    let refusal = error.to_compile_error();
    let home = home(set.attrs.krate.as_ref());
    let ident = set.ident;
    let (parameters, arguments, bounds) = input.generics.split_for_impl();
    let predicates = bounds.map(|bounds| &bounds.predicates);
    quote! {
        #refusal

        #[automatically_derived]
        impl #parameters #home::ToolSet for #ident #arguments
        where
            Self: ::core::marker::Send + 'static,
            #predicates
        {
            fn definitions() -> ::std::vec::Vec<#home::Tool> {
                ::core::unreachable!()
            }

            fn parse(
                _: &str,
                _: &#home::RawJson,
            ) -> ::core::option::Option<::core::result::Result<Self, #home::ArgumentError>> {
                ::core::unreachable!()
            }
        }
    }
}
