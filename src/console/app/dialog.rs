//! Dialogs over the screen: which one receives the keys, the frames they are drawn in, and help.

use jiff::Timestamp;
use ratatui::layout::Rect;

use crate::envelope::TaskId;
use crate::model::{READING, TaskView};

use super::layout::{centred, inside};
use super::stop::{draw_quit, draw_signal, draw_stop, signal};
use super::{App, Breakpoint, Layer, Painter, alias, cut_bottom, cut_top, moved};
use crate::console::keys::{Action, Context};
use crate::console::text::{Piece, column, piece, visible, wrapped};
use crate::console::theme::Role;

pub(super) const DIALOG_COLUMNS: u16 = 62;

impl App {
    pub(super) fn act_in_dialog(&mut self, action: Action) {
        let Some(layer) = self.layers.pop() else { return };
        if matches!(layer, Layer::Quit) && self.stop_question.is_some() {
            return self.answer_stop_question(action);
        }
        if action == Action::Back {
            return;
        }
        if let Layer::Stop { task, .. } | Layer::Signal(task) | Layer::Restart(task) = &layer
            && !self.guard.admits(action, self.now)
        {
            let name = self.view.task(task).map_or_else(|| task.to_string(), |task| alias(task));
            self.say(format!("{name} is another task than before: press again"));
            return self.open(layer);
        }
        match layer {
            Layer::Stop { task, kill } => self.stop(task, kill, action),
            Layer::Restart(task) => self.restart(task, action),
            Layer::Signal(task) => self.effects.extend(signal(&task, action)),
            Layer::Quit => self.quit(action),
            // Any other key leaves the dialog open. Keys of a list never get here, because letters are typed
            // into it.
            Layer::Why(_) | Layer::List(_) | Layer::Tell(_) => self.open(layer),
            Layer::Approval(card) => self.act_on_card(card, action),
            Layer::Question(dialog) => self.act_on_question(dialog, action),
            Layer::Attention(chosen) => self.attend(&chosen, action),
            Layer::Paste(paste) => self.effects.push(paste.send()),
            // The palette finds things by any word.
            Layer::Help { .. } if action == Action::Palette => self.open_palette(),
            Layer::Help { about, top } => {
                let rows = (help_lines(self, about).len(), usize::from(self.size.1.saturating_sub(4)));
                self.open(Layer::Help { about, top: scrolled(top, action, rows) })
            }
        }
    }

    /// Marks the state as drawn, and the terminal as having it.
    pub fn drawn(&mut self) {
        self.sent();
        self.taken();
    }

    /// Marks the state as drawn; the terminal may not have it yet.
    pub(in crate::console) fn sent(&mut self) {
        self.is_dirty = false;
        self.sent_dialog = self.unseen_dialog();
    }

    /// Records that the terminal has what was drawn last. A dialog in it that has not changed since can be answered a
    /// moment later.
    pub(in crate::console) fn taken(&mut self) {
        let sent = self.sent_dialog.take();
        if sent.is_some() && sent == self.unseen_dialog() {
            let now = self.now;
            self.shown_at().into_iter().for_each(|shown_at| *shown_at = Some(now));
        }
    }

    /// Returns what the topmost dialog says, if it has not been on screen yet.
    fn unseen_dialog(&mut self) -> Option<String> {
        let is_unseen = self.shown_at().is_some_and(|shown_at| shown_at.is_none());
        is_unseen.then(|| format!("{:?}{:?}", self.layers.last(), self.stop_question))
    }

    /// Returns since when the topmost dialog has been on screen, if it needs to be read first.
    fn shown_at(&mut self) -> Option<&mut Option<Timestamp>> {
        match self.layers.last_mut()? {
            Layer::Question(dialog) => Some(&mut dialog.shown_at),
            Layer::Approval(card) => Some(&mut card.shown_at),
            Layer::Quit => self.stop_question.as_mut().map(|question| &mut question.shown_at),
            _ => None,
        }
    }

    /// Closes dialogs about tasks that have since ended.
    pub(super) fn close_outdated(&mut self) {
        let ended = |task: &TaskId| self.view.task(task).is_none_or(|task| task.status.is_terminal());
        let is_outdated = match self.layers.last() {
            Some(Layer::Stop { task, .. } | Layer::Signal(task) | Layer::Restart(task)) => ended(task),
            Some(Layer::Paste(paste)) => ended(&paste.task),
            Some(Layer::Why(task)) => self.view.task(task).is_none(),
            Some(Layer::Quit | Layer::Tell(_)) => self.view.is_lost,
            Some(Layer::Approval(_)) => self.view.is_lost || self.layout().breakpoint == Breakpoint::Sentence,
            Some(Layer::Help { .. } | Layer::List(_)) => self.layout().breakpoint == Breakpoint::Sentence,
            Some(Layer::Question(_) | Layer::Attention(_)) | None => false,
        };
        if is_outdated {
            self.layers.pop();
            self.is_dirty = true;
        }
    }
}

