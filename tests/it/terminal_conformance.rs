//! The terminal compared with another emulator: short sequences, the same text and cursor at the end. The corpus
//! explains any differences.
#![expect(clippy::unwrap_used, reason = "a broken corpus has to stop the test")]

use std::collections::BTreeMap;
use std::path::Path;

use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, TermMode};
use alacritty_terminal::vte::ansi::{self, NamedColor, Processor};
use pilothouse::terminal::{ByteOrigin, Cell, CellStyle, Color, Cursor, Modes, Size, Terminal};

/// What is compared.
trait Emulator {
    fn feed(&mut self, bytes: &[u8]);
    fn size(&self) -> Size;
    fn cell(&self, row: u16, col: u16) -> Cell<'_>;
    fn cursor(&self) -> Cursor;
    fn modes(&self) -> Modes;
}

impl Emulator for Terminal {
    fn feed(&mut self, bytes: &[u8]) {
        let _ = Self::feed(self, bytes);
    }

    fn size(&self) -> Size {
        Self::size(self)
    }

    fn cell(&self, row: u16, col: u16) -> Cell<'_> {
        Self::cell(self, row, col)
    }

    fn cursor(&self) -> Cursor {
        Self::cursor(self)
    }

    fn modes(&self) -> Modes {
        Self::modes(self)
    }
}

/// Alacritty's terminal, as far as the comparison needs it.
struct Oracle {
    term: Term<VoidListener>,
    parser: Processor,
    size: Size,
    texts: Vec<String>,
}

struct Grid(Size);

impl Dimensions for Grid {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0.rows())
    }

    fn columns(&self) -> usize {
        usize::from(self.0.cols())
    }
}

impl Oracle {
    fn new(size: Size) -> Self {
        let term = Term::new(Config::default(), &Grid(size), VoidListener);
        Self { term, parser: Processor::new(), size, texts: Vec::new() }
    }

    fn index(&self, row: u16, col: u16) -> usize {
        usize::from(row) * usize::from(self.size.cols()) + usize::from(col)
    }

    fn at(&self, row: u16, col: u16) -> &alacritty_terminal::term::cell::Cell {
        &self.term.grid()[Point::new(Line(i32::from(row)), Column(usize::from(col)))]
    }
}

impl Emulator for Oracle {
    fn feed(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
        self.texts.clear();
        for row in 0..self.size.rows() {
            for col in 0..self.size.cols() {
                let cell = self.at(row, col);
                let marks = cell.zerowidth().unwrap_or_default();
                let text = std::iter::once(&cell.c).chain(marks).collect();
                self.texts.push(text);
            }
        }
    }

    fn size(&self) -> Size {
        self.size
    }

    fn cell(&self, row: u16, col: u16) -> Cell<'_> {
        let cell = self.at(row, col);
        if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            return Cell::continuation();
        }
        let style = CellStyle {
            fg: color(cell.fg),
            bg: color(cell.bg),
            bold: cell.flags.contains(Flags::BOLD),
            dim: cell.flags.contains(Flags::DIM),
            italic: cell.flags.contains(Flags::ITALIC),
            underline: cell.flags.intersects(Flags::ALL_UNDERLINES),
            inverse: cell.flags.contains(Flags::INVERSE),
            struck: cell.flags.contains(Flags::STRIKEOUT),
        };
        Cell::from_raw(&self.texts[self.index(row, col)], cell.flags.contains(Flags::WIDE_CHAR), style)
    }

    fn cursor(&self) -> Cursor {
        let cursor = &self.term.grid().cursor;
        Cursor {
            row: u16::try_from(cursor.point.line.0).unwrap(),
            col: u16::try_from(cursor.point.column.0).unwrap(),
            pending_wrap: cursor.input_needs_wrap,
            visible: self.term.mode().contains(TermMode::SHOW_CURSOR),
            ..Cursor::default()
        }
    }

    fn modes(&self) -> Modes {
        Modes { alternate_screen: self.term.mode().contains(TermMode::ALT_SCREEN), ..Modes::default() }
    }
}

