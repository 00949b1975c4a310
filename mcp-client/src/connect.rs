//! From a command or a transport to a connection, and to the next one when it has ended.
//!
//! The one place of a driver's life that knows that there are two eras: a server that dies of
//! the probe is started again for the older one, and how a command line has ended up is
//! remembered while this process lives.

use std::future::{Future, pending};
#[cfg(feature = "stdio")]
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
#[cfg(feature = "stdio")]
use std::sync::LazyLock;
use std::time::Duration;

use mcp_protocol::connection::{
    CallError, CallOptions, ClientConfig, ClientConnection, NegotiationError,
};
use mcp_protocol::transport::Transport;
use mcp_protocol::types::{EmptyParams, SetLevelParams};
use mcp_protocol::{ClientRequest, Era, Method};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::drive::Driver;
use crate::error::{ClientError, Closed};
use crate::host::Host;
use crate::hub::Hub;
use crate::link::{Link, Pending, Takes};
use crate::process::Process;

/// How a conversation with a server is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Opening {
    /// The server is asked whether it speaks 2026-07-28 or later, and is initialized if not.
    /// A server that ends because it was asked is started again.
    #[default]
    Auto,
    /// Only revisions from 2026-07-28 on are spoken. An older server is told apart at once.
    Modern,
    /// Only revisions up to 2025-11-25 are spoken.
    Legacy,
}

/// Where connections come from.
pub(crate) trait Source: Send + 'static {
    type Transport: Transport;

    fn open(
        &mut self,
    ) -> impl Future<Output = Result<(Self::Transport, Process), ClientError>> + Send;

    /// Whether there can be another connection.
    fn is_lasting(&self) -> bool;

    /// What the outcome of an opening is remembered by: a hash, for there may be secrets in it.
    fn name(&self) -> Option<u64>;
}

/// A transport that somebody else has made, and the next one if there can be one.
pub(crate) struct Made<T>(pub(crate) Option<T>);

impl<T: Transport> Source for Made<T> {
    type Transport = T;

    async fn open(&mut self) -> Result<(T, Process), ClientError> {
        let transport = self.0.take().expect("opened once, if it does not last");
        self.0 = transport.again();
        Ok((transport, Process::default()))
    }

    fn is_lasting(&self) -> bool {
        self.0.is_some()
    }

    fn name(&self) -> Option<u64> {
        None
    }
}

#[cfg(feature = "stdio")]
impl Source for mcp_transport_stdio::child::ServerCommand {
    type Transport = mcp_transport_stdio::child::Child;

    async fn open(&mut self) -> Result<(Self::Transport, Process), ClientError> {
        let child = self.spawn().await;
        let child = child.map_err(|error| ClientError::Spawn(Arc::new(error)))?;
        let process = Process(Some(child.handle()));
        Ok((child, process))
    }

    fn is_lasting(&self) -> bool {
        true
    }

    fn name(&self) -> Option<u64> {
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        Some(KEYS.hash_one(self))
    }
}

/// What all connections of a client have in common.
pub(crate) struct Plan {
    pub(crate) config: ClientConfig,
    pub(crate) opening: Opening,
    pub(crate) connect_timeout: Duration,
    pub(crate) ping: Option<Duration>,
    pub(crate) restarts: bool,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) hub: Arc<Hub>,
}

impl Plan {
    /// Whether a server can be opened in one era after the other.
    fn may_fall_back(&self) -> bool {
        let mut versions = self.config.versions.iter();
        self.opening == Opening::Auto && versions.any(|version| version.era() == Era::Legacy)
    }

    /// How the server is spoken to if this much time is left.
    fn config(&self, opening: Opening, left: Duration) -> ClientConfig {
        let mut config = match opening {
            Opening::Auto => self.config.clone(),
            Opening::Modern => self.config.clone().only(Era::Modern),
            Opening::Legacy => self.config.clone().only(Era::Legacy),
        };
        let limits = &mut config.limits;
        limits.probe = match opening {
            Opening::Modern => left,
            _ => limits.probe.min(left / 2),
        };
        limits.initialize = match opening {
            Opening::Auto => left - limits.probe,
            _ => left,
        };
        config
    }
}

