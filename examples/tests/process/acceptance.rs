//! The acceptance checks that need more than a process and its pipes, by number.

use serde_json::{Value, json};

use crate::support::*;

fn assert_busy(reply: &Value, id: u64, scope: &str, limit: u64) {
    assert_eq!(reply["id"], id, "{reply}");
    assert_eq!(code(reply), -31503);
    assert_eq!(reply["error"]["message"], "server_busy");
    assert_eq!(
        reply["error"]["data"],
        json!({ "error": "server_busy", "scope": scope, "limit": limit, "method": "tools/call" })
    );
}

///
#[cfg(unix)]
#[test]
fn a05_the_server_is_full_when_two_connections_use_their_shares() {
    use crate::fairness::SocketServer;

    let server = SocketServer::start(&["--cap", "4", "--share", "2"]);
    let (mut a, mut b, mut c) = (server.connect(), server.connect(), server.connect());
    a.send_all(&[sleep(1, 700), sleep(2, 700)]);
    b.send_all(&[sleep(1, 700), sleep(2, 700)]);
    // Until both have their calls in flight, which a ping behind them shows.
    for peer in [&mut a, &mut b] {
        peer.send_all(&[ping(9)]);
        assert_eq!(peer.receive()["id"], 9);
    }
    c.send_all(&[sleep(3, 10)]);
    assert_busy(&c.receive(), 3, "server", 4);
    for peer in [&mut a, &mut b] {
        for _ in 0..2 {
            assert_eq!(text(&peer.receive()), "slept");
        }
    }
    c.send_all(&[sleep(4, 10)]);
    assert_eq!(text(&c.receive()), "slept");
}

/// Sent to this very process, which it ends if nobody listens yet.
/// Covers A-28, B-034.
#[cfg(unix)]
#[tokio::test]
async fn a28_a_signal_is_not_missed_although_it_comes_at_once() {
    let server = mcp_server::Server::new("test", "1.0.0").build();
    let server = server.expect("it can be built");
    server.shut_down_on_signal();
    signal(std::process::id(), "TERM");
    let ended = tokio::time::timeout(SOON, server.ending()).await;
    assert!(ended.is_ok());
}
