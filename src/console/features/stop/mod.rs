//! Stopping: the dialogs that stop a task, send it a signal or quit the console.

pub mod restart;

use std::sync::Arc;

use jiff::Timestamp;

use crate::console::keys::{Action, KeyContext};
use crate::console::state::delivery::MessageDelivery;
use crate::console::state::{SIGNALS, State, actor_name, alias};
use crate::console::text::{StyledPiece, column, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{DIALOG_COLUMNS, Painter, command_rows, dialog};
use crate::envelope::{Actor, TaskId};
use crate::link::ASKED_FOR;
use crate::model::{ProgramView, RunState, TaskView};

/// What `serve --stop` asks the person at the console that its runtime is embedded in.
#[derive(Debug, Clone)]
pub(in crate::console) struct StopQuestion {
    /// Who ran it.
    pub(in crate::console) by: String,
    /// Since when it has been on screen.
    pub(in crate::console) shown_at: Option<Timestamp>,
}

/// What is being stopped, and what was asked about it.
#[derive(Debug, Clone, Default)]
pub struct PendingStops {
    /// What `serve --stop` asks, until it is answered.
    pub(in crate::console) question: Option<StopQuestion>,
    /// Tasks being stopped for a restart, and since when.
    pub(in crate::console) restarts: Vec<(TaskId, Timestamp)>,
}

pub(in crate::console) fn draw_stop(painter: &mut Painter<'_>, task: &TaskView, kill: bool) {
    let mut rows = command_rows(painter, task, DIALOG_COLUMNS - 5, 3);
    let lasting = painter.lasting(task.started_at.unwrap_or(task.created_at));
    let stands = if task.queued.is_some() { "queued" } else { "running" };
    rows.push(vec![piece(format!("{stands} {lasting}"), Role::Faint)]);
    rows.push(Vec::new());
    if task.queued.is_some() {
        rows.push(vec![piece("It leaves the queue of its lane, and never runs.", Role::Text)]);
    } else if kill {
        rows.push(vec![piece("KILL to every process it started, at once.", Role::Text)]);
    } else {
        rows.push(vec![piece("1  TERM to every process it started", Role::Text)]);
        let grace = painter.state.stop_grace(task);
        rows.push(vec![piece(format!("2  KILL after {grace} to what is still alive"), Role::Text)]);
    }
    rows.push(vec![piece(origin(painter.state, task), Role::Faint)]);
    let (stop, keep) = ((Action::Stop, "stop"), (Action::Back, "keep"));
    let tell = (Action::TellAgent, "with note");
    let keys = [stop, (Action::Kill, "kill now"), (Action::Signal, "signal"), tell, keep];
    let is_agents = matches!(task.started_by, Actor::Agent(_));
    let gentle = |(action, _): &(Action, _)| match action {
        Action::Kill | Action::Back => true,
        Action::TellAgent => is_agents,
        _ => !kill,
    };
    let keys: Vec<_> = keys.into_iter().filter(gentle).collect();
    let title = format!("{} {}?", if kill { "kill" } else { "stop" }, alias(task));
    dialog(painter, &title, rows, KeyContext::Stop, &keys);
}

fn origin(state: &State, task: &TaskView) -> String {
    match &task.started_by {
        Actor::Operator => "You started it.".to_owned(),
        Actor::Cli => "A script started it.".to_owned(),
        Actor::Agent(label) => {
            let to = std::slice::from_ref(label);
            let way = MessageDelivery::of(&state.view.snapshot, to, Some(task));
            format!("{} {}", actor_name(&task.started_by), way.learns())
        }
        other => format!("{} started it.", actor_name(other)),
    }
}

pub(in crate::console) fn draw_signal(painter: &mut Painter<'_>, task: &TaskView) {
    let mut rows = command_rows(painter, task, DIALOG_COLUMNS - 5, 2);
    rows.push(Vec::new());
    for (action, _) in SIGNALS {
        let key = painter.state.setup.keymap.key(KeyContext::Signal, action).unwrap_or_default();
        rows.push(vec![
            piece(column(&key, 4, ""), Role::Key),
            piece(column(action.hint(), 6, ""), Role::Text),
            piece(action.about(), Role::Faint),
        ]);
    }
    let title = format!("signal to {}", alias(task));
    dialog(painter, &title, rows, KeyContext::Signal, &[(Action::Back, "none")]);
}

/// Returns what a dialog says of a program that is not over, and of what becomes of it.
fn program_row(painter: &Painter<'_>, program: &ProgramView) -> Vec<StyledPiece> {
    let name = program.path.file_name().unwrap_or_default().to_string_lossy();
    let goes_on = painter.can(Action::Detach) && !painter.state.setup.shows_run;
    let (state, what) = match (&program.state, goes_on) {
        (RunState::Asking, true) => (2, "  waits for an answer"),
        (RunState::Asking, false) => (2, "  waits for an answer; it ends, and can be gone on with"),
        (_, true) => (1, "  is not over"),
        (_, false) => (1, "  ends, and can be gone on with"),
    };
    vec![
        piece(format!("{} ", painter.glyphs().states[state]), Role::Waiting),
        piece(visible::one_line(&name), Role::Text),
        piece(what, Role::Faint),
    ]
}

pub(in crate::console) fn draw_quit(painter: &mut Painter<'_>, question: Option<&StopQuestion>) {
    let state = painter.state;
    let dots = painter.glyphs().cut;
    let live: Vec<_> = state.view.all_tasks().into_iter().filter(|task| !task.status.is_terminal()).collect();
    let row = |task: &&Arc<TaskView>| {
        let (state, name) = (painter.state(task), column(&alias(task), painter.state.alias_columns(6), dots));
        let cmd = piece(visible::masked_line(&task.cmd), Role::Text);
        vec![piece(format!("{} ", state.glyph), state.role), piece(name, Role::Text), cmd]
    };
    let mut rows: Vec<_> = live.iter().take(6).map(row).collect();
    if live.len() > 6 {
        rows.push(vec![piece(format!("and {} more", live.len() - 6), Role::Faint)]);
    }
    let programs: Vec<_> = state.ending_programs().cloned().collect();
    rows.extend(programs.iter().map(|program| program_row(painter, program)));
    let connected = state.view.snapshot.agents.iter().filter(|agent| agent.connected).count();
    if connected > 0 {
        let agents = if connected == 1 { "1 agent is".to_owned() } else { format!("{connected} agents are") };
        rows.push(vec![piece(format!("{agents} connected"), Role::Faint)]);
    }
    let goes_on = match (painter.can(Action::Detach), live.is_empty()) {
        (true, false) => "Detached, the tasks go on without this console.",
        (true, true) => "Detached, the runtime goes on without this console.",
        (false, false) => "The runtime is in this console: its tasks end with it.",
        (false, true) => "The runtime is in this console and ends with it.",
    };
    rows.push(vec![piece(goes_on, Role::Text)]);
    if let Some(StopQuestion { by, .. }) = question {
        let by = visible::one_line(by).into_owned();
        rows.insert(0, vec![piece(by, Role::Strong), piece(" asks to end this runtime.", Role::Text)]);
        let asked = format!("Unanswered, it ends within {} s.", ASKED_FOR.as_secs());
        rows.push(vec![piece(asked, Role::Waiting)]);
        let keys = [(Action::StopAll, "end it"), (Action::Back, "keep it")];
        return dialog(painter, "pilothouse serve --stop", rows, KeyContext::Quit, &keys);
    }
    let stop = if live.is_empty() { "end it and quit" } else { "stop all and quit" };
    let ends_program = state.setup.shows_run && !programs.is_empty();
    let detach = if ends_program { "end the program, detach" } else { "detach" };
    let mut ways = [(Action::Detach, detach), (Action::StopAll, stop)];
    if live.is_empty() && programs.is_empty() && !state.setup.is_remote {
        ways.reverse();
    }
    let mut keys: Vec<_> = ways.into_iter().filter(|(action, _)| painter.can(*action)).collect();
    keys.push((Action::Back, "cancel"));
    let title = match live.len() {
        0 if !programs.is_empty() => "quit? a program is not over".to_owned(),
        0 => "quit?".to_owned(),
        1 => "quit? 1 task is running".to_owned(),
        many => format!("quit? {many} tasks are running"),
    };
    dialog(painter, &title, rows, KeyContext::Quit, &keys);
}
