//! Copy mode: a frozen picture of a pane, with a cursor and a selection, and where the copied text goes.

use crate::console::effect::Effect;
use crate::console::keys::CopyAction;
use crate::console::state::copying::{Shape, Spot};
use crate::console::state::{Anchor, CopyMode, Mode, State, page};

/// Number of rows read for copying, reaching back further than the pane shows.
const ROWS: u16 = 250;

/// Begins a selection of this shape at the cursor, gives the current one this shape, or drops it if it has it already.
fn select(copying: &mut CopyMode, shape: Shape) {
    let is_over = copying.anchor.is_some() && copying.shape == shape;
    copying.anchor = if is_over { None } else { copying.anchor.or(Some(copying.at)) };
    (copying.shape, copying.wanted) = (shape, None);
}

/// Describes the length of a text.
fn describe_length(text: &str) -> String {
    match text.lines().count() {
        0 | 1 => format!("{} characters", text.chars().count()),
        lines => format!("{lines} lines"),
    }
}

impl State {
    /// Freezes the current pane, with the cursor at the end of what it shows.
    pub(super) fn start_copying(&mut self) {
        let Some((mut copying, follows)) = self.still_copy() else { return };
        let is_alternate = follows && copying.picture.modes.alternate_screen;
        let page = self.reading.page();
        let anchor = page.map_or(Anchor::Tail, |page| Anchor::Before(page.next_line));
        let last = copying.last().0;
        copying.at = (last, 0);
        self.focus.mode = Mode::Copy(copying);
        if !is_alternate {
            self.copy_from(anchor)
        }
    }

    /// Requests a page to copy from; it replaces the picture unless the cursor is moved first.
    pub(super) fn copy_from(&mut self, anchor: Anchor) {
        let Mode::Copy(copying) = &mut self.focus.mode else { return };
        copying.wanted = Some(anchor);
        let task = copying.task.clone();
        if let Some(pane) = self.layout().pane(&task) {
            self.ask_for_page(pane, anchor, ROWS);
        }
    }

    /// Returns the current pane's contents, and whether it follows its task.
    fn still_copy(&self) -> Option<(CopyMode, bool)> {
        let task = self.at_hand()?.id.clone();
        let pane = self.layout().pane(&task)?.cells;
        let page = self.reading.scroll.as_ref().filter(|scroll| scroll.task == task);
        if let Some(page) = page.and_then(|scroll| scroll.page.as_ref()) {
            let mut copying = CopyMode::new(task, page.picture.clone(), 0, (0, 0));
            copying.lines.clone_from(&page.rows);
            return Some((copying, false));
        }
        let picture = self.view.pictures.get(&task)?.clone();
        let top = picture.top(pane.height);
        Some((CopyMode::new(task, picture, top, (top, 0)), true))
    }

    pub(super) fn act_in_copy(&mut self, action: CopyAction) {
        let rows = self.copy_rows();
        let Mode::Copy(copying) = &mut self.focus.mode else { return };
        let (row, column) = copying.at;
        let last = copying.last();
        let page = rows.saturating_sub(1).max(1);
        let to = match action {
            CopyAction::Up => (row.saturating_sub(1), column),
            CopyAction::Down => (row.saturating_add(1), column),
            CopyAction::Left => (row, column.saturating_sub(1)),
            CopyAction::Right => (row, column.saturating_add(1)),
            CopyAction::PageUp => (row.saturating_sub(page), column),
            CopyAction::PageDown => (row.saturating_add(page), column),
            CopyAction::Top => (0, 0),
            CopyAction::Bottom => (last.0, 0),
            CopyAction::LineStart => (row, 0),
            CopyAction::LineEnd => (row, copying.picture.text_columns(row).saturating_sub(1)),
            CopyAction::Select => return select(copying, Shape::Chars),
            CopyAction::SelectLines => return select(copying, Shape::Lines),
            CopyAction::SelectBlock => return select(copying, Shape::Block),
            CopyAction::Yank => return self.yank(),
            CopyAction::PreviousPrompt => return self.copy_to_prompt(false),
            CopyAction::NextPrompt => return self.copy_to_prompt(true),
            CopyAction::Back => return self.leave_copy(),
        };
        copying.go(to, rows);
        self.pan_to_cursor();
    }

    /// Pans to keep the cursor visible where the pane is narrower than its task.
    fn pan_to_cursor(&mut self) {
        let Some(copying) = self.copying() else { return };
        let column = copying.at.1;
        let shown = self.layout().pane(&copying.task).map_or(1, |pane| pane.cells.width.max(1));
        self.reading.pan = self.reading.pan.clamp(column.saturating_sub(shown - 1), column);
    }

    /// Copies the selection and returns to the previous mode.
    fn yank(&mut self) {
        let Some(text) = self.copying().map(CopyMode::text) else { return };
        self.leave_copy();
        if text.is_empty() {
            self.say("nothing to copy there");
            return;
        }
        self.effects.push(Effect::Yank { what: describe_length(&text), text });
    }

    fn copy_rows(&self) -> u16 {
        let task = self.copying().map(|copying| copying.task.clone());
        task.and_then(|task| self.layout().pane(&task).map(|pane| pane.cells.height)).unwrap_or(1)
    }

    /// Replaces the picture with the longer page, once it has been read.
    pub(super) fn lengthen_copy(&mut self, anchor: Anchor, page: &page::PageView) -> bool {
        let rows = self.copy_rows();
        match &mut self.focus.mode {
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
    pub(super) fn drag_selection(&mut self, to: Spot) -> bool {
        let rows = self.copy_rows();
        if let Mode::Copy(copying) = &mut self.focus.mode {
            let row = copying.top.saturating_add(to.0.min(rows.saturating_sub(1)));
            copying.anchor = copying.anchor.or(Some(copying.at));
            copying.go((row, to.1), rows);
            return true;
        }
        let Some(from) = self.reading.pressed.filter(|from| *from != to) else { return false };
        let was_input = matches!(self.focus.mode, Mode::Input(_));
        if !was_input && !matches!(self.focus.mode, Mode::Observe) {
            return false;
        }
        let Some((mut copying, _)) = self.still_copy() else { return false };
        let place = |spot: Spot| (copying.top.saturating_add(spot.0), spot.1);
        let (from, to) = (place(from), place(to));
        let rows = self.layout().pane(&copying.task).map_or(1, |pane| pane.cells.height);
        copying.go(from, rows);
        copying.anchor = Some(copying.at);
        copying.go(to, rows);
        copying.was_input = was_input;
        self.focus.mode = Mode::Copy(copying);
        true
    }

    /// Handles the release of the mouse button: copies the dragged selection.
    pub(super) fn drop_drag(&mut self) {
        let was_dragged = self.reading.pressed.take().is_some();
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
        self.effects.push(Effect::Yank { what: format!("{} {of}", describe_length(&text)), text });
    }

    /// Shows which clipboards took the text.
    pub(super) fn say_copied(&mut self, what: &str, ways: &[&'static str]) {
        let text = match ways {
            [] => format!("{what}: too long for the terminal, and no clipboard tool took it"),
            ways => format!("copied {what} ({})", ways.join(", ")),
        };
        if ways.is_empty() { self.toasts.fail(text, None) } else { self.say(text) }
    }
}
