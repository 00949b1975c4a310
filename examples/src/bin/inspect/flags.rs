//! The command line.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use mcp_client::types::{
    CompleteArgument, CompleteContext, CompleteParams, LoggingLevel, PromptReference, Reference,
    ResourceTemplateReference, SubscriptionFilter,
};
use mcp_client::{Opening, RawJson};

use crate::new::Scaffold;
use crate::words::{Words, level, object, opening, pair, seconds, server, texts, tool, variable};

/// What is asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    Help,
    New(Scaffold),
    Run(Box<Flags>),
}

#[derive(Debug)]
pub(crate) struct Flags {
    pub(crate) command: Command,
    pub(crate) server: Server,
    pub(crate) opening: Opening,
    pub(crate) env: Vec<(String, OsString)>,
    pub(crate) timeout: Duration,
    pub(crate) answers: BTreeMap<String, String>,
    pub(crate) log: Option<LoggingLevel>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

#[derive(Debug)]
pub(crate) enum Server {
    /// A program to be started, and its arguments.
    Program(Vec<OsString>),
    Url(String),
}

#[derive(Debug)]
pub(crate) enum Command {
    Tools,
    Call(ToolCall),
    Resources,
    Read {
        uri: String,
    },
    Prompts,
    Get {
        name: String,
        arguments: BTreeMap<String, String>,
    },
    Complete(Box<CompleteParams>),
    Listen {
        filter: SubscriptionFilter,
        count: Option<usize>,
        call: Option<ToolCall>,
    },
    Discover,
}

#[derive(Debug)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    pub(crate) arguments: RawJson,
}

/// Reads the arguments of this program.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Asked, String> {
    let mut arguments = arguments.peekable();
    let mut ours = Vec::new();
    while let Some(argument) = arguments.next_if(|argument| argument != "--") {
        let word = argument.into_string();
        ours.push(word.map_err(|word| format!("`{}` is not UTF-8", word.to_string_lossy()))?);
    }
    let mut words = Words::new(ours);
    let mut flags = Flags {
        command: Command::Discover,
        server: server(arguments.skip(1).collect())?,
        opening: Opening::Auto,
        env: Vec::new(),
        timeout: Duration::from_secs(60),
        answers: BTreeMap::new(),
        log: None,
        json: false,
        quiet: false,
    };
    let (mut count, mut call, mut sdk) = (None, None, None);
    while let Some(flag) = words.flag() {
        match flag.as_str() {
            "--help" | "-h" => return Ok(Asked::Help),
            "--era" => flags.opening = opening(&words.value::<String>(&flag)?)?,
            "--env" => flags.env.push(variable(&words.value::<String>(&flag)?)?),
            "--timeout" => flags.timeout = seconds(words.value(&flag)?)?,
            "--answer" => flags
                .answers
                .extend([pair(&words.value::<String>(&flag)?)?]),
            "--log" => flags.log = Some(level(&words.value::<String>(&flag)?)?),
            "--count" => count = Some(words.value(&flag)?),
            "--call" => call = Some(tool(&words.value::<String>(&flag)?)?),
            "--sdk" => sdk = Some(words.value(&flag)?),
            "--json" => flags.json = true,
            "--quiet" => flags.quiet = true,
            _ => return Err(format!("there is no flag `{flag}`")),
        }
    }
    let is_nowhere = matches!(&flags.server, Server::Program(words) if words.is_empty());
    if words.is_empty() && is_nowhere {
        return Ok(Asked::Help);
    }
    if words.next_if("new") {
        let name = words.needs("the name of a server")?;
        return words.end().map(|()| Asked::New(Scaffold { name, sdk }));
    }
    if sdk.is_some() {
        return Err("`--sdk` is for `new`".to_owned());
    }
    flags.command = command(&mut words)?;
    match &mut flags.command {
        Command::Listen {
            count: to,
            call: calls,
            ..
        } => (*to, *calls) = (count, call),
        _ if count.is_some() || call.is_some() => {
            return Err("`--count` and `--call` are for `listen`".to_owned());
        }
        _ => {}
    }
    if matches!(flags.server, Server::Url(_)) && !flags.env.is_empty() {
        return Err("`--env` is for a server that is started, not for a URL".to_owned());
    }
    words.end()?;
    match is_nowhere {
        true => Err("no server is named: put its command, or its URL, behind `--`".to_owned()),
        false => Ok(Asked::Run(flags.into())),
    }
}

fn command(words: &mut Words) -> Result<Command, String> {
    Ok(match words.needs("a command")?.as_str() {
        "tools" => Command::Tools,
        "call" => Command::Call(ToolCall {
            name: words.needs("the name of a tool")?,
            arguments: object(words.next().as_deref().unwrap_or("{}"))?,
        }),
        "resources" => Command::Resources,
        "read" => Command::Read {
            uri: words.needs("a URI")?,
        },
        "prompts" => Command::Prompts,
        "get" => Command::Get {
            name: words.needs("the name of a prompt")?,
            arguments: texts(words.next().as_deref().unwrap_or("{}"))?,
        },
        "complete" => Command::Complete(complete(words)?.into()),
        "listen" => Command::Listen {
            filter: filter(words),
            count: None,
            call: None,
        },
        "discover" => Command::Discover,
        other => return Err(format!("there is no command `{other}`")),
    })
}

