//! `requestState`: what a modern client carries from one round to the next.
//!
//! A client is free to send back anything, so what it carries is authenticated: with a key, for
//! so long, and only for the same method with the same parameters, from the same principal. It is not encrypted: it
//! holds what this very client has answered, and nothing else.
//!
//! Spec: [multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac_sha256::{HMAC, Hash};
use mcp_protocol::{ClientRequest, RawJson};
use serde::{Deserialize, Serialize};

use crate::canonical::canonical;
use crate::named::Named;

/// A key that `requestState` is authenticated with.
///
/// Without one a server makes its own when it is built, and knows only what it has sealed
/// itself. Servers that answer for one another, or that go on after a restart, are given the
/// same key. See [`Server::state_keys`](crate::Server::state_keys).
#[derive(Clone, PartialEq, Eq)]
pub struct StateKey([u8; 32]);

impl StateKey {
    /// From 32 bytes that are as hard to guess as any.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key that nobody else has.
    ///
    /// # Panics
    ///
    /// When the operating system has no random numbers.
    #[must_use]
    pub fn random() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the operating system has random numbers");
        Self(key)
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey(..)")
    }
}

/// The digest of a question, or of the parameters of a request.
pub(crate) type Digest = String;

/// What is carried.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// How many rounds there were.
    pub(crate) rounds: usize,
    /// Seconds since 1970 after which it is not taken any more.
    pub(crate) expires: u64,
    /// The answers so far, each with the digest of its question.
    pub(crate) answers: Named<(Digest, RawJson)>,
    /// The digests of the questions of this round.
    pub(crate) asked: Named<Digest>,
}

/// What a state is bound to.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) request: &'a ClientRequest,
    /// Who asks, where the transport knows.
    pub(crate) principal: Option<&'a str>,
}

/// Seals and opens what clients carry.
#[derive(Clone, Debug)]
pub(crate) struct Seal {
    /// The first one seals, all of them open. Not empty.
    pub(crate) keys: Vec<StateKey>,
    /// How long a state is taken.
    pub(crate) age: Duration,
    /// The longest state, in bytes.
    pub(crate) max_bytes: usize,
}

/// Why a state was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadState {
    #[error("`requestState` is not of this server, or not of this request")]
    Forged,
    #[error("`requestState` has expired")]
    Expired,
}

/// Why there is no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsealed {
    /// It would be longer than allowed.
    TooLong,
    /// The request could be mistaken for another one.
    Ambiguous,
}

impl Seal {
    pub(crate) fn close(&self, mut carried: Carried, about: About<'_>) -> Result<String, Unsealed> {
        let subject = subject(about).ok_or(Unsealed::Ambiguous)?;
        carried.expires = now().saturating_add(self.age).as_secs();
        let text = json(&carried);
        let tag = tag(&self.keys[0], &subject, text.as_str());
        let sealed = format!("{text}.{}", hex(&tag));
        match sealed.len() <= self.max_bytes {
            true => Ok(sealed),
            false => Err(Unsealed::TooLong),
        }
    }

    pub(crate) fn open(&self, sealed: &str, about: About<'_>) -> Result<Carried, BadState> {
        let (text, tag_sent) = sealed
            .rsplit_once('.')
            .filter(|_| sealed.len() <= self.max_bytes)
            .ok_or(BadState::Forged)?;
        let subject = subject(about).ok_or(BadState::Forged)?;
        let known = self.keys.iter().any(|key| {
            let tag = hex(&tag(key, &subject, text));
            same(tag.as_bytes(), tag_sent.as_bytes())
        });
        if !known {
            return Err(BadState::Forged);
        }
        let carried: Carried = serde_json::from_str(text).or(Err(BadState::Forged))?;
        if now().as_secs() > carried.expires {
            return Err(BadState::Expired);
        }
        Ok(carried)
    }
}

/// What authenticates a state for what a request is about.
fn tag(key: &StateKey, subject: &[u8; 32], text: &str) -> [u8; 32] {
    let mut mac = HMAC::new(key.0);
    mac.update(subject);
    mac.update(text.as_bytes());
    mac.finalize()
}

/// The digest of who asks and what a request is about: not of what it carries. `None` of arguments that are
/// not [canonical].
fn subject(About { request, principal }: About<'_>) -> Option<[u8; 32]> {
    let about = match request {
        ClientRequest::CallTool(params) => {
            let arguments = params.arguments.as_ref();
            let arguments = arguments.map_or(Some(String::new()), canonical)?;
            format!("{} {arguments}", json(&params.name))
        }
        ClientRequest::GetPrompt(params) => json(&(&params.name, &params.arguments)).to_string(),
        ClientRequest::ReadResource(params) => params.uri.clone(),
        _ => String::new(),
    };
    let method = request.method();
    Some(Hash::hash(
        format!("{} {method} {about}", json(&principal)).as_bytes(),
    ))
}

/// The digest of a question.
pub(crate) fn digest(question: &impl Serialize) -> Digest {
    hex(&Hash::hash(json(question).as_bytes())[..16])
}

fn json(value: &impl Serialize) -> RawJson {
    RawJson::encode(value).expect("texts and JSON always encode")
}

