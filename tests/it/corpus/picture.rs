//! A screen in comparable form: cells, cursor and modes, whatever drew it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pilothouse::terminal::{CellStyle, Color, Modes, MouseMode, Terminal};

/// One screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Picture {
    /// Every row has cells for all its columns; the second half of a wide character has no cell.
    pub(super) rows: Vec<Vec<Seen>>,
    pub(super) cursor: Cursor,
    pub(super) modes: BTreeMap<&'static str, bool>,
}

/// One character and how it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) text: String,
    pub(super) columns: usize,
    pub(super) style: CellStyle,
    /// Attributes that our cells cannot represent.
    pub(super) beyond: BTreeSet<&'static str>,
}

/// The cursor, counted from 0. Past the last column it is waiting: the next character goes to the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) row: u16,
    pub(super) column: u16,
    pub(super) is_visible: bool,
}

/// What differs in a row, or outside the rows, with an example of each difference.
pub(super) type Found = BTreeMap<String, String>;

impl Picture {
    /// The screen of a task.
    pub(super) fn of(terminal: &Terminal) -> Self {
        let size = terminal.size();
        let row = |row| {
            let cells = (0..size.cols()).map(|column| terminal.cell(row, column));
            let seen = cells.filter(|cell| cell.width > 0).map(|cell| Seen {
                text: cell.text.into_owned(),
                columns: usize::from(cell.width),
                style: cell.style,
                beyond: BTreeSet::new(),
            });
            seen.collect()
        };
        let cursor = terminal.cursor();
        Self {
            rows: (0..size.rows()).map(row).collect(),
            cursor: Cursor {
                row: cursor.row,
                column: cursor.col + u16::from(cursor.pending_wrap),
                is_visible: cursor.visible,
            },
            modes: modes(terminal.modes()),
        }
    }

    /// Some rows of a console's screen, at full width.
    pub(super) fn of_console(screen: &vt100::Screen, rows: Range<u16>) -> Self {
        let columns = screen.size().1.get();
        let row = |row| {
            let cells = (0..columns).filter_map(|column| screen.cell(row, column));
            cells.filter(|cell| !cell.is_wide_continuation()).map(Seen::of_console).collect()
        };
        let (row_of_cursor, column) = screen.cursor_position();
        Self {
            rows: rows.clone().map(row).collect(),
            cursor: Cursor {
                row: row_of_cursor.saturating_sub(rows.start),
                column,
                is_visible: !screen.hide_cursor(),
            },
            modes: BTreeMap::new(),
        }
    }

    /// The text of a row, without trailing blanks.
    pub(super) fn text(&self, row: usize) -> String {
        self.rows[row].iter().map(|seen| seen.text.as_str()).collect::<String>().trim_end().to_owned()
    }

    /// Describes the differences in each row.
    pub(super) fn differing_rows(&self, other: &Self) -> Vec<(usize, Found)> {
        let found = self.rows.iter().zip(&other.rows).map(|(ours, theirs)| differing(ours, theirs));
        found.enumerate().filter(|(_, found)| !found.is_empty()).collect()
    }

    /// Describes the differences outside the cells.
    pub(super) fn differing_state(&self, other: &Self) -> Found {
        let mut found = Found::new();
        if self.cursor != other.cursor {
            found.insert("cursor".to_owned(), format!("{:?}, not {:?}", self.cursor, other.cursor));
        }
        for (mode, on) in self.modes.iter().filter(|(mode, on)| other.modes.get(*mode) != Some(on)) {
            found.insert((*mode).to_owned(), format!("{on}"));
        }
        found
    }
}

fn modes(modes: Modes) -> BTreeMap<&'static str, bool> {
    BTreeMap::from([
        ("alternate screen", modes.alternate_screen),
        ("cursor keys", modes.application_cursor),
        ("keypad", modes.application_keypad),
        ("mouse", modes.mouse != MouseMode::Off),
    ])
}

impl Seen {
    /// A cell as the terminal around a console shows it.
    fn of_console(cell: &vt100::Cell) -> Self {
        let colour = |colour| match colour {
            vt100::Color::Default => Color::Default,
            vt100::Color::Idx(index) => Color::Indexed(index),
            vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
        };
        let style = CellStyle {
            fg: colour(cell.fgcolor()),
            bg: colour(cell.bgcolor()),
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
            struck: false,
        };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let columns = if cell.is_wide() { 2 } else { 1 };
        Self { text: text.to_owned(), columns, style, beyond: BTreeSet::new() }
    }

    /// A cell that nothing has written to.
    pub(super) fn blank() -> Self {
        Self { text: " ".to_owned(), columns: 1, style: CellStyle::default(), beyond: BTreeSet::new() }
    }

    /// The same cell with another character in it.
    pub(super) fn showing(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }

    /// How it looks, attribute by attribute. A blank shows its background, and any line drawn across it.
    fn looks(&self) -> BTreeMap<&'static str, String> {
        let CellStyle { fg, bg, bold, dim, italic, underline, inverse, struck } = self.style;
        let mut looks = BTreeMap::from([("background", format!("{bg:?}"))]);
        let mut put = |name, value: String| drop(looks.insert(name, value));
        let is_bare = self.text == " " && !underline && !inverse && !struck && self.beyond.is_empty();
        if is_bare {
            return looks;
        }
        put("foreground", format!("{fg:?}"));
        for (name, on) in [
            ("bold", bold),
            ("dim", dim),
            ("italic", italic),
            ("underline", underline),
            ("inverse", inverse),
            ("struck", struck),
        ] {
            put(name, on.to_string());
        }
        self.beyond.iter().for_each(|name| put(name, true.to_string()));
        looks
    }
}

fn differing(ours: &[Seen], theirs: &[Seen]) -> Found {
    let text = |row: &[Seen]| row.iter().map(|seen| seen.text.as_str()).collect::<String>();
    let (left, right) = (text(ours), text(theirs));
    if left.trim_end() != right.trim_end() {
        let how = format!("{:?}, not {:?}", left.trim_end(), right.trim_end());
        return Found::from([("text".to_owned(), how)]);
    }
    let columns = |row: &[Seen]| row.iter().map(|seen| seen.columns).collect::<Vec<_>>();
    if columns(ours) != columns(theirs) {
        return Found::from([("columns".to_owned(), format!("of {left:?}"))]);
    }
    let mut found = Found::new();
    let mut column = 0;
    for (ours, theirs) in ours.iter().zip(theirs) {
        let (looks, expected) = (ours.looks(), theirs.looks());
        for name in looks.keys().chain(expected.keys()).filter(|name| looks.get(*name) != expected.get(*name))
        {
            let (is, should) = (looks.get(name), expected.get(name));
            let how = || format!("{:?} in column {column}: {is:?}, not {should:?}", ours.text);
            found.entry((*name).to_owned()).or_insert_with(how);
        }
        column += ours.columns;
    }
    found
}
