//! Passing text to the emulator: in whole pieces where possible, character by character where insert mode or
//! the right margin requires it.

use unicode_width::UnicodeWidthChar;

use super::Pass;
use crate::cell::{EMOJI_PRESENTATION, HYPHEN, REPLACEMENT_STAND_IN, SOFT_HYPHEN, STRUCK_STAND_IN};

impl Pass<'_> {
    pub(super) fn take_text(&mut self, text: &str) {
        let fills = self.state.pen.background && feeds(text.as_bytes());
        if self.state.takes_text() && !fills && !has_special(text.as_bytes()) {
            self.state.may_pend = true;
            return self.emit_text(text.as_bytes());
        }
        let mut rest = text;
        while let Some(at) = rest.find(is_special) {
            let (plain, from) = rest.split_at(at);
            self.print(plain);
            let mut chars = from.chars();
            if let Some(special) = chars.next() {
                self.take_special(special);
            }
            rest = chars.as_str();
        }
        self.print(rest);
    }

    fn take_special(&mut self, c: char) {
        match c {
            char::REPLACEMENT_CHARACTER => self.print_replacement(),
            // vt100 panics when this widens a character at the margin of the bottom row.
            EMOJI_PRESENTATION if self.is_pending() => {}
            EMOJI_PRESENTATION => {
                self.emit("\u{FE0F}".as_bytes());
                self.state.columns = self.state.columns.saturating_add(1);
            }
            SOFT_HYPHEN => self.print(HYPHEN),
            _ => self.take_control(u8::try_from(c).unwrap_or(0)),
        }
    }

    pub(super) fn print_replacement(&mut self) {
        self.print(REPLACEMENT_STAND_IN.encode_utf8(&mut [0; 4]));
    }

    /// Prints characters that are not controls.
    fn print(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = self.state.charsets.translate(text);
        self.state.columns = self.state.columns.saturating_add(text.len());
        if self.state.insert || self.state.no_wrap {
            for c in text.chars() {
                self.print_one(c);
            }
            self.state.columns = usize::MAX;
        } else if self.state.pen.struck {
            let mut struck = String::with_capacity(5 * text.len());
            for c in text.chars() {
                struck.push(c);
                struck.extend(c.width().filter(|width| *width > 0).map(|_| STRUCK_STAND_IN));
            }
            self.emit(struck.as_bytes());
        } else {
            self.emit(text.as_bytes());
        }
        self.state.may_pend = true;
    }

    fn print_one(&mut self, c: char) {
        let width = u16::try_from(c.width().unwrap_or(0)).unwrap_or(0);
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        if width == 0 {
            return self.emit(bytes);
        }
        let cols = self.state.size.cols();
        let cursor = self.look();
        let fits = !cursor.pending_wrap && cursor.col + width <= cols;
        if !fits && self.state.no_wrap {
            if width > 1 && !cursor.pending_wrap {
                return;
            }
            self.go_to_column(cols - width);
        } else if !fits {
            // Wrap here: the row to insert into must exist before anything is printed.
            self.emit(b"\r\n");
        }
        if self.state.insert {
            self.emit(format!("\x1b[{width}@").as_bytes());
        }
        self.emit(bytes);
        if self.state.pen.struck {
            self.emit(STRUCK_STAND_IN.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.state.may_pend = true;
    }
}

/// Tells whether there may be a character that always needs special treatment.
fn has_special(bytes: &[u8]) -> bool {
    if bytes.len() < 16 {
        return bytes.iter().any(|byte| matches!(byte, 0x07 | 0x08 | 0x0e | 0x0f | 0xad | 0xef));
    }
    memchr::memchr3(0x08, 0x0e, 0x0f, bytes).is_some()
        || memchr::memchr2(0x07, 0xef, bytes).is_some()
        || memchr::memmem::find(bytes, b"\xc2\xad").is_some()
}

/// Tells whether the screen may scroll.
fn feeds(bytes: &[u8]) -> bool {
    memchr::memchr3(b'\n', 0x0b, 0x0c, bytes).is_some()
}

/// Controls, and characters that need special treatment: U+FE0F, U+FFFD and U+00AD.
fn is_special(c: char) -> bool {
    c < ' ' || matches!(c, EMOJI_PRESENTATION | SOFT_HYPHEN | char::REPLACEMENT_CHARACTER)
}
