//! The words of a command line, and what single ones stand for.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::str::FromStr;
use std::time::Duration;

use mcp_client::types::LoggingLevel;
use mcp_client::{Opening, RawJson};
use serde_json::{Map, Value};

use crate::flags::{Server, ToolCall};

/// The arguments that are still to be read.
pub(crate) struct Words {
    flags: std::vec::IntoIter<String>,
    others: Vec<String>,
}

impl Words {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self {
            flags: words.into_iter(),
            others: Vec::new(),
        }
    }

    /// The next flag. What is none on the way to it is for later.
    pub(crate) fn flag(&mut self) -> Option<String> {
        for word in self.flags.by_ref() {
            if word.starts_with('-') && word.len() > 1 {
                return Some(word);
            }
            self.others.push(word);
        }
        // Taken from the end from now on.
        self.others.reverse();
        None
    }

    pub(crate) fn value<T: FromStr>(&mut self, flag: &str) -> Result<T, String> {
        let word = self
            .flags
            .next()
            .ok_or_else(|| format!("`{flag}` needs a value"))?;
        word.parse()
            .map_err(|_| format!("`{flag}` cannot be `{word}`"))
    }

    pub(crate) fn needs(&mut self, what: &str) -> Result<String, String> {
        self.next().ok_or_else(|| format!("{what} is missing"))
    }

    /// Whether the next word is this one, which is taken then.
    pub(crate) fn next_if(&mut self, word: &str) -> bool {
        let is_next = self.others.last().is_some_and(|next| next == word);
        is_next && self.others.pop().is_some()
    }

    /// That no word is left.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        match self.next() {
            Some(word) => Err(format!("nobody knows what `{word}` is for")),
            None => Ok(()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.others.is_empty()
    }
}

impl Iterator for Words {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.others.pop()
    }
}

pub(crate) fn server(words: Vec<OsString>) -> Result<Server, String> {
    let url = words.first().and_then(|word| word.to_str());
    let is_url = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    match (url.filter(is_url), words.len()) {
        (None, _) => Ok(Server::Program(words)),
        (Some(url), 1) => Ok(Server::Url(url.to_owned())),
        (Some(url), _) => Err(format!("behind `{url}`, a URL, there can be no arguments")),
    }
}

pub(crate) fn opening(word: &str) -> Result<Opening, String> {
    match word {
        "auto" => Ok(Opening::Auto),
        "legacy" => Ok(Opening::Legacy),
        "modern" => Ok(Opening::Modern),
        _ => Err(format!("there is no era `{word}`")),
    }
}

pub(crate) fn variable(word: &str) -> Result<(String, OsString), String> {
    if let Ok((name, value)) = pair(word) {
        return Ok((name, value.into()));
    }
    let value = env::var_os(word).ok_or_else(|| format!("the variable `{word}` is not set"))?;
    Ok((word.to_owned(), value))
}

pub(crate) fn seconds(seconds: f64) -> Result<Duration, String> {
    let time = Duration::try_from_secs_f64(seconds).ok();
    let time = time.filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("`--timeout` cannot be `{seconds}`"))
}

pub(crate) fn level(word: &str) -> Result<LoggingLevel, String> {
    let level = serde_json::from_value(word.into());
    level.map_err(|_| format!("there is no level `{word}`"))
}

pub(crate) fn tool(word: &str) -> Result<ToolCall, String> {
    let (name, arguments) = word.split_once('=').unwrap_or((word, "{}"));
    Ok(ToolCall {
        name: name.to_owned(),
        arguments: object(arguments)?,
    })
}

pub(crate) fn pair(word: &str) -> Result<(String, String), String> {
    let (name, value) = word
        .split_once('=')
        .ok_or_else(|| format!("`{word}` has no `=`"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// An object, as it is written: no number is to lose a digit.
pub(crate) fn object(text: &str) -> Result<RawJson, String> {
    let json = RawJson::parse(text.to_owned()).map_err(|error| {
        format!(r#"`{text}` is no JSON: {error}; arguments are written '{{"name": "value"}}'"#)
    })?;
    match json.is_object() {
        true => Ok(json),
        false => Err(format!("`{text}` is no object")),
    }
}

/// The arguments of prompts are texts. What is none is taken as it is written.
pub(crate) fn texts(text: &str) -> Result<BTreeMap<String, String>, String> {
    let object: Map<String, Value> = object(text)?.decode().map_err(|error| error.to_string())?;
    let texts = object.into_iter().map(|(name, value)| match value {
        Value::String(text) => (name, text),
        other => (name, other.to_string()),
    });
    Ok(texts.collect())
}
