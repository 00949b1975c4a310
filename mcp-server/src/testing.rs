//! A client in the same process, for tests of a server.
//!
//! What a test calls goes through the protocol as over any transport: the arguments are JSON on
//! their way in, the results on their way out, limits and layers hold, questions are asked.
//!
//! ```
//! # use mcp_server::prelude::*;
//! # use mcp_server::testing;
//! # /// Divides a by b.
//! # #[derive(Serialize, Deserialize, JsonSchema, Tool)]
//! # #[tool(content = f64)]
//! # struct Divide { a: f64, b: f64 }
//! # impl Run for Divide {
//! #     async fn run(self, _: &Context) -> Result<f64, ToolError> {
//! #         if self.b == 0.0 { return Err(ToolError::failed("cannot divide by zero")); }
//! #         Ok(self.a / self.b)
//! #     }
//! # }
//! # fn server() -> Server { Server::new("calculator", "1.0.0").tool::<Divide>() }
//! // In a program: #[tokio::test]
//! async fn divides() -> Result<(), testing::Error> {
//!     let client = testing::connect(server()).await?;
//!     assert_eq!(client.call_tool(Divide { a: 7.0, b: 2.0 }).await?, 3.5);
//!     let refused = client.call_tool(Divide { a: 1.0, b: 0.0 }).await.unwrap_err();
//!     assert_eq!(refused.to_string(), "the tool failed: cannot divide by zero");
//!     Ok(())
//! }
//! # tokio::runtime::Runtime::new().unwrap().block_on(divides()).unwrap();
//! ```
//!
//! [`call_tool`](Client::call_tool) takes the type that the tool is derived for, which has to be
//! [`Serialize`] for it; [`call`](Client::call) takes a name and JSON. A [`Setup`] says how the
//! client speaks and what it answers when it is asked:
//!
//! ```
//! # use mcp_server::prelude::*;
//! use mcp_server::ProtocolVersion;
//! use mcp_server::input::form;
//! use mcp_server::testing::{self, Setup};
//! use mcp_server::types::ElicitResult;
//! use serde_json::json;
//!
//! #[derive(Form)]
//! struct Confirm {
//!     yes: bool,
//! }
//!
//! /// Deletes everything, if the user is sure.
//! #[derive(Serialize, Deserialize, JsonSchema, Tool)]
//! struct Delete {}
//!
//! impl Run for Delete {
//!     async fn run(self, cx: &Context) -> Result<String, ToolError> {
//!         let Confirm { yes } = cx.input("sure", form("Really?"))?;
//!         Ok(if yes { "deleted" } else { "left alone" }.to_owned())
//!     }
//! }
//!
//! # async fn asks() -> Result<(), testing::Error> {
//! for version in [ProtocolVersion::LATEST, ProtocolVersion::LATEST_LEGACY] {
//!     let setup = Setup::new().version(version).elicit(|question| {
//!         assert_eq!(question.message, "Really?");
//!         ElicitResult::accepted(json!({ "yes": true }))
//!     });
//!     let client = setup.connect(Server::new("delete", "1.0.0").tool::<Delete>()).await?;
//!     assert_eq!(client.call_tool(Delete {}).await?, "deleted");
//! }
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(asks()).unwrap();
//! ```
//!
//! A test that compares [`tools_snapshot`](Client::tools_snapshot) with a file shows in each
//! review what a change means for the models that use the server.

mod error;
mod setup;
mod state;

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use mcp_protocol::connection::{CallId, Peer};
use mcp_protocol::tool::{decode_output, encode_arguments};
use mcp_protocol::types::*;
use mcp_protocol::{ClientRequest, RawJson, ServerNotification, ServerResult};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::JoinHandle;

pub use self::error::Error;
pub use self::setup::Setup;
use self::state::{State, Wakers};
use crate::{ServeError, Server, ToolArgs};

/// Builds a server and connects to it, in the newest revision and with no answer to any question.
///
/// # Errors
///
/// When the server cannot be built, or connected to.
///
/// # Panics
///
/// Outside of a tokio runtime.
pub async fn connect<S: Send + Sync + 'static>(server: Server<S>) -> Result<Client, Error> {
    Setup::new().connect(server).await
}

/// A client of one server, in the same process. Made by [`connect`] or a [`Setup`].
///
/// Calls can be made side by side, and one that is dropped is cancelled. None has a timeout. When
/// the client is dropped, its connection ends.
pub struct Client {
    state: Mutex<State>,
    /// Wakes all who wait for the server.
    wakers: Arc<Wakers>,
    waker: Waker,
    served: JoinHandle<Result<(), ServeError>>,
}

/// Takes the result of one method.
macro_rules! read {
    ($method:ident, $result:expr) => {
        match $result {
            ServerResult::$method(result) => result,
            _ => unreachable!("the connection gives each result the type of its request"),
        }
    };
}

/// What a test asks for.
impl Client {
    /// Calls a tool by the type of its arguments, and gives its output.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] when the tool fails, [`Error::Call`] when the call is refused.
    pub async fn call_tool<T>(&self, arguments: T) -> Result<T::Output, Error>
    where
        T: ToolArgs + Serialize,
        T::Output: DeserializeOwned,
    {
        let result = self.call(T::NAME, encode_arguments(&arguments)?).await?;
        match result.is_error {
            Some(true) => Err(Error::Tool(result.into())),
            _ => Ok(decode_output(&result)?),
        }
    }

