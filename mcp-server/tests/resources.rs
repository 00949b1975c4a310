//! Resources, to clients of both eras.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_server::prelude::*;
use mcp_server::types::{self, ResourceContents, ResourceTemplate};
use mcp_server::{
    Cache, Directory, ErrorObject, ServiceDown, StaticResource, Template, Variables, async_trait,
    resource_fn,
};
use serde_json::{Value, json};

use self::support::{Client, clients};

impl Client {
    async fn read(&mut self, uri: &str) -> Value {
        self.ask("resources/read", json!({ "uri": uri })).await
    }

    async fn uris(&mut self) -> Vec<String> {
        let reply = self.ask("resources/list", json!({})).await;
        of_each(&reply["result"]["resources"], "uri")
    }

    async fn templates(&mut self) -> Vec<String> {
        let reply = self.ask("resources/templates/list", json!({})).await;
        of_each(&reply["result"]["resourceTemplates"], "uriTemplate")
    }

    #[track_caller]
    fn assert_missing(&self, uri: &str, reply: &Value) {
        let code = if self.modern { -32602 } else { -32002 };
        assert_eq!(reply["error"]["code"], code, "{uri}: {reply}");
        assert_eq!(reply["error"]["data"], json!({ "uri": uri }), "{reply}");
    }
}

fn of_each(list: &Value, member: &str) -> Vec<String> {
    let list = list.as_array().expect("a list");
    let members = list.iter().filter_map(|item| item[member].as_str());
    members.map(str::to_owned).collect()
}

fn contents(reply: &Value) -> &Value {
    let contents = reply["result"]["contents"].as_array();
    let contents = contents.unwrap_or_else(|| panic!("no contents: {reply}"));
    assert_eq!(contents.len(), 1, "{reply}");
    &contents[0]
}

/// Gives its variables, unless one of them says otherwise.
struct Echo(&'static str);

#[async_trait]
impl<S: Send + Sync + 'static> Template<S> for Echo {
    fn definition(&self) -> ResourceTemplate {
        ResourceTemplate::new(self.0, "echo")
    }

    async fn read(
        &self,
        uri: &str,
        variables: &Variables,
        _: Context<S>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        match variables.get("x") {
            Some("nothing") => return Ok(Some(vec![])),
            Some("not here") => return Ok(None),
            Some("failed") => return Err(ToolError::failed("the disk is full")),
            Some("refused") => {
                return Err(ToolError::refused(ErrorObject::invalid_params("not this")));
            }
            Some("down") => return Err(ServiceDown::new("died").into()),
            _ => {}
        }
        let pairs = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let text = format!("{}: {}", self.0, pairs.collect::<Vec<_>>().join(" "));
        Ok(Some(vec![ResourceContents::text(uri, text)]))
    }

    async fn complete(
        &self,
        variable: &str,
        value: &str,
        context: &BTreeMap<String, String>,
        _: Context<S>,
    ) -> Vec<String> {
        vec![format!("{} {variable} {value} {context:?}", self.0)]
    }
}

fn server() -> Server {
    Server::new("test", "1.0.0")
        .resource(StaticResource::text("test://text", "text", "é"))
        .resource(StaticResource::binary("test://data", "data", [0xff, 0]))
        .resource(
            StaticResource::text("test://echo/fixed", "fixed", "# Fixed")
                .describe(|fixed| fixed.title("Fixed").mime_type("text/markdown")),
        )
        .template(Echo("test://echo/{x}"))
        .template(Echo("test://echo/{x}{?y}"))
}

/// Covers PG03.
#[tokio::test]
async fn resources_and_templates_are_listed_in_order_and_by_pages() {
    let server = server().page_size(2).build().unwrap();
    for mut client in clients(&server).await {
        assert_eq!(
            client.capabilities["resources"],
            json!({ "subscribe": true, "listChanged": true })
        );
        let first = client.ask("resources/list", json!({})).await;
        assert_eq!(
            first["result"]["resources"],
            json!([
                { "uri": "test://text", "name": "text", "mimeType": "text/plain", "size": 2 },
                {
                    "uri": "test://data",
                    "name": "data",
                    "mimeType": "application/octet-stream",
                    "size": 2,
                },
            ])
        );
        let cursor = json!({ "cursor": first["result"]["nextCursor"] });
        let last = client.ask("resources/list", cursor).await;
        assert_eq!(
            last["result"]["resources"],
            json!([{
                "uri": "test://echo/fixed",
                "name": "fixed",
                "title": "Fixed",
                "mimeType": "text/markdown",
                "size": 7,
            }])
        );
        assert!(last["result"].get("nextCursor").is_none(), "{last}");
        assert_eq!(
            client.templates().await,
            ["test://echo/{x}", "test://echo/{x}{?y}"]
        );
        for method in ["resources/list", "resources/templates/list"] {
            let reply = client.ask(method, json!({ "cursor": "garbage" })).await;
            assert_eq!(reply["error"]["code"], -32602);
        }
    }
}

