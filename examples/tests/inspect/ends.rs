//! How a run ends: what a script is told by its exit code, and a person by words.

use serde_json::json;

use crate::{ERAS, everything, run};

#[test]
fn a_tool_that_fails_is_told_from_an_error() {
    for era in ERAS {
        let failed = everything(era, &["call", "test_error_handling"]).ends_with(1);
        failed.prints("This tool intentionally returns an error for testing\n");

        let refused = everything(era, &["call", "no_such_tool", "--json"]).ends_with(4);
        refused.says("inspect: the server refused: Unknown tool: no_such_tool (-32602)\n");
        let error = &refused.json()["error"];
        assert_eq!(error["kind"], "refused", "{error}");
        assert_eq!(error["code"], -32602, "{error}");
    }
}

#[test]
fn the_data_of_an_error_is_shown() {
    let refused = everything("modern", &["read", "test://none", "--json"]).ends_with(4);
    refused.says("(-32602): {\"uri\":\"test://none\"}\n");
    assert_eq!(
        refused.json()["error"]["data"],
        json!({ "uri": "test://none" })
    );
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    for era in ERAS {
        let args = [
            "call",
            "interop_sleep",
            r#"{"ms":60000}"#,
            "--timeout",
            "3",
            "--json",
        ];
        let late = everything(era, &args).ends_with(5);
        late.says("inspect: no answer to `tools/call` within ");
        assert_eq!(late.json()["error"]["kind"], "timeout");
    }
}

#[test]
fn a_command_line_without_sense_is_explained() {
    let wrong = run(&["tell", "--", "server"]).ends_with(2);
    wrong.says("inspect: there is no command `tell`; see `inspect --help`\n");
    run(&["tools"]).ends_with(2).says("no server is named");
}

#[test]
fn help_names_commands_flags_and_exit_codes() {
    let help = run(&["--help"]).ends_with(0);
    for line in [
        "  call NAME [JSON]    calls a tool\n",
        "  --json  ",
        "\n  130  by Ctrl-C\n",
    ] {
        assert!(help.stdout.contains(line), "{line}: {}", help.stdout);
    }
    assert_eq!(run(&[]).ends_with(0).stdout, help.stdout);
}

#[test]
fn a_command_that_is_missing_is_named_with_the_path() {
    let args = [
        "tools",
        "--json",
        "--env",
        "PATH=/no/where",
        "--",
        "no-such-server",
    ];
    let missing = run(&args).ends_with(3);
    missing.says("inspect: failed to start `no-such-server`: not found in PATH /no/where\n");
    assert_eq!(missing.json()["error"]["kind"], "connect");
}

#[cfg(unix)]
mod processes {
    use std::fs;
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::{ERAS, EVERYTHING, Run, inspect, run, scripted};

    const DIES: &str = "echo 'it broke' >&2; exit 7";

    #[test]
    fn a_server_that_ends_at_once_is_reported_with_its_last_words() {
        for args in [
            &["tools"][..],
            &["tools", "--era", "modern"],
            &["tools", "--era", "legacy"],
        ] {
            let quiet = [args, &["--quiet", "--", "sh", "-c", DIES]].concat();
            let quiet = run(&quiet).ends_with(3);
            quiet.says("inspect: the server `sh` ended with code 7 before it answered `");
            quiet.says("; its standard error ends:\nit broke\n");
        }
    }

    #[test]
    fn a_server_that_ends_in_a_call_is_reported_with_its_last_words() {
        let quiet = scripted(
            &["tools", "--quiet", "--json"],
            &format!("read list; {DIES}"),
        )
        .ends_with(6);
        quiet.says(
            "inspect: the server `sh` ended with code 7; its standard error ends:\nit broke\n",
        );
        assert_eq!(quiet.json()["error"]["kind"], "closed");
    }

    #[test]
    fn what_was_shown_already_is_not_repeated() {
        let run = scripted(&["tools"], &format!("read list; {DIES}")).ends_with(6);
        assert_eq!(
            run.stderr,
            "[server] it broke\ninspect: the server `sh` ended with code 7\n"
        );
    }