    /// Calls a tool, and gives its result as it is. A tool that fails says so in there.
    ///
    /// # Errors
    ///
    /// When the call is refused.
    pub async fn call(
        &self,
        name: impl Into<String>,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, Error> {
        let mut params = CallToolParams::new(name);
        params.arguments = Some(RawJson::encode(&arguments)?).filter(|json| !json.is_null());
        let result = self.request(ClientRequest::CallTool(params)).await?;
        Ok(read!(CallTool, result))
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub async fn read_resource(&self, uri: impl Into<String>) -> Result<ReadResourceResult, Error> {
        let request = ClientRequest::ReadResource(ReadResourceParams::new(uri));
        let result = self.request(request).await?;
        Ok(read!(ReadResource, result))
    }

    /// Gets a prompt. All its arguments are text.
    ///
    /// # Errors
    ///
    /// When it cannot be got.
    pub async fn get_prompt<N: Into<String>, V: Into<String>>(
        &self,
        name: impl Into<String>,
        arguments: impl IntoIterator<Item = (N, V)>,
    ) -> Result<GetPromptResult, Error> {
        let mut params = GetPromptParams::new(name);
        let arguments = arguments.into_iter();
        let arguments = arguments.map(|(name, value)| (name.into(), value.into()));
        params.arguments = Some(arguments.collect());
        let result = self.request(ClientRequest::GetPrompt(params)).await?;
        Ok(read!(GetPrompt, result))
    }

    /// Makes any request, and gives its result as it is. What the server asks meanwhile is
    /// answered as the [`Setup`] says.
    ///
    /// # Errors
    ///
    /// When the request is refused or not sent, or a question of the server has no answer.
    pub async fn request(&self, request: ClientRequest) -> Result<ServerResult, Error> {
        let mut next = request.clone();
        loop {
            let needs = match self.attempt(next).await? {
                ServerResult::InputRequired(needs) => needs,
                result => return Ok(result),
            };
            let questions = needs.input_requests.unwrap_or_default().into_iter();
            let answers: Result<BTreeMap<_, _>, Error> = questions
                .map(|(name, question)| Ok((name, self.lock().answer_input(question)?)))
                .collect();
            let again = request.clone().again(Some(answers?), needs.request_state);
            next = again.expect("only these are answered with what the server needs");
        }
    }

    async fn attempt(&self, request: ClientRequest) -> Result<ServerResult, Error> {
        let id = self.lock().call(request);
        let _open = Open { client: self, id };
        let outcome = self.until(|state| state.take_outcome(id)).await;
        Ok(outcome?)
    }

    /// The tools as they are listed, as JSON of one line for each member: sorted by their names,
    /// and the members of each object, so that it changes only with them.
    ///
    /// # Errors
    ///
    /// When they cannot be listed.
    pub async fn tools_snapshot(&self) -> Result<String, Error> {
        let mut tools = self.list_tools().await?;
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let mut tools = serde_json::to_value(tools)?;
        Value::sort_all_objects(&mut tools);
        Ok(format!("{tools:#}\n"))
    }
}

/// Defines how a list is got.
macro_rules! lists {
    ($( $what:literal $list:ident: $method:ident { $items:ident: $item:ident }; )*) => {
        /// Lists: all pages, in order.
        impl Client {
            $(
                #[doc = concat!("The ", $what, ".")]
                ///
                /// # Errors
                ///
                /// When the server offers none.
                pub async fn $list(&self) -> Result<Vec<$item>, Error> {
                    let mut all = Vec::new();
                    let mut params = PaginatedParams::new();
                    loop {
                        let request = ClientRequest::$method(params.clone());
                        let page = read!($method, self.request(request).await?);
                        all.extend(page.$items);
                        params.cursor = page.next_cursor;
                        if params.cursor.is_none() {
                            return Ok(all);
                        }
                    }
                }
            )*
        }
    };
}

lists! {
    "tools" list_tools: ListTools { tools: Tool };
    "resources" list_resources: ListResources { resources: Resource };
    "templates of resources" list_resource_templates: ListResourceTemplates { resource_templates: ResourceTemplate };
    "prompts" list_prompts: ListPrompts { prompts: Prompt };
}

/// What a test sees besides.
impl Client {
    /// The server as it has introduced itself.
    #[must_use]
    pub fn server(&self) -> Peer {
        self.lock().server()
    }

    /// Takes what the server has notified this client of since the last time, in order: reports
    /// of progress, log messages of all levels, changes.
    #[must_use]
    pub fn take_notifications(&self) -> Vec<ServerNotification> {
        self.drive().take_heard().collect()
    }

    /// Waits for the next notification, and takes it. `None` when the connection has ended.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if this is dropped.
    pub async fn notification(&self) -> Option<ServerNotification> {
        self.until(State::next_heard).await
    }

    /// Ends the connection, and gives what [`ServerHandle::serve`](crate::ServerHandle::serve)
    /// has returned.
    ///
    /// # Errors
    ///
    /// Those of `serve`.
    pub async fn close(self) -> Result<(), ServeError> {
        drop(self.state);
        let served = self.served.await;
        served.unwrap_or_else(|error| Err(ServeError::Panicked(error.to_string())))
    }
}

impl Client {
    /// Waits until the server has said enough.
    async fn until<T>(&self, mut take: impl FnMut(&mut State) -> Option<T>) -> T {
        poll_fn(|cx| {
            self.wakers.add(cx.waker());
            take(&mut self.drive()).map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Does all that can be done now.
    fn drive(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        if state.drive(&self.waker) {
            // What has come may be what another waits for.
            self.waker.wake_by_ref();
        }
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

/// A call that is cancelled if nobody waits for it any more.
struct Open<'a> {
    client: &'a Client,
    id: CallId,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.client.lock().cancel(self.id);
        // That it was cancelled is its outcome, which nobody takes.
        self.client.drive().take_outcome(self.id);
    }
}
