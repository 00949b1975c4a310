//! A client of ours and a server of ours, in both eras: what one side writes the other reads.

use mcp_client::types::{
    ClientCapabilities, ElicitAction, ElicitParams, ElicitResult, ElicitationCapability, Root,
    RootsCapability, SubscriptionFilter,
};
use mcp_client::{Change, Client, ClientError, ErrorObject, Host, Opening, RawJson, async_trait};
use mcp_server::input::{form, roots};
use mcp_server::prelude::*;
use mcp_transport_stdio::memory::pair;
use serde_json::json;

/// Add numbers.
#[derive(Serialize, Deserialize, JsonSchema, Tool)]
#[tool(content = f64)]
struct Add {
    a: f64,
    b: f64,
}

impl Run for Add {
    async fn run(self, cx: &Context) -> Result<f64, ToolError> {
        for step in 1..=3 {
            cx.progress(step.into(), Some(3.0));
        }
        Ok(self.a + self.b)
    }
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
struct Shipped {
    revision: u64,
}

#[derive(Form)]
struct Confirm {
    yes: bool,
}

/// Ship, if the user wants it.
#[derive(Serialize, Deserialize, JsonSchema, Tool)]
#[tool(output = Shipped)]
struct Ship {
    to: String,
}

impl Run for Ship {
    async fn run(self, cx: &Context) -> Result<Shipped, ToolError> {
        let Confirm { yes } = cx.input("confirm", form(format!("Ship to {}?", self.to)))?;
        let roots = cx.input("roots", roots())?;
        if !yes || roots.is_empty() {
            return Err(ToolError::failed("left alone"));
        }
        Ok(Shipped { revision: u64::MAX })
    }
}

/// Count.
#[derive(Serialize, Deserialize, JsonSchema, Tool)]
#[tool(output = Vec<u64>)]
struct Count {
    to: u64,
}

impl Run for Count {
    async fn run(self, _: &Context) -> Result<Vec<u64>, ToolError> {
        Ok((1..=self.to).collect())
    }
}

/// Not what its server has.
#[derive(Serialize, Deserialize, JsonSchema, Tool)]
#[tool(name = "count", output = Shipped)]
struct Mistaken {
    to: u64,
}

struct User;

#[async_trait]
impl Host for User {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new()
            .elicitation(ElicitationCapability::new())
            .roots(RootsCapability::new())
    }

    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        let yes = question.message == "Ship to here?";
        let content = RawJson::from(json!({ "yes": yes }));
        Ok(ElicitResult::new(ElicitAction::Accept).content(content))
    }

    async fn roots(&self) -> Result<Vec<Root>, ErrorObject> {
        Ok(vec![Root::new("file:///srv")])
    }
}

#[tokio::test]
async fn a_client_of_ours_uses_a_server_of_ours_in_either_era() {
    for (opening, version) in [
        (Opening::Auto, "2026-07-28"),
        (Opening::Modern, "2026-07-28"),
        (Opening::Legacy, "2025-11-25"),
    ] {
        let server = Server::new("ours", "1")
            .tool::<Add>()
            .tool::<Ship>()
            .tool::<Count>()
            .page_size(1)
            .build()
            .unwrap();
        let (ours, theirs) = pair();
        let serving = server.clone();
        tokio::spawn(async move { serving.serve(theirs).await });
        let client = Client::builder("test", "1").host(User).opening(opening);
        let client = client.connect(ours).await.unwrap();
        assert_eq!(client.server().version.as_str(), version);
        assert_eq!(client.server().info.as_ref().unwrap().name, "ours");
        client.ping().await.unwrap();

        let names = client.list_tools().await.unwrap().into_iter();
        let names: Vec<_> = names.map(|tool| tool.name).collect();
        assert_eq!(names, ["add", "ship", "count"]);
        assert!(client.list_prompts().await.unwrap().is_empty());

        let (call, mut reports) = client.call_tool(Add { a: 1.5, b: 2.0 }).progress_stream();
        assert_eq!(call.await.unwrap(), 3.5);
        for step in 1..=3 {
            assert_eq!(reports.next().await.unwrap().progress, f64::from(step));
        }
        assert_eq!(reports.next().await.map(|report| report.progress), None);

        let to = |to: &str| Ship { to: to.to_owned() };
        let shipped = client.call_tool(to("here")).await.unwrap();
        assert_eq!(shipped.revision, u64::MAX);
        let error = client.call_tool(to("nowhere")).await.unwrap_err();
        assert_eq!(error.to_string(), "the tool failed: left alone");
        assert_eq!(client.call_tool(Count { to: 3 }).await.unwrap(), [1, 2, 3]);
        let error = client.call_tool(Mistaken { to: 3 }).await.unwrap_err();
        assert!(
            matches!(
                error,
                ClientError::Protocol {
                    result: Some(_),
                    ..
                }
            ),
            "{error:?}"
        );

        let filter = SubscriptionFilter::new().tools_list_changed(true);
        let mut listening = client.listen(filter).await.unwrap();
        server.changes().tools();
        assert_eq!(listening.next().await, Some(Change::Tools));

        server.shut_down();
        assert!(!client.closed().await.by_us);
        assert_eq!(listening.next().await, None);
    }
}
