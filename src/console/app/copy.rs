//! Copy mode: a frozen picture of a pane, with a cursor and a selection, and where the copied text goes.

use crate::envelope::TaskId;

use super::picture::Picture;
use super::{App, Mode};
use crate::console::keys::Action;
use crate::console::msg::{Anchor, Effect, PageView};

/// Number of rows read for copying, reaching back further than the pane shows.
const ROWS: u16 = 250;

/// The shape of the selection between anchor and cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A range of characters.
    Chars,
    /// Whole rows.
    Lines,
    /// A rectangle.
    Block,
}

/// A row and a column in the picture.
pub type Spot = (u16, u16);

/// Copy mode.
#[derive(Debug, Clone)]
pub struct Copying {
    /// The task whose pane it is.
    pub task: TaskId,
    /// The frozen picture.
    pub picture: Picture,
    /// The first row shown.
    pub top: u16,
    /// The cursor.
    pub at: Spot,
    /// Where the selection began, if it has.
    pub anchor: Option<Spot>,
    /// Its shape.
    pub shape: Shape,
    /// The longer page being read, if any; it replaces the picture unless the cursor is moved first.
    pub wanted: Option<Anchor>,
    /// The log line of each row, where known.
    pub lines: Vec<u64>,
    /// Whether input mode was active before, and is to be restored.
    pub was_input: bool,
}

impl Copying {
    /// Enters copy mode on a picture that is shown from row `top` on.
    pub fn new(task: TaskId, picture: Picture, top: u16, at: Spot) -> Self {
        let (anchor, shape, wanted, lines) = (None, Shape::Chars, None, Vec::new());
        Self { task, picture, top, at, anchor, shape, wanted, lines, was_input: false }
    }

    /// Returns the position of the last row and column.
    pub fn last(&self) -> Spot {
        let (columns, _) = self.picture.size();
        (self.picture.used_rows().saturating_sub(1), columns.saturating_sub(1))
    }

    /// Moves the cursor, scrolling as needed.
    pub fn go(&mut self, at: Spot, shown_rows: u16) {
        let last = self.last();
        self.at = (at.0.min(last.0), at.1.min(last.1));
        let lowest_top = self.at.0.saturating_sub(shown_rows.saturating_sub(1));
        self.top = self.top.clamp(lowest_top, self.at.0);
        self.wanted = None;
    }

    /// Returns the row in which a log line begins.
    pub fn row_of(&self, line: u64) -> Option<u16> {
        self.lines.iter().position(|shown| *shown == line).and_then(|row| u16::try_from(row).ok())
    }

    /// Switches to another page, with the cursor at one of its lines.
    pub fn show_page(&mut self, page: &PageView, line: u64, shown_rows: u16) {
        self.take(page);
        let row = self.row_of(line).unwrap_or(0);
        self.top = row;
        self.go((row, 0), shown_rows);
    }

    fn take(&mut self, page: &PageView) {
        self.picture = page.picture.clone();
        self.lines.clone_from(&page.rows);
        self.wanted = None;
    }

    /// Switches to a longer page, whose last row is the last row shown before.
    pub fn lengthen(&mut self, page: &PageView, shown_rows: u16) {
        let column = self.at.1;
        self.take(page);
        let last = self.last().0;
        self.top = last.saturating_sub(shown_rows.saturating_sub(1));
        self.at = (last, column.min(self.last().1));
    }

    /// Returns the range of selected columns in a row, as a start and an exclusive end.
    pub fn columns(&self, row: u16) -> Option<(u16, u16)> {
        let anchor = self.anchor?;
        let (first, last) = if anchor <= self.at { (anchor, self.at) } else { (self.at, anchor) };
        if row < first.0 || row > last.0 {
            return None;
        }
        let end = self.picture.size().0;
        Some(match self.shape {
            Shape::Lines => (0, end),
            Shape::Block => (anchor.1.min(self.at.1), anchor.1.max(self.at.1).saturating_add(1).min(end)),
            Shape::Chars => {
                let from = if row == first.0 { first.1 } else { 0 };
                let to = if row == last.0 { last.1.saturating_add(1).min(end) } else { end };
                (from, to)
            }
        })
    }

