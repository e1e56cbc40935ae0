//! Where typed keys and pastes go: into the task, an input line or a dialog; and the history of lines, which
//! never contains one that was hidden.

use jiff::SignedDuration;
use serde_json::json;
use tui_input::{Input as Editor, InputRequest};

use crate::envelope::{TaskId, mask};
use crate::link::Request;
use crate::model::{Input, Need, PlaceId, TaskView};
use crate::terminal::{Key, KeyPress, Size};

use super::approval::card::Writing;
use super::pasting::size;
use super::program::program_file;
use super::task_list::Filters;
use super::{App, Layer, Layout, Mode, Prompt, takes_input};
use crate::console::keys::{Action, Context};
use crate::console::msg::Effect;

/// Maximum number of lines in the history.
pub(crate) const KEPT: usize = 100;
/// How long the user must have paused before a key counts as pressed in the knowledge that the task has
/// ended.
const RESTED: SignedDuration = SignedDuration::from_millis(700);
/// Maximum length of a command that is saved in the history, in characters.
const KEPT_CHARS: usize = 2_000;

/// Lines entered before, and which of them is recalled.
#[derive(Debug, Clone, Default)]
pub struct History {
    lines: Vec<String>,
    /// How many lines back; 0 is the line being typed.
    back: usize,
}

impl History {
    /// Adds a line; an immediate repetition is not added again.
    pub fn keep(&mut self, line: &str) {
        self.back = 0;
        if line.trim().is_empty() || self.lines.last().is_some_and(|last| last == line) {
            return;
        }
        if self.lines.len() == KEPT {
            self.lines.remove(0);
        }
        self.lines.push(line.to_owned());
    }

    /// Returns to the line being typed.
    pub fn rest(&mut self) {
        self.back = 0;
    }

    /// Steps to an older or newer line; after the newest comes an empty one.
    pub fn step(&mut self, older: bool) -> Option<String> {
        let to = if older { self.back + 1 } else { self.back.checked_sub(1)? };
        if to == 0 {
            self.back = 0;
            return Some(String::new());
        }
        let line = self.lines.len().checked_sub(to).and_then(|at| self.lines.get(at))?;
        self.back = to;
        Some(line.clone())
    }
}

impl App {
    /// Handles a key while something is being typed; returns false when keys mean actions.
    pub(super) fn type_key(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        if !self.layers.is_empty() {
            return self.card_key(key, action)
                || self.tell_key(key, action)
                || self.type_in_dialog(key, action);
        }
        match &self.mode {
            Mode::Observe => return self.literal_chord(key, action),
            Mode::Copy(_) => action.into_iter().for_each(|action| self.act_in_copy(action)),
            Mode::Input(task) => self.input_key(&task.clone(), key, action),
            Mode::Write(prompt, _) => self.prompt_key(prompt.clone(), key, action),
        }
        true
    }

    /// Pressing the chord that leaves input mode again sends it to the task: `Ctrl-]` twice is one for the
    /// child.
    fn literal_chord(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        let leaves = self.setup.keymap.action(Context::Input, key) == Some(Action::Leave);
        if action != Some(Action::Type) || !leaves {
            return false;
        }
        self.act(Action::Type);
        if let Mode::Input(task) = &self.mode {
            self.effects.push(Effect::send(task.clone(), Input::Keys(vec![key])));
        }
        true
    }

    fn input_key(&mut self, task: &TaskId, key: KeyPress, action: Option<Action>) {
        let leaves = action == Some(Action::Leave);
        let view = self.view.task(task).cloned();
        if let Some(view) = view.as_ref().filter(|task| task.status.is_terminal()) {
            return self.leave_ended(view, leaves);
        }
        if leaves {
            return self.observe();
        }
        if self.view.is_lost || !view.is_some_and(|task| takes_input(&task)) {
            return;
        }
        self.thaw();
        self.effects.push(Effect::send(task.clone(), Input::Keys(vec![key])));
    }

    /// Handles a key for a task that ended while being typed into: the key is discarded, so that none becomes
    /// a command; the first key after a pause returns to where the task was entered from.
    fn leave_ended(&mut self, task: &TaskView, at_once: bool) {
        let ended = task.ended.as_ref().map_or(task.updated_at, |ended| ended.at);
        let last = self.swallowed.replace(self.now).map_or(ended, |swallowed| swallowed.max(ended));
        if !at_once && self.now.duration_since(last) < RESTED {
            return;
        }
        self.observe();
        if let Some(screen) = self.entered_from.take() {
            self.show(screen);
        }
    }

    /// Opens an input line.
    pub(super) fn write(&mut self, prompt: Prompt) {
        self.history.rest();
        self.commands.rest();
        self.mode = Mode::Write(prompt, Editor::default());
    }

