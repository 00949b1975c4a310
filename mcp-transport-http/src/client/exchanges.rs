//! What becomes of a message that is posted: how its answer is read, and read on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method as Verb, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming as Body;
use mcp_protocol::connection::ServerMessage;
use mcp_protocol::transport::NoAnswer;
use mcp_protocol::types::InitializeResult;
use mcp_protocol::{
    Encode as _, Frame, Incoming, Message, Method, ReplyId, RequestId, Response as Reply,
    ServerResult,
};
use tokio::time::sleep;

use super::endpoint::{Endpoint, is_events, unreachable, unusable, whole};
use super::events::{Events, Place};
use super::inlet::Inlet;
use super::parameters::Parameters;
use crate::headers::{EVENTS, JSON, LAST_EVENT, SESSION, VERSION};

/// What the exchanges of a connection share.
pub(super) struct Exchanges {
    pub(super) endpoint: Endpoint,
    pub(super) inlet: Inlet,
    pub(super) parameters: Arc<Parameters>,
    /// Bytes of one message.
    pub(super) most: usize,
    /// What is sent along with everything that says nothing of itself.
    pub(super) terms: Mutex<HeaderMap>,
}

/// A request on its way.
pub(super) struct Asked {
    pub(super) id: RequestId,
    pub(super) method: Method,
    pub(super) way: Way,
}

/// What an exchange means for its request.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// All: the request ends with it. Of modern servers.
    Alone,
    /// One way to it among others of the session. Of legacy ones.
    InSession,
}

impl Exchanges {
    /// The session, and the revision that is spoken.
    pub(super) fn terms(&self) -> MutexGuard<'_, HeaderMap> {
        self.terms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a request and reads what belongs to it, to its answer.
    pub(super) async fn ask(&self, asked: Asked, headers: HeaderMap, frame: Frame) {
        let answered = async {
            let response = self.post(headers, frame).await?;
            if asked.method == Method::Initialize {
                if let Some(session) = response.headers().get(SESSION) {
                    self.terms().insert(SESSION, session.clone());
                }
            }
            match is_events(&response) {
                true => self.stream(response.into_body(), &asked).await,
                false => self.single(response, &asked).await,
            }
        };
        if let Err(why) = answered.await {
            self.inlet.no_answer(asked.id, why);
        }
    }

    /// Posts what asks for nothing.
    pub(super) async fn tell(&self, headers: HeaderMap, frame: Frame) {
        let told = async {
            let response = self.post(headers, frame).await?;
            if response.status().is_success() {
                return Ok(());
            }
            Err(unusable(&whole(response, self.most).await?))
        };
        if let Err(why) = told.await {
            tracing::warn!("a message to the server was not taken: {why}");
        }
    }

    /// Listens to what a legacy server has to say about no request, if it offers that, for as
    /// long as the connection lives.
    pub(super) async fn listen(&self) {
        let mut place = Place::default();
        let mut response = self.get(&place).await;
        loop {
            match response {
                Ok(stream) if is_events(&stream) => {
                    // How it ended says nothing of what comes next.
                    let _ = self.read(stream.into_body(), None, &mut place).await;
                }
                // It may have forgotten where the stream was, but not the stream.
                Ok(_) if place.last.take().is_some() => {}
                _ => return tracing::debug!("the server has nothing to say of its own"),
            }
            response = self.resume(&place, usize::MAX).await;
        }
    }

    /// Ends the session.
    pub(super) async fn leave(&self) {
        let terms = self.terms().clone();
        if terms.contains_key(SESSION) {
            let left = self.endpoint.exchange(Verb::DELETE, terms, Bytes::new());
            if let Err(why) = left.await {
                tracing::debug!("the session was not ended: {why}");
            }
        }
    }
}

