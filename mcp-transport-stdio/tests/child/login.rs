//! Servers that only the user's login shell can find.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::environment::lines;
use crate::server::{checks, folder, program};

checks! {
    a_command_is_found_where_the_login_shell_looks,
    a_login_shell_is_asked_once_for_all_servers,
    what_else_a_login_shell_prints_is_ignored,
    a_login_shell_that_hangs_is_left_alone,
    a_login_shell_that_knows_nothing_is_not_asked_again,
    a_path_that_was_set_is_final,
    a_login_shell_is_not_asked_unless_allowed,
    the_folders_of_the_login_shell_come_first_when_always_asked,
}

/// A login shell, and a tool which only that finds.
struct Home(PathBuf);

impl Home {
    /// `shell` runs `$script` with the right `PATH`, as it likes.
    fn new(name: &str, shell: &str) -> Self {
        let home = folder(name);
        let bin = home.join("bin");
        fs::create_dir(&bin).expect("there is room");
        program(&bin.join("mcp-test-tool"), "#!/bin/sh\necho $0 \"$PATH\"\n");
        let start = format!(
            "#!/bin/sh\necho \"$*\" | head -c 8 >>{asked}\necho >>{asked}\nfor script; do :; done\n\
             PATH={bin}::$PATH:{bin}\n",
            asked = home.join("asked").display(),
            bin = bin.display(),
        );
        program(&home.join("shell"), &(start + shell));
        Self(home)
    }

    fn play(&self, role: &str) -> Vec<String> {
        let shell = self.0.join("shell");
        let shell = shell.to_str().expect("it is text");
        lines(role, &[("SHELL", shell), ("PATH", "/usr/bin:/bin")])
    }

    fn asked(&self) -> usize {
        let asked = fs::read_to_string(self.0.join("asked")).unwrap_or_default();
        asked.lines().count()
    }

    /// What the tool says when it is found.
    fn found(&self) -> String {
        let bin = self.0.join("bin");
        format!("{0}/mcp-test-tool {0}:/usr/bin:/bin", bin.display())
    }
}

const HONEST: &str = "eval \"$script\"\n";

///
fn a_command_is_found_where_the_login_shell_looks() {
    let home = Home::new("login", HONEST);
    assert_eq!(home.play("login twice")[0], home.found());
}

///
fn a_login_shell_is_asked_once_for_all_servers() {
    let home = Home::new("login-once", HONEST);
    assert_eq!(home.play("login twice"), [home.found(), home.found()]);
    assert_eq!(home.asked(), 1);
}

fn what_else_a_login_shell_prints_is_ignored() {
    let noise =
        "echo MCP_LOGIN_SHELL_PATH=/wrong\nprintf 'welcome \\377'\necho to standard error >&2\n";
    let home = Home::new(
        "login-noise",
        &format!("{noise}eval \"$script\"\nprintf 'bye'\n"),
    );
    assert_eq!(home.play("login twice")[0], home.found());
}

///
fn a_login_shell_that_hangs_is_left_alone() {
    // An interactive one hangs and, where none is tried, any login shell.
    let hang = "case $1 in -l) sleep 1000 & sleep 1000;; esac\n";
    let home = Home::new("login-hangs", &format!("{hang}{HONEST}"));
    let start = Instant::now();
    assert_eq!(home.play("login twice"), [home.found(), home.found()]);
    let tries = home.asked();
    let spent = start.elapsed();
    let limit = Duration::from_secs(2) * u32::try_from(tries).expect("they are few");
    assert!(
        (2..=3).contains(&tries) && spent < limit,
        "{tries} tries, {spent:?}"
    );
}

fn a_login_shell_that_knows_nothing_is_not_asked_again() {
    let home = Home::new("login-nothing", "exit 1\n");
    let said = home.play("login twice");
    assert_eq!(
        said[0],
        "start `mcp-test-tool`: not found in PATH /usr/bin:/bin"
    );
    assert_eq!(said[0], said[1]);
    assert!(home.asked() <= 3);
}

///
fn a_path_that_was_set_is_final() {
    let home = Home::new("login-explicit", HONEST);
    let said = home.play("explicit path");
    assert_eq!(
        said,
        ["start `mcp-test-tool`: not found in PATH /usr/bin:/bin"]
    );
    assert_eq!(home.asked(), 0);
}

fn a_login_shell_is_not_asked_unless_allowed() {
    let home = Home::new("login-never", HONEST);
    home.play("login never");
    assert_eq!(home.asked(), 0);
}

fn the_folders_of_the_login_shell_come_first_when_always_asked() {
    let home = Home::new("login-always", HONEST);
    let path = format!("PATH={}:/usr/bin:/bin", home.0.join("bin").display());
    assert!(home.play("login always").contains(&path));
}