    /// Returns the selected text: without trailing blanks, with wrapped rows joined and empty rows kept. With
    /// no selection, returns the cursor's row.
    pub fn text(&self) -> String {
        let mut whole = self.clone();
        if whole.anchor.is_none() {
            (whole.anchor, whole.shape) = (Some(self.at), Shape::Lines);
        }
        let mut out = String::new();
        let mut rows = (0..whole.picture.size().1).filter_map(|row| whole.columns(row).map(|at| (row, at)));
        let mut next = rows.next();
        while let Some((row, (from, to))) = next {
            next = rows.next();
            let text = whole.picture.text(row, from..to);
            let goes_on = whole.shape != Shape::Block && next.is_some() && whole.picture.is_joined(row);
            if goes_on {
                out.push_str(&text);
                continue;
            }
            out.push_str(text.trim_end());
            if next.is_some() {
                out.push('\n');
            }
        }
        out
    }
}

impl App {
    /// Returns the copy mode state, while it is active.
    pub fn copying(&self) -> Option<&Copying> {
        if let Mode::Copy(copying) = &self.mode { Some(copying) } else { None }
    }

    /// Freezes the current pane, with the cursor at the end of what it shows.
    pub(super) fn start_copying(&mut self) {
        let Some((mut copying, follows)) = self.still() else { return };
        let is_alternate = follows && copying.picture.modes.alternate_screen;
        let page = self.scroll.as_ref().and_then(|scroll| scroll.page.as_ref());
        let anchor = page.map_or(Anchor::Tail, |page| Anchor::Before(page.next_line));
        let last = copying.last().0;
        copying.at = (last, 0);
        self.mode = Mode::Copy(copying);
        if !is_alternate {
            self.copy_from(anchor)
        }
    }

    /// Requests a page to copy from; it replaces the picture unless the cursor is moved first.
    pub(super) fn copy_from(&mut self, anchor: Anchor) {
        let Mode::Copy(copying) = &mut self.mode else { return };
        copying.wanted = Some(anchor);
        let task = copying.task.clone();
        if let Some(pane) = self.layout().pane(&task) {
            self.ask_for_page(pane, anchor, ROWS);
        }
    }

    /// Returns the current pane's contents, and whether it follows its task.
    fn still(&self) -> Option<(Copying, bool)> {
        let task = self.at_hand()?.id.clone();
        let pane = self.layout().pane(&task)?.cells;
        let page = self.scroll.as_ref().filter(|scroll| scroll.task == task);
        if let Some(page) = page.and_then(|scroll| scroll.page.as_ref()) {
            let mut copying = Copying::new(task, page.picture.clone(), 0, (0, 0));
            copying.lines.clone_from(&page.rows);
            return Some((copying, false));
        }
        let picture = self.view.pictures.get(&task)?.clone();
        let top = picture.top(pane.height);
        Some((Copying::new(task, picture, top, (top, 0)), true))
    }