    fn prompt_key(&mut self, prompt: Prompt, key: KeyPress, action: Option<Action>) {
        let has_history = matches!(prompt, Prompt::Line(_) | Prompt::Start);
        match (action, prompt) {
            (Some(Action::Leave), Prompt::Search(_)) => {
                self.observe();
                self.thaw();
            }
            (Some(Action::Leave), Prompt::FilterCalls) => {
                self.calls.filter.clear();
                self.observe();
            }
            (Some(Action::Leave), Prompt::FilterTasks) => {
                self.set_filters(Filters { text: String::new(), ..self.list.filters.clone() });
                self.observe();
            }
            (Some(Action::Leave), _) => self.observe(),
            (Some(Action::Raw), Prompt::Line(task)) => self.mode = Mode::Input(task),
            (Some(Action::Newline), Prompt::Line(_)) => self.edit(InputRequest::InsertChar('\n')),
            (Some(Action::Send), Prompt::Line(task)) => {
                self.send_line(&task);
                self.observe();
            }
            (Some(Action::SendOn), Prompt::Line(task)) => self.send_line(&task),
            (Some(Action::Send), Prompt::Rename(task)) => {
                let name = self.take_written();
                let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
                self.effects.push(Effect::Ask(Request::Rename { task, name }));
            }
            (Some(Action::Send), Prompt::Watch(task)) => {
                let text = self.take_written();
                self.watch_for(&task, &text);
            }
            (Some(Action::Send), Prompt::Layout) => {
                let name = self.take_written();
                self.save_layout(&name);
            }
            (Some(Action::Run), Prompt::Start) => self.run_command(),
            (Some(Action::Find), Prompt::Search(task)) => self.find(task),
            (Some(Action::Find), Prompt::SearchAll) => self.search_all(),
            (Some(Action::Find), Prompt::Find) => self.start_finding(),
            (Some(Action::Find), Prompt::FilterCalls | Prompt::FilterTasks) => self.observe(),
            (_, Prompt::FilterTasks) => self.write_filter_key(key),
            (_, Prompt::FilterCalls) => {
                self.edit_key(key);
                self.filter_calls();
            }
            (_, Prompt::Search(_)) => {
                self.edit_key(key);
                self.find_as_written();
            }
            _ if has_history => self.edit_or_call_back(key),
            _ => self.edit_key(key),
        }
    }

    /// Returns the typed text and goes back to observing.
    pub(super) fn take_written(&mut self) -> String {
        let written = self.editor().map(Editor::value_and_reset).unwrap_or_default();
        self.observe();
        written
    }

    /// Sends the typed line.
    fn send_line(&mut self, task: &TaskId) {
        let text = self.editor().map(Editor::value_and_reset).unwrap_or_default();
        let Some(view) = self.view.task(task).cloned() else { return };
        if !takes_input(&view) {
            self.toasts.fail(format!("{} has ended", super::alias(&view)), None);
            return;
        }
        if !is_unrecorded(&view) {
            self.history.keep(&text);
        }
        self.effects.push(line_to(&view, &text));
    }

    fn run_command(&mut self) {
        let written = self.take_written();
        let cmd = written.trim();
        if cmd.is_empty() {
            return;
        }
        // As in a shell, a leading space keeps it out of the history.
        if !written.starts_with(' ') {
            self.commands.keep(cmd);
            if mask(cmd) == cmd && cmd.chars().count() <= KEPT_CHARS {
                self.effects.push(Effect::KeepCommand(cmd.to_owned()));
            }
        }
        match program_file(cmd) {
            Some(file) => self.run_program(file),
            None => self.run_here(cmd),
        }
    }

    /// Runs a command in a pane as wide as the screen, which receives the keys.
    pub(super) fn run_here(&mut self, cmd: &str) {
        self.enters_next = true;
        let place = self.start_at.take().or_else(|| self.place_at_hand());
        self.effects.push(start_of(place, cmd, Some(Layout::alone(self))));
    }

    /// Lists the calls that match the typed text, and shows the newest of them.
    pub(super) fn filter_calls(&mut self) {
        let Mode::Write(Prompt::FilterCalls, editor) = &self.mode else { return };
        self.calls.filter = editor.value().to_owned();
        self.calls.selected = None;
    }

    /// Recalls older and newer lines with the up and down keys, unless the input is hidden.
    fn edit_or_call_back(&mut self, press: KeyPress) {
        let older = match press.key {
            Key::Up => true,
            Key::Down => false,
            _ => return self.edit_key(press),
        };
        let is_hidden =
            self.typing_into().and_then(|task| self.view.task(task)).is_some_and(|task| wants_secret(task));
        if is_hidden {
            return;
        }
        let starts = matches!(self.mode, Mode::Write(Prompt::Start, _));
        let history = if starts { &mut self.commands } else { &mut self.history };
        if let Some(line) = history.step(older)
            && let Some(editor) = self.editor()
        {
            *editor = Editor::new(line);
        }
    }

