//! Characters whose columns terminals count differently: what follows one gets a place of its own, and a row that has or
//! had one is drawn to its end, so that no half of one stays behind.

use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A cell to draw, and its column and row.
pub(super) type Change<'a> = (u16, u16, &'a Cell);

static BLANK: Cell = Cell::EMPTY;

/// Returns what has to be drawn so that a terminal with one frame shows another.
pub(super) fn changes<'a>(before: &Buffer, after: &'a Buffer) -> Vec<Change<'a>> {
    let changes = before.diff(after);
    let mut all = Vec::with_capacity(changes.len());
    for row in changes.chunk_by(|one, next| one.1 == next.1) {
        match row.first() {
            Some(&(x, y, _)) if has_uncertain(before, y) || has_uncertain(after, y) => {
                to_end(after, (x, y), &mut all)
            }
            _ => all.extend_from_slice(row),
        }
    }
    all
}

/// Splits changes after each cell behind which the cursor may be anywhere.
pub(super) fn pieces<'a, 'c>(changes: &'c [Change<'a>]) -> impl Iterator<Item = &'c [Change<'a>]> {
    changes.split_inclusive(|(_, _, cell)| is_uncertain(cell.symbol()))
}

fn has_uncertain(frame: &Buffer, y: u16) -> bool {
    let columns = usize::from(frame.area.width);
    let from = usize::from(y - frame.area.y) * columns;
    frame.content[from..from + columns].iter().any(|cell| is_uncertain(cell.symbol()))
}

/// Adds the cells of a row from a column on. The second half of a character that may have none is drawn first: drawn
/// after it, it would erase half of the character where there is one.
fn to_end<'a>(frame: &'a Buffer, (x, y): (u16, u16), all: &mut Vec<Change<'a>>) {
    let mut column = x;
    while column < frame.area.right() {
        let cell = &frame[(column, y)];
        let width = match cell.diff_option {
            CellDiffOption::ForcedWidth(width) => width.get(),
            _ => u16::try_from(cell.symbol().width()).unwrap_or(1).max(1),
        };
        let end = (column + width).min(frame.area.right());
        if is_uncertain(cell.symbol()) {
            let half =
                |column| Some(&frame[(column, y)]).filter(|half| !half.symbol().is_empty()).unwrap_or(&BLANK);
            all.extend((column + 1..end).map(|column| (column, y, half(column))));
        }
        all.push((column, y, cell));
        column = end;
    }
}

/// Tells whether terminals differ in how many columns a symbol takes.
fn is_uncertain(symbol: &str) -> bool {
    if symbol.is_ascii() || symbol.starts_with('\x1b') {
        return false;
    }
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => is_disputed(c),
        _ => true,
    }
}

/// Tells so of a single character: the scripts of India and South East Asia, halfwidth voiced marks, emoji and flags.
fn is_disputed(c: char) -> bool {
    match c {
        '\u{900}'..='\u{109F}'
        | '\u{1780}'..='\u{17FF}'
        | '\u{1900}'..='\u{1CFF}'
        | '\u{A800}'..='\u{ABFF}' => true,
        '\u{FF9E}' | '\u{FF9F}' | '\u{1F000}'..='\u{1FAFF}' => true,
        '\u{2300}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' => c.width() == Some(2),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::backend::{Backend as _, CrosstermBackend};
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    const COLUMNS: usize = 24;

    /// A terminal of one row that counts `disputed` columns for each symbol that others count differently.
    struct OtherTerminal {
        cells: Vec<String>,
        disputed: usize,
        cursor: usize,
    }

    impl OtherTerminal {
        fn take(&mut self, written: &str) {
            let mut rest = written;
            while !rest.is_empty() {
                if let Some(sequence) = rest.strip_prefix("\x1b[") {
                    let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("a whole sequence");
                    if sequence[end..].starts_with('H') {
                        let (_, column) = sequence[..end].split_once(';').expect("row and column");
                        self.cursor = column.parse::<usize>().expect("a number") - 1;
                    }
                    rest = &sequence[end + 1..];
                    continue;
                }
                let end = rest.find('\x1b').unwrap_or(rest.len());
                for symbol in unicode_segmentation::UnicodeSegmentation::graphemes(&rest[..end], true) {
                    self.print(symbol);
                }
                rest = &rest[end..];
            }
        }

        fn print(&mut self, symbol: &str) {
            let width = if is_uncertain(symbol) { self.disputed } else { symbol.width().max(1) };
            for column in self.cursor..(self.cursor + width).min(COLUMNS) {
                // Half of a wide character is none.
                for other in 0..COLUMNS {
                    if self.cells[other] == format!("half of {column}")
                        || self.cells[column] == format!("half of {other}")
                    {
                        self.cells[other] = " ".into();
                    }
                }
                self.cells[column] =
                    if column == self.cursor { symbol.into() } else { format!("half of {}", self.cursor) };
            }
            self.cursor += width;
        }
    }

    fn frame(text: &str) -> Buffer {
        let mut frame = Buffer::empty(Rect::new(0, 0, 24, 1));
        frame.set_string(0, 0, text, Style::default());
        frame
    }

    proptest! {
        #[test]
        fn nothing_of_a_frame_stays_behind_however_wide_a_terminal_draws_it(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![
                "a", "bc", " ", "│", "好", "🇩🇪", "क्षि", "ำ", "ﾞ", "👍🏽", "❤\u{FE0F}", "e\u{301}", "👩\u{200D}🚀", "✓",
            ]), 0..9), 1..5),
            disputed in 1_usize..3,
        ) {
            let mut terminal = OtherTerminal { cells: vec![" ".into(); COLUMNS], disputed, cursor: 0 };
            let mut before = frame("");
            for text in texts.iter().map(|pieces| pieces.concat()).chain(["the next card".to_owned()]) {
                let after = frame(&text);
                let mut written = Vec::new();
                for piece in pieces(&changes(&before, &after)) {
                    CrosstermBackend::new(&mut written).draw(piece.iter().copied()).expect("written");
                }
                terminal.take(std::str::from_utf8(&written).expect("text"));
                before = after;
            }
            let shown = terminal.cells.concat();
            prop_assert_eq!(shown.trim_end(), "the next card");
        }
    }

    #[test]
    fn text_of_known_width_is_drawn_as_it_differs() {
        let (before, after) = (frame("✓ abc 好"), frame("✓ abd 好"));
        assert_eq!(changes(&before, &after), before.diff(&after));
        let flags = frame("🇩🇪 abd");
        let drawn = changes(&before, &flags);
        assert_eq!(pieces(&drawn).count(), 2, "what follows the flag has a place of its own");
    }
}
