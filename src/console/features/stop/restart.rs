//! Restarting a task: runs the same command in a new task of the operator's. A running task is stopped first,
//! after a confirmation.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::console::effect::Effect;
use crate::console::features::stop::PendingStops;
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{State, alias, stop_of};
use crate::console::text::piece;
use crate::console::theme::Role;
use crate::console::widgets::{DIALOG_COLUMNS, Painter, command_rows, dialog};
use crate::envelope::TaskId;
use crate::model::TaskView;

/// A task that has not started stopping within this time is no longer restarted when it ends.
const PATIENCE: SignedDuration = SignedDuration::from_secs(10);

impl PendingStops {
    /// Stops the task, to be started again once it has ended.
    pub(in crate::console) fn restart(&mut self, task: TaskId, now: Timestamp) -> Effect {
        let stop = stop_of(&task, false);
        self.restarts.retain(|(other, _)| *other != task);
        self.restarts.push((task, now));
        stop
    }

    /// Starts tasks again that were stopped for a restart and have ended.
    pub(in crate::console) fn restart_ended(&mut self, state: &State) -> Vec<Effect> {
        let mut begun = Vec::new();
        for (id, asked) in std::mem::take(&mut self.restarts) {
            let Some(task) = state.view.task(&id) else { continue };
            if task.stop.is_none() && state.clock.now.duration_since(asked) >= PATIENCE {
                continue;
            }
            if task.status.is_terminal() {
                begun.push(again(task));
            } else {
                self.restarts.push((id, asked));
            }
        }
        begun
    }
}

/// Returns the effect that runs a task's command again, with the same directory, shell and terminal.
pub(in crate::console) fn again(task: &TaskView) -> Effect {
    let mut input = json!({
        "cmd": task.cmd,
        "workdir": task.workdir,
        "shell": task.shell,
        "login": task.login,
        "tty": task.tty,
        "accepts_input": task.accepts_input,
        "yield_time_ms": 0,
        "description": format!("restart of {}", alias(task)),
    });
    if task.tty && task.size_asked {
        (input["cols"], input["rows"]) = (task.size.cols().into(), task.size.rows().into());
    }
    match task.cmd_chars {
        Some(_) => Effect::Rerun { task: task.id.clone(), input },
        None => Effect::call_at(task.place.as_ref().map(|place| place.id.clone()), "ExecCommand", input),
    }
}

pub(in crate::console) fn draw(painter: &mut Painter<'_>, task: &TaskView) {
    let mut rows = command_rows(painter, task, DIALOG_COLUMNS - 5, 3);
    let running = painter.lasting(task.started_at.unwrap_or(task.created_at));
    rows.push(vec![piece(format!("running {running}"), Role::Faint)]);
    rows.push(Vec::new());
    let grace = painter.state.stop_grace(task);
    rows.push(vec![piece(
        format!("It is stopped: TERM, after {grace} KILL, to all it started."),
        Role::Text,
    )]);
    rows.push(vec![piece("Then the same command runs again, as a task of yours.", Role::Text)]);
    let keys = [(Action::Restart, "stop and restart"), (Action::Back, "keep")];
    dialog(painter, &format!("restart {}?", alias(task)), rows, KeyContext::Restart, &keys);
}
