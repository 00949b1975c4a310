//! The search path that the user has in a terminal.

use std::collections::HashSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::pipes::Output;
use super::process;

/// The search path of the user's login shell. Asked for once, whoever asks at the same time or
/// later, and whatever the answer is.
pub(super) async fn path() -> Option<OsString> {
    static ANSWER: OnceCell<Option<OsString>> = OnceCell::const_new();
    ANSWER.get_or_init(ask).await.clone()
}

async fn ask() -> Option<OsString> {
    let shell = shell()?;
    // A shell that believes to be interactive takes its terminal from others, or waits for it.
    // Who has a terminal was started by a shell, and has its search path.
    let has_terminal = File::open("/dev/tty").is_ok();
    for options in TRIES.iter().skip(usize::from(has_terminal)) {
        if let Ok(Some(path)) = timeout(TRY, ask_once(&shell, options)).await {
            return Some(path);
        }
    }
    None
}

/// Version managers are set up for interactive shells, and not every shell knows every option.
const TRIES: [&[&str]; 3] = [&["-l", "-i", "-c"], &["-l", "-c"], &["-c"]];

/// How long a shell may take. Some never end.
const TRY: Duration = Duration::from_secs(2);

fn shell() -> Option<PathBuf> {
    let users = env::var_os("SHELL").map(PathBuf::from);
    let usual = ["/bin/zsh", "/bin/bash", "/bin/sh"].map(PathBuf::from);
    users
        .into_iter()
        .filter(|shell| shell.is_absolute())
        .chain(usual)
        .find(|shell| shell.is_file())
}

async fn ask_once(shell: &Path, options: &[&str]) -> Option<OsString> {
    let mut command = Command::new(shell);
    command
        .args(options)
        .arg(format!("printf '\\n%s%s\\n' '{MARK}' \"$PATH\""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let shell = process::start(command, Duration::ZERO).await.ok()?;
    drop(shell.stdin);
    let mut said = Vec::new();
    let output = Output::open(shell.stdout, shell.owner).ok()?;
    output.take(MOST).read_to_end(&mut said).await.ok()?;
    answer(&said)
}

/// The most that a shell may say, in bytes.
const MOST: u64 = 1024 * 1024;

/// What stands before the answer, since what the user's own files print stands around it.
const MARK: &str = "MCP_LOGIN_SHELL_PATH=";

fn answer(said: &[u8]) -> Option<OsString> {
    let lines = said.split(|byte| *byte == b'\n');
    let path = lines
        .rev()
        .find_map(|line| line.strip_prefix(MARK.as_bytes()))?;
    let path = path.strip_suffix(b"\r").unwrap_or(path);
    (!path.is_empty()).then(|| OsStr::from_bytes(path).to_owned())
}

/// One search path behind another, with each folder once.
pub(super) fn join(first: &OsStr, then: Option<&OsStr>) -> OsString {
    let mut seen = HashSet::new();
    let folders = env::split_paths(first)
        .chain(env::split_paths(then.unwrap_or_default()))
        .filter(|folder| !folder.as_os_str().is_empty() && seen.insert(folder.clone()));
    env::join_paths(folders).expect("they were split before")
}
