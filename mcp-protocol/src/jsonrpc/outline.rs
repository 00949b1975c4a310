//! What was seen of `params` or `result` when the message was read, so that it need not be read
//! again.

use std::ops::Range;

/// Where the members stand that nearly every message of a kind has, within its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outline {
    places: [Place; 5],
    /// Whether there are any other members.
    pub(crate) others: bool,
}

/// The members of `params` that an outline has.
pub(super) const PARAMS: &[&[u8]] = &[b"name", b"arguments", b"_meta"];

/// The members of `result` that an outline has.
pub(super) const RESULT: &[&[u8]] = &[
    b"content",
    b"structuredContent",
    b"_meta",
    b"resultType",
    b"isError",
];

/// Nothing, where the member is absent. Small, as every request carries some.
type Place = Range<u32>;

impl Outline {
    /// Notes a member. Of two of one name the last one counts.
    pub(super) fn see(&mut self, names: &[&[u8]], name: &[u8], place: Range<usize>) {
        let slot = names.iter().position(|known| *known == name);
        let slot = slot.and_then(|slot| self.places.get_mut(slot));
        match (slot, place.start.try_into(), place.end.try_into()) {
            (Some(slot), Ok(start), Ok(end)) => *slot = start..end,
            _ => self.others = true,
        }
    }

    /// Counts the places from where the value begins.
    pub(super) fn begin_at(&mut self, begin: usize) {
        for place in &mut self.places {
            if place.start < place.end {
                let begin = u32::try_from(begin).expect("the member behind it begins at a u32");
                *place = place.start - begin..place.end - begin;
            }
        }
    }