/// Covers B-072.
#[tokio::test]
async fn a_server_with_one_kind_has_an_empty_list_of_the_other() {
    let fixed = StaticResource::text("test://text", "text", "text");
    let server = Server::new("x", "1").resource(fixed).build().unwrap();
    for mut client in clients(&server).await {
        assert_eq!(client.uris().await, ["test://text"]);
        assert_eq!(client.templates().await, [""; 0]);
    }
    let server = Server::new("x", "1")
        .template(Echo("x:{x}"))
        .build()
        .unwrap();
    for mut client in clients(&server).await {
        assert_eq!(client.uris().await, [""; 0]);
        assert_eq!(client.templates().await, ["x:{x}"]);
    }
}

/// Covers RS01, B-070.
#[tokio::test]
async fn a_server_without_any_does_not_offer_them() {
    let server = Server::new("x", "1").build().unwrap();
    for mut client in clients(&server).await {
        assert!(client.capabilities.get("resources").is_none());
        let reply = client.ask("resources/list", json!({})).await;
        assert_eq!(reply["error"]["code"], -32601);
    }
}

/// Covers RS05.
#[tokio::test]
async fn what_is_fixed_is_read_as_it_was_given() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        assert_eq!(
            contents(&client.read("test://text").await),
            &json!({ "uri": "test://text", "text": "é", "mimeType": "text/plain" })
        );
        assert_eq!(
            contents(&client.read("test://data").await),
            &json!({
                "uri": "test://data",
                "blob": "/wA=",
                "mimeType": "application/octet-stream",
            })
        );
        // Before the templates that it fits as well.
        assert_eq!(
            contents(&client.read("test://echo/fixed").await),
            &json!({
                "uri": "test://echo/fixed",
                "text": "# Fixed",
                "mimeType": "text/markdown",
            })
        );
    }
}

/// Covers B-327.
#[tokio::test]
async fn templates_are_asked_in_order_with_decoded_values() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        for (uri, text) in [
            ("test://echo/1", "test://echo/{x}: x=1"),
            ("test://echo/a%20b", "test://echo/{x}: x=a b"),
            ("test://echo/%2520", "test://echo/{x}: x=%20"),
            ("test://echo/1?y=2%262", "test://echo/{x}{?y}: x=1 y=2&2"),
        ] {
            let reply = client.read(uri).await;
            assert_eq!(contents(&reply), &json!({ "uri": uri, "text": text }));
        }
    }
}

/// Covers RS02, RS03, EC04, EC08, B-331.
#[tokio::test]
async fn what_is_not_there_is_an_error_that_names_it() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        for uri in [
            "",
            "test://",
            "TEST://text",
            "test://text/",
            "test://echo/",
            "test://echo/1/2",
            "test://echo/%zz",
            "test://echo/nothing",
            "test://echo/not%20here",
        ] {
            let reply = client.read(uri).await;
            client.assert_missing(uri, &reply);
        }
    }
}

/// Covers RS10.
#[tokio::test]
async fn the_next_template_is_asked_if_one_has_nothing() {
    struct Here;
    #[async_trait]
    impl Template<()> for Here {
        fn definition(&self) -> ResourceTemplate {
            ResourceTemplate::new("test://{+any}", "here")
        }
        async fn read(
            &self,
            uri: &str,
            _: &Variables,
            _: Context,
        ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
            Ok(Some(vec![
                ResourceContents::text(uri, "here"),
                ResourceContents::text("test://more", "more"),
            ]))
        }
    }
    let server = server().template(Here).build().unwrap();
    for mut client in clients(&server).await {
        let reply = client.read("test://echo/not%20here").await;
        assert_eq!(
            of_each(&reply["result"]["contents"], "text"),
            ["here", "more"]
        );
        // Whoever has it, even if it is nothing, is asked last.
        let reply = client.read("test://echo/nothing").await;
        client.assert_missing("test://echo/nothing", &reply);
    }
}

