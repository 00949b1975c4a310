//! How what has been posted is answered.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt as _;
use mcp_protocol::{
    BadMessage, BusyData, BusyScope, ErrorCode, ErrorObject, Frame, ProtocolVersion, RequestId,
    SERVER_BUSY,
};
use tokio::time::{sleep, timeout};

use super::body::Events;
use super::exchange::{Event, Exchange, Reader, StreamId, parse_event_id, priming};
use super::headers;
use super::sessions::Session;
use super::status::{self, Refusal};
use super::visitors::{AROUND, Charge, Key, Visit};
use super::{Answered, Http, Peer, not_allowed};

/// A message that has been posted, and what has to be known of its exchange.
pub(super) struct Posted {
    pub(super) parts: Parts,
    pub(super) frame: Frame,
    pub(super) charge: Charge,
    pub(super) visit: Visit,
}

impl<S: Send + Sync + 'static> Http<S> {
    /// Serves one request on a connection of its own. `complete` is whether it says all that such
    /// a request has to say of itself.
    pub(super) async fn once(&self, posted: Posted, id: RequestId, complete: bool) -> Answered {
        let exchange = Exchange::new(0);
        let mut reader = exchange.ask(posted.frame, vec![id.clone()], posted.charge);
        let share = posted.visit.visitor.share.clone();
        let output = self.config.limits.output;
        let serving = self.server.serve_sharing(exchange, share, output);
        match first(&mut reader, self.config.limits.keep_alive).await {
            First::Ended => Err(ending().to(id)),
            First::Only(event, outcome) => {
                Ok(status::json(status::of(outcome, complete), event.json()))
            }
            First::Begun(begin) => {
                let mut events = self.events(reader, [None, begin], posted.visit);
                events.serving = Some(serving);
                Ok(status::stream(events))
            }
        }
    }

    /// Hands on what asks for nothing to a connection of its own, which ends when it has been
    /// dealt with.
    pub(super) fn tell(&self, posted: Posted) -> http::Response<super::Body> {
        let exchange = Exchange::new(0);
        exchange.tell(posted.frame, None, posted.charge);
        exchange.close();
        let share = posted.visit.visitor.share.clone();
        let output = self.config.limits.output;
        let serving = self.server.serve_sharing(exchange, share, output);
        tokio::spawn(async move {
            let _visit = posted.visit;
            // How it ends has been logged, and nobody asked.
            let _ = serving.await;
        });
        status::empty(StatusCode::ACCEPTED)
    }

    /// Serves a handshake, and keeps its connection if it succeeds.
    pub(super) async fn open_session(&self, posted: Posted, id: RequestId) -> Answered {
        let limits = &self.config.limits;
        let owner = self.owner(&posted.parts);
        let share = match owner {
            Key::Principal(_) => posted.visit.visitor.share.clone(),
            _ => self.server.share(),
        };
        let exchange = Exchange::new(limits.replay);
        let mut reader = exchange.ask(posted.frame, vec![id.clone()], posted.charge);
        let serving = self
            .server
            .serve_sharing(exchange.clone(), share, limits.output);
        let First::Only(event, outcome) = first(&mut reader, limits.keep_alive).await else {
            return Err(ending().to(id));
        };
        let mut response = status::json(status::of(outcome, false), event.json());
        if outcome.is_ok() {
            let session = Session {
                exchange,
                owner,
                visitor: self.visitor(&posted.parts),
                _serving: serving,
            };
            let added = self
                .sessions
                .add(session, limits.sessions, limits.session_idle);
            let session_id = added.ok_or_else(|| self.busy(limits.sessions).to(id))?;
            let session_id =
                HeaderValue::from_str(&session_id).expect("base64 is fit for a header");
            response.headers_mut().insert(headers::SESSION, session_id);
        }
        Ok(response)
    }

    /// Hands on to a session what asks for answers.
    pub(super) async fn ask_session(
        &self,
        posted: Posted,
        ids: Vec<RequestId>,
        version: Option<ProtocolVersion>,
    ) -> Answered {
        // Not the session itself, which may end meanwhile.
        let exchange = self.session(&posted.parts)?.exchange.clone();
        let mut reader = exchange.ask(posted.frame, ids, posted.charge);
        let patience = match self.primes(version) {
            true => QUICK,
            false => self.config.limits.keep_alive,
        };
        match first(&mut reader, patience).await {
            First::Ended if exchange.is_over() => Err(no_session()),
            First::Ended => Ok(status::empty(StatusCode::ACCEPTED)),
            First::Only(event, _) => Ok(status::json(StatusCode::OK, event.json())),
            First::Begun(begin) => Ok(self.session_stream(reader, begin, version, posted.visit)),
        }
    }

    /// Hands on to a session what asks for nothing.
    pub(super) fn tell_session(&self, posted: Posted, cancels: Option<RequestId>) -> Answered {
        let session = self.session(&posted.parts)?;
        session.exchange.tell(posted.frame, cancels, posted.charge);
        Ok(status::empty(StatusCode::ACCEPTED))
    }

    /// Goes on with a stream of a session, or with what is about none of its requests.
    pub(super) fn get(&self, parts: &Parts, version: Option<ProtocolVersion>) -> Answered {
        headers::check_accept(&parts.headers, &[headers::EVENTS])?;
        let session = self.session(parts)?;
        let visit = self.enter(parts)?;
        let (stream, after) = match headers::text(&parts.headers, headers::LAST_EVENT)? {
            None => (StreamId::GENERAL, None),
            Some(event) => parse_event_id(event)
                .map(|(stream, number)| (stream, Some(number)))
                .ok_or_else(unknown_event)?,
        };
        let reader = session.exchange.resume(stream, after);
        let reader = reader.ok_or_else(unknown_event)?;
        Ok(self.session_stream(reader, None, version, visit))
    }

    /// Ends a session.
    pub(super) fn delete(&self, parts: &Parts) -> Answered {
        let id = self.session_id(parts)?;
        let idle = self.config.limits.session_idle;
        match self.sessions.remove(id, &self.owner(parts), idle) {
            true => Ok(status::empty(StatusCode::NO_CONTENT)),
            false => Err(no_session()),
        }
    }
}

