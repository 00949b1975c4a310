//! What the derives refuse, with the words they use, and what they take.

/// Covers B-283.
#[test]
fn refusals_say_what_to_write_instead() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

#[test]
fn what_should_compile_compiles() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}
