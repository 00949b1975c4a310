//! What `--help` says.

use std::fmt::Write as _;

use crate::exit::EXITS;

/// Commands, flags and exit codes.
pub(crate) fn usage() -> String {
    let mut text = String::from(
        "inspect [FLAGS] COMMAND [FLAGS] -- SERVER [ARGS...]\ninspect [FLAGS] COMMAND [FLAGS] -- URL\n",
    );
    text += "\nStarts an MCP server, asks it one thing over stdio, and ends it; or asks the server at a URL over HTTP.\n\nCommands:\n";
    for (command, about) in COMMANDS {
        let _ = match command.len() {
            ..20 => writeln!(text, "  {command:<19} {about}"),
            _ => writeln!(text, "  {command}\n  {:<19} {about}", ""),
        };
    }
    text += "\nFlags:\n";
    for (flag, about) in FLAGS {
        let _ = writeln!(text, "  {flag:<26}{about}");
    }
    text += "\nA question of the server is asked in the terminal, where `/decline` and `/cancel` refuse it. Without\n";
    text +=
        "one it is declined, unless `--answer` is for it. A web page is shown and never opened.\n";
    text += "\nExit codes:\n";
    for (_, code, _, about) in EXITS {
        let _ = writeln!(text, "  {code:>3}  {about}");
    }
    text
}

const COMMANDS: &[(&str, &str)] = &[
    ("tools", "lists the tools, with their arguments"),
    ("call NAME [JSON]", "calls a tool"),
    (
        "resources",
        "lists the resources, and the templates of others",
    ),
    ("read URI", "reads a resource"),
    ("prompts", "lists the prompts, with their arguments"),
    ("get NAME [JSON]", "gets a prompt"),
    (
        "complete prompt NAME ARGUMENT VALUE [OTHER=VALUE...]",
        "completes an argument of a prompt; the others are known",
    ),
    (
        "complete resource TEMPLATE VARIABLE VALUE [OTHER=VALUE...]",
        "completes a variable of a template of resources",
    ),
    (
        "listen [tools] [prompts] [resources] [URI...]",
        "tells of changes as they come; of all lists if none is named",
    ),
    (
        "discover",
        "shows who the server is, what it speaks and offers",
    ),
    (
        "new NAME",
        "writes a server to begin with, and its test, into the directory NAME; without `-- SERVER`",
    ),
];

const FLAGS: &[(&str, &str)] = &[
    (
        "--era auto|legacy|modern",
        "how to open: as the server likes (auto), with `initialize`, as in 2026-07-28",
    ),
    (
        "--env NAME[=VALUE]",
        "sets a variable for the server, or passes it on; else it gets PATH, HOME and the like",
    ),
    (
        "--timeout SECONDS",
        "how long connecting may take, and then each answer or report of progress (60)",
    ),
    (
        "--answer FIELD=VALUE",
        "answers a field of a question; in a terminal, others are asked for",
    ),
    (
        "--log LEVEL",
        "shows the server's log messages from this level on: debug, info, warning ...",
    ),
    ("--count N", "`listen` ends after so many changes"),
    (
        "--call NAME[=JSON]",
        "`listen` calls this tool as soon as it listens",
    ),
    (
        "--sdk DIRECTORY",
        "`new` builds with this checkout of the SDK, not with what is published",
    ),
    (
        "--json",
        "prints results as the server gave them, one to a line",
    ),
    (
        "--quiet",
        "hides what the server writes to standard error, unless it fails",
    ),
];