fn color(color: ansi::Color) -> Color {
    match color {
        ansi::Color::Named(NamedColor::Foreground | NamedColor::Background) => Color::Default,
        ansi::Color::Named(named) => u8::try_from(named as usize).map_or(Color::Default, Color::Indexed),
        ansi::Color::Indexed(index) => Color::Indexed(index),
        ansi::Color::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
    }
}

/// Everything that must agree, one line per row of the screen.
fn outcome(emulator: &dyn Emulator, styles: bool) -> String {
    let size = emulator.size();
    let mut text = String::new();
    for row in 0..size.rows() {
        let cells: Vec<_> = (0..size.cols()).map(|col| emulator.cell(row, col)).collect();
        let line: String = cells.iter().map(|cell| &*cell.text).collect();
        text.push_str(line.trim_end());
        if styles {
            let seen = cells.iter().filter(|cell| cell.text != " ");
            text.push_str(&seen.map(|cell| format!(" {:?}", cell.style)).collect::<String>());
        }
        text.push('\n');
    }
    let Cursor { row, col, visible, .. } = emulator.cursor();
    let alternate = emulator.modes().alternate_screen;
    format!("{text}cursor {row},{col} visible {visible} alternate {alternate}")
}

fn bytes(escaped: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = escaped;
    while let Some((plain, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let (kind, after) = after.split_at(1);
        rest = after;
        match kind {
            "e" => bytes.push(0x1b),
            "r" => bytes.push(b'\r'),
            "n" => bytes.push(b'\n'),
            "t" => bytes.push(b'\t'),
            "b" => bytes.push(0x08),
            "\\" => bytes.push(b'\\'),
            "x" => {
                let (hex, after) = rest.split_at(2);
                bytes.push(u8::from_str_radix(hex, 16).unwrap());
                rest = after;
            }
            "u" => {
                let (hex, after) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).unwrap();
                let c = char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap();
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
            }
            other => panic!("unknown escape \\{other} in {escaped}"),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn corpus(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/terminal").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("read {}: {error}", path.display()))
}

#[test]
fn the_terminal_agrees_with_alacritty_but_where_the_corpus_says_why() {
    let reasons: BTreeMap<String, String> = toml::from_str(&corpus("differences.toml")).unwrap();
    let sequences = corpus("sequences.txt");
    let mut differing = BTreeMap::new();
    let mut count = 0;
    for case in sequences.lines().filter(|line| !line.starts_with('#')) {
        count += 1;
        let (category, escaped) = case.split_once(' ').unwrap();
        let size = Size::nearest(12, 5);
        let (mut ours, mut oracle) = (Terminal::new(size, ByteOrigin::Tty), Oracle::new(size));
        for emulator in [&mut ours as &mut dyn Emulator, &mut oracle] {
            emulator.feed(&bytes(escaped));
        }
        let (ours, theirs) = (outcome(&ours, category == "sgr"), outcome(&oracle, category == "sgr"));
        if ours != theirs {
            differing.insert(case.to_owned(), format!("ours:\n{ours}\nalacritty:\n{theirs}"));
        }
    }
    assert!(count >= 204, "{count} sequences");
    let unexplained: Vec<_> = differing.iter().filter(|(case, _)| !reasons.contains_key(*case)).collect();
    let outdated: Vec<_> = reasons.keys().filter(|case| !differing.contains_key(*case)).collect();
    let report: String = unexplained.iter().map(|(case, how)| format!("{case}\n{how}\n\n")).collect();
    assert!(unexplained.is_empty(), "differs without a reason:\n{report}");
    assert!(outdated.is_empty(), "listed but the same: {outdated:?}");
    assert!(differing.len() <= 20, "{} differences", differing.len());
}