fn complete(words: &mut Words) -> Result<CompleteParams, String> {
    let reference: Reference = match words.needs("`prompt` or `resource`")?.as_str() {
        "prompt" => PromptReference::new(words.needs("the name of a prompt")?).into(),
        "resource" => ResourceTemplateReference::new(words.needs("a template")?).into(),
        other => {
            return Err(format!(
                "`{other}` cannot be completed, but a `prompt` or a `resource`"
            ));
        }
    };
    let name = words.needs("the name of an argument")?;
    let argument = CompleteArgument::new(name, words.needs("how its value begins")?);
    let mut params = CompleteParams::new(reference, argument);
    let known: BTreeMap<_, _> = words
        .by_ref()
        .map(|word| pair(&word))
        .collect::<Result<_, _>>()?;
    if !known.is_empty() {
        params = params.context(CompleteContext::new().arguments(known));
    }
    Ok(params)
}

fn filter(words: &mut Words) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    if words.is_empty() {
        return filter
            .tools_list_changed(true)
            .prompts_list_changed(true)
            .resources_list_changed(true);
    }
    for word in words {
        match word.as_str() {
            "tools" => filter.tools_list_changed = Some(true),
            "prompts" => filter.prompts_list_changed = Some(true),
            "resources" => filter.resources_list_changed = Some(true),
            _ => filter
                .resource_subscriptions
                .get_or_insert_default()
                .push(word),
        }
    }
    filter
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Asked, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[track_caller]
    fn flags(line: &str) -> Flags {
        match read(line) {
            Ok(Asked::Run(flags)) => *flags,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_stand_anywhere_before_the_server() {
        let flags = flags("--json call --era legacy add {\"a\":1.0} --env A=b=c -- server --json");
        assert!(flags.json && !flags.quiet);
        assert_eq!(flags.opening, Opening::Legacy);
        assert_eq!(flags.env, [("A".to_owned(), "b=c".into())]);
        assert!(matches!(flags.server, Server::Program(words) if words == ["server", "--json"]));
        let Command::Call(call) = flags.command else {
            panic!("{:?}", flags.command);
        };
        assert_eq!(
            (&*call.name, call.arguments.as_str()),
            ("add", "{\"a\":1.0}")
        );
    }

    #[test]
    fn who_listens_to_nothing_listens_to_all_lists() {
        let all = SubscriptionFilter::new()
            .tools_list_changed(true)
            .prompts_list_changed(true)
            .resources_list_changed(true);
        let some = SubscriptionFilter::new()
            .tools_list_changed(true)
            .resource_subscriptions(["a:b".to_owned()]);
        for (line, expected) in [("listen -- s", all), ("listen tools a:b -- s", some)] {
            let Command::Listen { filter, .. } = flags(line).command else {
                panic!("it is to listen");
            };
            assert_eq!(filter, expected);
        }
    }

    #[test]
    fn arguments_of_prompts_are_texts() {
        let Command::Get { arguments, .. } = flags("get p {\"a\":\"x\",\"b\":5} -- s").command
        else {
            panic!("it is to get");
        };
        let expected = [("a", "x"), ("b", "5")];
        assert_eq!(
            arguments,
            expected
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .into()
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (line, why) in [
            (
                "tools",
                "no server is named: put its command, or its URL, behind `--`",
            ),
            (
                "tools -- http://localhost:3000/mcp me",
                "behind `http://localhost:3000/mcp`, a URL, there can be no arguments",
            ),
            (
                "tools --env A=b -- http://localhost:3000/mcp",
                "`--env` is for a server that is started, not for a URL",
            ),
            ("-- server", "a command is missing"),
            ("tell -- s", "there is no command `tell`"),
            ("tools me -- s", "nobody knows what `me` is for"),
            ("tools --fast -- s", "there is no flag `--fast`"),
            ("tools --era old -- s", "there is no era `old`"),
            ("tools --era", "`--era` needs a value"),
            ("tools --timeout 0 -- s", "`--timeout` cannot be `0`"),
            ("tools --timeout -1 -- s", "`--timeout` cannot be `-1`"),
            ("tools --timeout soon -- s", "`--timeout` cannot be `soon`"),
            ("tools --log loud -- s", "there is no level `loud`"),
            ("tools --answer yes -- s", "`yes` has no `=`"),
            (
                "tools --env NO_SUCH_NAME -- s",
                "the variable `NO_SUCH_NAME` is not set",
            ),
            (
                "tools --count 1 -- s",
                "`--count` and `--call` are for `listen`",
            ),
            ("call -- s", "the name of a tool is missing"),
            ("call add [] -- s", "`[]` is no object"),
            (
                "complete tool a b c -- s",
                "`tool` cannot be completed, but a `prompt` or a `resource`",
            ),
        ] {
            assert_eq!(read(line).err().as_deref(), Some(why), "{line}");
        }
        let bad = read("call add {a:1} -- s").expect_err("it is no JSON");
        assert!(bad.starts_with("`{a:1}` is no JSON: "), "{bad}");
        assert!(
            bad.ends_with(r#"; arguments are written '{"name": "value"}'"#),
            "{bad}"
        );
    }

    #[test]
    fn who_says_nothing_gets_help() {
        assert!(matches!(read(""), Ok(Asked::Help)));
        assert!(matches!(read("call --help -- s"), Ok(Asked::Help)));
    }
}
