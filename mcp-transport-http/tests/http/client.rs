//! The client's half and the server's, over real sockets.

use std::time::Duration;

use mcp_client::types::{
    ClientCapabilities, ElicitAction, ElicitParams, ElicitResult, ElicitationCapability,
    SubscriptionFilter,
};
use mcp_client::{
    CallError, Client, ClientError, ErrorCode, ErrorObject, Host, NegotiationError, Opening,
    async_trait,
};
use mcp_protocol::connection::Change;
use mcp_transport_http::{Http, HttpTransport};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::sockets::{listen, soon};
use crate::support::{LEGACY, MODERN, Seen, endpoint};

const OPENINGS: [(Opening, &str); 2] = [(Opening::Auto, MODERN), (Opening::Legacy, LEGACY)];

/// Says yes.
struct Willing;

#[async_trait]
impl Host for Willing {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new().elicitation(ElicitationCapability::new())
    }

    async fn elicit(&self, _: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        Ok(ElicitResult::new(ElicitAction::Accept).content(json!({ "yes": true })))
    }
}

/// A client of a server at a socket of its own.
struct Pair {
    client: Client,
    http: Http<Seen>,
    seen: Seen,
}

async fn pair(opening: Opening, change: impl FnOnce(Http<Seen>) -> Http<Seen>) -> Pair {
    let (http, seen) = endpoint();
    let http = change(http);
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(http.clone().serve(listener));
    let client = Client::builder("test", "1")
        .host(Willing)
        .opening(opening)
        .connect(HttpTransport::new(&format!("http://{address}/mcp")).expect("it is a URL"))
        .await
        .expect("it connects");
    Pair { client, http, seen }
}

fn unchanged(http: Http<Seen>) -> Http<Seen> {
    http
}

async fn in_time<O>(future: impl IntoFuture<Output = O>) -> O {
    timeout(Duration::from_secs(10), future.into_future())
        .await
        .expect("it comes in time")
}

fn said(result: &mcp_client::types::CallToolResult) -> &str {
    result.content[0].as_text().expect("it is text")
}

/// Covers H01, H02, H03, H12.
#[tokio::test]
async fn servers_are_used_alike_in_both_eras() {
    for (opening, version) in OPENINGS {
        let Pair { client, .. } = pair(opening, unchanged).await;
        assert_eq!(client.server().version.as_str(), version);
        assert_eq!(client.list_tools().await.expect("tools").len(), 6);
        let resource = client.read_resource("test://a%20b").await;
        assert_eq!(resource.expect("it is read").contents.len(), 1);
        let echo = json!({ "text": "Grüße" });
        let result = client.call("echo", echo).await.expect("an answer");
        assert_eq!(said(&result), "Grüße");
        let refused = client.call("refuse", json!({})).await;
        assert!(
            matches!(&refused, Err(ClientError::Rpc(error)) if error.code == ErrorCode::INVALID_PARAMS),
            "{refused:?}"
        );
        let unknown = client.call("nobody", json!({})).await;
        assert!(matches!(unknown, Err(ClientError::Rpc(_))), "{unknown:?}");
        client.close().await;
    }
}

/// Covers H14.
#[tokio::test]
async fn tools_get_their_arguments_in_headers_listed_or_not() {
    for listed in [true, false] {
        let Pair { client, .. } = pair(Opening::Auto, unchanged).await;
        if listed {
            client.list_tools().await.expect("tools");
        }
        let arguments =
            json!({ "region": " süd ", "level": -3, "dry": true, "inner": { "zone": "" } });
        let result = client.call("route", arguments).await;
        let result = result.expect("the headers fit");
        assert_eq!(
            said(&result),
            r#"Some(" süd ") Some(-3) Some(true) Some(Some(""))"#
        );
        client.close().await;
    }
}

