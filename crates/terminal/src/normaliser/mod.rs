//! The normaliser makes up for what the emulator behind it does not support: output goes in, bytes that the
//! emulator understands come out. Whatever it understands anyway passes through in whole pieces, including
//! sequences; the cursor is only queried where a sequence depends on it.

mod checksum;
mod controls;
mod display;
mod fills;
mod keyboard;
mod plain;
mod screens;
mod sequences;
mod sgr;

use super::cell::{CellStyle, Color};
use super::charset::Charsets;
use super::emulator::Vt100;
use super::host_terminal::DefaultColours;
use super::modes::{Cursor, Modes};
use super::osc::Properties;
use super::scanner::Scanner;
use super::size::Size;
use super::tabs::{Tabs, next_stop};
use super::terminal::{ByteOrigin, FeedResult, Terminal};
use keyboard::Keyboard;
use plain::{ERASE_ROW, ERASE_TO_END, PlainBeginning};
use sgr::Pen;

/// How many bytes are buffered before they are passed to the emulator: few enough to still be in the CPU
/// cache.
const GATHER: usize = 16 * 1024;

/// Pieces of at least this length are passed to the emulator directly: a call costs less than the copy.
const WORTH_A_CALL: usize = 512;

/// The state set by a program that the emulator does not keep or does not report.
#[derive(Debug)]
pub(super) struct Normaliser {
    scanner: Scanner,
    state: NormaliserState,
}

#[derive(Debug, Default)]
struct NormaliserState {
    size: Size,
    origin: ByteOrigin,
    /// Bytes not yet passed to the emulator.
    gathered: Vec<u8>,
    charsets: Charsets,
    pen: Pen,
    tabs: Tabs,
    /// What was saved on the primary and the alternate screen.
    saved: [SavedPen; 2],
    /// The margins of the primary and the alternate screen.
    screens: [Margins; 2],
    alternate: bool,
    insert: bool,
    no_wrap: bool,
    newline: bool,
    /// Whether ?3 clears the screen, and how it was set.
    may_set_columns: bool,
    has_132_columns: bool,
    hold_frames: bool,
    focus_events: bool,
    no_wheel_arrows: bool,
    /// How keys are encoded on the primary and the alternate screen.
    keyboards: [Keyboard; 2],
    /// What the program is told of the colours of text without one.
    colours: DefaultColours,
    /// Whether the cursor may be beyond the last column.
    may_pend: bool,
    /// The most that the column of the cursor can be; `usize::MAX` if not known.
    columns: usize,
    /// Whether the program has cleared the emulator's scrollback.
    scrollback_cleared: bool,
    properties: Properties,
}

/// What DECSC saves besides the cursor.
#[derive(Debug, Clone, Copy, Default)]
struct SavedPen {
    charsets: Charsets,
    pen: Pen,
}

/// The scroll region of one screen, and whether rows are counted from its top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Margins {
    /// The first and last row, from 0; none if it is the whole screen.
    region: Option<(u16, u16)>,
    relative: bool,
    saved_relative: bool,
}

impl Normaliser {
    /// Returns a normaliser for a fresh emulator.
    pub(super) fn new(size: Size, origin: ByteOrigin) -> Self {
        Self { scanner: Scanner::for_screen(), state: NormaliserState::new(size, origin) }
    }