/// A connection that stands.
pub(crate) struct Connection<T: Transport> {
    driver: Driver<T::Receiver, T::Sender>,
    process: Process,
    pub(crate) link: Link,
}

impl<T: Transport> Connection<T> {
    /// Ends it in all steps. What is known at first goes to who waits for an answer, and to
    /// `tell`.
    async fn end(self, tell: impl FnOnce(Arc<Closed>)) -> Arc<Closed> {
        let (closed, bereaved) = self.driver.end().await;
        let closed = self.process.report(closed).await;
        let report = Arc::new(closed.clone());
        tell(report.clone());
        bereaved.tell(&report);
        Arc::new(self.process.shut_down(closed).await)
    }
}

/// Opens a connection.
pub(crate) async fn open<S: Source>(
    source: &mut S,
    plan: &Plan,
    stop: &watch::Receiver<bool>,
) -> Result<Connection<S::Transport>, ClientError> {
    let began = Instant::now();
    let name = source.name().filter(|_| plan.may_fall_back());
    let mut remembered = name.filter(|name| memory::is_legacy(*name));
    let mut opening = match remembered {
        Some(_) => Opening::Legacy,
        None => plan.opening,
    };
    loop {
        let (transport, process) = source.open().await?;
        let mut left = plan.connect_timeout.saturating_sub(began.elapsed());
        if remembered.is_some() {
            // If it is not so any more, there is to be time for the other way.
            left /= 2;
        }
        let config = Arc::new(plan.config(opening, left));
        let mut driver = Driver::new(
            ClientConnection::new(config),
            transport.split(),
            process.clone(),
            plan.host.clone(),
            plan.hub.clone(),
            stopped(stop.clone()),
        );
        let Err(error) = driver.connect().await else {
            let peer = driver.peer().expect("it is connected").clone();
            if let Some(name) = name {
                memory::set_legacy(name, peer.version.era() == Era::Legacy);
            }
            return Ok(Connection {
                link: driver.link(Arc::new(peer)),
                driver,
                process,
            });
        };
        let next = if !source.is_lasting() {
            None
        } else if opening == Opening::Auto && plan.may_fall_back() && died_of_probe(&error) {
            Some(Opening::Legacy)
        } else if let Some(name) = remembered.take() {
            memory::set_legacy(name, false);
            Some(plan.opening)
        } else {
            None
        };
        let Some(next) = next else {
            return Err(failed(error, driver, process, began).await);
        };
        tracing::debug!(%error, "starting the server again, to open another way");
        opening = next;
    }
}

/// Whether a server may be one that bears nothing but `initialize`.
fn died_of_probe(error: &NegotiationError) -> bool {
    matches!(
        error,
        NegotiationError::Failed {
            method: Method::Discover,
            error: CallError::Lost
        }
    )
}

async fn failed<R, W>(
    error: NegotiationError,
    driver: Driver<R, W>,
    process: Process,
    began: Instant,
) -> ClientError
where
    R: mcp_protocol::transport::Receiver,
    W: mcp_protocol::transport::Sender,
{
    match error {
        NegotiationError::Failed {
            method,
            error: CallError::TimedOut,
        } => ClientError::TimedOut {
            method,
            after: Duration::from_millis(began.elapsed().as_millis() as u64),
        },
        NegotiationError::Failed {
            method,
            error: CallError::Lost,
        } => {
            let (mut closed, _) = driver.end().await;
            closed.opening = Some(method);
            ClientError::Closed {
                written: false,
                report: Arc::new(process.report(closed).await),
            }
        }
        error => ClientError::Negotiation(error.into()),
    }
}

/// How it stands with a client.
#[derive(Clone)]
pub(crate) enum Status {
    Up(Link),
    /// The connection has ended. There may be another one.
    Down(Arc<Closed>),
    /// It was the last one, and nothing of it is left.
    Ended(Arc<Closed>),
}

