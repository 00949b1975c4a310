//! Nobody gets more than a share, and nobody waits for another who is slow.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use mcp_transport_http::{Http, Peer};
use serde_json::{Value, json};
use tokio_stream::StreamExt as _;
use tower::ServiceExt as _;

use crate::support::{
    Call, LEGACY, Reply, Seen, Session, endpoint, initialize, is_pending, legacy, modern, send,
    server, text, tool, until, watched_tool,
};

/// An endpoint that knows its callers by a header.
fn known(
    describe: impl FnOnce(mcp_server::Server<Seen>) -> mcp_server::Server<Seen>,
) -> (Http<Seen>, Seen) {
    let (server, seen) = server(describe);
    let http = Http::new(server).principal(|parts| {
        let user = parts.headers.get("x-user")?;
        user.to_str().ok().map(str::to_owned)
    });
    (http, seen)
}

fn few(server: mcp_server::Server<Seen>) -> mcp_server::Server<Seen> {
    server.max_in_flight(4).max_in_flight_per_connection(2)
}

async fn busy(reply: Reply) -> Value {
    assert_eq!(reply.status(), 200);
    let message = reply.json().await;
    assert_eq!(message["error"]["code"], -31503, "{message}");
    message["error"]["data"]["scope"].clone()
}

#[tokio::test]
async fn a_principal_has_one_share_however_it_calls() {
    let (http, seen) = known(few);
    let wait = watched_tool(1, "wait", json!({}));
    let echo = tool(2, "echo", json!({ "text": "hi" }));
    let ann = |call: &Call| call.clone().and("x-user", "ann");
    let ben = |call: &Call| call.clone().and("x-user", "ben");
    let first = ann(&wait).send(&http).await;
    let second = ann(&wait).send(&http).await;
    assert!(first.is_stream() && second.is_stream());
    assert_eq!(busy(ann(&echo).send(&http).await).await, "connection");

    // Its sessions take from the same share.
    let reply = ann(&initialize(LEGACY)).send(&http).await;
    let id = reply
        .header("mcp-session-id")
        .expect("a handshake is no call");
    let params = json!({ "name": "echo", "arguments": { "text": "hi" } });
    let body = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let call = ann(&legacy(body)).and("mcp-session-id", &id);
    let messages = call.send(&http).await.messages().await;
    assert_eq!(messages[0]["error"]["data"]["scope"], "connection");

    assert_eq!(text(&ben(&echo).send(&http).await.json().await), "hi");
    let third = ben(&wait).send(&http).await;
    let fourth = ben(&wait).send(&http).await;
    assert_eq!(busy(echo.send(&http).await).await, "server");
    drop((first, second));
    until(|| seen.dropped() == 2).await;
    assert_eq!(text(&ann(&echo).send(&http).await.json().await), "hi");
    drop((third, fourth));
}

#[tokio::test]
async fn sessions_have_shares_of_their_own() {
    let (server, seen) = server(few);
    let http = Http::new(server);
    let one = Session::open(&http, LEGACY).await;
    let other = Session::open(&http, LEGACY).await;
    let running = [
        one.tool(1, "wait", json!({})).await,
        one.tool(2, "wait", json!({})).await,
    ];
    until(|| seen.started() == 2).await;
    let arguments = json!({ "text": "hi" });
    let refused = one
        .tool(3, "echo", arguments.clone())
        .await
        .messages()
        .await;
    assert_eq!(refused[0]["error"]["data"]["scope"], "connection");
    let served = other.tool(1, "echo", arguments).await.messages().await;
    assert_eq!(text(&served[0]), "hi");
    drop(running);
}

#[tokio::test]
async fn callers_of_whom_nothing_else_is_known_go_by_their_address() {
    let (server, _seen) = server(few);
    let http = Http::new(server);
    let call = async |last: u8, call: Call| {
        let mut request = call.post();
        let address = IpAddr::from(Ipv4Addr::new(10, 0, 0, last));
        request
            .extensions_mut()
            .insert(Peer(SocketAddr::new(address, 9)));
        send(&http, request).await
    };
    let wait = watched_tool(1, "wait", json!({}));
    let echo = tool(2, "echo", json!({ "text": "hi" }));
    let running = [call(1, wait.clone()).await, call(1, wait.clone()).await];
    assert_eq!(busy(call(1, echo.clone()).await).await, "connection");
    assert_eq!(text(&call(2, echo).await.json().await), "hi");
    drop(running);
}

/// Covers S15.
#[tokio::test]
async fn only_so_many_exchanges_are_open() {
    let (http, _) = known(|server| server);
    let http = http.limits(|limits| limits.open = 4);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let listen = modern(1, "subscriptions/listen", params);
    let ann = listen.clone().and("x-user", "ann");
    let ben = listen.clone().and("x-user", "ben");
    let mut open = vec![ann.send(&http).await, ann.send(&http).await];
    assert_eq!(ann.send(&http).await.refusal().await, (503, -31503));
    open.pop();
    open.push(ann.send(&http).await);
    assert!(open[1].is_stream(), "there is room again");
    open.extend([ben.send(&http).await, ben.send(&http).await]);
    assert_eq!(listen.send(&http).await.refusal().await, (503, -31503));
    open.clear();
    assert!(ann.send(&http).await.is_stream());
}

