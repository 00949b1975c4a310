//! Questions of the server: answered by the command line, by a person, or by nobody.

use serde_json::json;

use crate::{ERAS, everything};

const DEFAULTS: &[&str] = &["call", "test_elicitation_sep1034_defaults"];

#[test]
fn what_nobody_answers_is_declined() {
    for era in ERAS {
        let run =
            everything(era, &["call", "test_elicitation", r#"{"message":"Who?"}"#]).ends_with(0);
        run.prints("User response: action=decline, content={}\n");
        run.says("The server asks: Who?\n");
        run.says("declined: nobody is there to answer it\n");
    }
}

#[test]
fn an_answer_may_be_given_beforehand() {
    for era in ERAS {
        let args = [
            "call",
            "test_elicitation",
            r#"{"message":"Who?"}"#,
            "--answer",
            "response=me, too",
        ];
        let run = everything(era, &args).ends_with(0);
        run.prints("User response: action=accept, content={\"response\":\"me, too\"}\n");
    }
}

#[test]
fn answers_are_for_questions_that_follow_each_other() {
    for era in ERAS {
        let args = [
            "call",
            "test_input_required_result_multi_round",
            "--answer",
            "name=Ada",
            "--answer",
            "color=red",
        ];
        let run = everything(era, &args).ends_with(0);
        run.prints("Multi-round complete for Ada who likes red\n");
    }
}

#[test]
fn what_is_not_answered_has_its_default() {
    for era in ERAS {
        let run = everything(
            era,
            &[DEFAULTS, &["--answer", "age=5", "--answer", "verified=no"]].concat(),
        );
        run.ends_with(0).prints(
            "Elicitation completed: action=accept, content={\"age\":5,\"name\":\"John Doe\",\"score\":95.5,\"status\":\"active\",\"verified\":false}\n",
        );
    }
}

#[test]
fn choices_are_named_by_value_or_title() {
    for era in ERAS {
        let run = everything(
            era,
            &[
                "call",
                "test_elicitation_sep1330_enums",
                "--json",
                "--answer",
                "untitledSingle=option2",
                "--answer",
                "titledSingle=Third Option",
                "--answer",
                "legacyEnum=opt3",
                "--answer",
                "titledMulti=value2,first option",
            ],
        );
        let text = run.ends_with(0).json()["content"][0]["text"].take();
        let content = json!({
            "untitledSingle": "option2", "titledSingle": "value3", "legacyEnum": "opt3",
            "titledMulti": ["value1", "value2"],
        });
        let expected = format!("Elicitation completed: action=accept, content={content}");
        assert_eq!(text, expected, "{era}");
    }
}

#[test]
fn an_answer_that_does_not_fit_declines() {
    for era in ERAS {
        let run = everything(era, &[DEFAULTS, &["--answer", "age=old"]].concat()).ends_with(0);
        run.says("declined: `age`: `old` is no number\n");
        assert!(run.stdout.contains("action=decline"), "{run:?}");
    }
}

#[test]
fn an_answer_to_no_field_is_complained_of() {
    for era in ERAS {
        let run = everything(era, &[DEFAULTS, &["--answer", "agee=5"]].concat()).ends_with(0);
        run.says("inspect: `--answer agee=…`: no question has such a field\n");
        let run = everything(era, &[DEFAULTS, &["--answer", "age=5"]].concat()).ends_with(0);
        assert!(!run.stderr.contains("no question"), "{run:?}");
    }
}

/// What is behind the handshake of a server that sends the user to a web page.
#[cfg(unix)]
const PAGE: &str = r#"
    read call
    printf '%s\n' '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","elicitationId":"1","url":"https://example.com/\u001b[8m?a=b","message":"Log in"}}'
    read -r answered
    echo "$answered" >&2
    echo '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}'
    read end"#;

#[cfg(unix)]
#[test]
fn a_web_page_is_shown_whole_and_declined() {
    let run = crate::scripted(&["call", "t"], PAGE).ends_with(0);
    run.says("The server asks: Log in\n  https://example.com/\\u{1b}[8m?a=b\n");
    run.says(r#"[server] {"jsonrpc":"2.0","id":"q","result":{"action":"decline"}}"#);
}

#[cfg(target_os = "linux")]
mod terminal {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use crate::EVERYTHING;

    /// Runs a command against `everything` in a terminal.
    fn typed(args: &str, keys: &str) -> Option<String> {
        typed_to(args, &format!("'{EVERYTHING}'"), keys)
    }

    /// Runs a command in a terminal, where these keys were typed before. Gives what is seen there.
    fn typed_to(args: &str, server: &str, keys: &str) -> Option<String> {
        let inspect = env!("CARGO_BIN_EXE_inspect");
        let line = format!("'{inspect}' {args} --era legacy -- {server}");
        let terminal = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut terminal) = terminal else {
            eprintln!("skipped: there is no `script`, which opens a terminal");
            return None;
        };
        // Open to the end: its end would be typed, too.
        let mut stdin = terminal.stdin.take().expect("it was piped");
        stdin
            .write_all(keys.as_bytes())
            .expect("the terminal takes it");
        let mut seen = String::new();
        let mut stdout = terminal.stdout.take().expect("it was piped");
        stdout.read_to_string(&mut seen).expect("text is seen");
        assert!(
            terminal.wait().expect("it is our child").success(),
            "{seen}"
        );
        Some(seen.replace("\r\u{1b}[K", "").replace('\r', ""))
    }

    #[test]
    fn a_person_is_asked_until_it_fits() {
        let keys = "\nold\n31\n100\n3\nno\n";
        let Some(seen) = typed("call test_elicitation_sep1034_defaults", keys) else {
            return;
        };
        for part in [
            "age (integer, may be left out)\n    User age\n  age [30]: ",
            "  status [active]: ",
            "  verified [yes]: ",
            "    1. active\n    2. inactive\n    3. pending\n",
            "content={\"age\":30,\"name\":\"old\",\"score\":31,\"status\":\"pending\",\"verified\":false}",
            "  `100` is no choice\n",
        ] {
            assert!(seen.contains(part), "{part}: {seen}");
        }
    }

    #[test]
    fn a_person_may_decline_and_cancel() {
        for (word, action) in [("/decline", "decline"), ("/cancel", "cancel")] {
            let args = r#"call test_elicitation '{"message":"Who?"}'"#;
            if let Some(seen) = typed(args, &format!("{word}\n")) {
                let expected = format!("User response: action={action}, content={{}}\n");
                assert!(seen.contains(&expected), "{seen}");
            }
        }
    }

    #[test]
    fn a_person_opens_a_web_page_or_does_not() {
        let script = std::env::temp_dir().join(format!("inspect-page-{}", std::process::id()));
        std::fs::write(&script, crate::script(super::PAGE)).expect("it can be written");
        let server = format!("sh '{}'", script.display());
        for (keys, action) in [("perhaps\nyes\n", "accept"), ("no\n", "decline")] {
            if let Some(seen) = typed_to("call t", &server, keys) {
                let expected = format!(r#""result":{{"action":"{action}"}}"#);
                assert!(seen.contains(&expected), "{seen}");
                assert!(seen.contains("\u{1b}[2m[server] "), "{seen}");
            }
        }
        std::fs::remove_file(&script).expect("it is ours");
    }

    #[test]
    fn a_bar_shows_how_far_a_call_is() {
        let Some(seen) = typed("call test_tool_with_progress", "") else {
            return;
        };
        assert!(
            seen.contains("[###############---------------]  50 % "),
            "{seen}"
        );
    }
}