/// Waits until the client is to end.
pub(crate) async fn stopped(mut stop: watch::Receiver<bool>) {
    // When nobody is left who could say so, it is to end, too.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Drives a client from its first connection to its last.
pub(crate) async fn supervise<S: Source>(
    mut source: S,
    plan: Plan,
    mut connection: Connection<S::Transport>,
    status: watch::Sender<Status>,
    stop: watch::Receiver<bool>,
) {
    let mut failures = 0;
    loop {
        let since = Instant::now();
        tokio::select! {
            () = connection.driver.run() => {}
            () = unanswered(&connection.link, plan.ping) => {
                let why = format!("{PINGS} pings in a row have no answer");
                connection.driver.give_up(why);
            }
        }
        let down = |report| {
            status.send_replace(Status::Down(report));
        };
        let mut closed = connection.end(down).await;
        let again = plan.restarts && source.is_lasting();
        if since.elapsed() > STEADY {
            failures = 0;
        }
        connection = loop {
            if closed.by_us || !again {
                plan.hub.end();
                status.send_replace(Status::Ended(closed));
                return;
            }
            let delay = DELAYS[failures.min(DELAYS.len() - 1)];
            failures += 1;
            tracing::warn!("{closed}; starting it again in {delay:?}");
            plan.hub.cache.clear();
            let next = async {
                sleep(delay).await;
                open(&mut source, &plan, &stop).await
            };
            tokio::select! {
                next = next => match next {
                    Ok(next) => break next,
                    Err(error) => tracing::warn!("the server does not come back: {error}"),
                },
                () = stopped(stop.clone()) => closed = Arc::new(by_us(&closed)),
            }
        };
        set_level(&connection.link, &plan.hub);
        status.send_replace(Status::Up(connection.link.clone()));
    }
}

/// Asks the server from time to time whether it is there, until it seems that it is not. The
/// next ping goes when there is nothing more to hope for of the last; a server that cannot be
/// pinged gets none.
async fn unanswered(link: &Link, every: Option<Duration>) {
    let Some(every) = every else {
        return pending().await;
    };
    let mut options = CallOptions::default();
    // Though a person may be asked something meanwhile, for which other calls have to wait.
    (options.timeout, options.longest) = (Some(every), Some(every));
    let mut missed = 0;
    while missed < PINGS {
        sleep(every).await;
        let ping = ClientRequest::Ping(EmptyParams::new());
        let mut call = Pending::new(link, ping, options, Takes::default());
        missed = match call.outcome().await {
            Some(Err(ClientError::TimedOut { .. } | ClientError::Unread { .. })) => missed + 1,
            _ => 0,
        };
    }
}

/// How many pings without an answer end a connection.
const PINGS: usize = 3;

/// A server that was there for longer has not failed to start.
const STEADY: Duration = Duration::from_secs(60);

/// How long is waited before a server is started again.
const DELAYS: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
];

fn by_us(closed: &Closed) -> Closed {
    let mut closed = closed.clone();
    closed.by_us = true;
    closed
}

/// Tells a server that was started again what its predecessor was told.
fn set_level(link: &Link, hub: &Hub) {
    if let Some(level) = hub.level().filter(|_| link.has(&Method::SetLevel)) {
        let request = ClientRequest::SetLevel(SetLevelParams::new(level));
        Pending::new(link, request, CallOptions::default(), Takes::default()).forget();
    }
}

/// Which command lines have ended up in the legacy era.
mod memory {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static LEGACY: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

    /// Command lines that are remembered. Beyond it all are forgotten, which costs a probe each.
    const MOST: usize = 1_000;

    pub(super) fn is_legacy(name: u64) -> bool {
        legacy().contains(&name)
    }

    pub(super) fn set_legacy(name: u64, is: bool) {
        let mut legacy = legacy();
        if !is {
            legacy.remove(&name);
        } else {
            if legacy.len() >= MOST {
                legacy.clear();
            }
            legacy.insert(name);
        }
    }

    fn legacy() -> MutexGuard<'static, BTreeSet<u64>> {
        LEGACY.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
