//! The contents of a screen as plain values: rows of runs, the cursor, the modes. Every console draws from
//! them; a console in another process is sent the rows that changed.

use std::sync::Arc;

use super::modes::{Cursor, Modes};
use super::recent::RecentOutput;
use super::row::ScreenRow;
use super::size::Size;
use super::terminal::{ByteOrigin, Terminal};

/// Everything about a screen that is drawn or affects input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// Columns and rows.
    pub size: Size,
    /// The rows from top to bottom; missing ones are blank.
    pub rows: Vec<Arc<ScreenRow>>,
    pub cursor: Cursor,
    /// The modes the program has set.
    pub modes: Modes,
}

/// Output to be drawn at a width other than its program's, with further state of the program's own terminal.
#[derive(Debug)]
pub struct Excerpt {
    pub(super) tail: RecentOutput,
    pub(super) size: Size,
    pub(super) origin: ByteOrigin,
    pub(super) cursor: Cursor,
    pub(super) modes: Modes,
}

impl Excerpt {
    /// Draws the excerpt.
    pub fn draw(&self) -> Contents {
        let mut terminal = Terminal::new(self.size, self.origin);
        let _ = terminal.feed(self.tail.style.sequence().as_bytes());
        if self.tail.scrolls {
            let _ = terminal.feed(&b"\n".repeat(self.size.rows().into()));
        }
        let _ = terminal.feed(&self.tail.bytes);
        let drawn = Contents::of(&terminal);
        let cursor = Cursor { visible: self.cursor.visible, shape: self.cursor.shape, ..drawn.cursor };
        Contents { cursor, modes: self.modes, ..drawn }
    }
}

impl Contents {
    /// Returns the current contents of a terminal.
    pub fn of(terminal: &Terminal) -> Self {
        let size = terminal.size();
        Self {
            size,
            rows: (0..size.rows()).map(|row| terminal.whole_row(row)).collect(),
            cursor: terminal.cursor(),
            modes: terminal.modes(),
        }
    }

    /// Returns the text, without trailing blanks and without blank rows at the bottom.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            row.runs.iter().for_each(|run| text.push_str(&run.text));
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }
}