/// Compares without telling by the time it takes how much was right.
fn same(ours: &[u8], theirs: &[u8]) -> bool {
    let differences = ours.iter().zip(theirs).fold(0, |all, (a, b)| all | (a ^ b));
    ours.len() == theirs.len() && differences == 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mcp_protocol::Method;

    use super::*;

    fn seal(age: u64) -> Seal {
        Seal {
            keys: vec![StateKey::new([1; 32])],
            age: Duration::from_secs(age),
            max_bytes: 1_000,
        }
    }

    fn about(request: &ClientRequest) -> About<'_> {
        About {
            request,
            principal: None,
        }
    }

    fn call(name: &str, arguments: &'static str) -> ClientRequest {
        let params = format!("{{\"name\":\"{name}\",\"arguments\":{arguments}}}");
        let params = RawJson::parse(params).expect("JSON");
        ClientRequest::parse(Method::CallTool, Some(params)).expect("a call")
    }

    fn carried() -> Carried {
        let mut carried = Carried {
            rounds: 2,
            ..Carried::default()
        };
        let answer = ("d".to_owned(), RawJson::empty_object());
        carried.answers.insert("a".to_owned(), answer);
        carried
    }

    #[test]
    fn what_was_sealed_opens_for_the_same_request() {
        let sealed = seal(60)
            .close(carried(), about(&call("x", "{\"a\":1,\"b\":2}")))
            .expect("short");
        let opened = seal(60)
            .open(&sealed, about(&call("x", "{ \"b\":2, \"a\":1 }")))
            .expect("ours");
        assert_eq!((opened.rounds, opened.answers), (2, carried().answers));
    }

    /// Covers X06, X07.
    #[test]
    fn nothing_else_opens() {
        let request = call("x", "{}");
        let sealed = seal(60).close(carried(), about(&request)).expect("short");
        for other in [call("y", "{}"), call("x", "{\"a\":1}")] {
            assert_eq!(seal(60).open(&sealed, about(&other)), Err(BadState::Forged));
        }
        let stranger = Seal {
            keys: vec![StateKey::new([2; 32])],
            ..seal(60)
        };
        assert_eq!(
            stranger.open(&sealed, about(&request)),
            Err(BadState::Forged)
        );
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert_eq!(
                seal(60).open(&changed, about(&request)),
                Err(BadState::Forged),
                "{at}"
            );
            assert!(seal(60).open(&sealed[..at], about(&request)).is_err());
        }
        for state in ["", ".", "x", &format!("{sealed}-TAMPERED")] {
            assert_eq!(seal(60).open(state, about(&request)), Err(BadState::Forged));
        }
    }

    /// Covers X06.
    #[test]
    fn arguments_that_differ_in_anything_are_others() {
        for (mine, other) in [
            (r#"{"to":"a","x":1e999}"#, r#"{"to":"b","x":1e999}"#),
            (r#"{"x":1e999}"#, r#"{"x":1e998}"#),
            (r#"{"x":0.1}"#, r#"{"x":0.10000000000000000001}"#),
            (
                r#"{"x":170141183460469231731687303715884105727}"#,
                r#"{"x":170141183460469231731687303715884105728}"#,
            ),
            (r#"{"x":"\ud83d\ude00"}"#, r#"{"x":"\ud83d\ude01"}"#),
        ] {
            let sealed = seal(60)
                .close(carried(), about(&call("x", mine)))
                .expect("short");
            assert!(
                seal(60).open(&sealed, about(&call("x", mine))).is_ok(),
                "{mine}"
            );
            let opened = seal(60).open(&sealed, about(&call("x", other)));
            assert_eq!(opened, Err(BadState::Forged), "{other}");
        }
        let ambiguous = call("x", r#"{"to":"a","x":"\ud800"}"#);
        let sealed = seal(60).close(carried(), about(&ambiguous));
        assert_eq!(sealed, Err(Unsealed::Ambiguous));
        let sealed = seal(60)
            .close(carried(), about(&call("x", "{}")))
            .expect("short");
        assert_eq!(
            seal(60).open(&sealed, about(&ambiguous)),
            Err(BadState::Forged)
        );
    }

    /// Covers X07.
    #[test]
    fn a_state_expires_and_has_a_size() {
        let request = call("x", "{}");
        let mut carried = carried();
        let sealed = seal(0).close(carried, about(&request)).expect("short");
        std::thread::sleep(Duration::from_millis(1_100));
        assert_eq!(
            seal(0).open(&sealed, about(&request)),
            Err(BadState::Expired)
        );
        carried = Carried::default();
        let long = RawJson::encode(&"x".repeat(1_000)).expect("JSON");
        carried
            .answers
            .insert("a".to_owned(), (String::new(), long));
        assert_eq!(
            seal(60).close(carried, about(&request)),
            Err(Unsealed::TooLong)
        );
    }

    #[test]
    fn an_old_key_opens_while_a_new_one_seals() {
        let request = call("x", "{}");
        let sealed = seal(60).close(carried(), about(&request)).expect("short");
        let rotated = Seal {
            keys: vec![StateKey::new([2; 32]), StateKey::new([1; 32])],
            ..seal(60)
        };
        assert!(rotated.open(&sealed, about(&request)).is_ok());
        let sealed = rotated.close(carried(), about(&request)).expect("short");
        assert_eq!(
            seal(60).open(&sealed, about(&request)),
            Err(BadState::Forged)
        );
    }

    #[test]
    fn what_one_principal_carries_is_of_no_use_to_another() {
        let request = call("x", "{}");
        let of = |principal| About {
            request: &request,
            principal,
        };
        let sealed = seal(60).close(carried(), of(Some("ann"))).expect("short");
        assert!(seal(60).open(&sealed, of(Some("ann"))).is_ok());
        for other in [Some("bob"), None] {
            assert_eq!(seal(60).open(&sealed, of(other)), Err(BadState::Forged));
        }
    }
}
