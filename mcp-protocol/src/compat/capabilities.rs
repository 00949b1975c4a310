//! Who a peer is and what it can do, fitted.

use super::keep;
use crate::types::{
    ClientCapabilities, ElicitationCapability, Implementation, SamplingCapability,
    ServerCapabilities,
};
use crate::version::ProtocolVersion::{self, *};

/// Fits what a client can do.
///
/// Before 2025-11-25 there are no kinds of elicitation: who asks by form declares `{}`, who
/// asks by web page only declares nothing.
pub fn fit_client_capabilities(capabilities: &mut ClientCapabilities, version: ProtocolVersion) {
    keep(&mut capabilities.tasks, version == V2025_11_25);
    keep(&mut capabilities.extensions, version >= V2026_07_28);
    if let Some(roots) = &mut capabilities.roots {
        keep(&mut roots.list_changed, version <= V2025_11_25);
    }
    if version < V2025_11_25 {
        if let Some(SamplingCapability { context, tools, .. }) = &mut capabilities.sampling {
            *context = None;
            *tools = None;
        }
        capabilities.elicitation = capabilities
            .elicitation
            .take()
            .filter(|elicitation| version >= V2025_06_18 && elicitation.has_form())
            .map(|elicitation| ElicitationCapability {
                form: None,
                url: None,
                ..elicitation
            });
    }
}

/// Fits what a server can do.
pub fn fit_server_capabilities(capabilities: &mut ServerCapabilities, version: ProtocolVersion) {
    keep(&mut capabilities.completions, version >= V2025_03_26);
    keep(&mut capabilities.tasks, version == V2025_11_25);
    keep(&mut capabilities.extensions, version >= V2026_07_28);
}

/// Fits who a peer says it is.
pub fn fit_implementation(implementation: &mut Implementation, version: ProtocolVersion) {
    keep(&mut implementation.title, version >= V2025_06_18);
    keep(&mut implementation.description, version >= V2025_11_25);
    keep(&mut implementation.website_url, version >= V2025_11_25);
    keep(&mut implementation.icons, version >= V2025_11_25);
}
