//! Pastes: into a line or a dialog as a single edit, or into a task, several lines only after a question. A paste is
//! never a key: where there is nothing to write into, it does nothing. What is too long is refused whole, with the
//! limit.

use crate::console::effect::Effect;
use crate::console::keys::decode::{MOST_PASTE, PasteTrouble};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::alias;
use crate::console::text::{self, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, dialog};
use crate::envelope::TaskId;
use crate::model::TypedInput;

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
    pub(in crate::console) fn new(task: TaskId, text: String) -> Self {
        // As the task receives it: CR ends a line just as LF does.
        let sent = line_feeds(&text);
        let cut = |line: &str| line.chars().take(SHOWN_CHARS).collect::<String>();
        let shown = sent.lines().take(SHOWN_LINES).map(|line| visible::one_line(&cut(line)).into_owned());
        Self { task, shown: shown.collect(), lines: sent.lines().count(), chars: text.chars().count(), text }
    }

    /// Returns the effect that sends it.
    pub(in crate::console) fn send(self) -> Effect {
        Effect::send(self.task, TypedInput::Paste(self.text))
    }
}

/// Reports a paste that did not arrive, or not to its end.
pub(in crate::console) fn paste_failure(trouble: PasteTrouble) -> String {
    match trouble {
        PasteTrouble::Stalled => {
            "a paste has not ended: Esc drops it, any other key is part of it".to_owned()
        }
        PasteTrouble::Dropped(bytes) => {
            format!("a paste without an end was dropped, {}", size(bytes))
        }
        PasteTrouble::TooLong(bytes) => refusal(bytes, "a paste has", MOST_PASTE),
    }
}

pub(in crate::console) fn refusal(bytes: usize, what: &str, most: usize) -> String {
    format!("the paste of {} was not taken: {what} {} at most", size(bytes), size(most))
}

pub(in crate::console) fn line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Formats a length.
pub(in crate::console) fn size(bytes: usize) -> String {
    text::size(bytes as u64)
}

pub(in crate::console) fn draw(painter: &mut Painter<'_>, paste: &UnsentPaste) {
    let Some(task) = painter.state.view.task(&paste.task) else { return };
    let mut rows: Vec<_> = paste.shown.iter().map(|line| vec![piece(line, Role::Text)]).collect();
    if paste.lines > SHOWN_LINES {
        rows.push(vec![piece(format!("and {} more", many(paste.lines - SHOWN_LINES, "line")), Role::Faint)]);
    }
    let (lines, chars) = (many(paste.lines, "line"), many(paste.chars, "char"));
    let title = format!("paste {lines}, {chars} into {}?", alias(task));
    dialog(painter, &title, rows, KeyContext::Paste, &[(Action::Confirm, "paste"), (Action::Back, "do not")]);
}

fn many(count: usize, word: &str) -> String {
    format!("{} {word}{}", text::count(count as u64), if count == 1 { "" } else { "s" })
}
