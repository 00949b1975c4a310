//! Lists of which a part cannot be read.

use serde::de::DeserializeOwned;

use crate::error::brief;
use crate::jsonrpc::RawJson;
use crate::methods::Method;
use crate::types::{Prompt, Resource, ResourceTemplate, Tool};
use crate::wire::Extra;

/// The result of a list without the items that cannot be read, and what is wrong with these.
///
/// `None` if that is not what is wrong with the result.
pub(super) fn readable(method: &Method, result: &RawJson) -> Option<(RawJson, String)> {
    let (member, check): (_, fn(&RawJson) -> _) = match method {
        Method::ListTools => ("tools", check::<Tool>),
        Method::ListPrompts => ("prompts", check::<Prompt>),
        Method::ListResources => ("resources", check::<Resource>),
        Method::ListResourceTemplates => ("resourceTemplates", check::<ResourceTemplate>),
        _ => return None,
    };
    let mut list: Extra = result.decode().ok()?;
    let items: Vec<RawJson> = list.get(member)?.decode().ok()?;
    let all = items.len();
    let mut first = None;
    let mut kept = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        match check(&item) {
            Ok(()) => kept.push(item),
            Err(error) => first = first.or(Some((at, error))),
        }
    }
    let (at, error) = first?;
    let why = format!(
        "{} of {all} `{member}` cannot be read, the first at {at}: {}",
        all - kept.len(),
        brief(&error.to_string()),
    );
    list.insert(member, RawJson::encode(&kept).ok()?);
    Some((RawJson::encode(&list).ok()?, why))
}

fn check<T: DeserializeOwned>(item: &RawJson) -> serde_json::Result<()> {
    item.decode::<T>().map(drop)
}
