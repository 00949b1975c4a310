//! Derives that describe tools. Use them through `mcp-server`, which re-exports both and
//! documents the traits that they implement.
//!
//! A derive describes and never touches a function: what it writes is what a person would
//! write by hand with the public API. [`Tool`] is for a struct whose fields are the arguments
//! of one tool; [`Tools`] is for an enum with one variant for each tool.
//!
//! # Attributes
//!
//! Inside of `#[tool(…)]`, on the struct or on the variant:
//!
//! | attribute | meaning | if absent |
//! |---|---|---|
//! | `name = "…"` | what a call uses: 1 to 128 of `A-Z a-z 0-9 _ - .` | the type's or variant's name in snake case |
//! | `title = "…"` | what a person reads | none |
//! | `description = "…"` | what the model reads | the doc comment |
//! | `output = Type` | the output is structured, and its schema is shown; `Type: Serialize + JsonSchema` | the output is content only |
//! | `content = Type` | what `run` returns; `Type: IntoContent`; not on a variant | `String` |
//! | `read_only` | it changes nothing | it may |
//! | `destructive = false` | it destroys nothing | it may |
//! | `idempotent` | twice does no more than once | it may |
//! | `open_world = false` | it deals only with what is known beforehand | it may not |
//! | `icon = "https://…"` | a picture for user interfaces; may be repeated; also `data:` | none |
//! | `open` | arguments that the tool does not have are ignored | they are an error, and the schema says so |
//! | `crate = path` | where `mcp_server` is; on the enum for `Tools` | `::mcp_server` |
//!
//! A flag can be given a value, as in `destructive = false`; without one it is `true`.
//!
//! # Arguments
//!
//! Fields are described by their doc comments and by the attributes of serde and schemars:
//! `#[serde(default)]`, `#[serde(rename = "…")]`, `#[schemars(range(min = 1))]`. A name that is
//! given with `#[serde(alias = "…")]` is understood, and not shown.
//!
//! Arguments that the tool does not have are refused, which tells a model of its spelling
//! mistake. Where serde does not say which names a type has, they are ignored, as with `open`:
//! in a struct with a `#[serde(flatten)]` field, and with `#[serde(from)]`, `try_from`,
//! `transparent` or `tag`.

mod ast;
mod attr;
mod doc;
mod expand;
mod fallback;
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
/// The attributes are listed in the [crate's documentation](crate).
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
/// The attributes are listed in the [crate's documentation](crate).
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