/// What an answer begins with.
enum First {
    /// There will be none.
    Ended,
    /// It is one response.
    Only(Event, Result<(), ErrorCode>),
    /// It is a stream, with what is known of it.
    Begun(Option<Bytes>),
}

/// What is known of the answer when its headers are written.
async fn first(reader: &mut Reader, patience: Duration) -> First {
    match timeout(patience, reader.next()).await {
        Err(_) => First::Begun(None),
        Ok(None) => First::Ended,
        Ok(Some(event)) => match event.outcome {
            Some(outcome) => First::Only(event, outcome),
            None => First::Begun(Some(event.text)),
        },
    }
}

/// How long a response may take that is sent without a stream, although a client that comes
/// back could be told how. Some clients take no large message on a stream.
const QUICK: Duration = Duration::from_millis(100);

/// Streams.
impl<S: Send + Sync + 'static> Http<S> {
    /// A stream that a client of this revision may come back to.
    fn session_stream(
        &self,
        reader: Reader,
        begin: Option<Bytes>,
        version: Option<ProtocolVersion>,
        visit: Visit,
    ) -> http::Response<super::Body> {
        let limits = &self.config.limits;
        let primes = self.primes(version);
        let priming = primes.then(|| priming(&reader, limits.retry));
        let mut events = self.events(reader, [priming, begin], visit);
        let age = limits.stream_age.filter(|_| primes);
        events.until = age.map(|age| Box::pin(sleep(age)));
        status::stream(events)
    }

    fn events(&self, reader: Reader, begin: [Option<Bytes>; 2], visit: Visit) -> Events {
        Events::new(reader, begin, self.config.limits.keep_alive, visit)
    }

    /// Whether a client of this revision expects to be told how to come back.
    fn primes(&self, version: Option<ProtocolVersion>) -> bool {
        // Older clients take an event without data for a broken message.
        self.config.limits.replay > 0 && version >= Some(ProtocolVersion::V2025_11_25)
    }
}

