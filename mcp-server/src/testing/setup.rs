//! How a client speaks, and what it answers.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::Waker;

use mcp_protocol::connection::ClientConfig;
use mcp_protocol::types::*;
use mcp_protocol::{ClientRequest, ClientResult, ErrorObject, ProtocolVersion, ServerRequest};
use mcp_transport_stdio::memory::pair;

use super::state::{State, Wakers};
use super::{Client, Error};
use crate::{Server, ServerHandle};

/// How a [`Client`] speaks, and what it answers when the server asks. It declares that it can
/// be asked what it has an answer to.
#[must_use = "it connects to nothing by itself"]
pub struct Setup {
    version: ProtocolVersion,
    capabilities: ClientCapabilities,
    answers: Answers,
}

type Answer<Q, A> = Box<dyn FnMut(Q) -> A + Send>;

/// What is answered.
#[derive(Default)]
pub(super) struct Answers {
    elicit: Option<Answer<ElicitParams, ElicitResult>>,
    sample: Option<Answer<CreateMessageParams, Result<CreateMessageResult, ErrorObject>>>,
    roots: Option<Vec<Root>>,
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}

impl Setup {
    /// A client of the newest revision that has no answers.
    pub fn new() -> Self {
        Self {
            version: ProtocolVersion::LATEST,
            capabilities: ClientCapabilities::new(),
            answers: Answers::default(),
        }
    }

    /// The revision that the client speaks.
    pub fn version(mut self, version: ProtocolVersion) -> Self {
        self.version = version;
        self
    }

    /// Answers what the user is asked: forms, and pages to visit.
    pub fn elicit(
        mut self,
        answer: impl FnMut(ElicitParams) -> ElicitResult + Send + 'static,
    ) -> Self {
        let both = ElicitationCapability::new()
            .form(Declared::new())
            .url(Declared::new());
        self.capabilities.elicitation = Some(both);
        self.answers.elicit = Some(Box::new(answer));
        self
    }

    /// Answers for the language model, which may be given tools.
    pub fn sample(
        mut self,
        answer: impl FnMut(CreateMessageParams) -> Result<CreateMessageResult, ErrorObject>
        + Send
        + 'static,
    ) -> Self {
        self.capabilities.sampling = Some(SamplingCapability::new().tools(Declared::new()));
        self.answers.sample = Some(Box::new(answer));
        self
    }

    /// The directories that the server may work on, as `file://` URIs.
    pub fn roots<U: Into<String>>(mut self, uris: impl IntoIterator<Item = U>) -> Self {
        self.capabilities.roots = Some(RootsCapability::new());
        self.answers.roots = Some(uris.into_iter().map(Root::new).collect());
        self
    }

    /// Builds a server and connects to it.
    ///
    /// # Errors
    ///
    /// When the server cannot be built, or connected to.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn connect<S>(self, server: Server<S>) -> Result<Client, Error>
    where
        S: Send + Sync + 'static,
    {
        self.connect_to(&server.build()?).await
    }

    /// Connects to a server that was built, which can have many clients.
    ///
    /// # Errors
    ///
    /// When it cannot be connected to.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn connect_to<S>(self, server: &ServerHandle<S>) -> Result<Client, Error>
    where
        S: Send + Sync + 'static,
    {
        let mut config = ClientConfig::new(Implementation::new("test", "0"));
        config.versions = vec![self.version];
        config.capabilities = self.capabilities.into();
        let (ours, theirs) = pair();
        let server = server.clone();
        let wakers = Arc::new(Wakers::default());
        let client = Client {
            state: Mutex::new(State::new(config, ours, self.answers)),
            waker: Waker::from(wakers.clone()),
            wakers,
            served: tokio::spawn(async move { server.serve(theirs).await }),
        };
        client.until(State::is_connected).await?;
        // Who wants all log messages says so with each call, or once; who has to say that the
        // session has begun must know that it was heard. Where there is no such method, there is
        // no need for it.
        let level = SetLevelParams::new(LoggingLevel::Debug);
        let _ = client.request(ClientRequest::SetLevel(level)).await;
        let _ = client
            .request(ClientRequest::Ping(EmptyParams::new()))
            .await;
        Ok(client)
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Answers {
    pub(super) fn answer(&mut self, question: ServerRequest) -> Result<ClientResult, ErrorObject> {
        let method = question.method();
        let result = match question {
            ServerRequest::Elicit(params) => {
                let answer = self.elicit.as_mut().map(|answer| answer(params));
                answer.map(ClientResult::Elicit)
            }
            ServerRequest::CreateMessage(params) => {
                let answer = self.sample.as_mut().map(|answer| answer(params));
                answer.transpose()?.map(ClientResult::CreateMessage)
            }
            ServerRequest::ListRoots(_) => {
                let roots = self.roots.clone().map(ListRootsResult::new);
                roots.map(ClientResult::ListRoots)
            }
            _ => None,
        };
        result.ok_or_else(|| ErrorObject::method_not_found(method.as_str()))
    }
}
