//! From what a handler needs to the answers, and back to the handler.
//!
//! The one layer that knows that there are two ways. A client of 2026-07-28 is told in a result
//! what is needed, and calls again with the answers; an older one is asked by requests while
//! its call waits. Either way the attempt runs again, from its beginning, with the answers so
//! far.
//!
//! It is inside the limit, so that a call which waits for a person keeps its slot, and outside
//! of the user's layers, so that a timeout or a span sees one attempt and not the time that a
//! person takes.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use mcp_protocol::connection::Answer;
use mcp_protocol::types::{CallToolResult, InputRequiredResult};
use mcp_protocol::{ClientRequest, Era, ErrorObject, RawJson, ServerResult};
use tokio::sync::oneshot::{self, error::RecvError};
use tower::BoxError;

use crate::attempt::{Attempt, Needs, Next, Outcome, Serving};
use crate::context::Call;
use crate::input::is_no;
use crate::named::Named;
use crate::seal::{About, Carried, Digest, Seal, Unsealed};

/// The answers that a call has, and what it has looked for in this attempt.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Each with the digest of its question.
    given: Named<(Digest, RawJson)>,
    /// What was looked for in this attempt, each with the digest of its question.
    looked_for: Named<Digest>,
    /// What a client has answered that carries nothing: to whatever it was asked.
    alone: BTreeMap<String, RawJson>,
    rounds: usize,
}

impl Answers {
    /// The answer to a question: not one to another question of the same name.
    pub(crate) fn to(&self, name: &str, question: &Digest) -> Option<&RawJson> {
        match self.given.get(name) {
            Some((known, answer)) => (known == question).then_some(answer),
            None => self.alone.get(name),
        }
    }

    /// Whether no other question of this attempt has the name: of two, each would make the
    /// answer to the other one void, and both would be asked for ever.
    pub(crate) fn is_only(&mut self, name: &str, question: &Digest) -> bool {
        let Some(known) = self.looked_for.get(name) else {
            let question = question.clone();
            return self.looked_for.insert(name.to_owned(), question).is_none();
        };
        known == question
    }

    fn give(&mut self, name: String, question: Digest, answer: RawJson) {
        self.given.insert(name, (question, answer));
    }
}

/// How rounds are done on one server.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) seal: Seal,
    /// Rounds of one call.
    pub(crate) most: usize,
}

/// The service.
#[derive(Debug)]
pub struct Rounds {
    next: Next,
    rules: Arc<Rules>,
    /// Whose connection this is.
    principal: Option<Arc<str>>,
}

impl Rounds {
    pub(crate) fn new(next: Next, rules: Arc<Rules>, principal: Option<Arc<str>>) -> Self {
        Self {
            next,
            rules,
            principal,
        }
    }

    pub(crate) fn serve(&self, attempt: Attempt) -> Running {
        let begun = match is_modern(&attempt) {
            true => begin(&attempt, &self.rules, self.principal.as_deref()),
            false => Ok(()),
        };
        let running = match begun {
            Ok(()) => self.next.serve(attempt),
            Err(error) => Box::pin(async move { Ok(Outcome::Refused(error)) }),
        };
        Running(running)
    }

    /// Asks a legacy client and runs the attempt again, as often as it needs more.
    async fn ask(self: Arc<Self>, attempt: Attempt, mut needs: Needs) -> Result<Outcome, BoxError> {
        let mut open: Vec<Open> = Vec::new();
        for _ in 0..self.rules.most {
            // The next attempt is as if it were the first.
            attempt.call.forget_meta();
            attempt.call.answers().looked_for.clear();
            let mut still = std::mem::take(&mut open);
            for (name, need) in needs.0 {
                let same = |open: &Open| open.name == name && open.question == need.question;
                if let Some(at) = still.iter().position(same) {
                    open.push(still.swap_remove(at));
                    continue;
                }
                let Some(request) = need.request.into_request() else {
                    return Ok(failed(&attempt, "the client cannot be asked that"));
                };
                open.push(Open {
                    name,
                    question: need.question,
                    ends_with_no: need.ends_with_no,
                    answer: attempt.call.ask(request),
                });
            }
            while !open.is_empty() {
                let (at, answer) = poll_fn(|cx| poll_first(&mut open, cx)).await;
                let Open {
                    name,
                    question,
                    ends_with_no,
                    ..
                } = open.swap_remove(at);
                let answer = match answered(answer) {
                    Ok(answer) => answer,
                    Err(why) => return Ok(failed(&attempt, &format!("`{name}`: {why}"))),
                };
                // The handler will end the call, and that ends its other questions.
                let is_last = ends_with_no && is_no(&answer);
                attempt.call.answers().give(name, question, answer);
                if is_last {
                    break;
                }
            }
            match self.next.serve(attempt.clone()).await? {
                Outcome::Needs(more) => needs = more,
                outcome => return Ok(outcome),
            }
        }
        Ok(failed(&attempt, "it asked too many times"))
    }

