//! The derive for prompts, in the same four steps as the one for tools.

mod ast;
mod expand;
mod valid;

use proc_macro2::TokenStream;
use syn::DeriveInput;

pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let prompt = ast::Prompt::read(input);
    match valid::prompt(&prompt, input) {
        Ok(()) => expand::prompt(&prompt),
        Err(error) => expand::fallback(&prompt, input, &error),
    }
}
