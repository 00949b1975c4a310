//! Ids and tokens: exact, and nothing else than integers and strings.

use std::collections::HashSet;

use mcp_protocol::types::{CancelledParams, ProgressParams};
use mcp_protocol::{ProgressToken, RawJson, RequestId};
use proptest::prelude::*;

fn read(text: &str) -> serde_json::Result<RequestId> {
    serde_json::from_str(text)
}

fn assert_exact(text: &str) {
    let id = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(serde_json::to_string(&id).expect("ids encode"), text);
    assert_eq!(id.to_string(), text);
    let token: ProgressToken = serde_json::from_str(text).expect("tokens are like ids");
    assert_eq!(serde_json::to_string(&token).expect("tokens encode"), text);
}

/// Covers J05, P04.
#[test]
fn the_ends_of_the_range_are_exact() {
    for text in [
        "0",
        "-1",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551615",
    ] {
        assert_exact(text);
    }
}

proptest! {
    #[test]
    fn every_i64_is_exact(number: i64) {
        assert_exact(&number.to_string());
        prop_assert_eq!(RequestId::from(number).as_integer(), Some(number.into()));
    }

    #[test]
    fn every_u64_is_exact(number: u64) {
        assert_exact(&number.to_string());
        prop_assert_eq!(RequestId::from(number), read(&number.to_string()).expect("an id"));
    }

    #[test]
    fn every_string_is_exact(text: String) {
        let json = serde_json::to_string(&text).expect("strings encode");
        let id = read(&json).expect("a string is an id");
        prop_assert_eq!(id.as_str(), Some(&*text));
        prop_assert_eq!(serde_json::to_string(&id).expect("ids encode"), json);
    }
}

#[test]
fn a_number_and_its_digits_are_two_ids() {
    let ids: HashSet<RequestId> = [1.into(), "1".into(), "01".into(), "".into()].into();
    assert_eq!(ids.len(), 4);
    assert_ne!(RequestId::from(1), RequestId::from("1"));
    assert_eq!(RequestId::from(1_u64), RequestId::from(1_i64));
    assert_eq!(RequestId::from(1_u64), read("1").expect("an id"));
}

/// Covers J02, M14.
#[test]
fn nothing_else_is_an_id() {
    for text in [
        "null",
        "1.5",
        "1.0",
        "1e3",
        "-0.0",
        "18446744073709551616",
        "-9223372036854775809",
        "true",
        "[]",
        "[1]",
        "{}",
        r#"{"$serde_json::private::Number":"1"}"#,
        r#""\ud800""#,
    ] {
        assert!(read(text).is_err(), "{text}");
        assert!(
            serde_json::from_str::<ProgressToken>(text).is_err(),
            "{text}"
        );
    }
}

#[test]
fn ids_inside_of_parameters_are_exact_as_well() {
    let id = "9007199254740993";
    let cancelled: CancelledParams = RawJson::parse(format!(r#"{{"requestId":{id}}}"#))
        .and_then(|params| params.decode())
        .expect("it has an id");
    assert_eq!(
        cancelled.request_id.map(|id| id.to_string()).as_deref(),
        Some(id)
    );
    let progress: ProgressParams =
        RawJson::parse(format!(r#"{{"progress":1,"progressToken":{id}}}"#))
            .and_then(|params| params.decode())
            .expect("it has a token");
    assert_eq!(progress.progress_token.to_string(), id);
}
