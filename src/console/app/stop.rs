//! Stopping: the dialogs that stop a task, send it a signal or quit the console, and the guard against keys
//! meant for another dialog.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::envelope::{Actor, TaskId};
use crate::link::ASKED_FOR;
use crate::model::{RunState, TaskView};

use super::dialog::{DIALOG_COLUMNS, command_rows, dialog, has_been_read};
use super::{App, Layer, Painter, alias, who};
use crate::console::keys::{Action, Context};
use crate::console::msg::{Effect, Leave};
use crate::console::text::{column, piece, visible};
use crate::console::theme::Role;

/// For this long, a dialog about a different task than the last one ignores the keys used for that one.
pub(crate) const GUARDED: SignedDuration = SignedDuration::from_secs(1);
/// The signals that can be sent, by action.
pub(crate) const SIGNALS: [(Action, &str); 6] = [
    (Action::Interrupt, "INT"),
    (Action::Terminate, "TERM"),
    (Action::HangUp, "HUP"),
    (Action::QuitSignal, "QUIT"),
    (Action::User1, "USR1"),
    (Action::User2, "USR2"),
];

/// What `serve --stop` asks the person at the console that its runtime is embedded in.
#[derive(Debug, Clone)]
pub(in crate::console) struct StopQuestion {
    /// Who ran it.
    by: String,
    /// Since when it has been on screen.
    pub(in crate::console) shown_at: Option<Timestamp>,
}

/// The keys that dialogs about tasks were opened and answered with.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The task of the last dialog.
    task: Option<TaskId>,
    /// The actions it was opened and answered with.
    used: Vec<Action>,
    /// The actions of the previous dialog, if it was about a different task, and until when they are ignored.
    barred: Option<(Vec<Action>, Timestamp)>,
}

impl Guard {
    /// Records that an action opens a dialog about a task.
    pub(crate) fn opens(&mut self, task: &TaskId, action: Action, now: Timestamp) {
        if self.task.as_ref() != Some(task) {
            let used = std::mem::take(&mut self.used);
            let until = now.checked_add(GUARDED).unwrap_or(now);
            self.barred = self.task.replace(task.clone()).map(|_| (used, until));
        }
        self.used.push(action);
        self.used.dedup();
    }

    /// Tells whether an action counts in the dialog opened last.
    pub(crate) fn admits(&mut self, action: Action, now: Timestamp) -> bool {
        if self.barred.as_ref().is_some_and(|(barred, until)| now < *until && barred.contains(&action)) {
            return false;
        }
        self.used.push(action);
        self.used.dedup();
        true
    }
}

impl App {
    pub(super) fn stop(&mut self, task: TaskId, kill: bool, action: Action) {
        match action {
            // A dialog opened to kill offers no gentle stop: `s` is taken as a typo and keeps it open.
            Action::Stop if kill => self.open(Layer::Stop { task, kill }),
            Action::Stop => self.effects.push(stop_of(&task, false)),
            Action::Kill => self.effects.push(stop_of(&task, true)),
            Action::Signal => self.open(Layer::Signal(task)),
            Action::TellAgent => {
                if let Some(task) = self.view.task(&task).cloned() {
                    self.stop_and_tell(&task, kill);
                }
            }
            _ => self.open(Layer::Stop { task, kill }),
        }
    }

    /// If nothing is running and no program is waiting, there is nothing to lose, so no confirmation is
    /// needed.
    pub(super) fn ask_to_quit(&mut self) {
        let has_program = self.ending_programs().next().is_some();
        if self.view.is_lost || (self.view.live() == 0 && self.setup.is_remote && !has_program) {
            self.effects.push(Effect::Quit(Leave::Detach));
            return;
        }
        if self.view.live() == 0
            && !has_program
            && !self.view.snapshot.agents.iter().any(|agent| agent.connected)
        {
            return self.stop_all();
        }
        self.open(Layer::Quit)
    }

    /// Asks what `serve --stop` asks, over everything else: the runtime ends in a moment.
    pub(super) fn ask_to_stop(&mut self, by: String) {
        self.stop_question = Some(StopQuestion { by, shown_at: None });
        self.layers.retain(|layer| !matches!(layer, Layer::Quit));
        self.open(Layer::Quit);
    }

