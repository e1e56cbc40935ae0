//! Pastes: into a line or a dialog as a single edit, or into a task, several lines only after a question. A paste is
//! never a key: where there is nothing to write into, it does nothing. What is too long is refused whole, with the
//! limit.

use tui_input::Input as Editor;

use crate::envelope::TaskId;
use crate::model::{Input, MOST_INPUT};

use super::approval::card::{Card, Writing};
use super::dialog::dialog;
use super::{App, Layer, Mode, Painter, Prompt, alias, takes_input};
use crate::console::keys::decode::{MOST_PASTE, PasteTrouble};
use crate::console::keys::{Action, Context};
use crate::console::msg::Effect;
use crate::console::text::{self, piece, visible};
use crate::console::theme::Role;

/// Maximum length of a text that is being written, in bytes.
pub(crate) const MOST_WRITTEN: usize = 64 << 10;
/// Maximum length of a name, a rule, or a text to find or to filter by, in bytes: it is compared with much else as it
/// is written.
const MOST_QUERY: usize = 1 << 10;
/// How many lines of a paste are shown before it is sent.
const SHOWN_LINES: usize = 5;
/// How much of a line is shown, in characters.
const SHOWN_CHARS: usize = 400;

/// A paste of several lines that has not been sent yet.
#[derive(Debug, Clone)]
pub struct UnsentPaste {
    /// The task it is for.
    pub task: TaskId,
    text: String,
    /// The first lines, as the task would receive them.
    shown: Vec<String>,
    lines: usize,
    chars: usize,
}

impl UnsentPaste {
    fn new(task: TaskId, text: String) -> Self {
        // As the task receives it: CR ends a line just as LF does.
        let sent = line_feeds(&text);
        let cut = |line: &str| line.chars().take(SHOWN_CHARS).collect::<String>();
        let shown = sent.lines().take(SHOWN_LINES).map(|line| visible::one_line(&cut(line)).into_owned());
        Self { task, shown: shown.collect(), lines: sent.lines().count(), chars: text.chars().count(), text }
    }

    /// Returns the effect that sends it.
    pub(super) fn send(self) -> Effect {
        Effect::send(self.task, Input::Paste(self.text))
    }
}

impl App {
    pub(super) fn paste(&mut self, text: String) {
        if self.is_leaving {
            return;
        }
        if !self.layers.is_empty() {
            return self.insert(&text);
        }
        match &self.mode {
            Mode::Copy(_) => {}
            Mode::Observe => self.say("Enter to type into the task, then paste"),
            Mode::Input(task) => {
                let task = task.clone();
                if !self.view.task(&task).is_some_and(|task| takes_input(task)) {
                    return;
                }
                if text.len() > MOST_INPUT {
                    return self.refuse_paste(text.len(), "a task takes", MOST_INPUT);
                }
                if text.trim_end_matches(['\r', '\n']).contains(['\r', '\n']) {
                    return self.open(Layer::Paste(Box::new(UnsentPaste::new(task, text))));
                }
                self.effects.push(Effect::send(task, Input::Paste(text)));
            }
            Mode::Write(..) => self.insert(&text),
        }
    }

    /// Reports a paste that did not arrive, or not to its end.
    pub(super) fn paste_failed(&mut self, trouble: PasteTrouble) {
        match trouble {
            PasteTrouble::Stalled => {
                self.toasts.fail("a paste has not ended: Esc drops it, any other key is part of it", None);
            }
            PasteTrouble::Dropped(bytes) => {
                self.toasts.fail(format!("a paste without an end was dropped, {}", size(bytes)), None);
            }
            PasteTrouble::TooLong(bytes) => self.refuse_paste(bytes, "a paste has", MOST_PASTE),
        }
    }

    fn refuse_paste(&mut self, bytes: usize, what: &str, most: usize) {
        let told = format!("the paste of {} was not taken: {what} {} at most", size(bytes), size(most));
        self.toasts.fail(told, None);
    }

    /// Inserts pasted text into the text being written, as one edit.
    fn insert(&mut self, text: &str) {
        let (most, text) = (self.most_written(), text.trim_end_matches(['\r', '\n']));
        let Some(editor) = self.editor() else { return self.say("a paste is no answer here: press a key") };
        if editor.value().len() + text.len() > most {
            return self.refuse_paste(text.len(), "this line holds", most);
        }
        let (pasted, cursor) = (line_feeds(text), editor.cursor());
        let mut value = editor.value().to_owned();
        let at = value.char_indices().nth(cursor).map_or(value.len(), |(at, _)| at);
        value.insert_str(at, &pasted);
        *editor = Editor::new(value).with_cursor(cursor + pasted.chars().count());
        self.rewrite_rule();
        self.filter_list();
        self.filter_calls();
        self.filter_tasks();
        self.find_as_written();
    }

    /// Returns the maximum length of the text being written, in bytes.
    pub(super) fn most_written(&self) -> usize {
        match (self.layers.last(), &self.mode) {
            (Some(Layer::List(_) | Layer::Approval(Card { writing: Some(Writing::Rule(_)), .. })), _) => {
                MOST_QUERY
            }
            (Some(_), _) | (None, Mode::Write(Prompt::Line(_) | Prompt::Start, _)) => MOST_WRITTEN,
            (None, _) => MOST_QUERY,
        }
    }
}

fn line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Formats a length.
pub(super) fn size(bytes: usize) -> String {
    text::bytes(bytes as u64)
}

pub(super) fn draw(painter: &mut Painter<'_>, paste: &UnsentPaste) {
    let Some(task) = painter.app.view.task(&paste.task) else { return };
    let mut rows: Vec<_> = paste.shown.iter().map(|line| vec![piece(line, Role::Text)]).collect();
    if paste.lines > SHOWN_LINES {
        rows.push(vec![piece(format!("and {} more", many(paste.lines - SHOWN_LINES, "line")), Role::Faint)]);
    }
    let (lines, chars) = (many(paste.lines, "line"), many(paste.chars, "char"));
    let title = format!("paste {lines}, {chars} into {}?", alias(task));
    dialog(painter, &title, rows, Context::Paste, &[(Action::Confirm, "paste"), (Action::Back, "do not")]);
}

fn many(count: usize, word: &str) -> String {
    format!("{} {word}{}", text::count(count as u64), if count == 1 { "" } else { "s" })
}
