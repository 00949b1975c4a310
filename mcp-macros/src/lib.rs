//! Derives that describe tools, prompts and forms. Use them through `mcp-server`, which re-exports
//! them and documents the traits that they implement.
//!
//! A derive describes and never touches a function: what it writes is what a person would
//! write by hand with the public API. [`Tool`] is for a struct whose fields are the arguments
//! of one tool; [`Tools`] is for an enum with one variant for each tool; [`Prompt`] is for a
//! struct whose fields are the arguments of a prompt; [`Form`] is for a struct whose fields a
//! user fills in, and [`Choice`] for an enum that is one of these fields.

mod ast;
mod attr;
mod choice;
mod doc;
mod expand;
mod fallback;
mod form;
mod prompt;
mod valid;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Describes one tool by a struct: the fields are its arguments.
///
/// Implements `ToolArgs`. The struct is `Deserialize` and `JsonSchema` too.
///
/// ```text
/// /// Ship a build to an environment.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// #[tool(output = Shipped, idempotent)]
/// struct Deploy {
///     /// Where to.
///     env: String,
/// }
/// ```
///
#[doc = include_str!("attributes.md")]
#[proc_macro_derive(Tool, attributes(tool))]
pub fn tool(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let tool = ast::Tool::of_struct(&input);
    match valid::tool(&tool, &input) {
        Ok(()) => expand::tool(&tool),
        Err(error) => fallback::tool(&tool, &input, &error),
    }
    .into()
}

/// Describes several tools by an enum: each variant is a tool and its fields are the arguments.
///
/// Implements `ToolSet`. Nothing else need be derived.
///
/// ```text
/// #[derive(Tools)]
/// enum Notes {
///     /// Adds a note.
///     Add { text: String },
///     /// Lists all notes.
///     #[tool(name = "list_notes", read_only, output = Vec<Note>)]
///     List,
/// }
/// ```
///
/// The attributes are those of [`derive(Tool)`](derive@Tool), on a variant and on its fields.
#[proc_macro_derive(Tools, attributes(tool, serde, schemars))]
pub fn tools(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let set = ast::Set::of_enum(&input);
    match valid::set(&set, &input) {
        Ok(()) => expand::set(&set),
        Err(error) => fallback::set(&set, &input, &error),
    }
    .into()
}

/// Describes a prompt by a struct: the fields are its arguments.
///
/// Implements `PromptArgs`. Nothing else need be derived.
///
/// ```text
/// /// Ask for a review of code.
/// #[derive(Prompt)]
/// #[prompt(title = "Review")]
/// struct Review {
///     /// The code.
///     code: String,
///     /// How many lines to look at.
///     lines: Option<usize>,
/// }
/// ```
///
#[doc = include_str!("prompt/attributes.md")]
#[proc_macro_derive(Prompt, attributes(prompt))]
pub fn prompt(input: TokenStream) -> TokenStream {
    prompt::derive(&parse_macro_input!(input as DeriveInput)).into()
}

/// Describes a form by a struct: the fields are what a user fills in.
///
/// Implements `Form`, and `Deserialize` for the answer. Nothing else need be derived.
///
/// ```text
/// #[derive(Form)]
/// struct Account {
///     /// Where we can reach you.
///     #[form(title = "E-mail", format = "email")]
///     email: String,
///     #[form(min = 18, max = 120)]
///     age: Option<u8>,
/// }
/// ```
///
#[doc = include_str!("form/attributes.md")]
#[proc_macro_derive(Form, attributes(form))]
pub fn form(input: TokenStream) -> TokenStream {
    form::derive(&parse_macro_input!(input as DeriveInput)).into()
}

/// Describes choices by an enum without fields: each variant is a choice.
///
/// Implements `Choice`, and `Deserialize` for the answer. Nothing else need be derived.
///
/// ```text
/// #[derive(Choice)]
/// enum Size {
///     Small,
///     #[choice(name = "xl", title = "Very large")]
///     ExtraLarge,
/// }
/// ```
///
/// On a variant there are `name`, which is the variant's in snake case if absent, and `title`,
/// which a person reads instead. On the enum there is `crate = path`, which says where
/// `mcp_server` is.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn choice(input: TokenStream) -> TokenStream {
    choice::derive(&parse_macro_input!(input as DeriveInput)).into()
}
