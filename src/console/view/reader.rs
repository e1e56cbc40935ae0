//! A text that takes the whole screen: its title, what is marked, the row that is read.

use ratatui::layout::Rect;

use super::super::app::reader::Reader;
use super::super::looks::theme::Role;
use super::super::plan::{cut_left, cut_top};
use super::super::text::count;
use super::super::text::document::{Piece, piece};
use super::brush::Brush;
use super::receipts;

pub(super) fn draw(brush: &mut Brush<'_>, area: Rect, reader: &Reader) {
    let (head, body) = cut_top(area, 1);
    brush.head(head, &[piece(reader.title.clone(), Role::Title)], &reader.facts);
    receipts::reading(brush, body, &reader.document, reader.place.top);
    receipts::found(brush, body, reader.place);
    let y = reader.place.at.checked_sub(reader.place.top).and_then(|y| u16::try_from(y).ok());
    if let Some(y) = y.filter(|y| *y < body.height) {
        let mark = piece(brush.glyphs().selected, Role::Accent);
        brush.row(cut_left(body, 1).0, y, &[mark]);
    }
}

/// Where the person is in it.
pub(super) fn told(reader: &Reader) -> Vec<Piece> {
    let rows = reader.document.rows().len() as u64;
    let at = format!("line {} of {}", count((reader.place.at as u64 + 1).min(rows)), count(rows));
    let part = match reader.part_at() {
        (_, 0) => String::new(),
        (at, all) => format!("{} {}/{}  ", reader.part, count(at as u64), count(all as u64)),
    };
    vec![piece(part, Role::Strong), piece(at, Role::Text)]
}