    /// Tells a modern client what is needed.
    fn tell(&self, attempt: &Attempt, needs: Needs) -> Outcome {
        let mut answers = attempt.call.answers();
        let rounds = answers.rounds + 1;
        if rounds > self.rules.most {
            drop(answers);
            return failed(attempt, "it asked too many times");
        }
        let mut carried = Carried {
            rounds,
            answers: std::mem::take(&mut answers.given),
            ..Carried::default()
        };
        for (name, need) in needs.0.iter() {
            carried.asked.insert(name.clone(), need.question.clone());
        }
        drop(answers);
        let about = About {
            request: attempt.request(),
            principal: self.principal.as_deref(),
        };
        let state = match self.rules.seal.close(carried, about) {
            Ok(state) => state,
            Err(Unsealed::TooLong) => {
                return failed(attempt, "its answers are too long to be carried");
            }
            Err(Unsealed::Ambiguous) => {
                let error = "Invalid params: `arguments` can be read in more than one way";
                return Outcome::Refused(ErrorObject::invalid_params(error));
            }
        };
        let mut result = InputRequiredResult::new().request_state(state);
        let requests = needs.0.into_iter();
        result
            .input_requests
            .get_or_insert_default()
            .extend(requests.map(|(name, need)| (name, need.request)));
        Outcome::Done(ServerResult::InputRequired(result).into())
    }
}

/// Takes what a modern client has carried and answered.
fn begin(attempt: &Attempt, rules: &Rules, principal: Option<&str>) -> Result<(), ErrorObject> {
    let (responses, state) = match attempt.request() {
        ClientRequest::CallTool(params) => (&params.input_responses, &params.request_state),
        ClientRequest::GetPrompt(params) => (&params.input_responses, &params.request_state),
        ClientRequest::ReadResource(params) => (&params.input_responses, &params.request_state),
        _ => return Ok(()),
    };
    let Some(state) = state else {
        // Its user's answers are the client's to vouch for, with a state or without. They are
        // good for this attempt, and never carried.
        if let Some(alone) = responses {
            attempt.call.answers().alone.clone_from(alone);
        }
        return Ok(());
    };
    let about = About {
        request: attempt.request(),
        principal,
    };
    let Carried {
        rounds,
        answers: given,
        mut asked,
        ..
    } = rules
        .seal
        .open(state, about)
        .map_err(|error| ErrorObject::invalid_params(format!("Invalid params: {error}")))?;
    let mut answers = attempt.call.answers();
    (answers.rounds, answers.given) = (rounds, given);
    for (name, answer) in responses.iter().flatten() {
        if let Some(question) = asked.remove(name) {
            answers.give(name.clone(), question, answer.clone());
        }
    }
    Ok(())
}

/// A question that a legacy client has not answered yet.
struct Open {
    name: String,
    question: Digest,
    ends_with_no: bool,
    answer: oneshot::Receiver<Answer>,
}

/// The first of the open questions that something has come of.
fn poll_first(
    open: &mut [Open],
    cx: &mut TaskContext<'_>,
) -> Poll<(usize, Result<Answer, RecvError>)> {
    for (at, question) in open.iter_mut().enumerate() {
        if let Poll::Ready(answer) = Pin::new(&mut question.answer).poll(cx) {
            return Poll::Ready((at, answer));
        }
    }
    Poll::Pending
}

/// What came of a question.
fn answered(answer: Result<Answer, RecvError>) -> Result<RawJson, String> {
    match answer {
        // A copy: the answer may be a small part of a long batch, which it would keep in memory.
        Ok(Answer::Given(result)) => RawJson::encode(&result).map_err(|error| error.to_string()),
        Ok(Answer::Refused(error)) => Err(format!("the client refused: {}", error.message)),
        Ok(Answer::TimedOut) => Err("nobody has answered in time".to_owned()),
        // The call has ended, and with it this task, or the client could not be asked.
        Ok(Answer::Gone) | Err(_) => Err("the client could not be asked".to_owned()),
    }
}

/// The end of a call for a reason that a model can read, where there is one to read it.
fn failed(attempt: &Attempt, why: &str) -> Outcome {
    match attempt.request() {
        ClientRequest::CallTool(_) => {
            Outcome::Done(ServerResult::CallTool(CallToolResult::error(why)).into())
        }
        _ => Outcome::Refused(ErrorObject::internal(why.to_owned())),
    }
}

fn is_modern(attempt: &Attempt) -> bool {
    attempt.caller().version().era() == Era::Modern
}

/// An attempt, and what becomes of it if it needs something.
///
/// Not boxed: nearly every call is one attempt and needs no more than its handler's future.
pub struct Running(Serving);

impl Running {
    /// Goes on with the call, which is always the same one.
    pub(crate) fn poll(
        &mut self,
        rounds: &Arc<Rounds>,
        call: &Arc<Call>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Result<Outcome, BoxError>> {
        loop {
            let needs = match ready!(self.0.as_mut().poll(cx)) {
                Ok(Outcome::Needs(needs)) => needs,
                outcome => return Poll::Ready(outcome),
            };
            let attempt = Attempt { call: call.clone() };
            if is_modern(&attempt) {
                return Poll::Ready(Ok(rounds.tell(&attempt, needs)));
            }
            self.0 = Box::pin(rounds.clone().ask(attempt, needs));
        }
    }
}