    #[test]
    fn a_server_that_ends_while_it_is_listened_to_is_reported() {
        let run = scripted(&["listen"], "exit 0").ends_with(6);
        run.says("inspect: the server `sh` ended with code 0\n");
    }

    #[test]
    fn what_a_server_writes_to_standard_error_is_marked() {
        let script = "exec 3>&2; echo 'a\tb' >&3; printf '\\033[31mred' >&3; exec \"$0\"";
        for (flag, shown) in [
            ("--json", "[server] a\tb\n[server] \\u{1b}[31mred\n"),
            ("--quiet", ""),
        ] {
            let run = run(&["tools", flag, "--", "sh", "-c", script, EVERYTHING]).ends_with(0);
            assert_eq!(run.stderr, shown);
        }
    }

    #[test]
    fn variables_are_set_or_passed_on() {
        let args = [
            "discover", "--env", "PASSED", "--env", "SET=a=b", "--", "sh", "-c",
        ];
        let script = "echo \"$PASSED $SET $KEPT\" >&2; exit 1";
        let output = inspect(&[&args[..], &[script]].concat())
            .env("PASSED", "passed")
            .env("KEPT", "kept")
            .output()
            .expect("the client starts");
        let stderr = String::from_utf8(output.stderr).expect("it is text");
        assert!(stderr.starts_with("[server] passed a=b \n"), "{stderr}");
    }

    #[test]
    fn results_that_break_the_protocol_are_told_from_others() {
        let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":7}}"#;
        scripted(&["tools"], &format!("read list; echo '{answer}'; read end")).ends_with(7);
    }

    /// Waits until a file has this part.
    fn wait_for(path: &std::path::Path, part: &str) {
        let begin = Instant::now();
        while !fs::read_to_string(path).unwrap_or_default().contains(part) {
            assert!(begin.elapsed() < Duration::from_secs(20), "no {part}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn kill(args: &[&str]) -> bool {
        let mut kill = Command::new("kill");
        let status = kill.args(args).stderr(Stdio::null()).status();
        status.expect("there is a kill command").success()
    }

    /// Starts a call, presses Ctrl-C when the server has it, and gives what the server was sent.
    fn interrupted(era: &str) -> (Run, String) {
        let log = std::env::temp_dir().join(format!("inspect-{}-{era}", std::process::id()));
        let log_path = log.to_str().expect("it is UTF-8");
        let args = ["call", "interop_sleep", r#"{"ms":60000}"#, "--era", era];
        // A shell that leads the group of all that the client starts.
        let script = "echo $$ >\"$0.group\"; tee \"$0\" | \"$1\"";
        let server = ["--", "sh", "-c", script, log_path, EVERYTHING];
        let mut child = inspect(&[&args[..], &server].concat())
            .spawn()
            .expect("it starts");
        wait_for(&log, "interop_sleep");
        assert!(kill(&["-s", "INT", &child.id().to_string()]));
        let code = child.wait().expect("it is our child").code();
        let mut run = Run {
            code,
            stdout: String::new(),
            stderr: String::new(),
        };
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        stdout
            .expect("it was piped")
            .read_to_string(&mut run.stdout)
            .expect("it is text");
        stderr
            .expect("it was piped")
            .read_to_string(&mut run.stderr)
            .expect("it is text");
        let sent = fs::read_to_string(&log).expect("it is there");
        let group_path = format!("{log_path}.group");
        let group = fs::read_to_string(&group_path).expect("it is there");
        let is_there = kill(&["-s", "0", "--", &format!("-{}", group.trim())]);
        assert!(!is_there, "the server is still there");
        fs::remove_file(&log).expect("it is ours");
        fs::remove_file(&group_path).expect("it is ours");
        (run, sent)
    }

    #[test]
    fn ctrl_c_cancels_the_call_once_and_ends_the_server() {
        for era in ERAS {
            let (run, sent) = interrupted(era);
            let run = run.ends_with(130);
            assert_eq!(
                (run.stdout.as_str(), run.stderr.as_str()),
                ("", ""),
                "{era}"
            );
            assert_eq!(
                sent.matches("notifications/cancelled").count(),
                1,
                "{era}: {sent}"
            );
        }
    }
}
