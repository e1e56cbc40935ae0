//! The input line: what is written there is sent to a task or run as a command, and can be called back.

use tui_input::Input as Editor;

use crate::console::effect::Effect;
use crate::console::state::input::is_unrecorded;
use crate::console::state::{Mode, Prompt, State, alias, line_to, takes_input, wants_secret};
use crate::envelope::{TaskId, mask};
use crate::terminal::{Key, KeyPress};

/// Maximum length of a command that is saved in the history, in characters.
const KEPT_CHARS: usize = 2_000;

impl State {
    /// Sends the typed line.
    pub(super) fn send_line(&mut self, task: &TaskId) {
        let text = self.editor().map(Editor::value_and_reset).unwrap_or_default();
        let Some(view) = self.view.task(task).cloned() else { return };
        if !takes_input(&view) {
            self.toasts.fail(format!("{} has ended", alias(&view)), None);
            return;
        }
        if !is_unrecorded(&view) {
            self.composer.lines.keep(&text);
        }
        self.effects.push(line_to(&view, &text));
    }

    /// Takes the typed command, and keeps it unless it is blank. As in a shell, a leading space keeps it out of the history.
    pub(super) fn take_command(&mut self) -> String {
        let written = self.take_written();
        let cmd = written.trim();
        if !cmd.is_empty() && !written.starts_with(' ') {
            self.composer.commands.keep(cmd);
            if mask(cmd) == cmd && cmd.chars().count() <= KEPT_CHARS {
                self.effects.push(Effect::KeepCommand(cmd.to_owned()));
            }
        }
        cmd.to_owned()
    }

    /// Recalls older and newer lines with the up and down keys, unless the input is hidden; tells whether it was one of
    /// these keys.
    pub(super) fn call_back(&mut self, press: KeyPress) -> bool {
        let older = match press.key {
            Key::Up => true,
            Key::Down => false,
            _ => return false,
        };
        let typed_into = self.typing_into().and_then(|task| self.view.task(task));
        if typed_into.is_some_and(|task| wants_secret(task)) {
            return true;
        }
        let starts = matches!(self.focus.mode, Mode::Write(Prompt::Start, _));
        let history = if starts { &mut self.composer.commands } else { &mut self.composer.lines };
        if let Some(line) = history.step(older)
            && let Some(editor) = self.editor()
        {
            *editor = Editor::new(line);
        }
        true
    }
}
