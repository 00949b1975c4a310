//! `resources/list`, `resources/templates/list` and `resources/read`.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_protocol::types::{
    self, ListResourceTemplatesResult, ListResourcesResult, PaginatedParams, ReadResourceParams,
    ReadResourceResult, ResourceContents,
};
use mcp_protocol::{ErrorCode, ErrorObject, RawJson};
use serde_json::json;

use crate::cache::Cache;
use crate::context::Context;
use crate::error::{BuildError, ToolError};
use crate::registry::{Duplicate, Registry};
use crate::resource::template::UriTemplate;
use crate::resource::{Resource, Template, Variables};

/// The resources of a server.
pub(crate) struct Resources<S> {
    fixed: Registry<types::Resource, dyn Resource<S>>,
    templates: Registry<types::ResourceTemplate, Compiled<S>>,
    cache: Cache,
}

struct Compiled<S> {
    uri: UriTemplate,
    template: Box<dyn Template<S>>,
}

impl<S> Resources<S> {
    pub(crate) fn new(cache: Cache) -> Self {
        Self {
            fixed: Registry::default(),
            templates: Registry::default(),
            cache,
        }
    }
}

impl<S: 'static> Resources<S> {
    pub(crate) fn add(&self, resource: Arc<dyn Resource<S>>) -> Result<(), BuildError> {
        let definition = resource.definition();
        let uri = definition.uri.clone();
        if !is_uri(&uri) {
            return Err(BuildError::ResourceUri { uri });
        }
        self.fixed
            .insert(&uri, definition, resource)
            .map_err(|Duplicate| BuildError::DuplicateResource { uri })
    }

    pub(crate) fn add_template(&self, template: Box<dyn Template<S>>) -> Result<(), BuildError> {
        let definition = template.definition();
        let text = definition.uri_template.clone();
        let uri = match UriTemplate::parse(&text) {
            Ok(uri) => uri,
            Err(error) => {
                return Err(BuildError::UriTemplate {
                    template: text,
                    at: error.at,
                    why: error.why,
                });
            }
        };
        let compiled = Arc::new(Compiled { uri, template });
        self.templates
            .insert(&text, definition, compiled)
            .map_err(|Duplicate| BuildError::DuplicateTemplate { template: text })
    }

    pub(crate) fn remove(&self, uri: &str) -> bool {
        self.fixed.remove(uri)
    }

    pub(crate) fn remove_template(&self, template: &str) -> bool {
        self.templates.remove(template)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fixed.is_empty() && !self.has_templates()
    }

    pub(crate) fn has_templates(&self) -> bool {
        !self.templates.is_empty()
    }

    pub(crate) fn list(
        &self,
        params: &PaginatedParams,
        size: usize,
    ) -> Result<ListResourcesResult, ErrorObject> {
        let page = self.fixed.page(params.cursor.as_deref(), size)?;
        let mut result = ListResourcesResult::new(page.definitions);
        result.next_cursor = page.next;
        self.cache.hint(&mut result.ttl_ms, &mut result.cache_scope);
        Ok(result)
    }

    pub(crate) fn list_templates(
        &self,
        params: &PaginatedParams,
        size: usize,
    ) -> Result<ListResourceTemplatesResult, ErrorObject> {
        let page = self.templates.page(params.cursor.as_deref(), size)?;
        let mut result = ListResourceTemplatesResult::new(page.definitions);
        result.next_cursor = page.next;
        self.cache.hint(&mut result.ttl_ms, &mut result.cache_scope);
        Ok(result)
    }
}

impl<S: Send + Sync + 'static> Resources<S> {
    pub(crate) async fn read(
        &self,
        params: &ReadResourceParams,
        cx: Context<S>,
    ) -> Result<ReadResourceResult, ToolError> {
        match self.contents(&params.uri, cx).await? {
            Some(contents) if !contents.is_empty() => {
                let mut result = ReadResourceResult::new(contents);
                self.cache.hint(&mut result.ttl_ms, &mut result.cache_scope);
                Ok(result)
            }
            // A reply with nothing in it would say that there is such a resource.
            _ => Err(ToolError::refused(not_found(&params.uri))),
        }
    }

    /// What is at this URI, if there is anything.
    async fn contents(
        &self,
        uri: &str,
        cx: Context<S>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        if let Some(resource) = self.fixed.find(uri) {
            return resource.read(cx).await.map(Some);
        }
        for (compiled, variables) in self.fitting(uri) {
            let read = compiled.template.read(uri, &variables, cx.clone()).await?;
            if read.is_some() {
                return Ok(read);
            }
        }
        Ok(None)
    }

    /// The templates that this URI may be of, in their order.
    fn fitting(&self, uri: &str) -> Vec<(Arc<Compiled<S>>, Variables)> {
        let mut fitting = Vec::new();
        self.templates.find_map(|compiled| {
            let variables = compiled.uri.matches(uri)?;
            fitting.push((compiled.clone(), variables));
            None::<()>
        });
        fitting
    }

    /// Proposals for a variable of a template, if there is such a variable.
    pub(crate) async fn complete(
        &self,
        template: &str,
        variable: &str,
        value: &str,
        context: &BTreeMap<String, String>,
        cx: Context<S>,
    ) -> Option<Vec<String>> {
        let compiled = self.templates.find(template)?;
        if !compiled.uri.has_variable(variable) {
            return None;
        }
        let template = &compiled.template;
        Some(template.complete(variable, value, context, cx).await)
    }
}

fn not_found(uri: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, "Resource not found")
        .data(RawJson::from(json!({ "uri": uri })))
}

/// Whether a text can be a URI: a scheme, and no letters that none has.
pub(crate) fn is_uri(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(in_scheme)
        && !text.contains(|letter: char| letter.is_control() || letter.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_a_scheme_and_no_spaces() {
        for uri in ["a:", "a://b", "x-y+z.1:b", "file:///é%20", "urn:a:b"] {
            assert!(is_uri(uri), "{uri}");
        }
        for text in ["", "a", "/a", ":a", "1a:b", "a b:c", "a:b c", "a:\n", "é:a"] {
            assert!(!is_uri(text), "{text}");
        }
    }
}