/// Who is there, and what may be held for them.
impl<S: Send + Sync + 'static> Http<S> {
    fn session(&self, parts: &Parts) -> Result<Arc<Session>, Refusal> {
        let id = self.session_id(parts)?;
        let idle = self.config.limits.session_idle;
        let session = self.sessions.find(id, &self.owner(parts), idle);
        session.ok_or_else(no_session)
    }

    fn session_id<'a>(&self, parts: &'a Parts) -> Result<&'a str, Refusal> {
        if self.config.limits.sessions == 0 {
            return Err(not_allowed("POST"));
        }
        headers::text(&parts.headers, headers::SESSION)?.ok_or_else(|| {
            let reason = "there is no session: `Mcp-Session-Id` is missing";
            Refusal::because(StatusCode::BAD_REQUEST, reason)
        })
    }

    /// Whom a session belongs to.
    fn owner(&self, parts: &Parts) -> Key {
        let find = self.config.principal.as_ref();
        find.and_then(|find| find(parts))
            .map_or(Key::Anyone, Key::Principal)
    }

    /// Whom an exchange is counted for.
    fn visitor(&self, parts: &Parts) -> Key {
        match (self.owner(parts), parts.extensions.get::<Peer>()) {
            (Key::Anyone, Some(peer)) => Key::Peer(peer.0.ip()),
            (key, _) => key,
        }
    }

    pub(super) fn enter(&self, parts: &Parts) -> Result<Visit, Refusal> {
        let key = self.visitor(parts);
        let most = self.config.limits.open;
        let visit = self.visitors.enter(&key, most, || match &key {
            Key::Principal(principal) => self.server.share().principal(principal.as_str()),
            Key::Peer(_) | Key::Anyone => self.server.share(),
        });
        visit.ok_or_else(|| self.busy(most))
    }

    /// Reads a body, as far as there is room for it and for what is kept around it.
    pub(super) async fn read<B>(&self, body: B, visit: &Visit) -> Result<(Frame, Charge), Refusal>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let limits = &self.config.limits;
        let mut charge = visit.charge();
        if !charge.grow(AROUND, limits) {
            return Err(self.busy(limits.bodies));
        }
        let mut whole = BytesMut::new();
        let mut body = pin!(body);
        let reading = async {
            while let Some(frame) = body.frame().await {
                let gone = |_| Refusal::because(StatusCode::BAD_REQUEST, "the body broke off");
                let Ok(data) = frame.map_err(gone)?.into_data() else {
                    continue;
                };
                if whole.len() + data.remaining() > limits.body {
                    let error = BadMessage::too_long(limits.body).error;
                    return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error));
                }
                if !charge.grow(data.remaining(), limits) {
                    return Err(self.busy(limits.bodies));
                }
                whole.put(data);
            }
            Ok(())
        };
        match timeout(limits.body_time, reading).await {
            Ok(read) => read?,
            Err(_) => {
                let reason = "the body took too long";
                return Err(Refusal::because(StatusCode::REQUEST_TIMEOUT, reason));
            }
        }
        Ok((whole.freeze(), charge))
    }

    /// 503: there is no room for it now.
    fn busy(&self, limit: usize) -> Refusal {
        let data = BusyData::new(SERVER_BUSY, BusyScope::Server, limit as u64, "");
        let error = data.into_error(self.server.config().busy_code);
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }
}

fn no_session() -> Refusal {
    let reason = "there is no such session, or no longer";
    Refusal::because(StatusCode::NOT_FOUND, reason)
}

fn unknown_event() -> Refusal {
    let reason = "`Last-Event-ID` names no event that the stream goes on from";
    Refusal::because(StatusCode::BAD_REQUEST, reason)
}

fn ending() -> Refusal {
    let error = ErrorObject::internal("the server is shutting down");
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}