/// Covers RS06.
#[tokio::test]
async fn what_goes_wrong_in_a_resource_is_an_error() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        let reply = client.read("test://echo/failed").await;
        let error = json!({ "code": -32603, "message": "the disk is full" });
        assert_eq!(reply["error"], error);
        let reply = client.read("test://echo/refused").await;
        let error = json!({ "code": -32602, "message": "not this" });
        assert_eq!(reply["error"], error);
    }
    let [mut client, _] = clients(&server).await;
    client
        .send("resources/read", json!({ "uri": "test://echo/down" }))
        .await;
    let served = client.served.await.expect("serving does not panic");
    assert!(matches!(served, Err(ServeError::Down(_))), "{served:?}");
}

#[tokio::test]
async fn a_closure_reads_with_the_state() {
    let count = |cx: Context<AtomicUsize>| async move {
        let count = cx.state().fetch_add(1, Ordering::Relaxed);
        Ok(vec![ResourceContents::text(
            "test://count",
            count.to_string(),
        )])
    };
    let count = resource_fn(types::Resource::new("test://count", "count"), count);
    let server = Server::with_state("x", "1", AtomicUsize::new(0))
        .resource(count)
        .build()
        .unwrap();
    let [mut client, _] = clients(&server).await;
    for count in ["0", "1"] {
        assert_eq!(contents(&client.read("test://count").await)["text"], count);
    }
}

/// Covers CA01.
#[tokio::test]
async fn how_long_results_may_be_kept_is_said_to_modern_clients() {
    let hint = |reply: &Value| {
        let result = &reply["result"];
        (result["ttlMs"].clone(), result["cacheScope"].clone())
    };
    let cache = Cache::public(Duration::from_secs(5));
    for (server, expected) in [
        (server(), (json!(0), json!("private"))),
        (
            server().resource_cache(Cache::private(Duration::from_secs(1))),
            (json!(1000), json!("private")),
        ),
        (
            server().resource_cache(cache),
            (json!(5000), json!("public")),
        ),
    ] {
        let server = server.build().unwrap();
        for mut client in clients(&server).await {
            let expected = if client.modern {
                expected.clone()
            } else {
                (Value::Null, Value::Null)
            };
            let replies = [
                client.ask("resources/list", json!({})).await,
                client.ask("resources/templates/list", json!({})).await,
                client.read("test://text").await,
                client.read("test://echo/1").await,
            ];
            for reply in &replies {
                assert_eq!(hint(reply), expected, "{reply}");
            }
        }
    }
}

/// Covers S12, RS07, RS08, B-138.
#[tokio::test]
async fn clients_hear_of_what_is_added_and_removed() {
    let server = server().build().unwrap();
    let [mut old, mut new] = clients(&server).await;
    let filter = json!({
        "resourcesListChanged": true,
        "resourceSubscriptions": ["test://text"],
    });
    new.send("subscriptions/listen", json!({ "notifications": filter }))
        .await;
    let granted = new.receive().await;
    assert_eq!(granted["params"]["notifications"], filter, "{granted}");
    let reply = old
        .ask("resources/subscribe", json!({ "uri": "test://text" }))
        .await;
    assert_eq!(reply["result"], json!({}));

    let changed = "notifications/resources/list_changed";
    let added = StaticResource::text("test://added", "added", "added");
    server.add_resource(added.clone()).unwrap();
    assert_eq!(old.receive().await["method"], changed);
    assert_eq!(new.receive().await["method"], changed);
    assert!(server.add_resource(added).is_err());
    assert!(server.remove_resource("test://added"));
    assert!(!server.remove_resource("test://added"));
    assert_eq!(old.receive().await["method"], changed);
    assert_eq!(new.receive().await["method"], changed);
    server.add_template(Echo("test://{x}")).unwrap();
    assert_eq!(old.receive().await["method"], changed);
    assert_eq!(new.receive().await["method"], changed);
    assert!(server.add_template(Echo("test://{x}")).is_err());
    assert!(server.add_template(Echo("test://{x")).is_err());
    assert!(server.remove_template("test://{x}"));
    assert!(!server.remove_template("test://{x}"));
    assert_eq!(old.receive().await["method"], changed);
    assert_eq!(new.receive().await["method"], changed);
    // Nothing was told of what did not change.
    server.changes().resource("test://text");
    for client in [&mut old, &mut new] {
        let notice = client.receive().await;
        assert_eq!(notice["method"], "notifications/resources/updated");
        assert_eq!(notice["params"]["uri"], "test://text");
    }
}

