//! Copy mode: what its keys and the mouse do, and where the text goes.

use crate::terminal::Size;

use super::super::app::copy::{Copying, Shape, Spot};
use super::super::app::{App, Mode};
use super::super::keys::action::Action;
use super::super::msg::{Anchor, Effect};

/// Rows of the page that is read for copying: some way back, whatever the pane shows.
const ROWS: u16 = 250;

impl App {
    /// Returns copy mode, while it is on.
    #[must_use]
    pub fn copying(&self) -> Option<&Copying> {
        if let Mode::Copy(copying) = &self.mode { Some(copying) } else { None }
    }

    /// Makes the pane at hand stand still, with a cursor at the end of what it shows.
    pub(super) fn start_copying(&mut self) -> Vec<Effect> {
        let Some((mut copying, follows)) = self.still() else { return Vec::new() };
        let is_alternate = follows && copying.picture.modes.alternate_screen;
        let page = self.scroll.as_ref().and_then(|scroll| scroll.page.as_ref());
        let anchor = page.map_or(Anchor::Tail, |page| Anchor::Before(page.next_line));
        let last = copying.last().0;
        copying.at = (last, 0);
        self.mode = Mode::Copy(copying);
        if is_alternate { Vec::new() } else { self.copy_from(anchor) }
    }

    /// Asks for a page to copy from; it takes the place of the picture unless the cursor is moved before.
    pub(super) fn copy_from(&mut self, anchor: Anchor) -> Vec<Effect> {
        let Mode::Copy(copying) = &mut self.mode else { return Vec::new() };
        copying.wanted = Some(anchor);
        let task = copying.task.clone();
        let columns = self.task(&task).map_or(80, |task| task.size.cols());
        vec![Effect::Page { task, anchor, size: Size::clamped(columns, ROWS) }]
    }

    /// Returns the pane at hand as it stands, and whether it follows its task.
    fn still(&self) -> Option<(Copying, bool)> {
        let task = self.at_hand()?.id.clone();
        let pane = self.plan().pane(&task)?.cells;
        let page = self.scroll.as_ref().filter(|scroll| scroll.task == task);
        if let Some(page) = page.and_then(|scroll| scroll.page.as_ref()) {
            let mut copying = Copying::new(task, page.picture.clone(), 0, (0, 0));
            copying.lines.clone_from(&page.rows);
            return Some((copying, false));
        }
        let picture = self.pictures.get(&task)?.clone();
        let top = picture.top(pane.height);
        Some((Copying::new(task, picture, top, (top, 0)), true))
    }

    pub(super) fn act_in_copy(&mut self, action: Action) -> Vec<Effect> {
        let rows = self.copy_rows();
        let Mode::Copy(copying) = &mut self.mode else { return Vec::new() };
        let (row, column) = copying.at;
        let last = copying.last();
        let page = rows.saturating_sub(1).max(1);
        let to = match action {
            Action::Up => (row.saturating_sub(1), column),
            Action::Down => (row.saturating_add(1), column),
            Action::Left => (row, column.saturating_sub(1)),
            Action::Right => (row, column.saturating_add(1)),
            Action::PageUp => (row.saturating_sub(page), column),
            Action::PageDown => (row.saturating_add(page), column),
            Action::First => (0, 0),
            Action::Last => (last.0, 0),
            Action::LineStart => (row, 0),
            Action::LineEnd => (row, copying.picture.text_columns(row).saturating_sub(1)),
            Action::Select | Action::SelectLines | Action::SelectBlock => {
                let shape = match action {
                    Action::SelectLines => Shape::Lines,
                    Action::SelectBlock => Shape::Block,
                    _ => Shape::Chars,
                };
                let is_over = copying.anchor.is_some() && copying.shape == shape;
                copying.anchor = if is_over { None } else { copying.anchor.or(Some(copying.at)) };
                (copying.shape, copying.wanted) = (shape, None);
                return Vec::new();
            }
            Action::Yank => return self.yank(),
            Action::PreviousPrompt | Action::NextPrompt => {
                return self.copy_to_prompt(action == Action::NextPrompt);
            }
            _ => {
                self.leave_copy();
                return Vec::new();
            }
        };
        copying.go(to, rows);
        self.pan_to_cursor();
        Vec::new()
    }

