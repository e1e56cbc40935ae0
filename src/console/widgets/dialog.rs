//! Dialogs: their frames, their reading time, and how they scroll.

use jiff::Timestamp;
use ratatui::layout::Rect;

use crate::console::keys::{Action, KeyContext, Motion};
use crate::console::state::{cut_bottom, inside, over_screen};
use crate::console::text::reading::move_by;
use crate::console::text::{StyledPiece, piece, visible, wrap_lines};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::model::{READING, TaskView};

pub(in crate::console) const DIALOG_COLUMNS: u16 = 62;

/// Returns the areas of a dialog with scrolling text: the box, the text in it, and the foot, where choices or
/// input and the keys are.
pub(in crate::console) fn places(size: (u16, u16), rows: usize, foot: u16) -> (Rect, Rect, Rect) {
    const MOST_COLUMNS: u16 = 100;
    let whole = over_screen(size, MOST_COLUMNS, rows.saturating_add(usize::from(foot)), 2);
    let (text, foot) = cut_bottom(inside(whole), foot);
    (whole, text, foot)
}

/// Tells whether something has been on screen long enough for a key press to count as an answer to it.
pub(in crate::console) fn has_been_read(shown_at: Option<Timestamp>, now: Timestamp) -> bool {
    shown_at.is_some_and(|at| now >= at + READING)
}

/// Returns the first visible row of a text after a scrolling key.
pub(in crate::console) fn scroll_by(top: usize, motion: Motion, (rows, shown): (usize, usize)) -> usize {
    move_by(top, motion, shown.max(2) - 1, rows.saturating_sub(shown))
}

/// Draws rows of a dialog from `top` on, and indicates on its frame how many are above and below: on no row of the text.
/// Returns how many are below.
pub(in crate::console) fn scrolled_rows(
    painter: &mut Painter<'_>,
    (whole, text): (Rect, Rect),
    rows: &[Vec<StyledPiece>],
    top: usize,
) -> usize {
    let shown = usize::from(text.height);
    let above = top.min(rows.len().saturating_sub(shown));
    let below = rows.len().saturating_sub(above + shown);
    painter.rows(text, rows.iter().skip(above));
    if above + below > 0 && whole.height > 0 {
        let scroll =
            if below > 0 { format!(" +{below} rows below ") } else { format!(" {above} rows above ") };
        let frame = Rect { width: whole.width.saturating_sub(2), ..whole };
        painter.row_right(frame, whole.height - 1, &[piece(scroll, Role::Mode)]);
    }
    below
}

/// Draws a dialog over the screen, as high as its rows and the row of keys below them.
pub(in crate::console) fn dialog(
    painter: &mut Painter<'_>,
    title: &str,
    mut rows: Vec<Vec<StyledPiece>>,
    context: KeyContext,
    keys: &[(Action, &str)],
) {
    rows.extend([Vec::new(), painter.keys(context, keys)]);
    let area = over_screen(painter.size(), DIALOG_COLUMNS, rows.len(), 1);
    let inside = painter.draw_box(area, title);
    painter.list(inside, rows, |_, row| (row, false));
}

/// Returns the full command, wrapped, in at most this many rows.
pub(in crate::console) fn command_rows(
    painter: &Painter<'_>,
    task: &TaskView,
    width: u16,
    most: usize,
) -> Vec<Vec<StyledPiece>> {
    let (shown, dots) = (visible::masked_line(task.cmd.trim()), painter.glyphs().cut);
    let mut rows = wrap_lines(&[vec![piece(shown, Role::Strong)]], usize::from(width));
    if rows.len() > most {
        rows.truncate(most);
        rows.last_mut().into_iter().for_each(|last| last.push(piece(dots, Role::Faint)));
    }
    if visible::has_hidden(&task.cmd) {
        rows.push(vec![piece("contains hidden characters", Role::Waiting)]);
    }
    rows
}
