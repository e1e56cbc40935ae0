//! A text over the whole screen: the difference between two answers, the coverage of a task.

use ratatui::layout::Rect;

use crate::console::state::{Layout, TextSearch, cut_left, cut_top};
use crate::console::text::reading::ReaderView;
use crate::console::text::{StyledPiece, count, piece};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::console::widgets::text::{self, highlight_matches};

/// Wraps the reader's text for its area, and scrolls the current row into view.
pub(in crate::console) fn lay_out_reader(reader: &mut ReaderView, layout: &Layout) {
    let text = &mut reader.text;
    let is_new = text.document.columns() == 0;
    text.wrap(layout.stage.width);
    let begin = reader.parts.get(reader.begin).filter(|_| is_new);
    if let Some(first) = begin.and_then(|line| text.document.row_of(*line)) {
        (text.at, text.top) = (first, first.saturating_sub(usize::from(layout.stage.height / 3)));
    }
    text.settle(usize::from(layout.stage.height.saturating_sub(1)));
}

pub(in crate::console) fn draw(
    painter: &mut Painter<'_>,
    area: Rect,
    reader: &ReaderView,
    finding: Option<&TextSearch>,
) {
    let (head, body) = cut_top(area, 1);
    painter.head(head, &[piece(reader.title.clone(), Role::Title)], &reader.facts);
    text::reading(painter, body, &reader.text, reader.text.top);
    if let Some(finding) = finding {
        highlight_matches(painter, body, &reader.text, finding);
    }
    if let Some(y) = reader.text.row_on_screen(reader.text.at) {
        let mark = piece(painter.glyphs().selected, Role::Accent);
        painter.row(cut_left(body, 1).0, y, &[mark]);
    }
}

/// Describes the position in the text.
pub(in crate::console) fn position(reader: &ReaderView) -> Vec<StyledPiece> {
    let rows = reader.text.document.rows().len() as u64;
    let at = format!("line {} of {}", count((reader.text.at as u64 + 1).min(rows)), count(rows));
    let part = match reader.part_at() {
        (_, 0) => String::new(),
        (at, all) => format!("{} {}/{}  ", reader.part, count(at as u64), count(all as u64)),
    };
    vec![piece(part, Role::Strong), piece(at, Role::Text)]
}
