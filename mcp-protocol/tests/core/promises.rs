//! The promises of `connection.rs`, over any history.
//!
//! A history is any sequence of what a peer may send and a driver may do.

use proptest::prelude::*;

use crate::model::{Method, Model, Step};

fn step() -> impl Strategy<Value = Step> {
    let method = prop_oneof![
        6 => Just(Method::Call),
        1 => Just(Method::Ping),
        1 => Just(Method::Discover),
        2 => Just(Method::Listen),
        1 => Just(Method::List),
        1 => Just(Method::Unknown),
        1 => Just(Method::SetLevel),
        1 => Just(Method::Malformed),
    ];
    let request = (0..4u8, any::<bool>(), any::<bool>(), method, any::<bool>()).prop_map(
        |(id, text_id, modern, method, token)| Step::Request {
            id,
            text_id,
            modern,
            method,
            token,
        },
    );
    let junk = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        proptest::sample::select(vec![
            &b"{}"[..],
            b"[]",
            b"[1,2]",
            b"null",
            b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
            b"{\"jsonrpc\":\"2.0\",\"method\":5}",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    prop_oneof![
        12 => request,
        3 => (0..6u8).prop_map(Step::Initialize),
        1 => Just(Step::Initialized),
        4 => (0..4u8, any::<bool>()).prop_map(|(id, text_id)| Step::Cancel { id, text_id }),
        3 => any::<u8>().prop_map(Step::Answer),
        2 => proptest::collection::vec((0..4u8, any::<bool>()), 0..6).prop_map(Step::Batch),
        2 => junk.prop_map(Step::Junk),
        1 => Just(Step::TooLong),
        8 => any::<u8>().prop_map(Step::Reply),
        2 => any::<u8>().prop_map(Step::Fail),
        4 => (any::<u8>(), any::<i8>()).prop_map(|(call, to)| Step::Progress(call, to)),
        2 => any::<u8>().prop_map(Step::Log),
        4 => any::<u8>().prop_map(Step::Ask),
        3 => (0..5u8).prop_map(Step::Publish),
        2 => (0..30_000u16).prop_map(Step::Wait),
        1 => Just(Step::Eof),
        1 => Just(Step::ShutDown),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Covers C02, C04, C07, C10, J01, J03, J07, LG03, P02, P03, S01, S10, T06.
    #[test]
    fn promises_hold_over_any_history(history in proptest::collection::vec(step(), 0..60)) {
        let mut model = Model::new();
        for step in &history {
            model.step(step);
        }
        model.end();
    }
}
