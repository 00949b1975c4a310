//! What was seen of `params` when the message was read, so that it need not be read again.

use std::ops::Range;

/// Where the members stand that nearly every request has, within `params`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outline {
    name: Place,
    arguments: Place,
    meta: Place,
    /// Whether there are any other members.
    pub(crate) others: bool,
}

/// Nothing, where the member is absent. Small, as every request carries some.
type Place = Range<u32>;

impl Outline {
    /// Notes a member. Of two of one name the last one counts.
    pub(super) fn see(&mut self, name: &[u8], place: Range<usize>) {
        let slot = match name {
            b"name" => &mut self.name,
            b"arguments" => &mut self.arguments,
            b"_meta" => &mut self.meta,
            _ => return self.others = true,
        };
        match (place.start.try_into(), place.end.try_into()) {
            (Ok(start), Ok(end)) => *slot = start..end,
            _ => self.others = true,
        }
    }

    /// Counts the places from where `params` begin.
    pub(super) fn begin_at(&mut self, begin: usize) {
        for place in [&mut self.name, &mut self.arguments, &mut self.meta] {
            if place.start < place.end {
                let begin = u32::try_from(begin).expect("the member behind it begins at a u32");
                *place = place.start - begin..place.end - begin;
            }
        }
    }

    /// The text of `name`.
    pub(crate) fn name<'a>(&self, params: &'a [u8]) -> Option<&'a [u8]> {
        text(params, &self.name)
    }

    /// The text of `arguments`.
    pub(crate) fn arguments<'a>(&self, params: &'a [u8]) -> Option<&'a [u8]> {
        text(params, &self.arguments)
    }

    /// The text of `_meta`.
    pub(crate) fn meta<'a>(&self, params: &'a [u8]) -> Option<&'a [u8]> {
        text(params, &self.meta)
    }
}

/// The text of a member that is there, and not `null`.
fn text<'a>(params: &'a [u8], place: &Place) -> Option<&'a [u8]> {
    let text = params.get(place.start as usize..place.end as usize)?;
    (!text.is_empty() && text != b"null").then_some(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::jsonrpc::{Frame, Incoming, Message};
    use crate::meta::LastMeta;
    use crate::methods::{ClientRequest, Method};

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
        let quick = ClientRequest::outlined(&method, params.as_ref(), &request.outline, &mut last);
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
