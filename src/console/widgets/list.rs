//! Lists: rows or taller items from the top of an area down, and short lists of choices.

use ratatui::layout::Rect;

use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

impl Painter<'_> {
    /// Draws a list from the top of `area` down; `row` returns an item's row and whether it is selected.
    pub(crate) fn list<T>(
        &mut self,
        area: Rect,
        items: impl IntoIterator<Item = T>,
        mut row: impl FnMut(&mut Self, T) -> (Vec<StyledPiece>, bool),
    ) {
        self.tall_list(area, 1, items, |painter, area, item| {
            let (pieces, is_selected) = row(painter, item);
            painter.line(area, 0, &pieces);
            is_selected
        });
    }

    /// Draws a list of items that are `rows` high; `draw` draws an item into its area and returns whether it is selected.
    pub(crate) fn tall_list<T>(
        &mut self,
        area: Rect,
        rows: u16,
        items: impl IntoIterator<Item = T>,
        mut draw: impl FnMut(&mut Self, Rect, T) -> bool,
    ) {
        let tops = (area.top()..area.bottom()).step_by(usize::from(rows.max(1)));
        for (y, item) in tops.zip(items) {
            let area = Rect { y, height: rows.min(area.bottom() - y), ..area };
            if draw(self, area, item) {
                self.select(area);
            }
        }
    }

    /// Returns the rows of a short list of choices: at most `most` of them, the one at `chosen` marked and always shown.
    pub(crate) fn choices<'a>(
        &self,
        labels: impl Iterator<Item = &'a str>,
        chosen: Option<usize>,
        most: usize,
    ) -> Vec<Vec<StyledPiece>> {
        let top = (chosen.unwrap_or(0) + 1).saturating_sub(most);
        let row = |(number, label): (usize, &str)| {
            let is_chosen = chosen == Some(number);
            let role = if is_chosen { Role::Strong } else { Role::Text };
            let mark = piece(format!("{} ", self.marker(is_chosen)), Role::Accent);
            vec![mark, piece(visible::one_line(label), role)]
        };
        labels.enumerate().skip(top).take(most).map(row).collect()
    }

    /// Returns the marker in front of a list row.
    pub(crate) fn marker(&self, is_selected: bool) -> &'static str {
        if is_selected { self.glyphs().selected } else { " " }
    }
}