#[tokio::test]
async fn progress_and_questions_find_their_call() {
    for (opening, _) in OPENINGS {
        let Pair { client, .. } = pair(opening, unchanged).await;
        let mut steps = 0;
        let call = client.call("steps", json!({ "steps": 40, "width": 65_536 }));
        let (call, mut reports) = call.progress_stream();
        let result = in_time(call).await.expect("an answer");
        assert_eq!(said(&result), "stepped");
        while let Some(report) = reports.next().await {
            steps = report.progress as usize;
        }
        assert_eq!(steps, 40, "all of it is more than waits at once");
        let result = in_time(client.call("ask", json!({}))).await;
        assert_eq!(said(&result.expect("an answer")), "yes: true");
        client.close().await;
    }
}

/// Covers H09.
#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    for (opening, _) in OPENINGS {
        for has_answer_begun in [false, true] {
            let Pair { client, seen, http } = pair(opening, unchanged).await;
            let call = client.call("wait", json!({}));
            let call = match has_answer_begun {
                false => call,
                true => call.progress_stream().0,
            };
            let call = tokio::spawn(call.into_future());
            soon(|| seen.started() == 1).await;
            call.abort();
            soon(|| seen.dropped() == 1 && http.server().in_flight() == 0).await;
            let echo = client.call("echo", json!({ "text": "on" })).await;
            assert_eq!(said(&echo.expect("others are not harmed")), "on");
            client.close().await;
        }
    }
}

#[tokio::test]
async fn changes_are_heard_of_in_both_eras() {
    for (opening, _) in OPENINGS {
        let Pair { client, http, .. } = pair(opening, unchanged).await;
        let filter = SubscriptionFilter::new().tools_list_changed(true);
        let mut listening = client.listen(filter).await.expect("it is granted");
        let change = in_time(async {
            loop {
                // A legacy client's stream may not be there yet.
                http.server().changes().tools();
                let next = timeout(Duration::from_millis(50), listening.next());
                if let Ok(change) = next.await {
                    return change;
                }
            }
        });
        assert_eq!(change.await, Some(Change::Tools));
        client.close().await;
    }
}

/// Covers H11.
#[tokio::test]
async fn a_stream_that_is_cut_off_is_gone_on_with() {
    let short = |http: Http<Seen>| {
        http.limits(|limits| {
            limits.stream_age = Some(Duration::from_millis(30));
            limits.retry = Duration::from_millis(10);
        })
    };
    let Pair { client, seen, .. } = pair(Opening::Legacy, short).await;
    let call = client.call("wait", json!({}));
    let call = tokio::spawn(call.into_future());
    soon(|| seen.started() == 1).await;
    // Long enough for the stream to have been cut off.
    tokio::time::sleep(Duration::from_millis(100)).await;
    seen.release(1);
    let result = in_time(call).await.expect("it does not panic");
    assert_eq!(said(&result.expect("an answer")), "waited");
    client.close().await;
}

/// Covers H10.
#[tokio::test]
async fn closing_ends_the_session_on_the_server() {
    let Pair { client, http, .. } = pair(Opening::Legacy, unchanged).await;
    assert_eq!(http.server().stats().connections, 1);
    client.close().await;
    soon(|| http.server().stats().connections == 0).await;
}

#[tokio::test]
async fn who_is_not_there_is_told_apart_from_who_refuses() {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let url = format!("http://{address}/mcp");
    let server = HttpTransport::new(&url).expect("it is a URL");
    let error = Client::connect(server).await.map(drop);
    let Err(ClientError::Negotiation(why)) = error else {
        panic!("{error:?}");
    };
    assert!(
        matches!(&*why, NegotiationError::Failed { error: CallError::NoAnswer(why), .. }
            if why.to_string().contains("refused")),
        "{why}"
    );
    for wrong in ["ftp://localhost/", "/mcp", "not a url"] {
        assert!(HttpTransport::new(wrong).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn many_calls_are_made_at_once() {
    let (address, _, _, _) = listen(|server| server).await;
    let url = format!("http://{address}/mcp");
    let server = HttpTransport::new(&url).expect("it is a URL");
    let client = Client::connect(server).await.expect("it connects");
    let calls: tokio::task::JoinSet<_> = (0..100)
        .map(|number| client.call("echo", json!({ "text": number.to_string() })))
        .map(IntoFuture::into_future)
        .collect();
    let results = in_time(calls.join_all()).await;
    assert!(results.iter().all(Result::is_ok));
    client.close().await;
}
