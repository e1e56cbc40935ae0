//! The small face of a terminal emulator, and vt100 behind it. Everything vt100-specific is in this file.

use std::num::NonZeroU16;

use super::cell::{Cell, CellStyle, Color};
use super::modes::{Cursor, CursorShape, Modes, MouseEncoding, MouseMode};
use super::size::Size;

/// Lines vt100 keeps above the screen; a taller window pulls them back in. Older ones come from the log.
pub(super) const SCROLLBACK: usize = 200;

/// What Pilothouse needs of an emulator.
pub trait Emulator {
    /// Takes output of the program.
    fn feed(&mut self, bytes: &[u8]);
    /// Changes the size.
    fn resize(&mut self, size: Size);
    /// Returns the size.
    fn size(&self) -> Size;
    /// Returns a cell; a blank one outside the screen.
    fn cell(&self, row: u16, col: u16) -> Cell<'_>;
    /// Returns the cursor.
    fn cursor(&self) -> Cursor;
    /// Returns the modes the program has set.
    fn modes(&self) -> Modes;
}

/// The vt100 crate as an [`Emulator`]: fast, with the gaps the normaliser closes.
pub struct Vt100 {
    parser: vt100::Parser<Scrolled>,
}

/// Counts the rows vt100 has dropped from its full scrollback.
#[derive(Default)]
struct Scrolled {
    rows: u64,
}

impl vt100::Callbacks for Scrolled {
    fn on_scroll(&mut self, _: vt100::capture::RowContents<'_>, alternate_screen: bool) {
        if !alternate_screen {
            self.rows += 1;
        }
    }
}

impl Vt100 {
    /// Returns an empty screen of this size.
    #[must_use]
    pub fn new(size: Size) -> Self {
        let (rows, cols) = nonzero(size);
        let parser = vt100::Parser::new_with_callbacks(rows, cols, SCROLLBACK, Scrolled::default());
        Self { parser }
    }

    /// Tells whether a row goes on in the next one because the text did not fit.
    pub(super) fn is_wrapped(&self, row: u16) -> bool {
        self.parser.screen().row_wrapped(row)
    }

    /// Returns how many rows have left the scrollback of the primary screen.
    pub(super) fn rows_dropped(&self) -> u64 {
        self.parser.callbacks().rows
    }
}

impl Emulator for Vt100 {
    fn feed(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    fn resize(&mut self, size: Size) {
        let (rows, cols) = nonzero(size);
        self.parser.set_size(rows, cols);
    }

    fn size(&self) -> Size {
        let (rows, cols) = self.parser.screen().size();
        Size::clamped(cols.get(), rows.get())
    }

    fn cell(&self, row: u16, col: u16) -> Cell<'_> {
        match self.parser.screen().cell(row, col) {
            None => Cell::blank(CellStyle::default()),
            Some(cell) if cell.is_wide_continuation() => Cell::continuation(),
            Some(cell) => Cell::filtered(cell.contents(), cell.is_wide(), style_of(cell)),
        }
    }

    fn cursor(&self) -> Cursor {
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

    fn modes(&self) -> Modes {
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
