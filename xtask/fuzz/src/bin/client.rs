//! Histories of a client's connection. The model of the protocol crate's own tests says whether a
//! promise was broken, also where a server sends any bytes.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use mcp_protocol::Era;

#[allow(dead_code, reason = "the properties need more of it")]
#[path = "../../../../mcp-protocol/tests/core/client_model.rs"]
mod client_model;
#[allow(dead_code, reason = "the scripts need more of it")]
#[path = "../../../../mcp-protocol/tests/core/client_support.rs"]
mod client_support;
#[allow(dead_code, reason = "the scripts need more of it")]
#[path = "../../../../mcp-protocol/tests/core/support.rs"]
mod support;

use client_model::{ANSWERS, CALLS, Model, NOTICES, OPENINGS, QUESTIONS, Step};

#[derive(Arbitrary, Debug)]
struct History {
    /// The only era that is spoken, if there is one.
    modern: Option<bool>,
    opening: u8,
    choices: Vec<Choice>,
}

fuzz_target!(|history: History| {
    let mut model = Model::new(history.modern.map(|modern| match modern {
        true => Era::Modern,
        false => Era::Legacy,
    }));
    model.step(&Step::Connect);
    for answer in OPENINGS[usize::from(history.opening) % OPENINGS.len()] {
        model.step(&Step::Answer {
            which: 1,
            text_id: false,
            answer: *answer,
        });
    }
    for choice in history.choices.into_iter().take(200) {
        model.step(&choice.step());
    }
    model.end();
});

/// A step, as far as numbers choose it.
#[derive(Arbitrary, Debug)]
enum Choice {
    Connect,
    Answer(u8, bool, u8),
    /// An answer with any result.
    Result(u8, Vec<u8>),
    Ask(u8, u8),
    Withdraw(u8),
    Notify(u8, u8),
    Batch(Vec<(u8, u8)>),
    Junk(Vec<u8>),
    Skip,
    Unanswered(u8),
    Call(u8, bool),
    Cancel(u8),
    Reply(u8),
    Tell,
    Wait(u16),
    Eof,
    ShutDown,
}

impl Choice {
    fn step(self) -> Step {
        let of = |number: u8, choices: usize| usize::from(number) % choices;
        match self {
            Self::Connect => Step::Connect,
            Self::Answer(which, text_id, answer) => Step::Answer {
                which,
                text_id,
                answer: of(answer, ANSWERS.len()),
            },
            Self::Result(id, result) => {
                let head = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, id % 16);
                Step::Junk([head.as_bytes(), &result, b"}"].concat())
            }
            Self::Ask(id, method) => Step::Ask {
                id: id % 4,
                method: of(method, QUESTIONS.len()),
            },
            Self::Withdraw(id) => Step::Withdraw(id % 4),
            Self::Notify(which, method) => Step::Notify {
                which,
                method: of(method, NOTICES.len()),
            },
            Self::Batch(members) => {
                let members = members.into_iter().take(6);
                Step::Batch(
                    members
                        .map(|(id, method)| (id % 4, of(method, QUESTIONS.len())))
                        .collect(),
                )
            }
            Self::Junk(bytes) => Step::Junk(bytes),
            Self::Skip => Step::Skip,
            Self::Unanswered(which) => Step::Unanswered(which),
            Self::Call(method, follow) => Step::Call {
                method: of(method, CALLS.len()),
                follow,
            },
            Self::Cancel(which) => Step::Cancel(which),
            Self::Reply(which) => Step::Reply(which),
            Self::Tell => Step::Tell,
            Self::Wait(millis) => Step::Wait(millis),
            Self::Eof => Step::Eof,
            Self::ShutDown => Step::ShutDown,
        }
    }
}
