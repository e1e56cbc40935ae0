//! Modes, margins and the two screens. The emulator keeps a cursor and margins per screen, but a terminal has
//! only one of each, so they are carried over.

use super::{Margins, Pass};
use crate::csi::{Csi, Parameter};
use crate::modes::{MouseEncoding, MouseMode};
use crate::replies::{self, ModeReport};
use crate::terminal::ByteOrigin;

/// ANSI modes that no terminal of today sets: guarded areas, editing extents, transfers of what is on the screen.
const REFUSED_ANSI: [u16; 12] = [1, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19];
/// Private modes that are known and never set (docs/reference/panes.md#modes): reverse video, left and right margins,
/// sixel scrolling, highlighting by the mouse, two encodings of it, grapheme clusters, reports of theme and size.
const REFUSED: [u16; 9] = [5, 69, 80, 1001, 1015, 1016, 2027, 2031, 2048];

impl Pass<'_> {
    /// Sets or resets ANSI modes.
    pub(super) fn ansi_modes(&mut self, csi: &Csi<'_>, on: bool) {
        for mode in csi.parameters().map(Parameter::value) {
            match mode {
                4 => self.state.insert = on,
                20 => self.state.newline = on,
                _ => {}
            }
        }
    }

    /// Sets or resets private modes.
    pub(super) fn private_modes(&mut self, csi: &Csi<'_>, on: bool) {
        for mode in csi.parameters().map(Parameter::value) {
            match mode {
                1 | 9 | 25 | 1000 | 1002 | 1003 | 1005 | 1006 | 2004 => self.pass_mode(mode, on),
                3 if self.state.may_set_columns => self.set_columns(on),
                40 => self.state.may_set_columns = on,
                66 => self.emit(if on { b"\x1b=" } else { b"\x1b>" }),
                6 => {
                    self.state.margins().relative = on;
                    self.state.may_pend = false;
                    self.pass_mode(6, on);
                }
                7 => self.state.no_wrap = !on,
                // On a pipe there is no other screen to come back from.
                47 | 1047 | 1049 if self.state.origin == ByteOrigin::Pipe => {}
                47 | 1047 | 1049 if on => self.enter_alternate(mode),
                47 | 1047 | 1049 => self.leave_alternate(mode),
                1004 => self.state.focus_events = on,
                1007 => self.state.no_wheel_arrows = !on,
                1048 if on => self.save_cursor(),
                1048 => self.restore_cursor(),
                2026 => self.state.hold_frames = on,
                _ => {}
            }
        }
    }

    /// Notes the 132 or 80 columns a program wants, and clears the screen as they would (DECCOLM). The width of a pane is
    /// not the program's to choose.
    fn set_columns(&mut self, are_132: bool) {
        self.state.has_132_columns = are_132;
        self.set_margins(None, false);
        self.erase(b"\x1b[2J");
        self.go_to(0, 0);
    }

    fn pass_mode(&mut self, mode: u16, on: bool) {
        let last = if on { 'h' } else { 'l' };
        self.emit(format!("\x1b[?{mode}{last}").as_bytes());
    }

    fn enter_alternate(&mut self, mode: u16) {
        if self.state.alternate {
            return;
        }
        let cursor = self.look();
        let carried = *self.state.margins();
        if mode == 1049 {
            self.note_saved();
            self.emit(b"\x1b[?1049h");
            self.state.screens[1] = Margins::default();
        } else {
            self.emit(b"\x1b[?47h");
        }
        self.state.alternate = true;
        self.carry(carried);
        self.go_to(cursor.row, cursor.col);
    }

    fn leave_alternate(&mut self, mode: u16) {
        if !self.state.alternate {
            return;
        }
        if mode == 1047 {
            self.erase(b"\x1b[2J");
        }
        let cursor = self.look();
        let carried = *self.state.margins();
        self.state.alternate = false;
        if mode == 1049 {
            self.emit(b"\x1b[?1049l");
            self.note_restored();
            if self.state.margins().region != carried.region {
                let restored = self.look();
                self.set_margins(carried.region, self.state.screens[0].relative);
                self.go_to(restored.row, restored.col);
            }
        } else {
            self.emit(b"\x1b[?47l");
            self.carry(carried);
            self.go_to(cursor.row, cursor.col);
        }
    }

    /// Gives the current screen the margins of the other one. Moves the cursor.
    fn carry(&mut self, carried: Margins) {
        let now = *self.state.margins();
        if (now.region, now.relative) != (carried.region, carried.relative) {
            self.set_margins(carried.region, carried.relative);
        }
    }

    /// Sets the margins of the current screen. Moves the cursor.
    pub(super) fn set_margins(&mut self, region: Option<(u16, u16)>, relative: bool) {
        let last = self.state.size.rows() - 1;
        let (top, bottom) = region.unwrap_or((0, last));
        self.pass_mode(6, relative);
        self.emit(format!("\x1b[{};{}r", top + 1, bottom + 1).as_bytes());
        let margins = self.state.margins();
        margins.region = region;
        margins.relative = relative;
        self.state.may_pend = false;
    }

    /// Sets the scroll region (DECSTBM).
    pub(super) fn scroll_region(&mut self, csi: &Csi<'_>) {
        let rows = self.state.size.rows();
        let top = csi.parameter(0, 1) - 1;
        let bottom = csi.parameter(1, rows).min(rows) - 1;
        if top >= bottom {
            return;
        }
        let region = (top > 0 || bottom + 1 < rows).then_some((top, bottom));
        self.state.margins().region = region;
        self.emit(format!("\x1b[{};{}r\x1b[H", top + 1, bottom + 1).as_bytes());
        self.state.may_pend = false;
    }

    /// Reports whether a mode is set, or that it is unknown (DECRQM).
    pub(super) fn report_mode(&mut self, csi: &Csi<'_>) {
        self.flush();
        let modes = self.emulator.modes();
        let mouse = |mode| modes.mouse == mode;
        let mode = csi.parameter(0, 0);
        let set = match (csi.marker, mode) {
            (0, 4) => self.state.insert,
            (0, 20) => self.state.newline,
            (b'?', 1) => modes.application_cursor,
            (b'?', 3) => self.state.has_132_columns,
            (b'?', 40) => self.state.may_set_columns,
            (b'?', 66) => modes.application_keypad,
            (b'?', 6) => self.state.margins().relative,
            (b'?', 7) => !self.state.no_wrap,
            (b'?', 9) => mouse(MouseMode::Press),
            (b'?', 25) => self.emulator.cursor().visible,
            (b'?', 47 | 1047 | 1049) => modes.alternate_screen,
            (b'?', 1000) => mouse(MouseMode::PressRelease),
            (b'?', 1002) => mouse(MouseMode::ButtonMotion),
            (b'?', 1003) => mouse(MouseMode::AnyMotion),
            (b'?', 1004) => self.state.focus_events,
            (b'?', 1007) => !self.state.no_wheel_arrows,
            (b'?', 1005) => modes.mouse_encoding == MouseEncoding::Utf8,
            (b'?', 1006) => modes.mouse_encoding == MouseEncoding::Sgr,
            (b'?', 2004) => modes.bracketed_paste,
            (b'?', 2026) => self.state.hold_frames,
            (0, mode) if REFUSED_ANSI.contains(&mode) => {
                return self.reply(&replies::mode(csi.marker, mode, ModeReport::Refused));
            }
            (b'?', mode) if REFUSED.contains(&mode) => {
                return self.reply(&replies::mode(csi.marker, mode, ModeReport::Refused));
            }
            _ => return self.reply(&replies::mode(csi.marker, mode, ModeReport::Unknown)),
        };
        self.reply(&replies::mode(csi.marker, mode, set.into()));
    }
}
