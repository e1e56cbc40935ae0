//! The input line: what is written there is sent to a task or run as a command, and can be called back.

use tui_input::Input as Editor;

use crate::console::effect::Effect;
use crate::console::state::input::is_unrecorded;
use crate::console::state::{Mode, Prompt, State, alias, line_to, takes_input, wants_secret};
use crate::envelope::{TaskId, mask};
use crate::terminal::{Key, KeyPress};

/// Maximum length of a command that is saved in the history, in characters.
const KEPT_CHARS: usize = 2_000;

/// Sends the typed line.
pub(in crate::console) fn send_line(state: &mut State, task: &TaskId) {
    let text = state.editor().map(Editor::value_and_reset).unwrap_or_default();
    let Some(view) = state.view.task(task).cloned() else { return };
    if !takes_input(&view) {
        state.toasts.fail(format!("{} has ended", alias(&view)), None);
        return;
    }
    if !is_unrecorded(&view) {
        state.composer.lines.keep(&text);
    }
    state.effects.push(line_to(&view, &text));
}

/// Takes the typed command, and keeps it unless it is blank. As in a shell, a leading space keeps it out of the history.
pub(in crate::console) fn take_command(state: &mut State) -> String {
    let written = state.take_written();
    let cmd = written.trim();
    if !cmd.is_empty() && !written.starts_with(' ') {
        state.composer.commands.keep(cmd);
        if mask(cmd) == cmd && cmd.chars().count() <= KEPT_CHARS {
            state.effects.push(Effect::KeepCommand(cmd.to_owned()));
        }
    }
    cmd.to_owned()
}

/// Recalls older and newer lines with the up and down keys, unless the input is hidden; tells whether it was one of
/// these keys.
pub(in crate::console) fn call_back(state: &mut State, press: KeyPress) -> bool {
    let older = match press.key {
        Key::Up => true,
        Key::Down => false,
        _ => return false,
    };
    let typed_into = state.typing_into().and_then(|task| state.view.task(task));
    if typed_into.is_some_and(|task| wants_secret(task)) {
        return true;
    }
    let starts = matches!(state.focus.mode, Mode::Write(Prompt::Start, _));
    let history = if starts { &mut state.composer.commands } else { &mut state.composer.lines };
    if let Some(line) = history.step(older)
        && let Some(editor) = state.editor()
    {
        *editor = Editor::new(line);
    }
    true
}
