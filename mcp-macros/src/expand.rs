//! What a derive writes: what a person would write by hand.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput, Path, Type, parse_quote};

use crate::ast::{Set, Tool};
use crate::attr::Attrs;

/// Where the names come from that the derives use.
pub(crate) fn home(krate: Option<&Path>) -> Path {
    match krate {
        Some(path) => parse_quote!(#path::__private),
        None => parse_quote!(::mcp_server::__private),
    }
}

/// The same where an error should point.
pub(crate) fn at(span: Span, tokens: impl ToTokens) -> TokenStream {
    let tokens = tokens.into_token_stream().into_iter();
    tokens
        .map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}

/// An `impl Deserialize` that only lets the rest of the program be checked.
pub(crate) fn unreadable(input: &DeriveInput, home: &Path) -> TokenStream {
    let ident = &input.ident;
    let (_, arguments, bounds) = input.generics.split_for_impl();
    let mut generics = input.generics.clone();
    generics.params.insert(0, parse_quote!('de));
    let (parameters, _, _) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #home::serde::Deserialize<'de> for #ident #arguments #bounds {
            fn deserialize<D: #home::serde::Deserializer<'de>>(
                _: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::core::unreachable!()
            }
        }
    }
}

/// What `run` returns.
pub(crate) fn output(attrs: &Attrs) -> Type {
    let given = attrs.output.as_ref().or(attrs.content.as_ref());
    given
        .cloned()
        .unwrap_or_else(|| parse_quote!(::std::string::String))
}

/// `impl ToolArgs`.
pub(crate) fn tool(tool: &Tool<'_>) -> TokenStream {
    let home = home(tool.attrs.krate.as_ref());
    let ident = tool.ident;
    let name = tool.name();
    let definition = definition(
        tool,
        &home,
        &quote!(Self::NAME),
        &quote_spanned!(ident.span()=> Self),
    );
    let decode = decode(tool, &home, &quote_spanned!(ident.span()=> Self));
    let output = output(&tool.attrs);
    let write = match &tool.attrs.output {
        Some(_) => quote_spanned!(output.span()=> <#output as #home::WriteOutput>::write),
        None => quote_spanned!(output.span()=> <#output as #home::IntoContent>::into_content),
    };
    quote! {
        #[automatically_derived]
        impl #home::ToolArgs for #ident {
            type Output = #output;

            const NAME: &'static str = #name;

            fn definition() -> #home::Tool {
                #definition
            }

            fn parse(
                arguments: &#home::RawJson,
            ) -> ::core::result::Result<Self, #home::ArgumentError> {
                #decode(arguments)
            }

            fn result(
                output: Self::Output,
            ) -> #home::serde_json::Result<#home::CallToolResult> {
                #write(output)
            }
        }
    }
}

/// `impl ToolSet`, with a struct for the arguments of each tool.
pub(crate) fn set(set: &Set<'_>) -> TokenStream {
    let home = home(set.attrs.krate.as_ref());
    let ident = set.ident;
    let tools = set.tools.as_deref().unwrap_or_default();
    let structs = tools.iter().map(|tool| arguments(tool, &home));
    let definitions = tools.iter().map(|tool| {
        let (name, arguments) = (tool.name(), tool.arguments());
        definition(tool, &home, &quote!(#name), &quote!(#arguments))
    });
    let arms = tools.iter().map(|tool| arm(tool, &home));
    quote! {
        const _: () = {
            #(#structs)*

            #[automatically_derived]
            impl #home::ToolSet for #ident {
                fn definitions() -> ::std::vec::Vec<#home::Tool> {
                    ::std::vec![#(#definitions),*]
                }

                fn parse(
                    name: &str,
                    arguments: &#home::RawJson,
                ) -> ::core::option::Option<::core::result::Result<Self, #home::ArgumentError>> {
                    ::core::option::Option::Some(match name {
                        #(#arms)*
                        _ => return ::core::option::Option::None,
                    })
                }
            }
        };
    }
}

