//! `relay list`: the runtimes on this machine, or on another one.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::timeout;

use crate::dispatch::command::{Example, LocalCommand};
use crate::dispatch::context::CommandContext;
use crate::dispatch::{Failure, link_failure};
use crate::link::{Act, Error, HostListing, ListedRuntime, Reply, RunningRuntime, Scripts, VERSION};
use crate::model::{StatusCounts, Subject};

/// How long one runtime may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) struct RelayList;

/// The machine whose runtimes are listed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelayListInput {
    /// List the runtimes of another machine or container: a host of `~/.ssh/config`, or one in `[hosts]` of
    /// config.toml.
    host: Option<String>,
}

impl LocalCommand for RelayList {
    const PATH: &'static str = "relay.list";
    const ABOUT: &'static str = "List this user's runtimes on this machine, or on another one with --host";
    const EXITS: &'static [u8] = &[12];
    const EXAMPLES: &'static [Example] = &[Example { about: "The runtimes of this machine", input: "{}" }];

    type Input = RelayListInput;
    type Output = HostListing;

    async fn run(cx: &mut CommandContext, input: RelayListInput) -> Result<HostListing, Failure> {
        if let Some(name) = input.host {
            return cx.host.remote_host(&name)?.runtimes().await.map_err(|error| link_failure(&error));
        }
        let mut runtimes = Vec::new();
        for running in cx.host.runtimes() {
            runtimes.push(look(running).await);
        }
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        Ok(HostListing {
            machine: cx.host.machine(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            link: VERSION,
            load: load.and_then(|text| text.split(' ').next()?.parse().ok()),
            runtimes,
        })
    }

    fn text(output: &HostListing) -> String {
        let HostListing { machine, version, link, load, runtimes } = output;
        let load = load.map(|load| format!(", load {load}")).unwrap_or_default();
        let mut lines = vec![format!("{machine}: pilothouse {version} (link {link}){load}")];
        lines.extend(runtimes.iter().map(|runtime| {
            let ListedRuntime { id, workspace, pid, tasks, needs, .. } = runtime;
            let standing = match (tasks, needs) {
                (Some(tasks), Some(0) | None) => format!("{tasks} live"),
                (Some(tasks), Some(needs)) => format!("{tasks} live, {needs} waiting for an answer"),
                (None, _) => "does not answer this version".to_owned(),
            };
            format!("{id}  {}  pid {pid}  {standing}", workspace.display())
        }));
        if runtimes.is_empty() {
            lines.push("no runtime".to_owned());
        }
        lines.join("\n")
    }
}

/// Asks a runtime for its identity and status.
async fn look(running: RunningRuntime) -> ListedRuntime {
    let mut listed = ListedRuntime {
        id: running.id.clone(),
        workspace: running.address.workspace.clone(),
        pid: running.address.pid,
        version: None,
        link: None,
        tasks: None,
        needs: None,
    };
    let looked = timeout(PATIENCE, async {
        match running.dial().await {
            Ok(mut open) => {
                let ack = &mut open.ack;
                listed.workspace = std::mem::take(&mut ack.workspace);
                (listed.version, listed.link) = (ack.version.take(), Some(ack.v));
                Scripts::over(open).ask(Act::Standing.on(Subject::Runtime)).await.ok()
            }
            Err(Error::OtherVersion { theirs, .. }) => {
                listed.link = Some(theirs);
                None
            }
            Err(_) => None,
        }
    });
    if let Ok(Some(Reply::Standing(StatusCounts { running, waiting, held, questions, .. }))) = looked.await {
        (listed.tasks, listed.needs) = (Some(running + waiting), Some(held + questions));
    }
    listed
}
