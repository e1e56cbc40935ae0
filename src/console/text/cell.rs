//! A cell of a frame: the character in it, and the columns it takes. All characters in a frame go through
//! this file.

use std::num::NonZeroU16;

use ratatui::buffer::{Cell, CellDiffOption, CellWidth};

use crate::envelope::{SafeText, is_hidden};

/// Puts a character of the given width into a cell of the frame. ratatui counts some characters differently
/// and would leave out what follows them.
pub fn fill(slot: &mut Cell, symbol: &str, columns: u16) {
    if symbol.chars().any(is_hidden) && !SafeText::is_line(symbol) {
        let seen: String = symbol.chars().filter(|c| !is_hidden(*c)).collect();
        slot.set_symbol(if seen.is_empty() { " " } else { &seen });
    } else {
        slot.set_symbol(symbol);
    }
    let forced = NonZeroU16::new(columns).filter(|columns| slot.symbol().cell_width() != columns.get());
    slot.set_diff_option(forced.map_or(CellDiffOption::None, CellDiffOption::ForcedWidth));
}

/// Makes a link of a cell of one column: the terminal opens `url` if the person asks it to
/// ([OSC 8](https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda)). Terminals without links show the same.
/// What is not plain ASCII could end the sequence, and is no link.
pub fn link(slot: &mut Cell, url: &str) {
    if url.bytes().all(|byte| byte.is_ascii_graphic()) {
        let linked = format!("\x1b]8;;{url}\x1b\\{}\x1b]8;;\x1b\\", slot.symbol());
        slot.set_symbol(&linked).set_diff_option(CellDiffOption::ForcedWidth(NonZeroU16::MIN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    /// Returns what is written to a terminal for these characters, each in a cell of its own.
    fn written(characters: &[(&str, u16)]) -> String {
        let area = Rect::new(0, 0, 10, 1);
        let (blank, mut frame) = (Buffer::empty(area), Buffer::empty(area));
        let mut x = 0;
        for (symbol, columns) in characters {
            fill(&mut frame[(x, 0)], symbol, *columns);
            x += columns;
        }
        blank.diff(&frame).into_iter().map(|(_, _, cell)| cell.symbol()).collect()
    }

    #[test]
    fn marks_behind_a_character_are_written_with_it() {
        assert_eq!(written(&[("ｶ", 1), ("\u{FF9E}", 1), ("ﾊ", 1), ("\u{FF9F}", 1), ("|", 1)]), "ｶﾞﾊﾟ|");
        assert_eq!(written(&[("ｶ\u{FF9E}", 2), ("ﾊ\u{FF9F}", 2), ("|", 1)]), "ｶﾞﾊﾟ|");
        assert_eq!(
            written(&[("漢", 2), ("e\u{301}", 1), ("❤\u{FE0F}", 2), ("|", 1)]),
            "漢e\u{301}❤\u{FE0F}|"
        );
    }

    #[test]
    fn nothing_hidden_reaches_a_frame() {
        assert_eq!(
            written(&[("a\u{202e}", 1), ("\x1b", 1), ("漢\u{e0041}", 2), ("\u{9b}", 1), ("|", 1)]),
            "a漢|"
        );
    }

    #[test]
    fn a_place_filled_anew_forgets_what_was_in_it() {
        let mut slot = Cell::EMPTY;
        fill(&mut slot, "\u{FF9E}", 1);
        fill(&mut slot, "a", 1);
        assert_eq!(slot, Cell::new("a"));
    }
}