#[tokio::test]
async fn what_was_added_can_be_read_until_it_is_removed() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        let added = StaticResource::text("test://added", "added", "added");
        server.add_resource(added).unwrap();
        assert_eq!(
            contents(&client.read("test://added").await)["text"],
            "added"
        );
        assert_eq!(client.uris().await.last().unwrap(), "test://added");
        server.remove_resource("test://added");
        let reply = client.read("test://added").await;
        client.assert_missing("test://added", &reply);
        server.add_template(Echo("test://added/{x}")).unwrap();
        let reply = client.read("test://added/1").await;
        assert_eq!(contents(&reply)["text"], "test://added/{x}: x=1");
        server.remove_template("test://added/{x}");
        let reply = client.read("test://added/1").await;
        client.assert_missing("test://added/1", &reply);
    }
}

/// Covers CP01, CP03.
#[tokio::test]
async fn a_template_completes_its_own_variables() {
    let ask = async |client: &mut Client, template: &str, variable: &str| {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": variable, "value": "v" },
            "context": { "arguments": { "x": "1" } },
        });
        client.ask("completion/complete", params).await
    };
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        assert_eq!(client.capabilities["completions"], json!({}));
        let reply = ask(&mut client, "test://echo/{x}{?y}", "y").await;
        let expected = r#"test://echo/{x}{?y} y v {"x": "1"}"#;
        let values = &reply["result"]["completion"]["values"];
        assert_eq!(values, &json!([expected]), "{reply}");
        for (template, variable) in [
            ("test://echo/{x}", "y"),
            ("test://echo/{z}", "z"),
            ("test://echo/1", "x"),
            ("test://text", "x"),
        ] {
            let reply = ask(&mut client, template, variable).await;
            assert_eq!(reply["error"]["code"], -32602, "{template} {variable}");
        }
    }
    let fixed = StaticResource::text("test://text", "text", "text");
    let server = Server::new("x", "1").resource(fixed).build().unwrap();
    for client in clients(&server).await {
        assert!(client.capabilities.get("completions").is_none());
    }
}

/// Covers RS04, B-329.
#[test]
fn what_cannot_be_read_is_refused_when_the_server_is_built() {
    let text = |uri| StaticResource::text(uri, "x", "x");
    let new = || Server::new("x", "1");
    for (server, says) in [
        (new().resource(text("")), "\"\" is no URI"),
        (new().resource(text("a b:c")), "\"a b:c\" is no URI"),
        (new().resource(text("no-scheme")), "is no URI"),
        (
            new().resource(text("a:b")).resource(text("a:b")),
            "two resources are at \"a:b\"",
        ),
        (
            new().template(Echo("a:{x")),
            "the URI template \"a:{x\" has, at byte 2, a `{` without its `}`",
        ),
        (
            new().template(Echo("a:{/x*}")),
            "the URI template \"a:{/x*}\" has, at byte 5, a modifier",
        ),
        (
            new().template(Echo("a:{x}")).template(Echo("a:{x}")),
            "two templates of resources are \"a:{x}\"",
        ),
        (
            new().directory(Directory::new("a:{", "/")),
            "the URI template \"a:{/{+path}\" has, at byte",
        ),
    ] {
        let error = server.build().expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// A directory of this test's own, with what a client may and may not read.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("public/sub/.hidden")).unwrap();
        fs::create_dir_all(root.join("public-too")).unwrap();
        for (path, bytes) in [
            ("secret", "secret".as_bytes()),
            ("public-too/secret", b"secret"),
            ("public/a.md", "é".as_bytes()),
            ("public/a b.txt", b"spaced"),
            ("public/%2e%2e", b"dots"),
            ("public/empty", b""),
            ("public/sub/b.png", b"\xff\0"),
            ("public/sub/.hidden/c", b"c"),
            ("public/eleven", b"eleven byte"),
            ("public/twelve", b"twelve bytes"),
        ] {
            fs::write(root.join(path), bytes).unwrap();
        }
        Self(root)
    }

    fn served(&self) -> ServerHandle {
        let public = Directory::new("notes://", self.0.join("public"))
            .describe(|public| public.title("Notes"))
            .max_file_bytes(11);
        Server::new("x", "1").directory(public).build().unwrap()
    }
}