    /// Feeds output of the program to the emulator.
    pub(super) fn feed(&mut self, bytes: &[u8], emulator: &mut Vt100, fed: &mut FeedResult) {
        let mut pass = Pass { state: &mut self.state, emulator, fed };
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.scanner.is_idle() {
                let plain = pass.pass_on(&rest[..rest.len().min(GATHER)]);
                rest = &rest[plain.len..];
                if plain.erases_row {
                    continue;
                }
            }
            rest = &rest[self.scanner.advance(rest, &mut pass)..];
        }
        pass.flush();
        fed.hold_frames = self.state.hold_frames;
    }

    /// Returns the number of the string that has begun and not ended.
    pub(super) fn open_string(&self) -> Option<u64> {
        self.scanner.open_string()
    }

    /// Shows the content of an open string as text.
    pub(super) fn give_up_string(&mut self, emulator: &mut Vt100) {
        let mut fed = FeedResult::default();
        let mut pass = Pass { state: &mut self.state, emulator, fed: &mut fed };
        self.scanner.give_up_string(&mut pass);
        pass.flush();
    }

    /// Adapts to a new size.
    pub(super) fn resize(&mut self, size: Size) {
        if size == self.state.size {
            return;
        }
        self.state.size = size;
        self.state.tabs.resize(size.cols());
        for screen in &mut self.state.screens {
            screen.region = None;
        }
    }

    /// Tells whether lines that scroll off the screen are gone for good, with no sequence incomplete.
    pub(super) fn scrolls_whole_lines(&self) -> bool {
        self.scanner.is_idle() && !self.state.alternate && self.state.screens[0].region.is_none()
    }

    /// Tells whether text currently means what it would to a fresh terminal, apart from its style.
    pub(super) fn is_plain(&self) -> bool {
        let NormaliserState { charsets, tabs, alternate, insert, no_wrap, newline, .. } = &self.state;
        let is_usual = tabs.are_default && *charsets == Charsets::default();
        let margins = self.state.screens[0];
        let is_whole = margins.region.is_none() && !margins.relative;
        self.scanner.is_idle() && is_usual && is_whole && !(*alternate || *insert || *no_wrap || *newline)
    }

    /// Tells whether the screens have no margins, with no sequence incomplete.
    pub(super) fn has_no_margins(&self) -> bool {
        self.scanner.is_idle() && self.state.screens == [Margins::default(); 2]
    }

    /// Tells whether the program has cleared the scrollback since the last call.
    pub(super) fn take_scrollback_cleared(&mut self) -> bool {
        std::mem::take(&mut self.state.scrollback_cleared)
    }

    /// Completes the modes that the emulator knows.
    pub(super) fn modes(&self, known: Modes) -> Modes {
        let distinct_keys = self.state.keyboard().flags() & keyboard::DISTINCT != 0;
        let NormaliserState { focus_events, no_wheel_arrows, .. } = self.state;
        Modes { focus_events, distinct_keys, no_wheel_arrows, ..known }
    }

    /// Completes the style of the next character.
    pub(super) fn style(&self, known: CellStyle) -> CellStyle {
        CellStyle { struck: self.state.pen.struck, ..known }
    }

    pub(super) fn set_colours(&mut self, colours: DefaultColours) {
        self.state.colours = colours;
    }

    pub(super) fn properties(&self) -> &Properties {
        &self.state.properties
    }
}

impl NormaliserState {
    fn new(size: Size, origin: ByteOrigin) -> Self {
        Self { size, origin, tabs: Tabs::new(size.cols()), ..Self::default() }
    }

    /// Tells whether text means the same to the emulator as to the program.
    fn takes_text(&self) -> bool {
        !(self.insert
            || self.no_wrap
            || self.newline
            || self.origin == ByteOrigin::Pipe
            || !self.tabs.are_default
            || self.pen.struck
            || self.charsets.is_drawing())
    }

    fn margins(&mut self) -> &mut Margins {
        &mut self.screens[usize::from(self.alternate)]
    }

    fn keyboard(&self) -> &Keyboard {
        &self.keyboards[usize::from(self.alternate)]
    }

    fn keyboard_mut(&mut self) -> &mut Keyboard {
        &mut self.keyboards[usize::from(self.alternate)]
    }
}

/// One call of [`Normaliser::feed`]: the state, the emulator and the results.
struct Pass<'a> {
    state: &'a mut NormaliserState,
    emulator: &'a mut Vt100,
    fed: &'a mut FeedResult,
}

