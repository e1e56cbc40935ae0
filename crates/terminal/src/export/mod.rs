//! Exports of a screen or log: text, text with colours, HTML, SVG, or a playable recording. Pure; everything
//! except the recording is made from cells, never from what the program printed.

mod cast;
mod colours;
mod markup;

pub use cast::{Cast, CastEvent, CastVersion};
pub use colours::Palette;
pub use markup::escape;

use unicode_width::UnicodeWidthChar as _;

use super::cell::{Cell, CellStyle};
use super::terminal::Terminal;

/// Rows of cells, as shown on a screen or in a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellDrawing {
    /// The width in columns; longer rows extend it.
    pub columns: u16,
    /// The rows from top to bottom; a wide character is followed by its second half.
    pub rows: Vec<CellRow>,
}

/// One of those rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellRow {
    pub cells: Vec<Cell<'static>>,
    /// Whether its text continues in the next row.
    pub wrapped: bool,
}

impl From<Vec<Cell<'static>>> for CellRow {
    fn from(cells: Vec<Cell<'static>>) -> Self {
        Self { cells, wrapped: false }
    }
}

/// Adjacent cells of the same style.
struct StyledRun {
    text: String,
    style: CellStyle,
    /// The column it begins in, and its width in columns.
    column: usize,
    columns: usize,
}

impl CellDrawing {
    /// Draws the current contents of a terminal.
    pub fn of(terminal: &Terminal) -> Self {
        let size = terminal.size();
        let row = |row| terminal.row(row).map(Cell::into_owned).collect::<Vec<_>>().into();
        Self { columns: size.cols(), rows: (0..size.rows()).map(row).collect() }
    }

    /// Returns just the text, without trailing blanks. A line that was wrapped is one line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for CellRow { cells, wrapped } in &self.rows {
            cells.iter().for_each(|cell| text.push_str(&cell.text));
            if !wrapped {
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
            }
        }
        text
    }

    /// Returns the text with the sequences for its colours and attributes, but no others.
    pub fn ansi(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let runs = runs(&row.cells);
            for run in &runs {
                text.push_str(&run.style.sequence());
                text.push_str(&run.text);
            }
            if runs.last().is_some_and(|run| run.style != CellStyle::default()) {
                text.push_str("\x1b[0m");
            }
            if !row.wrapped {
                text.push('\n');
            }
        }
        text
    }

    /// Adds a row that says what is drawn: `what`, cut to the width, and whole beside it `facts`.
    #[must_use]
    pub fn with_caption(mut self, what: &str, facts: &str) -> Self {
        let style = CellStyle { dim: true, ..CellStyle::default() };
        let cells = |text: &str| -> Vec<Cell<'static>> {
            let narrow = |c: char| if c.width() == Some(1) { c } else { '?' };
            text.chars().map(|c| Cell::from_raw(&narrow(c).to_string(), false, style).into_owned()).collect()
        };
        let (mut what, facts) = (cells(what), cells(&format!("  {facts}")));
        let room = usize::from(self.columns).saturating_sub(facts.len());
        if what.len() > room {
            what.truncate(room.saturating_sub(1));
            what.extend(cells("…"));
        }
        what.extend(facts);
        self.rows.extend([Vec::new().into(), what.into()]);
        self
    }

    /// Returns a self-contained HTML page.
    pub fn html(&self, title: &str, palette: &Palette) -> String {
        markup::html(self, title, palette)
    }

    /// Returns an SVG image.
    pub fn svg(&self, title: &str, palette: &Palette) -> String {
        markup::svg(self, title, palette)
    }
}