    /// The text of `name`.
    pub(crate) fn name<'a>(&self, params: &'a [u8]) -> Option<&'a [u8]> {
        self.text(0, params)
    }

    /// Where `arguments` stand.
    pub(crate) fn arguments(&self, params: &[u8]) -> Option<Range<usize>> {
        self.text(1, params)?;
        let place = &self.places[1];
        Some(place.start as usize..place.end as usize)
    }

    /// The text of `content`.
    pub(crate) fn content<'a>(&self, result: &'a [u8]) -> Option<&'a [u8]> {
        self.text(0, result)
    }

    /// Whether there is a `structuredContent`, if only `null`, which it may be.
    pub(crate) fn has_structured(&self) -> bool {
        !self.places[1].is_empty()
    }

    /// The text of `structuredContent`.
    pub(crate) fn structured<'a>(&self, result: &'a [u8]) -> Option<&'a [u8]> {
        self.text(1, result)
    }

    /// The text of `_meta`.
    pub(crate) fn meta<'a>(&self, value: &'a [u8]) -> Option<&'a [u8]> {
        self.text(2, value)
    }

    /// The text of `resultType`.
    pub(crate) fn result_type<'a>(&self, result: &'a [u8]) -> Option<&'a [u8]> {
        self.text(3, result)
    }

    /// The text of `isError`.
    pub(crate) fn is_error<'a>(&self, result: &'a [u8]) -> Option<&'a [u8]> {
        self.text(4, result)
    }

    /// The text of a member that is there, and not `null`.
    fn text<'a>(&self, slot: usize, value: &'a [u8]) -> Option<&'a [u8]> {
        let place = self.places.get(slot)?;
        let text = value.get(place.start as usize..place.end as usize)?;
        (!text.is_empty() && text != b"null").then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::jsonrpc::{Frame, Incoming, Message, Response};
    use crate::meta::{Last, LastMeta};
    use crate::methods::{ClientRequest, Method, ServerResult};

    /// The request as its outline has it, and as it is without.
    fn both(method: &str, params: &str) -> (Option<ClientRequest>, Option<ClientRequest>) {
        let frame =
            format!(r#" {{"jsonrpc":"2.0","params" : {params},"method":"{method}","id":1}}"#);
        let Incoming::Message(Message::Request(request)) = Incoming::parse(&Frame::from(frame))
        else {
            panic!("not a request: {params}");
        };
        let (method, params) = (request.method, request.params);
        let mut last = LastMeta::default();
        let quick =
            ClientRequest::outlined(&method, &mut params.clone(), &request.outline, &mut last);
        let quick = quick.map(Arc::unwrap_or_clone);
        (quick, ClientRequest::parse(method, params).ok())
    }

    #[test]
    fn a_request_is_the_same_with_an_outline() {
        for params in [
            r#"{"name":"a"}"#,
            r#"{ "arguments" : { "b" : [1] } , "name" : "a" }"#,
            r#"{"_meta":{"progressToken":1},"name":"a\u0062","arguments":{}}"#,
            r#"{"_meta":null,"arguments":null,"name":"a"}"#,
            r#"{"_meta":{"x":1},"name":"b","name":"a"}"#,
            r#"{"n\u0061me":"a"}"#,
            r#"{"name":"a","arguments":[]}"#,
        ] {
            let (quick, parsed) = both("tools/call", params);
            assert!(quick.is_some() && quick == parsed, "{params}");
        }
        for params in ["{}", "null", r#"{"_meta":{"progressToken":1}}"#] {
            let (quick, parsed) = both("tools/list", params);
            assert!(quick.is_some() && quick == parsed, "{params}");
        }
    }

    #[test]
    fn a_message_is_the_same_whatever_was_the_last_meta() {
        let metas = ["{}", r#"{"x":1}"#, r#"{"x":1,"y":"}"}"#, "1", ""];
        for params in [
            r#"{"name":"a","_meta":{"x":1}}"#,
            r#"{"_meta": {"x":1} ,"name":"a"}"#,
            r#"{"_meta":{"x":1},"_meta":{"x":1,"y":"}"}}"#,
            r#"{"name":{"_meta":{"x":1}},"_meta":12}"#,
            r#"{"_meta":{"x":1}}}"#,
            r#"{"_meta":{"x":1}x}"#,
            r#"{"_meta":{"x":1}"#,
            r#"{"_meta":{}{}}"#,
            r#"{"_meta":{"x":1 }}"#,
            r#"{"_meta":"#,
        ] {
            for begin in [r#""method":"a","params""#, r#""result""#] {
                let frame = format!(r#"{{"jsonrpc":"2.0","id":1,{begin}:{params}}}"#);
                let frame = Frame::from(frame);
                for meta in metas {
                    let read = Incoming::parse_after(&frame, meta.as_bytes());
                    assert_eq!(read, Incoming::parse(&frame), "{meta} {begin} {params}");
                }
            }
        }
    }

    /// The same of a result of `tools/call`.
    fn results(result: &str) -> (Option<ServerResult>, Option<ServerResult>) {
        let frame =
            format!(r#"{{"result": {result} ,"params":{{"content":1}},"jsonrpc":"2.0","id":1}}"#);
        let Incoming::Message(Message::Response(Response {
            outcome: Ok(result),
            outline,
            ..
        })) = Incoming::parse(&Frame::from(frame))
        else {
            panic!("not a result: {result}");
        };
        let method = Method::CallTool;
        let meta = outline.meta(result.as_bytes());
        let meta = meta.and_then(|text| Last::default().read(text));
        let quick = ServerResult::outlined(&method, &result, &outline, meta);
        (quick, ServerResult::parse(&method, &result).ok())
    }

    #[test]
    fn a_result_is_the_same_with_an_outline() {
        for result in [
            "{}",
            r#"{"content":[{"type":"text","text":"a"}],"isError":false}"#,
            r#"{"isError":true}"#,
            r#"{"isError":null,"content":[]}"#,
            r#"{ "resultType" : "complete" , "content" : null, "structuredContent":{"a":[1.0]} }"#,
            r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"1"},"x":1},"content":[]}"#,
            r#"{"content":[],"content":[{"text":"a","type":"text"}],"_meta":null,"resultType":null}"#,
            r#"{"content":[ {"type":"text","text":"a\n\u00e9"} , { "text" : "" , "ty\u0070e" : "t\u0065xt" } ]}"#,
            r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"a"}]}"#,
            r#"{"content":[{"type":"text","text":"a","_meta":{},"annotations":{"priority":1}}]}"#,
            r#"{"content":[{"type":"text","text":"a","text":"b"},{"type":"other","text":"c"}]}"#,
            r#"{"content":[{"type":"text","text":"a","x":1},{"type":"text","text":"a"}]}"#,
        ] {
            let (quick, parsed) = results(result);
            assert!(quick.is_some() && quick == parsed, "{result}");
        }
    }

    #[test]
    fn whatever_else_a_result_has_needs_more_than_an_outline() {
        for result in [
            "[]",
            "1",
            r#"{"content":1}"#,
            r#"{"content":[{"type":1}]}"#,
            r#"{"content":[{"type":"text"}]}"#,
            r#"{"content":[{"type":"text","text":null}]}"#,
            r#"{"content":[{"type":"text","type":"text","text":"a"}]}"#,
            r#"{"content":[{"type":"text","text":"\ud800"}]}"#,
            r#"{"content":[["type","text"]]}"#,
            r#"{"content":{"type":"text"}}"#,
            r#"{"isError":"true"}"#,
            r#"{"_meta":1}"#,
            r#"{"structuredContent":null}"#,
            r#"{"resultType":"input_required"}"#,
            r#"{"resultType":"other"}"#,
        ] {
            assert_eq!(results(result).0, None, "{result}");
        }
    }

    #[test]
    fn whatever_else_there_is_needs_more_than_an_outline() {
        for params in [
            "{}",
            "[]",
            "1",
            r#"{"name":1}"#,
            r#"{"name":null}"#,
            r#"{"name":"a","_meta":1}"#,
            r#"{"name":"a","task":{}}"#,
            r#"{"name":"a","inputResponses":null}"#,
        ] {
            assert_eq!(both("tools/call", params).0, None, "{params}");
        }
        assert_eq!(both("tools/list", r#"{"cursor":"a"}"#).0, None);
        assert_eq!(both("tools/list", r#"{"name":"a"}"#).0, None);
        assert_eq!(both(Method::Ping.as_str(), "{}").0, None);
    }
}
