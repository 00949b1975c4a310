//! Resources that are always there, and templates of others.

use std::collections::BTreeMap;

use mcp_server::resource_fn;
use mcp_server::types::TextResourceContents;
use mcp_server::types::{BlobResourceContents, Resource, ResourceContents, ResourceTemplate};
use mcp_server::{Context, Server, StaticResource, Template, ToolError, Variables, async_trait};
use serde_json::json;

use crate::{Fixture, PNG};

/// Letters that get lost on pipes that are not read and written as UTF-8.
const UNICODE: &str = "emoji 🧪👩\u{200d}🚀 ls\u{2028}ps\u{2029} nul\0 bom\u{feff} e\u{301} \u{5e2}\u{5d1} \"\\\u{7}\n\r\t\u{7f} end";

pub(crate) fn add_to(server: Server<Fixture>) -> Server<Fixture> {
    let image = Resource::new("test://static-binary", "static-binary").mime_type("image/png");
    let image = resource_fn(image, async |_| {
        let image = BlobResourceContents::new("test://static-binary", PNG);
        Ok(vec![image.mime_type("image/png").into()])
    });
    let text = "This is the content of the static text resource.";
    server
        .resource(StaticResource::text(
            "test://static-text",
            "static-text",
            text,
        ))
        .resource(image)
        .resource(StaticResource::text(
            "test://watched-resource",
            "watched-resource",
            "Watched.",
        ))
        .resource(StaticResource::text(
            "test://unicode/%E2%98%83",
            "unicode-\u{2603}",
            UNICODE,
        ))
        .template(Data)
        .template(Unicode)
}

struct Data;

#[async_trait]
impl Template<Fixture> for Data {
    fn definition(&self) -> ResourceTemplate {
        ResourceTemplate::new("test://template/{id}/data", "data").mime_type("application/json")
    }

    async fn read(
        &self,
        uri: &str,
        variables: &Variables,
        _: Context<Fixture>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        let Some(id) = variables.get("id") else {
            return Ok(None);
        };
        let about = format!("Data for ID: {id}");
        let data = json!({ "id": id, "templateTest": true, "data": about }).to_string();
        let data = TextResourceContents::new(uri, data).mime_type("application/json");
        Ok(Some(vec![data.into()]))
    }

    async fn complete(
        &self,
        _: &str,
        value: &str,
        _: &BTreeMap<String, String>,
        _: Context<Fixture>,
    ) -> Vec<String> {
        beginning_with(value, &["1", "12", "123"])
    }
}

struct Unicode;

#[async_trait]
impl Template<Fixture> for Unicode {
    fn definition(&self) -> ResourceTemplate {
        ResourceTemplate::new("test://unicode/{name}", "unicode").mime_type("text/plain")
    }

    async fn read(
        &self,
        uri: &str,
        _: &Variables,
        _: Context<Fixture>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        let text = TextResourceContents::new(uri, UNICODE).mime_type("text/plain");
        Ok(Some(vec![text.into()]))
    }
}

pub(crate) fn beginning_with(value: &str, all: &[&str]) -> Vec<String> {
    let fitting = all.iter().filter(|one| one.starts_with(value));
    fitting.map(|&one| one.to_owned()).collect()
}
