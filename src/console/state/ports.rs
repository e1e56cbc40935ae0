//! Words for the ports that tasks listen on, and for one that is taken.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::console::state::{State, actor_name, alias};
use crate::console::text::visible;
use crate::model::{Listener, PortHolder, TakenPort, TaskView};

/// The most ports in a row of a list.
const MOST_PORTS: usize = 3;

/// Returns the ports of a task for its row: `:5173`; those in a container say so.
pub(in crate::console) fn ports(task: &TaskView) -> Option<String> {
    let all =
        |port: fn(&Listener) -> Option<u16>| task.listening.iter().filter_map(port).collect::<BTreeSet<_>>();
    let own = all(|listener| listener.at.own_port());
    let (ports, inside) = match own.is_empty() {
        true => (all(|listener| listener.at.port()), " in container"),
        false => (own, ""),
    };
    let shown: Vec<String> = ports.iter().take(MOST_PORTS).map(|port| format!(":{port}")).collect();
    let more = ports.len().saturating_sub(MOST_PORTS);
    let more = if more > 0 { format!(" +{more}") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{more}{inside}", shown.join(" ")))
}

/// Returns an address a task listens on, with when it was found and its URL.
pub(in crate::console) fn listening(listener: &Listener) -> String {
    let url = listener.url.as_ref().map(|url| format!(", {url}")).unwrap_or_default();
    visible::one_line(&format!("{}{url}", listener.in_words())).into_owned()
}

/// Says who holds the port that a task could not have: a task of its runtime, or of any other of this user.
pub(in crate::console) fn taken_port(state: &State, task: &TaskView) -> Option<String> {
    let ended = task.ended.as_ref()?;
    let (taken, at) = (ended.taken_port.as_ref()?, ended.at);
    let holder = |one: &PortHolder| holder(state, one, at);
    let other = |port| {
        let tasks = state.view.snapshot.tasks.iter().filter(|task| is_here(state, task));
        let one = tasks.flat_map(|task| task.held_ports()).find(|one| one.port == port);
        Some(match (one, state.view.holders.get(&task.id)) {
            (Some(one), _) => holder(&one),
            (None, Some(Some(foreign))) => {
                let workspace = foreign.workspace.display().to_string();
                format!("{} in {}", holder(&foreign.holder), visible::one_line(&workspace))
            }
            (None, _) => "no task that is known here".to_owned(),
        })
    };
    Some(taken.sentence(holder, other))
}

/// Says the same in a row, where room is scarce: `port 5173: t03`.
pub(in crate::console) fn taken_briefly(state: &State, taken: &TakenPort) -> String {
    match (taken.port, taken.holders.first()) {
        (Some(port), Some(one)) => format!("port {port}: {}", holder_alias(state, one)),
        (Some(port), None) => format!("port {port} is taken"),
        (None, Some(one)) if taken.holders.len() == 1 => {
            format!("port: {}", holder_alias(state, one))
        }
        (None, _) => "address in use".to_owned(),
    }
}

/// Tells whether a task runs on this machine.
fn is_here(state: &State, task: &TaskView) -> bool {
    let place = task.place.as_ref().and_then(|name| state.place(&name.id));
    place.is_none_or(|place| place.host.is_none())
}

fn holder(state: &State, one: &PortHolder, at: Timestamp) -> String {
    one.describe(&holder_alias(state, one), &actor_name(&one.by), at)
}

fn holder_alias(state: &State, one: &PortHolder) -> String {
    state.view.task(&one.task).map_or_else(|| format!("t{:02}", one.number), |task| alias(task))
}
