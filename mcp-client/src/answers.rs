//! From what a server needs to the answers, and back to the server.
//!
//! Since 2026-07-28 a server says in a result what it needs, and the client calls again with the
//! answers. Up to 2025-11-25 a server asks by requests, which the driver passes to the
//! same host. So a call is one thing here, whatever it takes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::connection::CallOptions;
use mcp_protocol::types::{InputRequiredResult, ProgressParams};
use mcp_protocol::{ClientRequest, ErrorCode, ErrorObject, Method, RawJson, ServerResult};
use tokio::time::sleep;

use crate::client::Client;
use crate::error::ClientError;
use crate::feed::Feeder;
use crate::host::{Host, answer};
use crate::link::Reply;

/// Makes a call, as often as the server needs something first. Whether it took more than once.
pub(crate) async fn complete(
    client: &Client,
    request: Box<ClientRequest>,
    options: &CallOptions,
    progress: Option<&Arc<Feeder<ProgressParams>>>,
) -> Result<(ServerResult, bool), ClientError> {
    let mut reply = client.attempt(request, options, progress).await;
    // All that happens seldom is in a box: each call carries room for what is in none.
    if let Some(request) = without_headers(&mut reply) {
        reply = Box::pin(with_headers(client, request, options, progress)).await;
    }
    let rounds = {
        let Reply { outcome, request } = reply;
        let needs = match client.read(outcome?)? {
            ServerResult::InputRequired(needs) => needs,
            result => return Ok((result, false)),
        };
        let request = request.expect(SENT);
        Box::pin(rounds(client, request, needs, options, progress))
    };
    Ok((rounds.await?, true))
}

const SENT: &str = "what has a result was sent";

/// A request that was refused for the arguments that headers have to repeat. It was not begun
/// then.
///
/// Spec: [client behavior](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#client-behavior).
fn without_headers(reply: &mut Reply) -> Option<Box<ClientRequest>> {
    let mismatches = matches!(&reply.outcome, Err(ClientError::Rpc(error)) if error.code == ErrorCode::HEADER_MISMATCH);
    let is_tool = |request: &mut Box<_>| matches!(**request, ClientRequest::CallTool(_));
    reply
        .request
        .take_if(|request| mismatches && is_tool(request))
}

/// Makes a call again when the transport has learned which headers are wanted. If there is no
/// list, the server says again what is wrong.
async fn with_headers(
    client: &Client,
    request: Box<ClientRequest>,
    options: &CallOptions,
    progress: Option<&Arc<Feeder<ProgressParams>>>,
) -> Reply {
    client.0.hub.cache.forget_pages(&Method::ListTools);
    let _ = client.list_tools().await;
    client.attempt(request, options, progress).await
}

/// Gives the server what it needs, until it needs nothing more.
async fn rounds(
    client: &Client,
    mut request: Box<ClientRequest>,
    mut needs: InputRequiredResult,
    options: &CallOptions,
    progress: Option<&Arc<Feeder<ProgressParams>>>,
) -> Result<ServerResult, ClientError> {
    let most = client.rounds();
    let mut pause = PAUSE;
    for _ in 0..most {
        let asks = needs
            .input_requests
            .as_ref()
            .is_some_and(|asks| !asks.is_empty());
        if !asks && needs.request_state.is_none() {
            let why = "the server needs something, and does not say what";
            return Err(ClientError::protocol(why));
        }
        request = again(request, client.host(), needs).await?;
        if !asks {
            // It wants nothing but time.
            sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
        let reply = client.attempt(request, options, progress).await;
        match client.read(reply.outcome?)? {
            ServerResult::InputRequired(more) => needs = more,
            result => return Ok(result),
        }
        request = reply.request.expect(SENT);
    }
    Err(ClientError::TooManyRounds { rounds: most })
}

/// After the first round without a question. After each other it is twice as long.
const PAUSE: Duration = Duration::from_millis(100);

const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The same request with the answers to what is needed. Those to earlier questions are in the
/// server's own state, if it still wants them.
async fn again(
    request: Box<ClientRequest>,
    host: &dyn Host,
    needs: InputRequiredResult,
) -> Result<Box<ClientRequest>, ClientError> {
    let mut answers = None;
    if let Some(questions) = needs
        .input_requests
        .filter(|questions| !questions.is_empty())
    {
        let declared = host.capabilities();
        let given = answers.insert(BTreeMap::new());
        for (name, question) in questions {
            let unanswered = |error| ClientError::Unanswered {
                question: name.clone(),
                error,
            };
            if !declared.covers(&question) {
                let method = question.method();
                let why = format!("the client has not declared that it answers such a `{method}`");
                return Err(unanswered(ErrorObject::invalid_params(why)));
            }
            let request = question.into_request();
            let request = request.expect("a kind that was declared is known");
            let result = answer(host, request).await.map_err(unanswered)?;
            let result = RawJson::encode(&*result).expect("results always encode");
            given.insert(name, result);
        }
    }
    let method = request.method();
    let asked = request.again(answers, needs.request_state);
    asked
        .map(Box::new)
        .ok_or_else(|| ClientError::protocol(format!("`{method}` cannot be asked again")))
}
