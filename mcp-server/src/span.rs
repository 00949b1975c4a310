//! The spans of connections and of calls, in the words of OpenTelemetry.
//!
//! Nothing in them is an argument or a result, and what a client may choose is cut to a length.
//! Where no subscriber wants spans, none of this does anything.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use mcp_protocol::{
    ClientRequest, ErrorObject, ProtocolVersion, RequestId, ServerResult, TraceContext, compat,
};
use tracing::field::Empty;
use tracing::span::Entered;
use tracing::{Span, debug, info_span};

use crate::attempt::Attempt;
use crate::error::{ServeError, ServiceDown};

/// What is done to the span of each call before it is entered.
pub(crate) type OnSpan = Arc<dyn Fn(&Span, &Attempt) + Send + Sync>;

/// A span, and since when it is open.
struct Timed {
    span: Span,
    begun: Instant,
}

impl Timed {
    fn new(span: Span) -> Self {
        let begun = Instant::now();
        Self { span, begun }
    }

    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn fail(&self, kind: &str) {
        self.span.record("error.type", kind);
        self.span.record("otel.status_code", "ERROR");
    }
}

/// The span of a connection.
pub(crate) struct ConnectionSpan(Timed);

impl ConnectionSpan {
    pub(crate) fn new(network: Option<&str>) -> Self {
        let span = info_span!(
            "mcp.connection",
            otel.status_code = Empty,
            network.transport = network,
            "error.type" = Empty,
        );
        Self(Timed::new(span))
    }

    pub(crate) fn span(&self) -> Span {
        self.0.span.clone()
    }

    pub(crate) fn end(self, served: &Result<(), ServeError>) {
        match served {
            Ok(()) => {}
            Err(ServeError::Down(_)) => self.0.fail("down"),
            Err(ServeError::Panicked(_)) => self.0.fail("panicked"),
            Err(_) => self.0.fail("transport"),
        }
        debug!(
            parent: &self.0.span,
            mcp.server.session.duration = self.0.seconds(),
            "a connection has ended"
        );
    }
}

/// The span of a notification that a handler is there for.
pub(crate) fn notification(method: &str, network: Option<&str>) -> Span {
    info_span!(
        parent: None,
        "mcp.notification",
        otel.name = brief(method),
        otel.kind = "server",
        mcp.method.name = brief(method),
        network.transport = network,
    )
}

/// The span of a call. If it is dropped before it has been [ended](Self::end), the call was
/// cancelled.
///
/// In a box, which is there only if somebody wants it: each call carries it.
pub(crate) struct CallSpan(Option<Box<Open>>);

struct Open {
    timed: Timed,
    version: ProtocolVersion,
}

impl CallSpan {
    /// Of nothing that could be seen.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Whether anybody wants it.
    pub(crate) fn is_seen(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn new(
        attempt: &Attempt,
        id: impl FnOnce() -> Option<String>,
        network: Option<&str>,
    ) -> Self {
        let request = attempt.request();
        let version = attempt.caller().version();
        let trace = || attempt.meta().trace_context();
        // Not a child of the connection's span, which may last for days: a call is a trace of
        // its own, or a part of its client's. All of it is looked up only if it is wanted.
        let span = info_span!(
            parent: None,
            "mcp.call",
            otel.name = %Name(request),
            otel.kind = "server",
            otel.status_code = Empty,
            mcp.method.name = brief(request.method().as_str()),
            mcp.protocol.version = version.as_str(),
            mcp.resource.uri = uri(request),
            jsonrpc.request.id = id(),
            gen_ai.operation.name = tool(request).map(|_| "execute_tool"),
            gen_ai.tool.name = tool(request),
            gen_ai.prompt.name = prompt(request),
            network.transport = network,
            traceparent = trace().as_ref().map(|trace| brief(trace.traceparent())),
            tracestate = trace().as_ref().and_then(TraceContext::tracestate),
            outcome = Empty,
            rpc.response.status_code = Empty,
            "error.type" = Empty,
        );
        Self((!span.is_disabled()).then(|| {
            let timed = Timed::new(span);
            Box::new(Open { timed, version })
        }))
    }

    /// Lets the application see the span before it is entered, if there is one.
    pub(crate) fn show(&self, attempt: &Attempt, on_span: Option<&OnSpan>) {
        let Some(open) = &self.0 else { return };
        open.timed.span.follows_from(Span::current());
        if let Some(on_span) = on_span {
            on_span(&open.timed.span, attempt);
        }
    }

    /// Within the span, for as long as what this gives is kept.
    pub(crate) fn enter(&self) -> Option<Entered<'_>> {
        self.0.as_ref().map(|open| open.timed.span.enter())
    }

    /// Says what came of the call; `how`, if that cannot be seen from the reply.
    pub(crate) fn end(
        &mut self,
        how: Option<&'static str>,
        came: Result<&Result<Box<ServerResult>, ErrorObject>, &ServiceDown>,
    ) {
        if let Some(open) = self.0.take() {
            open.tell(open.outcome(how, came));
        }
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if let Some(open) = &self.0 {
            open.tell("cancelled");
        }
    }
}

impl Open {
    fn outcome(
        &self,
        how: Option<&'static str>,
        came: Result<&Result<Box<ServerResult>, ErrorObject>, &ServiceDown>,
    ) -> &'static str {
        match came {
            Ok(Ok(result)) => match &**result {
                ServerResult::CallTool(result) if result.is_error == Some(true) => {
                    self.timed.fail("tool_error");
                    "failed"
                }
                ServerResult::InputRequired(_) => "input_required",
                _ => "done",
            },
            Ok(Err(error)) => {
                // As the client will read it.
                let mut error = ErrorObject::new(error.code, "");
                compat::fit_error(&mut error, self.version);
                let code = error.code.0.to_string();
                self.timed.span.record("rpc.response.status_code", &*code);
                self.timed.fail(&code);
                how.unwrap_or("refused")
            }
            Err(_) => {
                self.timed.fail("down");
                "down"
            }
        }
    }

    fn tell(&self, outcome: &str) {
        self.timed.span.record("outcome", outcome);
        debug!(
            parent: &self.timed.span,
            mcp.server.operation.duration = self.timed.seconds(),
            "a call has ended"
        );
    }
}

/// What a span of a call is called: the method, and the tool or prompt if it is one's.
struct Name<'a>(&'a ClientRequest);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(brief(self.0.method().as_str()))?;
        match tool(self.0).or_else(|| prompt(self.0)) {
            Some(target) => write!(f, " {target}"),
            None => Ok(()),
        }
    }
}

fn tool(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::CallTool(params) => Some(brief(&params.name)),
        _ => None,
    }
}

fn prompt(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::GetPrompt(params) => Some(brief(&params.name)),
        _ => None,
    }
}

fn uri(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::ReadResource(params) => Some(first(&params.uri, 2_048)),
        _ => None,
    }
}

/// An id as OpenTelemetry writes it: a string without its quotes.
pub(crate) fn id_text(id: &RequestId) -> String {
    match id.as_str() {
        Some(text) => brief(text).to_owned(),
        None => id.to_string(),
    }
}

/// As much of a name as a tool's can have.
fn brief(text: &str) -> &str {
    first(text, 128)
}

fn first(text: &str, letters: usize) -> &str {
    let end = text.char_indices().nth(letters);
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
