//! How a server is started.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Child;
use super::env::{EnvPolicy, Environment, same};
use super::error::SpawnError;
use super::handle::{ChildHandle, Shutdown};
#[cfg(unix)]
use super::login;
use super::path;
use super::pipes::{Input, InputWriter, Output};
use super::process::{self, Process};
use super::stderr::{Secrets, Stderr, Tail, drain};
use crate::lines::DEFAULT_MAX_FRAME;

/// How to start a server. It can be started any number of times.
///
/// No shell is involved: the arguments arrive as they are.
///
/// ```no_run
/// use mcp_transport_stdio::child::{EnvPolicy, ServerCommand, SpawnError};
///
/// # async fn doc() -> Result<(), SpawnError> {
/// let command = ServerCommand::new("my-server")
///     .args(["--read-only", "/srv/data"])
///     .current_dir("/srv")
///     .env_policy(EnvPolicy::Empty)
///     // Hidden in what is kept of its standard error.
///     .env("API_TOKEN", "a secret");
/// // A transport, for `mcp_client::Client::connect` or a program of your own.
/// let child = command.spawn().await?;
/// # drop(child);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ServerCommand {
    command: OsString,
    args: Vec<OsString>,
    directory: Option<PathBuf>,
    policy: EnvPolicy,
    env: Vec<(OsString, Option<OsString>)>,
    login_path: LoginPath,
    stderr: Stderr,
    shutdown: Shutdown,
    max_frame: usize,
}

/// Whether a server's search path begins with that of the user's login shell, as programs need
/// that were started from a desktop. Never if `PATH` is set by [`ServerCommand::env`], under
/// [`EnvPolicy::Empty`], or on Windows.
///
/// The shell, `$SHELL` or the first of zsh, bash and sh, is asked once for all servers; it may take 2 s
/// for each of three ways to ask it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoginPath {
    /// It does not.
    Never,
    /// It does if the command is not found otherwise.
    #[default]
    IfNotFound,
    /// It does.
    Always,
}

impl ServerCommand {
    /// Starts `command`: a name to be looked up in the server's own search path or, with a
    /// separator in it, a path seen from the server's working directory.
    ///
    /// On Windows also what is found with one of the endings in `PATHEXT`, as `npx.cmd`.
    pub fn new(command: impl Into<OsString>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            directory: None,
            policy: EnvPolicy::default(),
            env: Vec::new(),
            login_path: LoginPath::default(),
            stderr: Stderr::default(),
            shutdown: Shutdown::default(),
            max_frame: DEFAULT_MAX_FRAME,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the working directory. Default is that of this process.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets what the server gets of the environment of this process. Default is
    /// [`EnvPolicy::AllowList`].
    #[must_use]
    pub fn env_policy(mut self, policy: EnvPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets a variable, whatever the policy says of it.
    ///
    /// No value, except for that of `PATH`, appears in an error, an event or a `Debug` text.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Sets variables, as [`env`](Self::env) does.
    #[must_use]
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        for (name, value) in variables {
            self = self.env(name, value);
        }
        self
    }

    /// Keeps a variable from the server, whatever the policy says of it.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// Sets whether the user's login shell is asked for its search path. Default is
    /// [`LoginPath::IfNotFound`].
    #[must_use]
    pub fn login_path(mut self, login_path: LoginPath) -> Self {
        self.login_path = login_path;
        self
    }

    /// Sets what becomes of standard error. Default is [`Stderr::Events`].
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Sets how long the steps of the server's end may take.
    #[must_use]
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.shutdown = shutdown;
        self
    }

    /// Longest message that is read, in bytes. Default 16 MiB ([`DEFAULT_MAX_FRAME`]). Stops
    /// a server that never sends a line feed from filling the memory.
    #[must_use]
    pub fn max_frame(mut self, bytes: usize) -> Self {
        self.max_frame = bytes;
        self
    }

