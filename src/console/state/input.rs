//! What is sent to tasks: lines, commands to start, stops and signals; and whether a task takes input.

use serde_json::json;

use crate::console::effect::Effect;
use crate::console::keys::Action;
use crate::envelope::TaskId;
use crate::model::{InputNeed, PlaceId, TaskStatus, TaskView, TypedInput};
use crate::terminal::Size;

/// Maximum length of a text that is being written, in bytes.
pub(in crate::console) const MOST_WRITTEN: usize = 64 << 10;

/// The signals that can be sent, by action.
pub(in crate::console) const SIGNALS: [(Action, &str); 6] = [
    (Action::Interrupt, "INT"),
    (Action::Terminate, "TERM"),
    (Action::HangUp, "HUP"),
    (Action::QuitSignal, "QUIT"),
    (Action::User1, "USR1"),
    (Action::User2, "USR2"),
];

/// Stops a task: TERM and then KILL, or KILL at once.
pub(in crate::console) fn stop_of(task: &TaskId, kill: bool) -> Effect {
    let input = if kill { json!({"task_id": task, "force": true}) } else { json!({"task_id": task}) };
    Effect::call("TaskStop", input)
}

/// Sends a signal to a task.
pub(in crate::console) fn signal_of(task: &TaskId, name: &str) -> Effect {
    Effect::call("TaskStop", json!({"task_id": task, "signal": name}))
}

/// Sends the signal that an action names.
pub(in crate::console) fn signal(task: &TaskId, action: Action) -> Option<Effect> {
    let known = SIGNALS.iter().find(|(known, _)| *known == action);
    known.map(|(_, name)| signal_of(task, name))
}

/// Returns the effect that sends a line to a task. A secret is sent like raw keys, and so is every answer at
/// a terminal beside a command's streams: its text is never recorded.
pub(in crate::console) fn line_to(task: &TaskView, text: &str) -> Effect {
    let text = if task.tty || task.side_terminal {
        format!("{}\r", text.replace('\n', "\r"))
    } else {
        format!("{text}\n")
    };
    if is_unrecorded(task) {
        return Effect::send(task.id.clone(), TypedInput::Text(text));
    }
    Effect::call("TaskInput", json!({"task_id": task.id, "input": text}))
}

/// Returns the effect that starts a command for the user: on a terminal of its future pane's size, and as a
/// task right away; in the given place if there are several.
pub(in crate::console) fn start_of(place: Option<PlaceId>, cmd: &str, size: Option<Size>) -> Effect {
    let mut input = json!({"cmd": cmd, "tty": true, "yield_time_ms": 0});
    if let Some(size) = size {
        input["cols"] = size.cols().into();
        input["rows"] = size.rows().into();
    }
    Effect::call_at(place, "ExecCommand", input)
}

/// Tells whether a line for a task must not be recorded. At a side terminal this covers every line: one typed
/// just before the password prompt is detected may be a password too.
pub(in crate::console) fn is_unrecorded(task: &TaskView) -> bool {
    wants_secret(task) || task.side_terminal
}

/// Tells whether input for a task must be hidden now.
pub(in crate::console) fn wants_secret(task: &TaskView) -> bool {
    task.waiting.as_ref().is_some_and(|waiting| waiting.kind == InputNeed::Secret)
}

/// Tells whether a task can receive typed input.
pub fn takes_input(task: &TaskView) -> bool {
    task.status == TaskStatus::Running && (task.tty || task.accepts_input || task.side_terminal)
}
