//! What a server may ask of the application that uses it.

use std::sync::Arc;

use async_trait::async_trait;
use mcp_protocol::types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitMode,
    ElicitParams, ElicitResult, ListRootsResult, Root,
};
use mcp_protocol::{ClientResult, ErrorObject, ServerRequest};

/// The application, as servers see it. One implementation serves every revision.
///
/// A server up to 2025-11-25 asks by requests, a later one by the results of its calls; here
/// it is the same. Each question is answered in a task of its own or in that of the call that
/// it belongs to, so a method may take its time and may call the server; it is dropped
/// when the server, or who made the call, does not want the answer any more.
///
/// A client keeps its host. So a host that keeps a [`Client`](crate::Client), and not a
/// [`WeakClient`](crate::WeakClient), keeps the connection open for ever, unless it is closed.
///
/// What is not in [`capabilities`](Self::capabilities) is refused without being passed on. A
/// panic costs the answer and nothing else. Up to 2025-11-25 the parameters may have a progress
/// token, with which [`Client::notify`](crate::Client::notify) reports progress.
///
/// ```
/// use mcp_client::types::{
///     ClientCapabilities, ElicitAction, ElicitParams, ElicitResult, ElicitationCapability,
/// };
/// use mcp_client::{ErrorObject, Host, async_trait};
///
/// struct Terminal;
///
/// #[async_trait]
/// impl Host for Terminal {
///     fn capabilities(&self) -> ClientCapabilities {
///         ClientCapabilities::new().elicitation(ElicitationCapability::new())
///     }
///
///     async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
///         println!("{} (nobody answers)", question.message);
///         Ok(ElicitResult::new(ElicitAction::Cancel))
///     }
/// }
/// ```
#[async_trait]
pub trait Host: Send + Sync + 'static {
    /// What is declared to servers, asked for when a client connects. Only what is here is asked,
    /// so it has to be what the other methods can do.
    fn capabilities(&self) -> ClientCapabilities;

    /// Asks the user: to fill in a form or, if that is declared, to visit a web page.
    ///
    /// A page is opened outside of this program, after the user has seen the whole address and
    /// has agreed. Nothing here looks at the page. A no is a result, not an error.
    ///
    /// # Errors
    ///
    /// When the user cannot be asked. The server's call fails with it.
    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        let _ = question;
        Err(ErrorObject::method_not_found("elicitation/create"))
    }

    /// Lets the language model complete a conversation, if the user agrees.
    ///
    /// # Errors
    ///
    /// When it does not: [`ErrorCode::USER_REJECTED`](mcp_protocol::ErrorCode::USER_REJECTED)
    /// if it is the user.
    async fn sample(
        &self,
        params: CreateMessageParams,
    ) -> Result<CreateMessageResult, ErrorObject> {
        let _ = params;
        Err(ErrorObject::method_not_found("sampling/createMessage"))
    }

    /// The directories that the server may work on, as `file://` URIs.
    ///
    /// # Errors
    ///
    /// When they cannot be told.
    async fn roots(&self) -> Result<Vec<Root>, ErrorObject> {
        Err(ErrorObject::method_not_found("roots/list"))
    }
}

/// Can do nothing.
impl Host for () {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new()
    }
}

/// Is the host that it points to.
#[async_trait]
impl<H: Host + ?Sized> Host for Arc<H> {
    fn capabilities(&self) -> ClientCapabilities {
        (**self).capabilities()
    }

    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        (**self).elicit(question).await
    }

    async fn sample(
        &self,
        params: CreateMessageParams,
    ) -> Result<CreateMessageResult, ErrorObject> {
        (**self).sample(params).await
    }

    async fn roots(&self) -> Result<Vec<Root>, ErrorObject> {
        (**self).roots().await
    }
}

/// What the host says to a request.
pub(crate) async fn answer(
    host: &dyn Host,
    request: ServerRequest,
) -> Result<Box<ClientResult>, ErrorObject> {
    let result = match request {
        ServerRequest::Elicit(params) => {
            let by_page = params.mode == Some(ElicitMode::Url);
            let mut result = host.elicit(params).await?;
            if by_page || result.action != ElicitAction::Accept {
                result.content = None;
            }
            ClientResult::Elicit(result)
        }
        ServerRequest::CreateMessage(params) if !params.has_results_in_place() => {
            let why = "Invalid params: what a tool gave has to follow its call, alone";
            return Err(ErrorObject::invalid_params(why));
        }
        ServerRequest::CreateMessage(params) => {
            ClientResult::CreateMessage(host.sample(params).await?)
        }
        ServerRequest::ListRoots(_) => {
            let roots = host.roots().await?;
            ClientResult::ListRoots(ListRootsResult::new(roots))
        }
        request => return Err(ErrorObject::method_not_found(request.method().as_str())),
    };
    Ok(result.into())
}
