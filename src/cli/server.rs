//! A runtime with its sockets, for a console, for `serve` and for the demo; and a runtime without sockets, for
//! `--private`.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use color_eyre::eyre::{Result, WrapErr};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::rules::Rules;
use crate::agent;
use crate::config::{LoadedSettings, Settings};
use crate::link::{self, Client, ClientRole, Error, Server, Sockets, StopRequests};
use crate::model::CloseReason;
use crate::model::phrases::sibling_sentence;
use crate::paths::Places;
use crate::process::{Spawner, raise_descriptor_limit};
use crate::runtime::{Handle, Options, past};
use crate::tools::IdempotencyKeys;

/// A running runtime with open sockets.
pub struct RuntimeServer {
    pub runtime: Handle,
    /// Cancelled when a console has shut the runtime down.
    pub ended: CancellationToken,
    /// Requests to end the runtime while it is embedded in a console.
    pub stop_requests: StopRequests,
    /// Answers by idempotency key.
    pub idempotency: Arc<IdempotencyKeys>,
    clients: watch::Receiver<usize>,
    close: CancellationToken,
    stop: CancellationToken,
    /// The tasks that serve the sockets and follow the approval rules; `None` in a private runtime.
    served: Option<(JoinHandle<()>, JoinHandle<()>)>,
}

/// Where tasks come from: what starts their hosts, and the environment that they inherit.
type TaskOrigin = (Spawner, Vec<(OsString, OsString)>);

fn own_origin() -> TaskOrigin {
    (Spawner::new(), std::env::vars_os().collect())
}

/// The state shared by all connections.
#[derive(Clone)]
struct Service {
    runtime: Handle,
    ended: CancellationToken,
    stop_requests: StopRequests,
    idempotency: Arc<IdempotencyKeys>,
    agents: agent::AgentSessions,
    outside: UnrecordedLog,
    stop: CancellationToken,
}

impl RuntimeServer {
    /// Starts a runtime for a workspace and opens its sockets; `None` if another one serves it.
    ///
    /// # Errors
    /// When the settings are invalid, or its files or sockets cannot be created.
    pub fn open(places: &Places, headless: bool) -> Result<Option<Self>> {
        Self::open_with(places, headless, own_origin())
    }