    /// The cursor stays in sight where a pane is narrower than its task.
    fn pan_to_cursor(&mut self) {
        let Some(copying) = self.copying() else { return };
        let column = copying.at.1;
        let shown = self.plan().pane(&copying.task).map_or(1, |pane| pane.cells.width.max(1));
        self.pan = self.pan.clamp(column.saturating_sub(shown - 1), column);
    }

    /// Copies what is selected and goes back to where the person was.
    fn yank(&mut self) -> Vec<Effect> {
        let Some(text) = self.copying().map(Copying::text) else { return Vec::new() };
        self.leave_copy();
        if text.is_empty() {
            self.toasts.say("nothing to copy there", None, self.now);
            return Vec::new();
        }
        vec![Effect::Yank { what: said(&text), text }]
    }

    pub(super) fn leave_copy(&mut self) {
        let Mode::Copy(copying) = &self.mode else { return };
        self.mode = if copying.was_input { Mode::Input(copying.task.clone()) } else { Mode::Observe };
    }

    fn copy_rows(&self) -> u16 {
        let task = self.copying().map(|copying| copying.task.clone());
        task.and_then(|task| self.plan().pane(&task).map(|pane| pane.cells.height)).unwrap_or(1)
    }

    /// The longer page has been read.
    pub(super) fn lengthen(&mut self, anchor: Anchor, page: &super::super::msg::PageView) -> bool {
        let rows = self.copy_rows();
        match &mut self.mode {
            Mode::Copy(copying) if copying.wanted == Some(anchor) => {
                copying.wanted = None;
                if let Anchor::Top(line) = anchor {
                    copying.turn_to(page, line, rows);
                } else if page.picture.used_rows() >= rows.min(copying.picture.used_rows()) {
                    copying.lengthen(page, rows);
                }
                true
            }
            _ => false,
        }
    }

    /// A press on a pane may begin a drag.
    pub(super) fn note_press(&mut self, spot: Option<Spot>) {
        self.pressed = spot;
    }

    /// The mouse is dragged over the pane at hand: the text between press and pointer is selected.
    pub(super) fn drag(&mut self, to: Spot) -> bool {
        let rows = self.copy_rows();
        if let Mode::Copy(copying) = &mut self.mode {
            let row = copying.top.saturating_add(to.0.min(rows.saturating_sub(1)));
            copying.anchor = copying.anchor.or(Some(copying.at));
            copying.go((row, to.1), rows);
            return true;
        }
        let Some(from) = self.pressed.filter(|from| *from != to) else { return false };
        let was_input = matches!(self.mode, Mode::Input(_));
        if !was_input && !matches!(self.mode, Mode::Observe) {
            return false;
        }
        let Some((mut copying, _)) = self.still() else { return false };
        let place = |spot: Spot| (copying.top.saturating_add(spot.0), spot.1);
        let (from, to) = (place(from), place(to));
        let rows = self.plan().pane(&copying.task).map_or(1, |pane| pane.cells.height);
        copying.go(from, rows);
        copying.anchor = Some(copying.at);
        copying.go(to, rows);
        copying.was_input = was_input;
        self.mode = Mode::Copy(copying);
        true
    }

    /// The button is let go: what was dragged over is copied.
    pub(super) fn drop_drag(&mut self) -> Vec<Effect> {
        let was_dragged = self.pressed.take().is_some();
        if was_dragged && self.copying().is_some_and(|copying| copying.anchor.is_some()) {
            return self.yank();
        }
        Vec::new()
    }
}

impl App {
    /// What the last command printed has been read: it is copied.
    pub(super) fn output_read(&mut self, text: String, is_marked: bool) -> Vec<Effect> {
        let text = text.trim_end().to_owned();
        if text.is_empty() {
            self.toasts.say("it has printed nothing yet", None, self.now);
            return Vec::new();
        }
        let of = if is_marked { "of the last command" } else { "of all output" };
        vec![Effect::Yank { what: format!("{} {of}", said(&text)), text }]
    }

    /// Says by which ways a text went.
    pub(super) fn copied(&mut self, what: &str, ways: &[&'static str]) {
        let text = match ways {
            [] => format!("{what}: too long for the terminal, and no clipboard tool took it"),
            ways => format!("copied {what} ({})", ways.join(", ")),
        };
        if ways.is_empty() { self.toasts.fail(text, None) } else { self.toasts.say(text, None, self.now) }
    }
}

/// Says how much a text is.
fn said(text: &str) -> String {
    match text.lines().count() {
        0 | 1 => format!("{} characters", text.chars().count()),
        lines => format!("{lines} lines"),
    }
}