    /// Answers it; a key pressed before it could be read, and any other key, leaves it open.
    pub(super) fn answer_stop_question(&mut self, action: Action) {
        let shown_at = self.stop_question.as_ref().and_then(|question| question.shown_at);
        let answer = match action {
            Action::StopAll => Effect::Quit(Leave::AsAsked),
            Action::Back => Effect::Stay,
            _ => return self.open(Layer::Quit),
        };
        if !has_been_read(shown_at, self.now) {
            return self.open(Layer::Quit);
        }
        self.stop_question = None;
        self.effects.push(answer);
    }

    /// Ends the runtime and then the console: from now on, losing the connection to the runtime is expected.
    pub(super) fn stop_all(&mut self) {
        self.is_leaving = true;
        self.effects.push(Effect::Quit(Leave::StopAll));
    }

    pub(super) fn quit(&mut self, action: Action) {
        match action {
            Action::StopAll if self.can(action) => self.stop_all(),
            Action::Detach if self.can(action) => self.effects.push(Effect::Quit(Leave::Detach)),
            _ => self.open(Layer::Quit),
        }
    }
}

/// Stops a task: TERM and then KILL, or KILL at once.
pub(crate) fn stop_of(task: &TaskId, kill: bool) -> Effect {
    let input = if kill { json!({"task_id": task, "force": true}) } else { json!({"task_id": task}) };
    Effect::call("TaskStop", input)
}

/// Sends a signal to a task.
pub(crate) fn signal_of(task: &TaskId, name: &str) -> Effect {
    Effect::call("TaskStop", json!({"task_id": task, "signal": name}))
}

/// Sends the signal that an action names.
pub(super) fn signal(task: &TaskId, action: Action) -> Option<Effect> {
    let known = SIGNALS.iter().find(|(known, _)| *known == action);
    known.map(|(_, name)| signal_of(task, name))
}

pub(super) fn draw_stop(painter: &mut Painter<'_>, task: &TaskView, kill: bool) {
    let mut rows = command_rows(painter, task, DIALOG_COLUMNS - 5, 3);
    let running = painter.lasting(task.started_at.unwrap_or(task.created_at));
    rows.push(vec![piece(format!("running {running}"), Role::Faint)]);
    rows.push(Vec::new());
    if kill {
        rows.push(vec![piece("KILL to every process it started, at once.", Role::Text)]);
    } else {
        rows.push(vec![piece("1  TERM to every process it started", Role::Text)]);
        rows.push(vec![piece("2  KILL after 5 s to what is still alive", Role::Text)]);
    }
    rows.push(vec![piece(told(task), Role::Faint)]);
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
    dialog(painter, &title, rows, Context::Stop, &keys);
}

fn told(task: &TaskView) -> String {
    match &task.started_by {
        Actor::Operator => "You started it.".to_owned(),
        Actor::Cli => "A script started it.".to_owned(),
        other => format!("{} started it and will be told.", who(other)),
    }
}

pub(super) fn draw_signal(painter: &mut Painter<'_>, task: &TaskView) {
    let mut rows = command_rows(painter, task, DIALOG_COLUMNS - 5, 2);
    rows.push(Vec::new());
    for (action, _) in SIGNALS {
        let key = painter.app.setup.keymap.key(Context::Signal, action).unwrap_or_default();
        rows.push(vec![
            piece(column(&key, 4, ""), Role::Key),
            piece(column(action.hint(), 6, ""), Role::Text),
            piece(action.about(), Role::Faint),
        ]);
    }
    let title = format!("signal to {}", alias(task));
    dialog(painter, &title, rows, Context::Signal, &[(Action::Back, "none")]);
}