#[tokio::test]
async fn a_directory_gives_its_files() {
    let server = Tree::new("gives").served();
    for mut client in clients(&server).await {
        let reply = client.ask("resources/templates/list", json!({})).await;
        assert_eq!(
            reply["result"]["resourceTemplates"],
            json!([{ "uriTemplate": "notes://{+path}", "name": "public", "title": "Notes" }])
        );
        for (path, mime_type, text) in [
            ("a.md", "text/markdown", "é"),
            ("a%20b.txt", "text/plain", "spaced"),
            ("a b.txt", "text/plain", "spaced"),
            ("%252e%252e", "text/plain", "dots"),
            ("empty", "text/plain", ""),
            ("sub/.hidden/c", "text/plain", "c"),
            ("sub%2F.hidden/c", "text/plain", "c"),
            ("eleven", "text/plain", "eleven byte"),
        ] {
            let uri = format!("notes://{path}");
            let reply = client.read(&uri).await;
            let expected = json!({ "uri": uri, "text": text, "mimeType": mime_type });
            assert_eq!(contents(&reply), &expected);
        }
        let reply = client.read("notes://sub/b.png").await;
        let expected = json!({
            "uri": "notes://sub/b.png",
            "blob": "/wA=",
            "mimeType": "image/png",
        });
        assert_eq!(contents(&reply), &expected);
    }
}

/// Covers RS04.
#[tokio::test]
async fn a_directory_gives_nothing_that_lies_outside() {
    let tree = Tree::new("outside");
    let server = tree.served();
    let absolute = tree.0.join("secret").display().to_string();
    for mut client in clients(&server).await {
        for path in [
            "",
            "no-such-file",
            "sub",
            "sub/",
            "a.md/",
            "a.md/b",
            ".",
            "..",
            "../secret",
            "../public-too/secret",
            "../public/a.md",
            "sub/../a.md",
            "sub/../../secret",
            "%2e%2e/secret",
            "%2E%2E%2Fsecret",
            "..%2fsecret",
            ".%2e/secret",
            "..\\secret",
            "..%5Csecret",
            "sub\\b.png",
            "a.md%00",
            "a.md%00.png",
            "%00",
            "/a.md",
            "//a.md",
            "%2Fetc/passwd",
            &absolute,
            &absolute.replace('/', "%2F"),
            "%252e%252e/secret",
            "a.md?",
            "a.md#",
            "a.md\n",
            &"x/".repeat(3000),
            &"x".repeat(3000),
        ] {
            let uri = format!("notes://{path}");
            let reply = client.read(&uri).await;
            client.assert_missing(&uri, &reply);
        }
    }
}

/// Covers RS04.
#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_inside_of_a_directory_only() {
    use std::os::unix::fs::symlink;

    let tree = Tree::new("links");
    let public = tree.0.join("public");
    symlink("sub/.hidden/c", public.join("inside")).unwrap();
    symlink("../secret", public.join("outside")).unwrap();
    symlink("../public-too", public.join("sibling")).unwrap();
    symlink("/", public.join("sub/root")).unwrap();
    symlink("loop", public.join("loop")).unwrap();
    symlink("/dev/zero", public.join("zero")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(public.join("socket")).unwrap();
    let server = tree.served();
    for mut client in clients(&server).await {
        let reply = client.read("notes://inside").await;
        assert_eq!(contents(&reply)["text"], "c");
        for path in [
            "outside",
            "sibling/secret",
            "sub/root/etc/passwd",
            "loop",
            "zero",
            "socket",
        ] {
            let uri = format!("notes://{path}");
            let reply = client.read(&uri).await;
            client.assert_missing(&uri, &reply);
        }
    }
    drop(socket);
    // A directory that is a link itself is as good as another.
    symlink("public", tree.0.join("linked")).unwrap();
    let linked = Directory::new("notes://", tree.0.join("linked"));
    let server = Server::new("x", "1").directory(linked).build().unwrap();
    let [mut client, _] = clients(&server).await;
    assert_eq!(contents(&client.read("notes://a.md").await)["text"], "é");
}

#[tokio::test]
async fn a_file_that_is_too_large_is_an_error() {
    let server = Tree::new("large").served();
    for mut client in clients(&server).await {
        let reply = client.read("notes://twelve").await;
        let message = "the file is larger than 11 bytes";
        let error = json!({ "code": -32603, "message": message });
        assert_eq!(reply["error"], error);
    }
}

#[tokio::test]
async fn a_directory_is_looked_at_when_it_is_read() {
    let tree = Tree::new("later");
    let later = Directory::new("notes:///x", tree.0.join("later"));
    let server = Server::new("x", "1").directory(later).build().unwrap();
    let [mut client, _] = clients(&server).await;
    let reply = client.read("notes:///x/a").await;
    client.assert_missing("notes:///x/a", &reply);
    fs::create_dir(tree.0.join("later")).unwrap();
    for text in ["one", "two"] {
        fs::write(tree.0.join("later/a"), text).unwrap();
        let reply = client.read("notes:///x/a").await;
        assert_eq!(contents(&reply)["text"], text);
    }
}
