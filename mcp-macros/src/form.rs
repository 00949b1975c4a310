//! The derive for forms, in the same four steps as the one for tools.

mod ast;
mod expand;
pub(crate) mod literal;
mod valid;

use proc_macro2::TokenStream;
use syn::DeriveInput;

pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let form = ast::Form::read(input);
    match valid::form(&form, input) {
        Ok(()) => expand::form(&form),
        Err(error) => expand::fallback(&form, input, &error),
    }
}
