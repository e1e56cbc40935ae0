//! Transient messages, at the bottom right.

use ratatui::layout::Rect;

use crate::console::state::Layout;
use crate::console::text;
use crate::console::theme::Role;
use crate::console::widgets::Painter;

/// Draws the messages at the bottom right of the stage, newest last.
pub(in crate::console) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    let state = painter.state;
    let stage = if layout.stage.is_empty() {
        Rect { height: layout.notice.y, ..painter.buf.area }
    } else {
        layout.stage
    };
    let toasts = state.toasts.list();
    if let Some(next) = state.toasts.next() {
        painter.wake_at(next);
    }
    let [done, failed] = [painter.glyphs().states[4], painter.glyphs().states[5]];
    let dots = painter.glyphs().cut;
    let count = u16::try_from(toasts.len()).unwrap_or(u16::MAX);
    let below = stage.height.saturating_sub(count);
    // Never cover a row that the user is typing in or a program is working on.
    let is_used = cursor_row(painter, layout).is_some_and(|row| row >= stage.y + below);
    let from = if is_used { stage.height.min(1) } else { below };
    for (y, toast) in (from..stage.height).zip(toasts) {
        let call =
            toast.call.map(|seq| format!("  call {}", painter.state.call_name(seq))).unwrap_or_default();
        let keep = if toast.is_error { "  Esc" } else { "" };
        let glyph = match (toast.is_error, toast.is_about_key) {
            (true, _) => failed,
            (false, true) => painter.glyphs().dot,
            (false, false) => done,
        };
        let tail = text::width(&call) + text::width(keep) + 5;
        let shown = text::cut(&toast.text, usize::from(stage.width).saturating_sub(tail), dots);
        let whole = format!(" {glyph} {shown}{call}{keep} ");
        let style = painter.style(Role::Mode);
        let style = if toast.is_error { painter.style(Role::Failed).patch(style) } else { style };
        let x = stage.width.saturating_sub(u16::try_from(text::width(&whole)).unwrap_or(u16::MAX));
        painter.text(stage, (x, y), &whole, style);
    }
}

/// Returns the screen row of the current task's cursor, if the pane follows the task.
fn cursor_row(painter: &Painter<'_>, layout: &Layout) -> Option<u16> {
    // Nobody works in the pane while a dialog covers it.
    let task =
        painter.state.at_hand().filter(|task| !task.status.is_terminal() && !painter.focus.has_dialog)?;
    let pane = layout.pane(&task.id).filter(|_| painter.state.reading.scroll.is_none())?;
    let picture = painter.state.view.pictures.get(&task.id)?;
    let row = picture.cursor?.row.checked_sub(picture.top(pane.cells.height))?;
    (row < pane.cells.height).then(|| pane.cells.y + row)
}