pub(super) fn draw(painter: &mut Painter<'_>) {
    let app = painter.app;
    let Some(layer) = app.layers.last() else { return };
    match layer {
        Layer::Help { about, top } => draw_help(painter, *about, *top),
        Layer::Quit => draw_quit(painter),
        Layer::List(chooser) => super::chooser::draw(painter, chooser),
        Layer::Approval(card) => super::approval::card::draw(painter, card),
        Layer::Question(dialog) => super::question::draw::draw(painter, dialog),
        Layer::Tell(dialog) => super::tell::draw(painter, dialog),
        Layer::Attention(chosen) => super::attention::draw(painter, chosen),
        Layer::Paste(paste) => super::pasting::draw(painter, paste),
        Layer::Stop { task, .. } | Layer::Signal(task) | Layer::Restart(task) | Layer::Why(task) => {
            let Some(task) = app.view.task(task) else { return };
            match layer {
                Layer::Stop { kill, .. } => draw_stop(painter, task, *kill),
                Layer::Signal(_) => draw_signal(painter, task),
                Layer::Restart(_) => super::restart::draw(painter, task),
                _ => super::timeline::draw_why(painter, task),
            }
        }
    }
}

/// Returns the areas of a dialog with scrolling text: the box, the text in it, and the foot, where choices or
/// input and the keys are.
pub(super) fn places(size: (u16, u16), rows: usize, foot: u16) -> (Rect, Rect, Rect) {
    const MOST_COLUMNS: u16 = 100;
    let whole = centred(size, MOST_COLUMNS, rows.saturating_add(usize::from(foot)), 2);
    let (text, foot) = cut_bottom(inside(whole), foot);
    (whole, text, foot)
}

/// Tells whether something has been on screen long enough for a key press to count as an answer to it.
pub(super) fn has_been_read(shown_at: Option<Timestamp>, now: Timestamp) -> bool {
    shown_at.is_some_and(|at| now >= at + READING)
}

/// Returns the first visible row of a text after a scrolling key.
pub(super) fn scrolled(top: usize, action: Action, (rows, shown): (usize, usize)) -> usize {
    moved(top, action, shown.max(2) - 1, rows.saturating_sub(shown))
}

/// Draws a dialog in the middle of the screen, as high as its rows and the row of keys below them.
pub(super) fn dialog(
    painter: &mut Painter<'_>,
    title: &str,
    mut rows: Vec<Vec<Piece>>,
    context: Context,
    keys: &[(Action, &str)],
) {
    rows.extend([Vec::new(), painter.keys(context, keys)]);
    let area = centred(painter.size(), DIALOG_COLUMNS, rows.len(), 1);
    let inside = painter.boxed(area, title);
    painter.list(inside, rows, |_, row| (row, false));
}

/// Returns the full command, wrapped, in at most this many rows.
pub(super) fn command_rows(
    painter: &Painter<'_>,
    task: &TaskView,
    width: u16,
    most: usize,
) -> Vec<Vec<Piece>> {
    let (shown, dots) = (visible::told(task.cmd.trim()), painter.glyphs().cut);
    let mut rows = wrapped(&[vec![piece(shown, Role::Strong)]], usize::from(width));
    if rows.len() > most {
        rows.truncate(most);
        rows.last_mut().into_iter().for_each(|last| last.push(piece(dots, Role::Faint)));
    }
    if visible::has_hidden(&task.cmd) {
        rows.push(vec![piece("contains hidden characters", Role::Waiting)]);
    }
    rows
}

/// Returns the rows of the help dialog: the keys of a context, then those for typing.
fn help_lines(app: &App, about: Context) -> Vec<Vec<Piece>> {
    let mut rows = Vec::new();
    let dots = app.setup.theme.glyphs.cut;
    let sections = [
        (name(about), about),
        ("while typing into a task", Context::Input),
        ("while writing a line", Context::Line),
        ("while searching", Context::Search),
        ("while copying", Context::Copy),
    ];
    for (title, context) in sections {
        if !rows.is_empty() {
            rows.push(Vec::new());
        }
        rows.push(vec![piece(title, Role::Title)]);
        for (action, keys) in app.setup.keymap.list(context) {
            let can = context != about || app.can(action);
            let role = if can { Role::Text } else { Role::Faint };
            rows.push(vec![
                piece(column(&keys.join(" "), 19, dots), if can { Role::Key } else { Role::Faint }),
                piece(column(action.about(), 37, dots), role),
                piece(action.equivalent(), Role::Faint),
            ]);
        }
    }
    rows
}

fn name(context: Context) -> &'static str {
    match context {
        Context::Focus => "one task",
        Context::Receipts => "receipts",
        Context::Text => "a text",
        Context::Replay => "replay",
        Context::Metrics => "metrics",
        Context::Program => "a program",
        _ => "tasks",
    }
}

pub(super) fn draw_help(painter: &mut Painter<'_>, about: Context, top: usize) {
    let screen = painter.buf.area;
    let area = Rect { y: screen.y + 1, height: screen.height.saturating_sub(2), ..screen };
    let width = area.width.min(84);
    let area = Rect { x: (area.width - width) / 2, width, ..area };
    let rows = help_lines(painter.app, about);
    let shown = usize::from(area.height.saturating_sub(2));
    let inside = painter.boxed(area, "help");
    painter.rows(inside, rows.iter().skip(top));
    let below = rows.len().saturating_sub(top + shown);
    if below > 0 {
        let foot = cut_top(area, area.height.saturating_sub(1)).1;
        let foot = Rect { width: foot.width.saturating_sub(2), ..foot };
        painter.row_right(foot, 0, &[piece(format!(" +{below} rows "), Role::Strong)]);
    }
}
