//! The terminal emulator: the vt100 crate. Everything specific to it is in this module.

mod packed;

use std::num::NonZeroU16;

pub(super) use packed::PackedScreen;

use super::cell::{Cell, CellStyle, Color, STRUCK_STAND_IN};
use super::modes::{Cursor, CursorShape, Modes, MouseEncoding, MouseMode};
use super::size::Size;

/// Lines kept above the screen, which a growing screen pulls back in: as many as a pane can grow by at a terminal of 80 rows.
/// Each costs 32 bytes a column for as long as the task is there. Older lines are read from the log.
pub(super) const SCROLLBACK: usize = 80;

/// A screen of the vt100 crate, which is fast but does not support everything; see `normaliser`.
pub struct Vt100 {
    parser: vt100::Parser<ScrollCount>,
}

/// Counts the rows vt100 has dropped from its full scrollback.
#[derive(Default)]
struct ScrollCount {
    rows: u64,
}

impl vt100::Callbacks for ScrollCount {
    fn on_scroll(&mut self, _: vt100::capture::RowContents<'_>, alternate_screen: bool) {
        if !alternate_screen {
            self.rows += 1;
        }
    }
}

impl Vt100 {
    /// Returns an empty screen of this size.
    pub fn new(size: Size) -> Self {
        let (rows, cols) = nonzero(size);
        let parser = vt100::Parser::new_with_callbacks(rows, cols, SCROLLBACK, ScrollCount::default());
        Self { parser }
    }

    /// Tells whether a row's text wraps into the next row.
    pub(super) fn is_wrapped(&self, row: u16) -> bool {
        self.parser.screen().row_wrapped(row)
    }

    /// Returns how many rows have left the scrollback of the primary screen.
    pub(super) fn rows_dropped(&self) -> u64 {
        self.parser.callbacks().rows
    }

    /// Feeds output of the program.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    pub(super) fn resize(&mut self, size: Size) {
        let (rows, cols) = nonzero(size);
        self.parser.set_size(rows, cols);
    }

    pub(super) fn size(&self) -> Size {
        let (rows, cols) = self.parser.screen().size();
        Size::nearest(cols.get(), rows.get())
    }

    /// Returns a cell; a blank one outside the screen.
    pub(super) fn cell(&self, row: u16, col: u16) -> Cell<'_> {
        match self.parser.screen().cell(row, col) {
            None => Cell::blank(CellStyle::default()),
            Some(cell) if cell.is_wide_continuation() => Cell::continuation(),
            Some(cell) => {
                let text = cell.contents();
                let struck = text.len() > 1 && text.contains(STRUCK_STAND_IN);
                Cell::from_raw(text, cell.is_wide(), CellStyle { struck, ..style_of(cell) })
            }
        }
    }

    pub(super) fn cursor(&self) -> Cursor {
        let screen = self.parser.screen();
        let (row, col) = screen.cursor_position();
        let last = self.size().cols() - 1;
        Cursor {
            row,
            col: col.min(last),
            pending_wrap: col > last,
            visible: !screen.hide_cursor(),
            shape: shape_of(screen.cursor_style()),
        }
    }

    pub(super) fn is_alternate(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// Returns the style of the next character.
    pub(super) fn style(&self) -> CellStyle {
        let screen = self.parser.screen();
        CellStyle {
            fg: color_of(screen.fgcolor()),
            bg: color_of(screen.bgcolor()),
            bold: screen.bold(),
            dim: screen.dim(),
            italic: screen.italic(),
            underline: screen.underline(),
            inverse: screen.inverse(),
            struck: false,
        }
    }

    /// Returns the modes, as far as vt100 knows them.
    pub(super) fn modes(&self) -> Modes {
        let screen = self.parser.screen();
        Modes {
            alternate_screen: screen.alternate_screen(),
            application_cursor: screen.application_cursor(),
            application_keypad: screen.application_keypad(),
            bracketed_paste: screen.bracketed_paste(),
            mouse: match screen.mouse_protocol_mode() {
                vt100::MouseProtocolMode::None => MouseMode::Off,
                vt100::MouseProtocolMode::Press => MouseMode::Press,
                vt100::MouseProtocolMode::PressRelease => MouseMode::PressRelease,
                vt100::MouseProtocolMode::ButtonMotion => MouseMode::ButtonMotion,
                vt100::MouseProtocolMode::AnyMotion => MouseMode::AnyMotion,
            },
            mouse_encoding: match screen.mouse_protocol_encoding() {
                vt100::MouseProtocolEncoding::Default => MouseEncoding::Plain,
                vt100::MouseProtocolEncoding::Utf8 => MouseEncoding::Utf8,
                vt100::MouseProtocolEncoding::Sgr => MouseEncoding::Sgr,
            },
            focus_events: false,
            distinct_keys: false,
            no_wheel_arrows: false,
        }
    }
}

fn nonzero(size: Size) -> (NonZeroU16, NonZeroU16) {
    let of = |n| NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN);
    (of(size.rows()), of(size.cols()))
}

fn style_of(cell: &vt100::Cell) -> CellStyle {
    CellStyle {
        fg: color_of(cell.fgcolor()),
        bg: color_of(cell.bgcolor()),
        bold: cell.bold(),
        dim: cell.dim(),
        italic: cell.italic(),
        underline: cell.underline(),
        inverse: cell.inverse(),
        struck: false,
    }
}

fn color_of(color: vt100::Color) -> Color {
    match color {
        vt100::Color::Default => Color::Default,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}

fn shape_of(style: vt100::CursorStyle) -> CursorShape {
    match style {
        vt100::CursorStyle::Default => CursorShape::Default,
        vt100::CursorStyle::BlinkBlock => CursorShape::Block { blink: true },
        vt100::CursorStyle::SteadyBlock => CursorShape::Block { blink: false },
        vt100::CursorStyle::BlinkUnderline => CursorShape::Underline { blink: true },
        vt100::CursorStyle::SteadyUnderline => CursorShape::Underline { blink: false },
        vt100::CursorStyle::BlinkVerticalBar => CursorShape::Bar { blink: true },
        vt100::CursorStyle::SteadyVerticalBar => CursorShape::Bar { blink: false },
    }
}