pub(super) fn draw_quit(painter: &mut Painter<'_>) {
    let app = painter.app;
    let dots = painter.glyphs().cut;
    let live: Vec<_> = app.view.all_tasks().into_iter().filter(|task| !task.status.is_terminal()).collect();
    let row = |task: &&Arc<TaskView>| {
        let (state, name) = (painter.state(task), column(&alias(task), painter.app.alias_columns(6), dots));
        let cmd = piece(visible::told(&task.cmd), Role::Text);
        vec![piece(format!("{} ", state.glyph), state.role), piece(name, Role::Text), cmd]
    };
    let mut rows: Vec<_> = live.iter().take(6).map(row).collect();
    if live.len() > 6 {
        rows.push(vec![piece(format!("and {} more", live.len() - 6), Role::Faint)]);
    }
    let programs: Vec<_> = app.ending_programs().cloned().collect();
    for program in &programs {
        let name = program.path.file_name().unwrap_or_default().to_string_lossy();
        let goes_on = app.can(Action::Detach) && !app.setup.shows_run;
        let (state, what) = match (&program.state, goes_on) {
            (RunState::Asking, true) => (2, "  waits for an answer"),
            (RunState::Asking, false) => (2, "  waits for an answer; it ends, and can be gone on with"),
            (_, true) => (1, "  is not over"),
            (_, false) => (1, "  ends, and can be gone on with"),
        };
        let glyph = painter.glyphs().states[state];
        rows.push(vec![
            piece(format!("{glyph} "), Role::Waiting),
            piece(visible::one_line(&name).into_owned(), Role::Text),
            piece(what, Role::Faint),
        ]);
    }
    let connected = app.view.snapshot.agents.iter().filter(|agent| agent.connected).count();
    if connected > 0 {
        let agents = if connected == 1 { "1 agent is".to_owned() } else { format!("{connected} agents are") };
        rows.push(vec![piece(format!("{agents} connected"), Role::Faint)]);
    }
    let goes_on = match (app.can(Action::Detach), live.is_empty()) {
        (true, false) => "Detached, the tasks go on without this console.",
        (true, true) => "Detached, the runtime goes on without this console.",
        (false, false) => "The runtime is in this console: its tasks end with it.",
        (false, true) => "The runtime is in this console and ends with it.",
    };
    rows.push(vec![piece(goes_on, Role::Text)]);
    if let Some(StopQuestion { by, .. }) = &app.stop_question {
        let by = visible::one_line(by).into_owned();
        rows.insert(0, vec![piece(by, Role::Strong), piece(" asks to end this runtime.", Role::Text)]);
        let asked = format!("Unanswered, it ends within {} s.", ASKED_FOR.as_secs());
        rows.push(vec![piece(asked, Role::Waiting)]);
        let keys = [(Action::StopAll, "end it"), (Action::Back, "keep it")];
        return dialog(painter, "pilothouse serve --stop", rows, Context::Quit, &keys);
    }
    let stop = if live.is_empty() { "end it and quit" } else { "stop all and quit" };
    let ends_program = app.setup.shows_run && !programs.is_empty();
    let detach = if ends_program { "end the program, detach" } else { "detach" };
    let mut ways = [(Action::Detach, detach), (Action::StopAll, stop)];
    if live.is_empty() && programs.is_empty() && !app.setup.is_remote {
        ways.reverse();
    }
    let mut keys: Vec<_> = ways.into_iter().filter(|(action, _)| app.can(*action)).collect();
    keys.push((Action::Back, "cancel"));
    let title = match live.len() {
        0 if !programs.is_empty() => "quit? a program is not over".to_owned(),
        0 => "quit?".to_owned(),
        1 => "quit? 1 task is running".to_owned(),
        many => format!("quit? {many} tasks are running"),
    };
    dialog(painter, &title, rows, Context::Quit, &keys);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).expect("a time")
    }

    #[test]
    fn a_dialog_about_another_task_does_not_take_the_same_key_for_a_second() {
        let [one, other] = [[1; 8], [2; 8]].map(TaskId::from_random);
        let mut guard = Guard::default();
        guard.opens(&one, Action::Stop, at(0));
        assert!(guard.admits(Action::Stop, at(1)), "the first dialog takes the key that opened it");
        guard.opens(&one, Action::Stop, at(2));
        assert!(guard.admits(Action::Stop, at(3)), "so does another one about the same task");
        guard.opens(&other, Action::Signal, at(100));
        assert!(guard.admits(Action::Signal, at(101)), "another key is meant");
        assert!(!guard.admits(Action::Stop, at(1_099)));
        assert!(guard.admits(Action::Stop, at(1_100)));
        guard.opens(&one, Action::Signal, at(5_000));
        assert!(!guard.admits(Action::Signal, at(5_500)) && !guard.admits(Action::Stop, at(5_999)));
        assert!(guard.admits(Action::Signal, at(6_000)));
    }
}