    /// Like `open`, with tasks of another origin.
    ///
    /// # Errors
    /// When the settings are invalid, or its files or sockets cannot be created.
    pub fn open_with(places: &Places, headless: bool, tasks: TaskOrigin) -> Result<Option<Self>> {
        let sockets = match Sockets::open(places) {
            Ok(sockets) => sockets,
            Err(Error::Taken { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        agent::shell::forget_unrouted(places);
        let loaded = LoadedSettings::read(&places.config_dir, &places.workspace)?;
        let server = Server::new(sockets, places.workspace.clone(), loaded.settings.connections());
        let rules = Rules::new(places, &loaded);
        let own = Self { clients: server.clients(), ..Self::begin(places, headless, loaded, tasks)? };
        tokio::spawn(tell(server.notices(), own.runtime.clone()));
        let (runtime, close, stop) = (own.runtime.clone(), own.close.clone(), own.stop.clone());
        let service = Service {
            runtime: runtime.clone(),
            ended: own.ended.clone(),
            stop_requests: own.stop_requests.clone(),
            idempotency: own.idempotency.clone(),
            agents: agent::AgentSessions::default(),
            outside: UnrecordedLog { path: places.outside().into(), reached: Arc::default() },
            stop: stop.clone(),
        };
        let (told, workspace) = (runtime.clone(), places.workspace.clone());
        let siblings = link::follow_siblings(places.locks(), workspace, move |tree| {
            told.notice(sibling_sentence(tree), false);
        });
        tokio::spawn(close.clone().run_until_cancelled_owned(siblings));
        tokio::spawn(service.outside.clone().follow(runtime.clone(), close.clone()));
        let rules = tokio::spawn(rules.follow(runtime, close.clone()));
        let served = server.run(close, stop, move |client| service.clone().serve(client));
        Ok(Some(Self { served: Some((tokio::spawn(served), rules)), ..own }))
    }

    /// Starts a runtime without sockets, which nobody can join: it serves only the commands of this process.
    ///
    /// # Errors
    /// When the settings are invalid, or its files cannot be created.
    pub fn private(places: &Places) -> Result<Self> {
        let loaded = LoadedSettings::read(&places.config_dir, &places.workspace)?;
        Self::begin(places, true, loaded, own_origin())
    }

    fn begin(places: &Places, headless: bool, loaded: LoadedSettings, tasks: TaskOrigin) -> Result<Self> {
        link::check_room(places)?;
        let runtime = start(places, headless, loaded.settings, tasks)?;
        // The workspace's file may be by someone else: if it has faults, it is ignored, and they are reported here.
        loaded.aside.iter().for_each(|fault| runtime.notice(fault.to_string(), true));
        Ok(Self {
            runtime,
            ended: CancellationToken::new(),
            stop_requests: StopRequests::default(),
            idempotency: Arc::default(),
            clients: watch::Sender::new(0).subscribe(),
            close: CancellationToken::new(),
            stop: CancellationToken::new(),
            served: None,
        })
    }

    /// Returns the number of connected agents, scripts and consoles, live.
    pub fn clients(&self) -> watch::Receiver<usize> {
        self.clients.clone()
    }

    /// Shuts down in order: refuses new connections, stops tasks, lets clients receive the outcome and disconnect,
    /// and only then lets another runtime take over. The reason is reported to those who started the tasks.
    ///
    /// # Errors
    /// When a part of it has panicked.
    pub async fn close(self, closing: CloseReason) -> Result<()> {
        self.close.cancel();
        self.runtime.shut_down(closing).await;
        self.stop.cancel();
        let Some((server, rules)) = self.served else {
            let recording = self.runtime.snapshot().borrow().recording.clone();
            return tokio::task::spawn_blocking(move || past::forget_looks(&recording))
                .await
                .wrap_err("look after the recording");
        };
        rules.await.wrap_err("follow the approval rules")?;
        server.await.wrap_err("serve the sockets")
    }
}

impl Service {
    async fn serve(self, mut client: Client) {
        let Self { runtime, ended, stop_requests, idempotency, agents, outside, stop } = self;
        outside.is_reached();
        let own = client.hello.environment.take();
        let runtime = match own {
            None => runtime,
            // Its command runs in exactly this environment; nothing is changed.
            Some(environment) if client.hello.role == ClientRole::Shell => runtime.with_exactly(environment),
            Some(environment) => runtime.for_caller(&environment),
        };
        let served = match client.hello.role {
            ClientRole::Mcp => {
                agent::serve(client, runtime, agents, stop).await;
                Ok(())
            }
            ClientRole::Operator => link::serve_operator(client, runtime, (ended, stop_requests), stop).await,
            ClientRole::Shell => agent::shell::serve(client, runtime, agents).await,
            ClientRole::Hook => agent::serve_hook(client, runtime, agents).await,
            ClientRole::Launch => {
                agent::serve_launch(&client, &runtime, &agents);
                Ok(())
            }
            ClientRole::Cli => link::serve_scripts(client, &runtime, &idempotency, &stop).await,
        };
        if let Err(error) = served {
            tracing::info!(%error, "a connection broke off");
        }
    }
}

/// The file to which commands that ran without a runtime are logged.
#[derive(Clone)]
struct UnrecordedLog {
    path: Arc<Path>,
    reached: Arc<Notify>,
}

impl UnrecordedLog {
    /// Has the log read, if there is one: a client has reached the runtime, and others may have failed to before.
    fn is_reached(&self) {
        if self.path.symlink_metadata().is_ok() {
            self.reached.notify_one();
        }
    }

    async fn follow(self, runtime: Handle, close: CancellationToken) {
        let telling = runtime.tell_of_unrecorded(self.path.to_path_buf(), &self.reached);
        close.run_until_cancelled(telling).await;
    }
}

/// Forwards notices about the sockets to the console.
async fn tell(mut notices: watch::Receiver<Option<String>>, runtime: Handle) {
    while notices.changed().await.is_ok() {
        let said = notices.borrow_and_update().clone();
        said.into_iter().for_each(|said| runtime.notice(said, true));
    }
}

fn start(
    places: &Places,
    headless: bool,
    settings: Settings,
    (spawner, environment): TaskOrigin,
) -> Result<Handle> {
    if let Err(error) = raise_descriptor_limit() {
        // Fewer tasks fit at once; each one that does not is refused with this reason.
        tracing::warn!(%error, "raise the limit of open descriptors");
    }
    let options = Options {
        workspace: places.workspace.clone(),
        recordings: places.recordings(),
        lanes: places.lanes(),
        socket: places.agent_socket(),
        headless,
        environment,
        spawner,
        limits: settings.limits(),
        env: settings.env,
    };
    Handle::start(options).wrap_err_with(|| format!("start a runtime in {}", show(&places.workspace)))
}

fn show(path: &Path) -> std::path::Display<'_> {
    path.display()
}
