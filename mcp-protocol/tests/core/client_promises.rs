//! What `connection.rs` promises of a client, over any history.
//!
//! A history is any sequence of what a server may send and an application may want.

use mcp_protocol::Era;
use proptest::prelude::*;

use crate::client_model::{ANSWERS, CALLS, Model, NOTICES, OPENINGS, QUESTIONS, Step};

fn step() -> impl Strategy<Value = Step> {
    let answer = (any::<u8>(), 0..8u8, 0..ANSWERS.len()).prop_map(|(which, text, answer)| {
        let text_id = text == 0;
        Step::Answer {
            which,
            text_id,
            answer,
        }
    });
    let question = || (0..4u8, 0..QUESTIONS.len());
    prop_oneof![
        1 => Just(Step::Connect),
        12 => answer,
        4 => question().prop_map(|(id, method)| Step::Ask { id, method }),
        2 => (0..4u8).prop_map(Step::Withdraw),
        6 => (any::<u8>(), 0..NOTICES.len()).prop_map(|(which, method)| Step::Notify { which, method }),
        2 => proptest::collection::vec(question(), 0..6).prop_map(Step::Batch),
        1 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Step::Junk),
        1 => Just(Step::Skip),
        1 => any::<u8>().prop_map(Step::Unanswered),
        10 => (0..CALLS.len(), any::<bool>()).prop_map(|(method, follow)| Step::Call { method, follow }),
        3 => any::<u8>().prop_map(Step::Cancel),
        4 => any::<u8>().prop_map(Step::Reply),
        1 => Just(Step::Tell),
        3 => (0..30_000u16).prop_map(Step::Wait),
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

    /// Covers J01c, J02c, J03c, J04c, J07c, J08c, J15c, J16c, J19, C02c, C03c, C06, D17.
    /// Covers EC01c, EC02c, EC05c, P01c, P07, S08, B-224c.
    #[test]
    fn promises_of_a_client_hold_over_any_history(
        era in proptest::sample::select(vec![None, Some(Era::Legacy), Some(Era::Modern)]),
        // Most histories should get beyond the opening.
        opening in proptest::sample::select(OPENINGS),
        history in proptest::collection::vec(step(), 0..60),
    ) {
        let mut model = Model::new(era);
        model.step(&Step::Connect);
        for answer in opening {
            model.step(&Step::Answer { which: 1, text_id: false, answer: *answer });
        }
        for step in &history {
            model.step(step);
        }
        model.end();
    }
}