    pub(super) fn edit_key(&mut self, press: KeyPress) {
        let request = match (press.key, press.ctrl, press.alt) {
            (Key::Char(c), false, false) => InputRequest::InsertChar(c),
            (Key::Backspace, false, false) | (Key::Char('h'), true, _) => InputRequest::DeletePrevChar,
            (Key::Delete, ..) | (Key::Char('d'), true, _) => InputRequest::DeleteNextChar,
            (Key::Left, false, false) | (Key::Char('b'), true, _) => InputRequest::GoToPrevChar,
            (Key::Right, false, false) | (Key::Char('f'), true, _) => InputRequest::GoToNextChar,
            (Key::Left, ..) | (Key::Char('b'), _, true) => InputRequest::GoToPrevWord,
            (Key::Right, ..) | (Key::Char('f'), _, true) => InputRequest::GoToNextWord,
            (Key::Char('w'), true, _) | (Key::Backspace, ..) => InputRequest::DeletePrevWord,
            (Key::Char('u'), true, _) => InputRequest::DeleteLine,
            (Key::Char('k'), true, _) => InputRequest::DeleteTillEnd,
            (Key::Home, ..) | (Key::Char('a'), true, _) => InputRequest::GoToStart,
            (Key::End, ..) | (Key::Char('e'), true, _) => InputRequest::GoToEnd,
            _ => return,
        };
        self.edit(request);
    }

    pub(super) fn edit(&mut self, request: InputRequest) {
        let most = self.most_written();
        let Some(editor) = self.editor() else { return };
        if matches!(request, InputRequest::InsertChar(_)) && editor.value().len() >= most {
            return self.say(format!("the line is full: it holds {}", size(most)));
        }
        let _ = editor.handle(request);
        self.rewrite_rule();
    }

    pub(super) fn editor(&mut self) -> Option<&mut Editor> {
        if let Some(layer) = self.layers.last_mut() {
            return match layer {
                Layer::List(chooser) => Some(&mut chooser.editor),
                Layer::Approval(card) => card.writing.as_mut().map(Writing::editor),
                Layer::Question(dialog) => dialog.editor(),
                Layer::Tell(dialog) => Some(&mut dialog.editor),
                _ => None,
            };
        }
        match &mut self.mode {
            Mode::Write(_, editor) => Some(editor),
            Mode::Observe | Mode::Input(_) | Mode::Copy(_) => None,
        }
    }
}

/// Returns the effect that sends a line to a task. A secret is sent like raw keys, and so is every answer at
/// a terminal beside a command's streams: its text is never recorded.
pub(crate) fn line_to(task: &TaskView, text: &str) -> Effect {
    let text = if task.tty || task.side_terminal {
        format!("{}\r", text.replace('\n', "\r"))
    } else {
        format!("{text}\n")
    };
    if is_unrecorded(task) {
        return Effect::send(task.id.clone(), Input::Text(text));
    }
    Effect::call("TaskInput", json!({"task_id": task.id, "input": text}))
}

/// Returns the effect that starts a command for the user: on a terminal of its future pane's size, and as a
/// task right away; in the given place if there are several.
pub(crate) fn start_of(place: Option<PlaceId>, cmd: &str, size: Option<Size>) -> Effect {
    let mut input = json!({"cmd": cmd, "tty": true, "yield_time_ms": 0});
    if let Some(size) = size {
        input["cols"] = size.cols().into();
        input["rows"] = size.rows().into();
    }
    Effect::call_at(place, "ExecCommand", input)
}

/// Tells whether a line for a task must not be recorded. At a side terminal this covers every line: one typed
/// just before the password prompt is detected may be a password too.
fn is_unrecorded(task: &TaskView) -> bool {
    wants_secret(task) || task.side_terminal
}

/// Tells whether input for a task must be hidden now.
pub(crate) fn wants_secret(task: &TaskView) -> bool {
    task.waiting.as_ref().is_some_and(|waiting| waiting.kind == Need::Secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_newest_first() {
        let mut lines = History::default();
        for line in ["one", "two", "two", " "] {
            lines.keep(line);
        }
        assert_eq!(lines.step(true).as_deref(), Some("two"));
        assert_eq!(lines.step(true).as_deref(), Some("one"));
        assert_eq!(lines.step(true), None);
        assert_eq!(lines.step(false).as_deref(), Some("two"));
        assert_eq!(lines.step(false).as_deref(), Some(""));
        assert_eq!(lines.step(false), None);
    }
}
