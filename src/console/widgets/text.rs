//! A text that is read, and the matches in it.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::console::state::{TextSearch, cut_left};
use crate::console::text::reading::ReaderText;
use crate::console::text::{count, piece};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

/// Highlights matches in reverse video, the current one bold and underlined too.
pub(in crate::console) fn highlight_matches(
    painter: &mut Painter<'_>,
    area: Rect,
    text: &ReaderText,
    finding: &TextSearch,
) {
    let inside = cut_left(area, 1).1;
    for (spans, is_here) in finding.places() {
        for (row, columns) in spans {
            let Some(y) = text.row_on_screen(*row) else { continue };
            painter.restyle_row(inside, y, columns.clone(), |cell| {
                cell.modifier.toggle(Modifier::REVERSED);
                cell.modifier.set(Modifier::BOLD | Modifier::UNDERLINED, is_here);
            });
        }
    }
}

/// Draws a text from row `top` on, indented by one column, with the number of remaining rows at the lower
/// right.
pub(in crate::console) fn reading(painter: &mut Painter<'_>, area: Rect, text: &ReaderText, top: usize) {
    let rows = text.document.rows();
    painter.rows(cut_left(area, 1).1, rows.iter().skip(top));
    let below = rows.len().saturating_sub(top + usize::from(area.height));
    if below > 0 {
        let more = format!(" +{} ", count(below as u64));
        painter.row_right(area, area.height.saturating_sub(1), &[piece(more, Role::Mode)]);
    }
}
