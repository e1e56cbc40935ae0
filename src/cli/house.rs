//! A runtime with its sockets: what a console embeds, `serve` keeps and the demo plays in.

use std::path::Path;
use std::sync::Arc;

use color_eyre::eyre::{Result, WrapErr};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::rules::Rules;
use crate::agent;
use crate::config::{Loaded, Settings};
use crate::link::Error;
use crate::link::{self, Doors, Guest, Role, Server};
use crate::paths::Places;
use crate::process::{Spawner, raise_descriptor_limit};
use crate::runtime::{Handle, Options};
use crate::tools::Repeats;

/// A running runtime, its sockets open.
pub(super) struct House {
    /// The runtime.
    pub(super) runtime: Handle,
    /// Cancelled when a console has shut the runtime down.
    pub(super) ended: CancellationToken,
    /// Its answers to requests that must not be done twice.
    pub(super) repeats: Arc<Repeats>,
    guests: watch::Receiver<usize>,
    close: CancellationToken,
    stop: CancellationToken,
    server: JoinHandle<()>,
    rules: JoinHandle<()>,
}

/// Who answers the door.
#[derive(Clone)]
struct Host {
    runtime: Handle,
    ended: CancellationToken,
    repeats: Arc<Repeats>,
    stop: CancellationToken,
}

impl House {
    /// Starts a runtime for a workspace and opens its sockets; `None` when another one serves it.
    pub(super) fn open(places: &Places, headless: bool) -> Result<Option<Self>> {
        let doors = match Doors::open(places) {
            Ok(doors) => doors,
            Err(Error::Taken { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let loaded = Loaded::read(&places.config_dir, &places.workspace)?;
        let server = Server::new(doors, places.workspace.clone(), loaded.settings.connections());
        let rules = Rules::new(places, &loaded);
        let runtime = start(places, headless, loaded.settings)?;
        // Whoever wrote it may not be whoever looks: it is left aside, and said.
        loaded.aside.iter().for_each(|fault| runtime.notice(fault.to_string(), true));
        let (ended, close, stop) =
            (CancellationToken::new(), CancellationToken::new(), CancellationToken::new());
        let repeats = Arc::new(Repeats::default());
        let host = Host {
            runtime: runtime.clone(),
            ended: ended.clone(),
            repeats: repeats.clone(),
            stop: stop.clone(),
        };
        let rules = tokio::spawn(rules.follow(runtime.clone(), close.clone()));
        let guests = server.guests();
        let served = server.run(close.clone(), stop.clone(), move |guest| host.clone().welcome(guest));
        Ok(Some(Self { runtime, ended, repeats, guests, close, stop, server: tokio::spawn(served), rules }))
    }

    /// Returns the number of connected agents, scripts and consoles, live.
    pub(super) fn guests(&self) -> watch::Receiver<usize> {
        self.guests.clone()
    }

    /// Ends it in order: nobody comes in, tasks are stopped, those inside hear of it and leave, and
    /// only then another runtime may take over.
    pub(super) async fn close(self) -> Result<()> {
        self.close.cancel();
        self.runtime.shutdown().await;
        self.stop.cancel();
        self.rules.await.wrap_err("follow the approval rules")?;
        self.server.await.wrap_err("serve the sockets")
    }
}

impl Host {
    async fn welcome(self, guest: Guest) {
        let Self { runtime, ended, repeats, stop } = self;
        let talk = match guest.hello.role {
            Role::Mcp => {
                agent::serve(guest, runtime, stop).await;
                Ok(())
            }
            Role::Operator => link::serve_operator(guest, runtime, ended, stop).await,
            Role::Cli => tokio::select! {
                talk = link::serve_scripts(guest, &runtime, &repeats) => talk,
                () = stop.cancelled() => Ok(()),
            },
        };
        if let Err(error) = talk {
            tracing::info!(%error, "a conversation broke off");
        }
    }
}

fn start(places: &Places, headless: bool, settings: Settings) -> Result<Handle> {
    if let Err(error) = raise_descriptor_limit() {
        // Fewer tasks fit at once; each that does not is refused with its reason.
        tracing::warn!(%error, "raise the limit of open descriptors");
    }
    let options = Options {
        workspace: places.workspace.clone(),
        recordings: places.recordings(),
        socket: places.agent_socket(),
        headless,
        environment: std::env::vars_os().collect(),
        spawner: Spawner::new(),
        limits: settings.limits(),
        env: settings.env,
    };
    Handle::start(options).wrap_err_with(|| format!("start a runtime in {}", show(&places.workspace)))
}

fn show(path: &Path) -> std::path::Display<'_> {
    path.display()
}
