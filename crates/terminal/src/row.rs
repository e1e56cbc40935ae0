//! One row of a screen as runs of cells that are drawn alike.

use serde::{Deserialize, Serialize};

use super::cell::{Cell, CellStyle, is_default};

/// One row of a screen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScreenRow {
    /// The contents from the first column on; blank cells at the end are omitted.
    pub runs: Vec<CellRun>,
    /// Whether the text wraps into the next row.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wrapped: bool,
}

/// Adjacent cells of the same style and width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellRun {
    /// One character per cell, or all characters of a single cell.
    pub text: String,
    /// Whether the text is a single cell.
    #[serde(default, skip_serializing_if = "is_default")]
    pub single: bool,
    /// Whether each cell takes two columns.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wide: bool,
    /// How to draw it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub style: CellStyle,
}

impl ScreenRow {
    /// Builds a row from cells. A wide character without its second half becomes a blank.
    pub(super) fn of<'a>(cells: impl Iterator<Item = Cell<'a>>, wrapped: bool) -> Self {
        let mut row = Self { runs: Vec::new(), wrapped };
        let mut cells = cells.peekable();
        while let Some(cell) = cells.next() {
            match cell.width {
                2 if cells.next_if(|next| next.width == 0).is_some() => {
                    row.push(&cell.text, true, cell.style)
                }
                0 | 2 => row.push(" ", false, cell.style),
                _ => row.push(&cell.text, false, cell.style),
            }
        }
        while let Some(last) = row.runs.last_mut().filter(|run| run.style == CellStyle::default()) {
            last.text.truncate(last.text.trim_end_matches(' ').len());
            if !last.text.is_empty() {
                break;
            }
            row.runs.pop();
        }
        row
    }

    fn push(&mut self, text: &str, wide: bool, style: CellStyle) {
        let single = text.chars().nth(1).is_some();
        match self.runs.last_mut() {
            Some(run) if !single && !run.single && run.wide == wide && run.style == style => {
                run.text.push_str(text);
            }
            _ => self.runs.push(CellRun { text: text.to_owned(), single, wide, style }),
        }
    }

    /// Returns each cell with the column it begins in; second halves of wide characters are skipped.
    pub fn cells(&self) -> impl Iterator<Item = (u16, Cell<'_>)> {
        let cells = self.runs.iter().flat_map(CellRun::cells);
        cells.scan(0_u16, |column, cell| {
            let at = *column;
            *column = column.saturating_add(u16::from(cell.width));
            Some((at, cell))
        })
    }
}

impl CellRun {
    fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let whole = self.single.then_some(&*self.text);
        let each = self.text.char_indices().filter(|_| !self.single);
        let each = each.map(|(at, c)| &self.text[at..at + c.len_utf8()]);
        let width = if self.wide { 2 } else { 1 };
        whole.into_iter().chain(each).map(move |text| Cell { text: text.into(), width, style: self.style })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteOrigin, Color, Contents, Size, Terminal};

    fn contents(written: &str) -> Contents {
        let mut terminal = Terminal::new(Size::nearest(8, 3), ByteOrigin::Tty);
        terminal.feed(written.as_bytes());
        Contents::of(&terminal)
    }

    fn run(text: &str, single: bool, wide: bool, style: CellStyle) -> CellRun {
        CellRun { text: text.to_owned(), single, wide, style }
    }

    #[test]
    fn a_row_is_split_where_style_or_width_change_and_around_characters_with_marks() {
        let plain = CellStyle::default();
        let red = CellStyle { fg: Color::Indexed(1), ..plain };
        assert_eq!(
            contents("a \x1b[31mb好\x1b[me\u{301}f  ").rows[0].runs,
            [
                run("a ", false, false, plain),
                run("b", false, false, red),
                run("好", false, true, red),
                run("e\u{301}", true, false, plain),
                run("f", false, false, plain),
            ]
        );
        assert_eq!(contents("\x1b[44m \x1b[m  ").rows[0].runs.len(), 1, "a blank with a colour shows");
    }

    #[test]
    fn a_row_says_that_it_goes_on_in_the_next() {
        let wrapped: Vec<bool> = contents("12345678 b\r\nx").rows.iter().map(|row| row.wrapped).collect();
        assert_eq!(wrapped, [true, false, false]);
    }

    #[test]
    fn half_a_wide_character_is_a_blank() {
        let half = || Cell::from_raw("好", true, CellStyle::default());
        let after = || Cell::from_raw("x", false, CellStyle::default());
        for cells in [vec![half(), after()], vec![Cell::continuation(), after()]] {
            let row = ScreenRow::of(cells.into_iter(), false);
            assert_eq!(row.runs, [run(" x", false, false, CellStyle::default())]);
        }
        assert_eq!(ScreenRow::of([half()].into_iter(), false).runs, []);
    }

    #[test]
    fn a_serialised_row_leaves_out_default_styles() {
        let row = &contents("a\x1b[1;31mb").rows[0];
        assert_eq!(
            serde_json::to_string(row).expect("serialises"),
            r#"{"runs":[{"text":"a"},{"text":"b","style":{"fg":1,"bold":true}}]}"#
        );
    }
}