#[tokio::test]
async fn bodies_have_only_so_much_room_together() {
    let (http, _) = endpoint();
    let http = http.limits(|limits| limits.bodies = 1_500);
    let call = tool(1, "echo", json!({ "text": "x".repeat(800) }));
    let mut first = Box::pin(unfinished(&http, &call));
    assert!(is_pending(&mut first).await);
    assert_eq!(call.send(&http).await.refusal().await, (503, -31503));
    drop(first);
    assert_eq!(call.send(&http).await.status(), 200);
}

/// A thousand bytes of a body that goes no further.
async fn unfinished(http: &Http<Seen>, call: &Call) {
    let (parts, _) = call.post().into_parts();
    let piece = Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b' '; 1_000])));
    let body = StreamBody::new(tokio_stream::once(piece).chain(tokio_stream::pending()));
    let _ = http.clone().oneshot(Request::from_parts(parts, body)).await;
}

#[tokio::test]
async fn the_bodies_of_one_client_leave_room_for_others() {
    let (http, _) = known(|server| server);
    let http = http.limits(|limits| (limits.body, limits.bodies) = (1_500, 6_000));
    let call = tool(1, "echo", json!({ "text": "x".repeat(800) }));
    let ann = call.clone().and("x-user", "ann");
    let ben = call.clone().and("x-user", "ben");
    let mut bodies = [unfinished(&http, &ann), unfinished(&http, &ann)].map(Box::pin);
    for body in &mut bodies {
        assert!(is_pending(body).await);
    }
    assert_eq!(ann.send(&http).await.refusal().await, (503, -31503));
    assert_eq!(ben.send(&http).await.status(), 200);
    drop(bodies);
    assert_eq!(ann.send(&http).await.status(), 200);
}

/// Covers H10.
#[tokio::test(start_paused = true)]
async fn one_more_session_ends_the_longest_idle_one() {
    let (http, _) = known(|server| server);
    let http = http.limits(|limits| limits.sessions = 4);
    let open = async |user: &str| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let reply = initialize(LEGACY).and("x-user", user).send(&http).await;
        let id = reply.header("mcp-session-id").ok_or(reply.status())?;
        Ok::<_, StatusCode>(
            legacy(Value::Null)
                .and("x-user", user)
                .and("mcp-session-id", &id),
        )
    };
    let get = async |call: &Call| send(&http, call.request(Method::GET, "")).await;
    let known = async |call: &Call| get(call).await.status() == 200;

    // One client has half of them.
    let [first, second] = [open("ann").await.unwrap(), open("ann").await.unwrap()];
    let ben = open("ben").await.unwrap();
    assert!(known(&first).await, "the second is idle for longer");
    let third = open("ann").await.unwrap();
    assert!(!known(&second).await && known(&third).await && known(&ben).await);

    // What is in use stays.
    let used = [get(&first).await, get(&third).await];
    assert_eq!(open("ann").await.err(), Some(503.try_into().unwrap()));
    drop(used);

    // All are in use but one.
    let _used = [get(&first).await, get(&third).await, get(&ben).await];
    let other = open("ben").await.unwrap();
    let cid = open("cid").await.unwrap();
    assert!(!known(&other).await && known(&cid).await);
}

#[tokio::test]
async fn a_slow_reader_slows_nobody_else() {
    let (http, _) = endpoint();
    let http = http.limits(|limits| limits.output = 100_000);
    let arguments = json!({ "steps": 2_000, "width": 10_000 });
    let mut slow = watched_tool(1, "steps", arguments).send(&http).await;
    assert!(slow.is_stream());
    for id in 0..100 {
        let reply = tool(id, "echo", json!({ "text": "hi" })).send(&http).await;
        assert_eq!(text(&reply.json().await), "hi");
    }
    until(|| http.server().in_flight() == 0).await;
    // What it has not read is bounded: reports that there was no room for were merged.
    let messages = slow.messages().await;
    assert!(messages.len() < 200, "{} messages", messages.len());
    assert_eq!(text(messages.last().expect("it is answered")), "stepped");
}

#[tokio::test]
async fn notices_that_nobody_reads_hold_up_no_calls() {
    let (http, _) = endpoint();
    let http = http.limits(|limits| limits.output = 10_000);
    let session = Session::open(&http, LEGACY).await;
    let subscribe = json!({ "uri": "test://x" });
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": subscribe });
    session.call(body).send(&http).await.messages().await;
    let mut general = session.get(None).await;
    for step in 0..1_000 {
        http.server()
            .changes()
            .resource(format!("test://x/{step:0100}"));
        let arguments = json!({ "text": "hi" });
        let served = session.tool(step, "echo", arguments).await.messages().await;
        assert_eq!(text(&served[0]), "hi");
    }
    general.event().await.expect("it is primed");
    let mut notices = 0;
    while !is_pending(general.event()).await {
        notices += 1;
    }
    assert!((100..300).contains(&notices), "{notices} notices");
}
