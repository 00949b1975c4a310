//! What a peer declares that it can do.
//!
//! A capability is declared by the presence of its member: ask `is_some()`. Members that this
//! crate does not know are kept.

use std::collections::BTreeMap;

use super::{CreateMessageParams, ElicitMode, ElicitParams, InputRequest};
use crate::RawJson;
use crate::methods::Method;
use crate::wire::wire;

wire! {
    /// What a client can do.
    ///
    /// Spec: [capabilities](https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities).
    pub open struct ClientCapabilities {
        /// Capabilities outside of the specification, by name.
        optional "experimental" => experimental: BTreeMap<String, RawJson>,
        /// Protocol extensions, by identifier. Since 2026-07-28.
        optional "extensions" => extensions: BTreeMap<String, RawJson>,
        /// Tells the directories it works in.
        optional "roots" => roots: RootsCapability,
        /// Runs prompts through its language model.
        optional "sampling" => sampling: SamplingCapability,
        /// Asks its user. Since 2025-06-18.
        optional "elicitation" => elicitation: ElicitationCapability,
        /// Runs requests as tasks. 2025-11-25 only.
        optional "tasks" => tasks: ClientTasksCapability,
    }
}

impl ClientCapabilities {
    /// Whether the client has declared that it can be asked this.
    #[must_use]
    pub fn covers(&self, question: &InputRequest) -> bool {
        match question {
            InputRequest::Elicit(params) => self.elicits(params),
            InputRequest::CreateMessage(params) => self.samples(params),
            InputRequest::ListRoots(_) => self.roots.is_some(),
            InputRequest::Unknown(_) => false,
        }
    }

    /// Whether the client has declared that it answers this method.
    pub(crate) fn answers(&self, question: &Method) -> bool {
        match question {
            Method::CreateMessage => self.sampling.is_some(),
            Method::Elicit => self.elicitation.is_some(),
            Method::ListRoots => self.roots.is_some(),
            question => *question == Method::Ping,
        }
    }

    pub(crate) fn elicits(&self, params: &ElicitParams) -> bool {
        let Some(declared) = &self.elicitation else {
            return false;
        };
        match &params.mode {
            None | Some(ElicitMode::Form) => declared.has_form(),
            Some(ElicitMode::Url) => declared.url.is_some(),
            Some(_) => false,
        }
    }

    pub(crate) fn samples(&self, params: &CreateMessageParams) -> bool {
        let wants_tools = params.tools.is_some() || params.tool_choice.is_some();
        let declared = self.sampling.as_ref();
        declared.is_some_and(|sampling| !wants_tools || sampling.tools.is_some())
    }
}

wire! {
    /// What a server can do.
    ///
    /// Spec: [capabilities](https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities).
    pub open struct ServerCapabilities {
        /// Capabilities outside of the specification, by name.
        optional "experimental" => experimental: BTreeMap<String, RawJson>,
        /// Protocol extensions, by identifier. Since 2026-07-28.
        optional "extensions" => extensions: BTreeMap<String, RawJson>,
        /// Sends log messages.
        optional "logging" => logging: Declared,
        /// Completes arguments. Since 2025-03-26.
        optional "completions" => completions: Declared,
        /// Has prompts.
        optional "prompts" => prompts: PromptsCapability,
        /// Has resources.
        optional "resources" => resources: ResourcesCapability,
        /// Has tools.
        optional "tools" => tools: ToolsCapability,
        /// Runs requests as tasks. 2025-11-25 only.
        optional "tasks" => tasks: ServerTasksCapability,
    }

    /// A capability that has no parts: `{}`.
    pub open struct Declared {}

    /// How a client tells its roots.
    pub open struct RootsCapability {
        /// Notifies when they change. Up to 2025-11-25.
        optional "listChanged" => list_changed: bool,
    }

    /// What a client's sampling includes.
    pub open struct SamplingCapability {
        /// `includeContext` other than `none`. Since 2025-11-25.
        optional "context" => context: Declared,
        /// Tools that the model may call. Since 2025-11-25.
        optional "tools" => tools: Declared,
    }

    /// In which ways a client asks its user. With neither member: by form.
    pub open struct ElicitationCapability {
        /// By a form. Since 2025-11-25.
        optional "form" => form: Declared,
        /// By a web page. Since 2025-11-25.
        optional "url" => url: Declared,
    }
}

impl ElicitationCapability {
    /// Whether the client shows forms.
    #[must_use]
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }
}

wire! {
    /// How a server offers prompts.
    pub open struct PromptsCapability {
        /// Notifies when the list changes.
        optional "listChanged" => list_changed: bool,
    }

    /// How a server offers resources.
    pub open struct ResourcesCapability {
        /// Notifies those who ask for it when a resource is updated.
        optional "subscribe" => subscribe: bool,
        /// Notifies when the list changes.
        optional "listChanged" => list_changed: bool,
    }

    /// How a server offers tools.
    pub open struct ToolsCapability {
        /// Notifies when the list changes.
        optional "listChanged" => list_changed: bool,
    }

    /// What a client does with tasks. 2025-11-25 only.
    pub open struct ClientTasksCapability {
        /// Lists them.
        optional "list" => list: Declared,
        /// Cancels them.
        optional "cancel" => cancel: Declared,
        /// The requests that it runs as tasks, and no others.
        optional "requests" => requests: ClientTaskRequests,
    }

    /// The requests that a client runs as tasks.
    pub open struct ClientTaskRequests {
        /// Those of sampling.
        optional "sampling" => sampling: SamplingTaskRequests,
        /// Those of elicitation.
        optional "elicitation" => elicitation: ElicitationTaskRequests,
    }

    /// The sampling requests that a client runs as tasks.
    pub open struct SamplingTaskRequests {
        /// `sampling/createMessage`.
        optional "createMessage" => create_message: Declared,
    }

    /// The elicitation requests that a client runs as tasks.
    pub open struct ElicitationTaskRequests {
        /// `elicitation/create`.
        optional "create" => create: Declared,
    }

    /// What a server does with tasks. 2025-11-25 only.
    pub open struct ServerTasksCapability {
        /// Lists them.
        optional "list" => list: Declared,
        /// Cancels them.
        optional "cancel" => cancel: Declared,
        /// The requests that it runs as tasks, and no others.
        optional "requests" => requests: ServerTaskRequests,
    }

    /// The requests that a server runs as tasks.
    pub open struct ServerTaskRequests {
        /// Those of tools.
        optional "tools" => tools: ToolTaskRequests,
    }

    /// The tool requests that a server runs as tasks.
    pub open struct ToolTaskRequests {
        /// `tools/call`.
        optional "call" => call: Declared,
    }
}