/// Splits a row where its style changes, without blanks at its end.
fn runs(row: &[Cell<'_>]) -> Vec<StyledRun> {
    let mut runs: Vec<StyledRun> = Vec::new();
    for (column, cell) in row.iter().enumerate() {
        let width = usize::from(cell.width);
        match runs.last_mut() {
            // The second half of a wide character has no style of its own.
            Some(run) if width == 0 || run.style == cell.style => {
                run.text.push_str(&cell.text);
                run.columns = column + width.max(1) - run.column;
            }
            _ => runs.push(StyledRun {
                text: cell.text.to_string(),
                style: cell.style,
                column,
                columns: width.max(1),
            }),
        }
    }
    while let Some(last) = runs.last_mut().filter(|last| !last.style.shows_on_blanks()) {
        let kept = last.text.trim_end_matches(' ').len();
        last.columns -= last.text.len() - kept;
        last.text.truncate(kept);
        if kept > 0 {
            break;
        }
        runs.pop();
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cell::Color;
    use crate::{ByteOrigin, Size};

    fn drawn(bytes: &[u8]) -> (Terminal, CellDrawing) {
        let mut terminal = Terminal::new(Size::nearest(20, 4), ByteOrigin::Tty);
        terminal.feed(bytes);
        let drawing = CellDrawing::of(&terminal);
        (terminal, drawing)
    }

    const SAMPLE: &[u8] =
        "\x1b[1;31mred\x1b[0m <b> & 大き\r\n\x1b[7m on \x1b[0m\r\n\x1b[38;5;200mx\x1b[48;2;1;2;3m y\x1b[0m"
            .as_bytes();

    #[test]
    fn an_exported_text_has_the_characters_of_the_screen() {
        assert_eq!(drawn(SAMPLE).1.text(), "red <b> & 大き\n on\nx y\n\n");
    }

    #[test]
    fn colours_are_set_anew_for_each_run_and_end_with_the_row() {
        let ansi = drawn(SAMPLE).1.ansi();
        assert!(ansi.starts_with("\x1b[0;1;31mred\x1b[0m <b> & 大き\n\x1b[0;7m on \x1b[0m\n"), "{ansi:?}");
        assert!(ansi.contains("\x1b[0;38;5;200mx\x1b[0;38;5;200;48;2;1;2;3m y\x1b[0m\n"), "{ansi:?}");
    }

    #[test]
    fn a_page_and_a_picture_hold_the_text_and_no_markup_of_the_program() {
        for made in
            [drawn(SAMPLE).1.html("a <title>", &Palette::DARK), drawn(SAMPLE).1.svg("t", &Palette::LIGHT)]
        {
            assert!(made.contains("&lt;b&gt; &amp; 大き") && !made.contains("<b>"), "{made}");
        }
    }

    #[test]
    fn a_caption_is_cut_and_its_facts_are_not() {
        let made = drawn(b"x").1.with_caption("cargo test --workspace", "exit 101");
        assert_eq!(made.rows.len(), 6);
        assert!(made.text().ends_with("\n\ncargo tes…  exit 101\n"), "{}", made.text());
        assert!(
            drawn(b"x").1.with_caption("<b>\u{202e}", "").html("t", &Palette::DARK).contains("&lt;b&gt;")
        );
    }

    proptest! {
        #[test]
        fn the_text_with_colours_draws_the_same_screen(bytes in prop::collection::vec(prop_oneof![
            Just(b"\x1b[31m".to_vec()), Just(b"\x1b[7m".to_vec()), Just(b"\x1b[0m".to_vec()), Just(b"\x1b[4;48;5;9m".to_vec()),
            Just("大".as_bytes().to_vec()), Just(b"\r\n".to_vec()), "[a-z <&]{1,5}".prop_map(String::into_bytes)], 0..30)) {
            let (terminal, drawing) = drawn(&bytes.concat());
            let (again, _) = drawn(drawing.ansi().trim_end_matches('\n').replace('\n', "\r\n").as_bytes());
            prop_assert_eq!(again.screen_text(), terminal.screen_text());
            let shown = |terminal: &Terminal, row, col| {
                let cell = terminal.cell(row, col).into_owned();
                (cell.text.clone(), if cell.text == " " { CellStyle { fg: Color::Default, bold: false, ..cell.style } } else { cell.style })
            };
            for (row, col) in (0..4).flat_map(|row| (0..20).map(move |col| (row, col))) {
                prop_assert_eq!(shown(&again, row, col), shown(&terminal, row, col));
            }
        }
    }
}