    pub(super) fn act_in_copy(&mut self, action: Action) {
        let rows = self.copy_rows();
        let Mode::Copy(copying) = &mut self.mode else { return };
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
                return;
            }
            Action::Yank => return self.yank(),
            Action::PreviousPrompt | Action::NextPrompt => {
                return self.copy_to_prompt(action == Action::NextPrompt);
            }
            _ => {
                self.leave_copy();
                return;
            }
        };
        copying.go(to, rows);
        self.pan_to_cursor();
    }

    /// Pans to keep the cursor visible where the pane is narrower than its task.
    fn pan_to_cursor(&mut self) {
        let Some(copying) = self.copying() else { return };
        let column = copying.at.1;
        let shown = self.layout().pane(&copying.task).map_or(1, |pane| pane.cells.width.max(1));
        self.pan = self.pan.clamp(column.saturating_sub(shown - 1), column);
    }

    /// Copies the selection and returns to the previous mode.
    fn yank(&mut self) {
        let Some(text) = self.copying().map(Copying::text) else { return };
        self.leave_copy();
        if text.is_empty() {
            self.say("nothing to copy there");
            return;
        }
        self.effects.push(Effect::Yank { what: said(&text), text });
    }

    pub(super) fn leave_copy(&mut self) {
        let Mode::Copy(copying) = &self.mode else { return };
        self.mode = if copying.was_input { Mode::Input(copying.task.clone()) } else { Mode::Observe };
    }

    fn copy_rows(&self) -> u16 {
        let task = self.copying().map(|copying| copying.task.clone());
        task.and_then(|task| self.layout().pane(&task).map(|pane| pane.cells.height)).unwrap_or(1)
    }

    /// Replaces the picture with the longer page, once it has been read.
    pub(super) fn lengthen(&mut self, anchor: Anchor, page: &crate::console::msg::PageView) -> bool {
        let rows = self.copy_rows();
        match &mut self.mode {
            Mode::Copy(copying) if copying.wanted == Some(anchor) => {
                copying.wanted = None;
                if let Anchor::Top(line) = anchor {
                    copying.show_page(page, line, rows);
                } else if page.picture.used_rows() >= rows.min(copying.picture.used_rows()) {
                    copying.lengthen(page, rows);
                }
                true
            }
            _ => false,
        }
    }

    /// Handles dragging the mouse over the current pane: selects the text between the press and the pointer.
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
        let rows = self.layout().pane(&copying.task).map_or(1, |pane| pane.cells.height);
        copying.go(from, rows);
        copying.anchor = Some(copying.at);
        copying.go(to, rows);
        copying.was_input = was_input;
        self.mode = Mode::Copy(copying);
        true
    }

    /// Handles the release of the mouse button: copies the dragged selection.
    pub(super) fn drop_drag(&mut self) {
        let was_dragged = self.pressed.take().is_some();
        if was_dragged && self.copying().is_some_and(|copying| copying.anchor.is_some()) {
            self.yank()
        }
    }

    /// Copies the output of the last command, once it has been read.
    pub(super) fn copy_output(&mut self, text: String, is_marked: bool) {
        let text = text.trim_end().to_owned();
        if text.is_empty() {
            self.say("it has printed nothing yet");
            return;
        }
        let of = if is_marked { "of the last command" } else { "of all output" };
        self.effects.push(Effect::Yank { what: format!("{} {of}", said(&text)), text });
    }

    /// Shows which clipboards took the text.
    pub(super) fn copied(&mut self, what: &str, ways: &[&'static str]) {
        let text = match ways {
            [] => format!("{what}: too long for the terminal, and no clipboard tool took it"),
            ways => format!("copied {what} ({})", ways.join(", ")),
        };
        if ways.is_empty() { self.toasts.fail(text, None) } else { self.say(text) }
    }
}

/// Describes the length of a text.
fn said(text: &str) -> String {
    match text.lines().count() {
        0 | 1 => format!("{} characters", text.chars().count()),
        lines => format!("{lines} lines"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{History, Origin, Size};

    /// Returns the text of a selection on a page ten columns wide.
    fn copied(log: &str, anchor: Spot, at: Spot, shape: Shape) -> String {
        let size = Size::clamped(10, 12);
        let page = History::new(log.as_bytes(), &[], Origin::Tty, size).page(0, size).expect("a page");
        let picture = Picture::of_page(&page);
        let mut copying = Copying::new(TaskId::from_random([1; 8]), picture, 0, at);
        (copying.anchor, copying.shape) = (Some(anchor), shape);
        copying.text()
    }

    #[test]
    fn what_is_copied_is_what_was_printed() {
        let log = "one  \r\n\r\n0123456789abc\r\nlast\r\n";
        let cases = [
            ((0, 0), (4, 3), Shape::Chars, "one\n\n0123456789abc\nlast"),
            ((4, 1), (0, 1), Shape::Chars, "ne\n\n0123456789abc\nla"),
            ((0, 2), (0, 2), Shape::Chars, "e"),
            ((2, 5), (3, 1), Shape::Chars, "56789ab"),
            ((3, 0), (2, 0), Shape::Lines, "0123456789abc"),
            ((1, 3), (0, 0), Shape::Lines, "one\n"),
            ((2, 1), (4, 2), Shape::Block, "12\nbc\nas"),
        ];
        for (anchor, at, shape, text) in cases {
            assert_eq!(copied(log, anchor, at, shape), text, "{anchor:?} {at:?} {shape:?}");
        }
    }

    #[test]
    fn a_wide_character_is_copied_once() {
        assert_eq!(copied("日本語 ok\r\n", (0, 0), (0, 9), Shape::Chars), "日本語 ok");
    }

    #[test]
    fn the_view_follows_the_cursor() {
        let size = Size::clamped(10, 40);
        let log: String = (0..30).map(|line| format!("{line}\r\n")).collect();
        let page = History::new(log.as_bytes(), &[], Origin::Tty, size).page(0, size).expect("a page");
        let mut copying = Copying::new(TaskId::from_random([1; 8]), Picture::of_page(&page), 20, (25, 0));
        copying.go((5, 3), 10);
        assert_eq!((copying.top, copying.at), (5, (5, 1)));
        copying.go((900, 0), 10);
        assert_eq!(copying.at.0, copying.last().0);
        assert!(copying.top + 10 > copying.at.0);
    }
}