/// Reading.
impl Exchanges {
    async fn post(&self, mut headers: HeaderMap, frame: Frame) -> Result<Response<Body>, NoAnswer> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        self.exchange(Verb::POST, headers, frame).await
    }

    async fn get(&self, place: &Place) -> Result<Response<Body>, NoAnswer> {
        let mut headers = self.terms().clone();
        headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        let last = place.last.as_ref().map(|id| HeaderValue::from_str(id));
        if let Some(Ok(last)) = last {
            headers.insert(LAST_EVENT, last);
        }
        self.exchange(Verb::GET, headers, Bytes::new()).await
    }

    /// One exchange. Who learns by it that the session is over ends the connection.
    async fn exchange(
        &self,
        verb: Verb,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Body>, NoAnswer> {
        let in_session = headers.contains_key(SESSION);
        let response = self.endpoint.exchange(verb, headers, body).await?;
        if in_session && response.status() == StatusCode::NOT_FOUND {
            self.inlet.end("the server has ended the session");
        }
        Ok(response)
    }

    /// Reads an answer that comes alone.
    async fn single(&self, response: Response<Body>, asked: &Asked) -> Result<(), NoAnswer> {
        let response = whole(response, self.most).await?;
        match self.deliver(response.body().clone(), Some(asked)).await {
            true => Ok(()),
            false => Err(unusable(&response)),
        }
    }

    /// Reads a stream to the answer, going on with it where it was cut off.
    async fn stream(&self, body: Body, asked: &Asked) -> Result<(), NoAnswer> {
        let mut place = Place::default();
        let mut body = body;
        loop {
            let ended = match self.read(body, Some(asked), &mut place).await {
                Ok(true) => return Ok(()),
                Ok(false) => NoAnswer::Unreachable("the stream ended before the answer".into()),
                Err(why) => why,
            };
            let broken = matches!(ended, NoAnswer::Unreachable(_));
            if !broken || asked.way == Way::Alone || place.last.is_none() {
                return Err(ended);
            }
            let response = self.resume(&place, ATTEMPTS).await?;
            if !is_events(&response) {
                return Err(unusable(&whole(response, self.most).await?));
            }
            body = response.into_body();
        }
    }

    /// Reads a stream while it lasts. Whether the answer was in it.
    async fn read(
        &self,
        mut body: Body,
        asked: Option<&Asked>,
        place: &mut Place,
    ) -> Result<bool, NoAnswer> {
        let mut events = Events::new(place.clone(), self.most);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| unreachable(&error))?;
            let Some(data) = frame.data_ref() else {
                continue;
            };
            let pushed = events.push(data);
            while let Some(event) = events.next() {
                if self.deliver(event, asked).await {
                    return Ok(true);
                }
            }
            *place = events.place.clone();
            pushed.map_err(|_| {
                let most = self.most;
                NoAnswer::Unusable(format!(
                    "the server sent more than {most} bytes in one event"
                ))
            })?;
        }
        Ok(false)
    }

    /// Comes back to a stream when the server wants it, and again while nobody is there.
    async fn resume(&self, place: &Place, attempts: usize) -> Result<Response<Body>, NoAnswer> {
        let mut delay = place.retry.unwrap_or(RETRY).max(SHORTEST);
        let mut attempt = 1;
        loop {
            sleep(delay).await;
            match self.get(place).await {
                Ok(response) if !response.status().is_server_error() => return Ok(response),
                Ok(response) if attempt >= attempts => return Ok(response),
                Err(why) if attempt >= attempts => return Err(why),
                Err(why @ NoAnswer::Unauthorized(_)) => return Err(why),
                Ok(_) | Err(_) => attempt += 1,
            }
            delay = (delay * 2).min(LONGEST.max(delay));
        }
    }

    /// Hands on a message. Whether it is the answer.
    async fn deliver(&self, frame: Frame, asked: Option<&Asked>) -> bool {
        let incoming = Incoming::parse(&frame);
        let id = asked.map(|asked| &asked.id);
        let (frame, answers) = match (incoming, asked) {
            (Incoming::Message(Message::Response(reply)), Some(asked)) => {
                let unnamed = reply.id.is_none() && reply.outcome.is_err();
                match unnamed || reply.id.as_ref() == id {
                    true => (self.answer(frame, reply, asked), true),
                    false => (frame, false),
                }
            }
            (Incoming::Batch(batch), Some(_)) => {
                let answers = batch.members().into_iter().any(|member| {
                    matches!(member, Ok(Message::Response(reply)) if reply.id.as_ref() == id)
                });
                (frame, answers)
            }
            // The connection will say what is wrong with the answer.
            (Incoming::Bad(bad), Some(_)) if bad.expects_no_answer && bad.id.as_ref() == id => {
                (frame, true)
            }
            (Incoming::Bad(bad), _) => {
                tracing::debug!("ignored: not a message: {}", bad.error.message);
                return false;
            }
            _ => (frame, false),
        };
        self.inlet.frame(frame).await;
        answers
    }

    /// Learns from an answer, and gives it as it is to be handed on.
    fn answer(&self, frame: Frame, reply: Reply, asked: &Asked) -> Frame {
        let outcome = match (reply.outcome, &asked.method) {
            (Ok(result), Method::Initialize) => {
                let result = result.decode::<InitializeResult>().ok();
                let version = result.map(|result| HeaderValue::from_str(&result.protocol_version));
                if let Some(Ok(version)) = version {
                    self.terms().insert(VERSION, version);
                }
                return frame;
            }
            (Ok(result), Method::ListTools) if asked.way == Way::Alone => {
                let list = result.decode().ok();
                let Some(list) = list.and_then(|list| self.parameters.learn(list)) else {
                    return frame;
                };
                Ok(Box::new(ServerResult::ListTools(list)))
            }
            // What could not be read cannot be named, but here is no other request.
            (Err(error), _) if reply.id.is_none() => Err(error),
            _ => return frame,
        };
        let message = ServerMessage::Response {
            id: ReplyId::Known(asked.id.clone()),
            outcome,
        };
        let mut frame = Vec::new();
        message.encode(&mut frame);
        frame.into()
    }
}

/// How long is waited before a stream is gone on with, if the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// What the server may not make it less than, nor failures more.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// How often in a row a stream with an answer is tried to be gone on with.
const ATTEMPTS: usize = 8;
