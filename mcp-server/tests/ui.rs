//! What the derives refuse, with the words they use, and what they take.

use std::fs;

/// Covers B-283.
#[test]
fn refusals_say_what_to_write_instead() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

#[test]
fn what_should_compile_compiles() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}

/// Mistakes that are likely in a tool, and what the compiler has to say early on.
const LIKELY: &[(&str, &str)] = &[
    ("deserialize_is_not_derived", "add `Deserialize`"),
    ("schema_is_not_derived", "add `JsonSchema`"),
    (
        "tool_is_not_derived",
        "`#[derive(Deserialize, JsonSchema, Tool)]`",
    ),
    ("run_is_missing", "write `impl Run<()> for Deploy`"),
    ("run_with_another_state", "write `impl Run<()> for Deploy`"),
    (
        "run_gives_no_result",
        "`run` has to be an `async fn` that returns `Result<std::string::String, ToolError>`",
    ),
    (
        "run_gives_another_type",
        "or say what else it gives: `#[tool(content = …)]`",
    ),
    ("run_is_not_send", "is not `Send`"),
    ("content_is_no_content", "wrap it in `Json(…)`"),
    ("output_without_schema", "add `JsonSchema`"),
    ("output_is_not_serialize", "add `Serialize`"),
    ("argument_is_borrowed", "write `String` for `&str`"),
    ("argument_without_schema", "`Target: "),
    ("attribute_unknown", "it has `name`"),
    ("attribute_without_value", "wants a value"),
    ("tools_of_one_name", "write `#[tool(name = \"…\")]`"),
    ("tool_on_enum", "derive `Tools`"),
    ("tool_on_tuple_struct", "a struct with named fields"),
    ("tool_with_lifetime", "write `String` for `&str`"),
    ("tool_with_parameters", "has no parameters"),
    ("tools_is_not_derived", "`#[derive(Tools)]`"),
];

#[test]
fn likely_mistakes_are_explained_in_eight_lines() {
    for (mistake, fix) in LIKELY {
        let said = fs::read_to_string(format!("tests/ui/{mistake}.stderr"));
        let said = said.expect("the mistake has a file");
        let first: Vec<_> = said.lines().take(8).collect();
        assert!(first.join("\n").contains(fix), "{mistake}: {said}");
    }
}