impl Pass<'_> {
    /// Passes on what needs no change at the beginning of `bytes`; returns what that was.
    fn pass_on(&mut self, bytes: &[u8]) -> PlainBeginning {
        let plain = self.state.plain(bytes);
        let sent = &bytes[..plain.len];
        match sent.strip_suffix(ERASE_TO_END).filter(|_| plain.erases_row) {
            None => self.emit_text(sent),
            Some(before) => {
                self.emit_text(before);
                self.emit(ERASE_ROW);
            }
        }
        plain
    }

    /// Passes on text, with sequences in it. The emulator would take a tab behind the last column back into it, and the
    /// next character would replace the one there.
    fn emit_text(&mut self, bytes: &[u8]) {
        let (mut sent, mut counted) = (0, 0);
        for tab in memchr::memchr_iter(b'\t', bytes) {
            self.count_columns(&bytes[counted..tab]);
            counted = tab + 1;
            if self.state.columns >= usize::from(self.state.size.cols()) {
                self.emit(&bytes[sent..tab]);
                sent = if self.look().pending_wrap { counted } else { tab };
            }
            self.state.columns = next_stop(self.state.columns);
        }
        self.count_columns(&bytes[counted..]);
        self.emit(&bytes[sent..]);
    }

    /// Follows the column of the cursor, as far as text alone tells.
    fn count_columns(&mut self, bytes: &[u8]) {
        let returned = memchr::memrchr(b'\r', bytes);
        let (from, text) = returned.map_or((self.state.columns, bytes), |at| (0, &bytes[at + 1..]));
        let has_sequence = memchr::memchr(0x1b, text).is_some();
        self.state.columns = if has_sequence { usize::MAX } else { from.saturating_add(text.len()) };
    }

    /// Passes bytes to the emulator, now or later.
    fn emit(&mut self, bytes: &[u8]) {
        if self.state.gathered.len() + bytes.len() > GATHER || bytes.len() >= WORTH_A_CALL {
            self.flush();
        }
        if bytes.len() >= WORTH_A_CALL {
            self.emulator.feed(bytes);
        } else {
            self.state.gathered.extend_from_slice(bytes);
        }
    }

    fn flush(&mut self) {
        if !self.state.gathered.is_empty() {
            self.emulator.feed(&self.state.gathered);
            self.state.gathered.clear();
        }
    }

    /// Returns the cursor's state after everything emitted so far.
    fn look(&mut self) -> Cursor {
        self.flush();
        let cursor = self.emulator.cursor();
        self.state.columns = usize::from(cursor.col) + usize::from(cursor.pending_wrap);
        cursor
    }

    /// Tells whether the next blank has a background colour. The pen only knows that one was asked for; a malformed
    /// colour sets none.
    fn has_background(&mut self) -> bool {
        self.state.pen.background && {
            self.flush();
            self.emulator.style().bg != Color::Default
        }
    }

    /// Tells whether the next character would wrap to the next row.
    fn is_pending(&mut self) -> bool {
        self.state.may_pend && self.look().pending_wrap
    }

    /// Moves the cursor back to the last column if it is beyond it.
    fn settle(&mut self) {
        if self.is_pending() {
            self.go_to_column(self.state.size.cols() - 1);
        }
    }

    /// Moves the cursor to a column, from 0.
    fn go_to_column(&mut self, col: u16) {
        self.state.columns = col.into();
        self.emit(format!("\x1b[{}G", col + 1).as_bytes());
        self.state.may_pend = false;
    }

    /// Moves the cursor to a row and column of the screen, from 0.
    fn go_to(&mut self, row: u16, col: u16) {
        let margins = self.state.margins();
        let top = if margins.relative { margins.region.map_or(0, |(top, _)| top) } else { 0 };
        let row = row.saturating_sub(top);
        self.emit(format!("\x1b[{};{}H", row + 1, col + 1).as_bytes());
        self.state.may_pend = false;
    }

    /// Replies to the program, unless it cannot read or has asked for more than it may.
    fn reply(&mut self, bytes: &[u8]) {
        let has_room = self.fed.replies.len() + bytes.len() <= Terminal::MAX_REPLIES;
        if self.state.origin == ByteOrigin::Tty && has_room {
            self.fed.replies.extend_from_slice(bytes);
        }
    }
}
