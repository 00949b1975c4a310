//! ARGS, ERRKIND: what becomes of arguments, good and bad.

use crate::script::check;

/// Covers B-044, B-046, B-048, J20, J21.
#[test]
fn no_arguments_are_an_empty_object() {
    check(
        r#"
        > 1 call nothing
        < 1 ok {"content": [], "isError": "absent"}
        > 2 call nothing {}
        < 2 ok {"content": []}
        > 3 call nothing null
        < 3 ok {"content": []}
        > 4 call nothing []
        < 4 error -32602
        > 5 call nothing "x"
        < 5 error -32602
        > 6 call nothing 5
        < 6 error -32602
        > 7 call typed
        < 7 failed "~missing field `count`"
        "#,
    );
}

/// Covers B-047, B-049, B-051, TL06.
#[test]
fn what_is_wrong_with_arguments_is_said_for_a_model_to_read() {
    check(
        r#"
        > 1 call typed {}
        < 1 failed "~`typed`: missing field `count`"
        > 2 call typed {"count": "3"}
        < 2 failed "~at `count`: invalid type: string \"3\", expected u32"
        > 3 call typed {"count": 3, "flag": "true"}
        < 3 failed "~at `flag`: invalid type: string \"true\", expected a boolean"
        > 4 call typed {"count": -1}
        < 4 failed "~at `count`"
        > 5 call typed {"count": 3, "limit": 256}
        < 5 failed "~at `limit`: invalid value: integer `256`, expected u8"
        > 6 call typed {"count": 3, "list": [1, "2"]}
        < 6 failed "~at `list[1]`: invalid type: string \"2\", expected i64"
        > 7 call typed {"count": 3, "label": {}}
        < 7 failed "~at `label`"
        "#,
    );
}

/// Covers B-053.
#[test]
fn a_misspelled_argument_is_refused_by_name() {
    check(
        r#"
        > 1 call typed {"count": 3, "maxDepht": 2}
        < 1 failed "~unknown argument `maxDepht`, did you mean `max_depth`?"
        > 2 call nothing {"x": 1}
        < 2 failed "~unknown argument `x`, the tool takes none"
        "#,
    );
}

/// Covers B-056, B-057.
#[test]
fn null_is_absent_and_an_empty_text_is_not() {
    check(
        r#"
        > 1 call typed {"count": 3, "flag": null, "limit": null, "max_depth": null, "label": null, "list": null}
        < 1 text "3 None 7 None None None"
        > 2 call typed {"count": 3}
        < 2 text "3 None 7 None None None"
        > 3 call typed {"count": 3, "flag": false, "limit": 0, "max_depth": 0, "label": "", "list": []}
        < 3 text "3 Some(false) 0 Some(0) Some(\"\") Some([])"
        > 4 call typed {"count": null}
        < 4 failed "~missing field `count`"
        "#,
    );
}

/// Covers TL05, TL16, B-306, B-308.
#[test]
fn errors_of_tools_are_results_and_errors_about_tools_are_not() {
    check(
        r#"
        > 1 call nope {}
        < 1 error -32602 {"message": "Unknown tool: nope"}
        > 2 call NOTHING {}
        < 2 error -32602 {"message": "Unknown tool: NOTHING"}
        > 3 tools/call {"name": 5}
        < 3 error -32602
        > 4 tools/call {}
        < 4 error -32602
        > 5 call divide {"a": 1, "b": 0}
        < 5 failed "division by zero"
        > 6 call divide {"a": 1}
        < 6 failed "~missing field `b`"
        "#,
    );
}