fn arguments(tool: &Tool<'_>, home: &Path) -> TokenStream {
    let arguments = tool.arguments();
    let attributes = passed_on(tool.source);
    let fields = tool.fields.into_iter().flatten().map(|field| {
        let attributes = passed_on(&field.attrs);
        let docs = field
            .attrs
            .iter()
            .filter(|attr| attr.path().is_ident("doc"));
        let (ident, ty) = (&field.ident, &field.ty);
        quote!(#(#docs)* #(#attributes)* #ident: #ty)
    });
    let serde = quote!(#home::serde).to_string();
    let schemars = quote!(#home::schemars).to_string();
    quote! {
        #[derive(#home::serde::Deserialize, #home::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        #(#attributes)*
        #[allow(non_camel_case_types)]
        struct #arguments {
            #(#fields),*
        }
    }
}

fn arm(tool: &Tool<'_>, home: &Path) -> TokenStream {
    let (name, arguments, ident) = (tool.name(), tool.arguments(), tool.ident);
    let decode = decode(tool, home, &quote!(#arguments));
    let fields: Vec<_> = tool
        .fields
        .into_iter()
        .flatten()
        .map(|field| &field.ident)
        .collect();
    quote! {
        #name => #decode(arguments).map(|#arguments { #(#fields),* }| Self::#ident { #(#fields),* }),
    }
}

/// What serde and schemars are to know of a variant and its fields.
fn passed_on(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| {
        attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
    })
}

fn decode(tool: &Tool<'_>, home: &Path, arguments: &TokenStream) -> TokenStream {
    let read = if tool.is_closed() {
        quote!(read_closed)
    } else {
        quote!(read)
    };
    quote_spanned!(tool.ident.span()=> <#arguments as #home::ReadArguments>::#read)
}

/// The tool as `tools/list` shows it.
fn definition(
    tool: &Tool<'_>,
    home: &Path,
    name: &TokenStream,
    arguments: &TokenStream,
) -> TokenStream {
    let attrs = &tool.attrs;
    let input_schema = if tool.is_closed() {
        quote!(closed_input_schema)
    } else {
        quote!(input_schema)
    };
    let span = tool.ident.span();
    let input_schema = quote_spanned!(span=> <#arguments as #home::Described>::#input_schema());
    let said = said(attrs, home);
    let output_schema = attrs.output.as_ref().map(|output| {
        let schema = quote_spanned!(output.span()=> <#output as #home::Described>::output_schema());
        quote!(.output_schema(#schema))
    });
    let annotations = annotations(attrs, home);
    quote! {
        #home::Tool::new(#name, #input_schema)
            #said
            #output_schema
            #annotations
    }
}

/// What is said alike of a tool, of a prompt and of an argument of one.
pub(crate) fn said(attrs: &Attrs, home: &Path) -> TokenStream {
    let title = attrs.title.as_ref().map(|title| quote!(.title(#title)));
    let description = attrs.text().map(|text| quote!(.description(#text)));
    let icons = &attrs.icons;
    let icons =
        (!icons.is_empty()).then(|| quote!(.icons(::std::vec![#(#home::Icon::new(#icons)),*])));
    quote!(#title #description #icons)
}

fn annotations(attrs: &Attrs, home: &Path) -> Option<TokenStream> {
    let hints = [
        (quote!(read_only_hint), &attrs.read_only),
        (quote!(destructive_hint), &attrs.destructive),
        (quote!(idempotent_hint), &attrs.idempotent),
        (quote!(open_world_hint), &attrs.open_world),
    ];
    let given: Vec<_> = hints
        .iter()
        .filter_map(|(hint, flag)| flag.as_ref().map(|flag| quote!(.#hint(#flag))))
        .collect();
    (!given.is_empty()).then(|| quote!(.annotations(#home::ToolAnnotations::new() #(#given)*)))
}
