//! Whatever is wrong with a frame is told apart as far as its id can be read.

use mcp_protocol::{
    BadMessage, ErrorCode, Frame, Incoming, Message, Method, Notification, RawJson, RequestId,
    Response,
};

fn parse(frame: impl AsRef<[u8]>) -> Incoming {
    Incoming::parse(&Frame::copy_from_slice(frame.as_ref()))
}

fn bad(frame: impl AsRef<[u8]>) -> BadMessage {
    match parse(&frame) {
        Incoming::Bad(bad) => bad,
        other => panic!("{other:?} from {}", String::from_utf8_lossy(frame.as_ref())),
    }
}

fn message(frame: &str) -> Message {
    match parse(frame) {
        Incoming::Message(message) => message,
        other => panic!("{other:?} from {frame}"),
    }
}

fn json(text: &'static str) -> RawJson {
    RawJson::parse(text).expect("it is written here")
}

#[test]
fn a_message_is_what_its_members_say() {
    let frame = r#" {"params":{"a":1},"method":"tools/call","id":7,"jsonrpc":"2.0"} "#;
    let Message::Request(request) = message(frame) else {
        panic!("not a request: {frame}");
    };
    assert_eq!(request.id, 7.into());
    assert_eq!(request.method, Method::CallTool);
    assert_eq!(request.params, Some(json(r#"{"a":1}"#)));
    assert_eq!(request.size, 65);
    assert_eq!(
        message(r#"{"jsonrpc":"2.0","method":"acme/hello","params":null,"unknown":[1]}"#),
        Message::Notification(Notification {
            method: Method::Other("acme/hello".into()),
            params: None,
        })
    );
    let Message::Response(response) = message(r#"{"jsonrpc":"2.0","id":"a","result":null}"#) else {
        panic!("expected a response");
    };
    assert_eq!(response.id, Some("a".into()));
    assert_eq!(response.outcome, Ok(json("null")));
}

#[test]
fn escapes_change_no_message() {
    let request = |frame| {
        let Message::Request(request) = message(frame) else {
            panic!("{frame}");
        };
        (request.id, request.method, request.params)
    };
    assert_eq!(
        request(r#"{"\u006asonrpc":"2\u002e0","id":"\u0061","method":"pin\u0067"}"#),
        request(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#),
    );
}

#[test]
fn an_error_may_have_no_id() {
    for id in ["", r#""id":null,"#] {
        let frame = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"?"}}}}"#);
        let Message::Response(Response {
            id: None,
            outcome: Err(error),
            ..
        }) = message(&frame)
        else {
            panic!("{frame}");
        };
        assert_eq!(error.code, ErrorCode::PARSE_ERROR);
    }
}

#[test]
fn a_malformed_error_still_answers_its_request() {
    for error in [
        r#""no""#,
        "null",
        "[]",
        r#"{"code":"x","message":"y"}"#,
        r#"{"code":1}"#,
    ] {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":3,"error":{error}}}"#);
        let Message::Response(response) = message(&frame) else {
            panic!("{frame}");
        };
        assert_eq!(response.id, Some(3.into()));
        let told = response.outcome.expect_err("it was an error");
        assert_eq!(told.code, ErrorCode::INTERNAL_ERROR);
        assert_eq!(
            told.data.map(|data| data.to_string()).as_deref(),
            Some(error)
        );
    }
}

/// Covers J10.
#[test]
fn what_is_not_json_has_no_id() {
    for frame in [
        &br#"{"jsonrpc":"2.0","id":12,"method":"pi"#[..],
        br#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#,
        br#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","\ud800":1}"#,
        br#"{'jsonrpc':'2.0'}"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}",
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        b"[1,2",
        b"[] []",
        b"hello",
        b"nul",
        b"",
        b"   ",
    ] {
        let bad = bad(frame);
        let shown = String::from_utf8_lossy(frame);
        assert_eq!(bad.error.code, ErrorCode::PARSE_ERROR, "{shown}");
        assert_eq!(bad.id, None, "{shown}");
        assert!(!bad.expects_no_answer, "{shown}");
    }
}

/// Covers J01, J02, J06, J11.
#[test]
fn what_is_no_message_is_answered_with_the_id_that_can_be_read() {
    let one = || Some(RequestId::from(1));
    for (frame, id) in [
        // The kind.
        ("null", None),
        ("17", None),
        (r#""text""#, None),
        ("{}", None),
        (r#"{"jsonrpc":"2.0"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1}"#, one()),
        (r#"{"jsonrpc":"2.0","id":1,"params":{}}"#, one()),
        // The method.
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":["ping"]}"#, one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, one()),
        (r#"{"jsonrpc":"2.0","method":5}"#, None),
        // The version.
        (r#"{"id":1,"method":"ping"}"#, one()),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, one()),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, one()),
        (
            r#"{"jsonrpc":null,"id":"a","method":"ping"}"#,
            Some("a".into()),
        ),
        // The id.
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":"\udc00","method":"ping"}"#, None),
        // Twice.
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, None),
        (
            r#"{"jsonrpc":"2.0","params":{},"params":{},"id":1,"id":2,"method":"m"}"#,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"params":{},"params":{},"method":"m"}"#,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            one(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}"#,
            one(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#,
            one(),
        ),
        (
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#,
            one(),
        ),
        (r#"{"jsonrpc":"2.0","method":"a","method":"b"}"#, None),
        // Two kinds at once.
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
            one(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","error":{}}"#,
            one(),
        ),
    ] {
        let bad = bad(frame);
        assert_eq!(bad.error.code, ErrorCode::INVALID_REQUEST, "{frame}");
        assert_eq!(bad.id, id, "{frame}");
        assert!(!bad.expects_no_answer, "{frame}");
    }
}

/// Covers J09.
#[test]
fn what_was_meant_as_a_notification_or_answer_is_not_answered() {
    for frame in [
        r#"{"method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#,
        r#"{"id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":true,"error":{"code":1,"message":"x"}}"#,
    ] {
        let bad = bad(frame);
        assert_eq!(bad.error.code, ErrorCode::INVALID_REQUEST, "{frame}");
        assert!(bad.expects_no_answer, "{frame}");
    }
}

/// Covers B-274, SE06.
#[test]
fn deep_nesting_is_only_carried() {
    let depth = 100_000;
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let inside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{deep}}}"#);
        let Message::Request(request) = message(&inside) else {
            panic!("it is a request");
        };
        let params = request.params.expect("there are some");
        assert_eq!(params.as_str(), deep);
        assert!(
            params.decode::<serde_json::Value>().is_err(),
            "it is too deep for a value"
        );
        let beside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","other":{deep}}}"#);
        assert!(matches!(message(&beside), Message::Request(_)));
        let id = format!(r#"{{"jsonrpc":"2.0","id":{deep},"method":"m"}}"#);
        assert_eq!(bad(id).error.code, ErrorCode::INVALID_REQUEST);
        let open_end = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}"#,
            open.repeat(depth)
        );
        assert_eq!(bad(open_end).error.code, ErrorCode::PARSE_ERROR);
    }
    assert!(matches!(parse("[".repeat(depth)), Incoming::Bad(_)));
    let batch = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let Incoming::Batch(batch) = parse(batch) else {
        panic!("an array is a batch");
    };
    assert_eq!(batch.members().len(), 1);
}

/// Covers B-270.
#[test]
fn long_numbers_and_lone_surrogates_are_carried_as_they_are() {
    let digits = "9".repeat(5_000);
    for value in [
        &*digits,
        &*format!("1e{digits}"),
        r#""\ud800""#,
        r#"{"\udc00":1}"#,
    ] {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{value}}}}}"#);
        let Message::Request(request) = message(&frame) else {
            panic!("it is a request");
        };
        let params = request.params.expect("there are some");
        assert_eq!(params.as_str(), format!(r#"{{"a":{value}}}"#));
        let again = RawJson::encode(&params).expect("it was JSON");
        assert_eq!(again, params);
    }
    let frame = format!(r#"{{"jsonrpc":"2.0","id":{digits},"method":"m"}}"#);
    assert_eq!(bad(frame).error.code, ErrorCode::INVALID_REQUEST);
}

/// Covers J15.
#[test]
fn the_members_of_a_batch_are_messages_of_their_own() {
    let Incoming::Batch(batch) = parse(
        r#" [{"jsonrpc":"2.0","id":1,"method":"ping"},
            17, [], {"id":2,"method":"ping"},
            {"jsonrpc":"2.0","method":"notifications/initialized"}] "#,
    ) else {
        panic!("an array is a batch");
    };
    assert_eq!(batch.len(), 5);
    assert!(!batch.is_empty());
    let members = batch.members();
    assert!(matches!(&members[0], Ok(Message::Request(request)) if request.id == 1.into()));
    let ids: Vec<_> = members[1..4]
        .iter()
        .map(|member| member.clone().expect_err("it is no message").id)
        .collect();
    assert_eq!(ids, [None, None, Some(2.into())]);
    assert!(matches!(&members[4], Ok(Message::Notification(_))));

    let Incoming::Batch(empty) = parse("[ ]") else {
        panic!("an array is a batch");
    };
    assert!(empty.is_empty());
    assert_eq!(empty.members(), []);
}

/// Covers T15.
#[test]
fn a_line_that_is_too_long_says_so() {
    let bad = BadMessage::too_long(16);
    assert_eq!(bad.error.code, ErrorCode::PARSE_ERROR);
    let data = bad
        .error
        .data
        .expect("it has data")
        .decode::<serde_json::Value>();
    assert_eq!(
        data.expect("it is JSON"),
        serde_json::json!({ "error": "line_too_long", "limit": 16 })
    );
}