    /// Starts the server.
    ///
    /// # Errors
    ///
    /// When there is no such command or working directory, or the system refuses.
    ///
    /// # Cancel safety
    ///
    /// A server that is started when this is dropped is killed.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime whose I/O and time are enabled.
    pub async fn spawn(&self) -> Result<Child, SpawnError> {
        let directory = self.working_directory()?;
        let mut environment = Environment::new(self.policy, std::env::vars_os(), &self.env);
        let program = self.program(&mut environment, &directory).await?;
        let mut command = Command::new(&program);
        command
            .args(&self.args)
            .current_dir(directory)
            .env_clear()
            .envs(environment.variables())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(match self.stderr {
                Stderr::Inherit => Stdio::inherit(),
                _ => Stdio::piped(),
            });
        let started = process::start(command, self.shutdown.after_exit).await;
        let child = started.and_then(|process| self.child(process));
        child.map_err(|error| SpawnError::Failed {
            command: self.command.clone(),
            program,
            error,
        })
    }

    fn child(&self, process: Process) -> io::Result<Child> {
        let command = self.command.to_string_lossy().into_owned();
        let (stdin, gone) = process.stdin;
        let input = Input::open(stdin)?;
        let tail = Tail::new(self.secrets());
        if let Some(source) = process.stderr {
            let (stderr, command) = (self.stderr.clone(), command.clone());
            let output = Output::open(source, ())?;
            tokio::spawn(drain(output, tail.clone(), stderr, command));
        }
        let handle = ChildHandle::new(command, process.owner, input.clone(), tail, self.shutdown);
        Ok(Child {
            output: Output::open(process.stdout, handle.clone())?,
            input: InputWriter::new(input, gone, handle.clone()),
            handle,
            max_frame: self.max_frame,
        })
    }

    fn secrets(&self) -> Secrets {
        let set = self.env.iter().filter(|(name, _)| !is_path(name));
        Secrets::new(set.filter_map(|(_, value)| value.as_ref()?.to_str()))
    }

    fn working_directory(&self) -> Result<PathBuf, SpawnError> {
        let given = self.directory.as_deref().unwrap_or(Path::new("."));
        let found = given
            .metadata()
            .and_then(|metadata| match metadata.is_dir() {
                true => std::path::absolute(given),
                false => Err(io::ErrorKind::NotADirectory.into()),
            });
        found.map_err(|error| SpawnError::Directory {
            command: self.command.clone(),
            directory: given.to_owned(),
            error,
        })
    }

    async fn program(
        &self,
        environment: &mut Environment,
        directory: &Path,
    ) -> Result<PathBuf, SpawnError> {
        if self.command.to_string_lossy().trim().is_empty() {
            return Err(SpawnError::NoCommand);
        }
        if self.login_path == LoginPath::Always {
            self.add_login_path(environment).await;
        }
        let find =
            |environment: &Environment| path::find(&self.command, environment.path(), directory);
        if let Some(program) = find(environment) {
            return Ok(program);
        }
        if path::is_file_name(&self.command) {
            // Why it cannot be run is for the system to say.
            return Ok(directory.join(&self.command));
        }
        if self.login_path == LoginPath::IfNotFound {
            self.add_login_path(environment).await;
        }
        find(environment).ok_or_else(|| SpawnError::NotFound {
            command: self.command.clone(),
            path: environment.path().map(OsStr::to_owned),
        })
    }

    #[cfg(unix)]
    async fn add_login_path(&self, environment: &mut Environment) {
        let explicit = self.env.iter().any(|(name, _)| is_path(name));
        if explicit || self.policy == EnvPolicy::Empty {
            return;
        }
        if let Some(login_path) = login::path().await {
            let path = login::join(&login_path, environment.path());
            environment.set("PATH".as_ref(), Some(&path));
        }
    }

    #[cfg(windows)]
    async fn add_login_path(&self, _: &mut Environment) {}
}

fn is_path(name: &OsStr) -> bool {
    same(name, "PATH".as_ref())
}

/// Of all that may change how the server behaves, the values of variables included.
impl Hash for ServerCommand {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.command, &self.args, &self.directory).hash(state);
        (self.policy, &self.env).hash(state);
    }
}

/// Shows the names of variables and not their values.
impl Debug for ServerCommand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("ServerCommand")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("directory", &self.directory)
            .field("policy", &self.policy)
            .field("env", &names)
            .field("login_path", &self.login_path)
            .field("stderr", &self.stderr)
            .field("shutdown", &self.shutdown)
            .field("max_frame", &self.max_frame)
            .finish()
    }
}
