//! The fast path: finds the beginning of a piece of output that can go to the emulator unchanged, that is,
//! ASCII text and the sequences programs use most, recognised by their bytes alone. Everything else is left
//! to the scanner.

use super::NormaliserState;

/// The longest parameter list that is handled here.
const MAX_LIST: usize = 64;

/// How many bytes of it are examined at once.
const WINDOW: usize = 8;

/// A lookup table for text bytes that mean the same to the emulator.
type Text = [bool; 256];

/// ASCII except BEL, BS, SO, SI and ESC.
const TEXT: Text = text(false);
/// The same without bytes that may scroll: with a background colour set, a new row must have it.
const TEXT_OF_A_ROW: Text = text(true);

const fn text(stays_on_its_row: bool) -> Text {
    let mut text = [false; 256];
    let mut byte = 0;
    while byte < 0x80 {
        let feeds = matches!(byte, 0x0a..=0x0c);
        text[byte] = !(matches!(byte, 0x07 | 0x08 | 0x0e | 0x0f | 0x1b) || feeds && stays_on_its_row);
        byte += 1;
    }
    text
}

/// Flags: the conditions under which a control sequence passes unchanged, by its final byte; none if it never does.
type Rule = u8;

/// Passes unless another flag forbids it.
const KNOWN: Rule = 1;
/// Moves the cursor to a column that does not depend on the current one.
const MOVES: Rule = 2;
/// Depends on the column: the cursor must not be beyond the last one.
const SETTLED: Rule = 4;
/// Erases: the pen must leave plain blanks.
const ERASES: Rule = 8;
/// Brings in blanks: no background colour may be set.
const FILLS: Rule = 16;
/// Stops at the margins of a scroll region: there must be none.
const MARGINS: Rule = 32;

const RULES: [Rule; 256] = {
    let mut rules = [0; 256];
    let all: [(&[u8], Rule); 7] = [
        (b"GHf`C", KNOWN | MOVES),
        (b"K", KNOWN | ERASES),
        (b"X", KNOWN | ERASES | SETTLED),
        (b"AB", KNOWN | SETTLED | MARGINS),
        (b"D", KNOWN | SETTLED),
        (b"@P", KNOWN | SETTLED | FILLS),
        (b"LMS", KNOWN | FILLS),
    ];
    let mut row = 0;
    while row < all.len() {
        let mut at = 0;
        while at < all[row].0.len() {
            rules[all[row].0[at] as usize] = all[row].1;
            at += 1;
        }
        row += 1;
    }
    rules
};

/// The part at the beginning of some output that needs no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainBeginning {
    /// Its length.
    pub(super) len: usize,
    /// Whether it ends with a sequence that erases from the first column to the end of the row. That is
    /// equivalent to erasing the whole row, which takes the emulator a fraction of the time.
    pub(super) erases_row: bool,
}

/// The sequence that erases to the end of the row.
pub(super) const ERASE_TO_END: &[u8] = b"\x1b[K";
/// The sequence that erases the whole row.
pub(super) const ERASE_ROW: &[u8] = b"\x1b[2K";

impl NormaliserState {
    /// Returns the part at the beginning of `bytes` that needs no change, and keeps track of its effects.
    pub(super) fn plain(&mut self, bytes: &[u8]) -> PlainBeginning {
        let takes_text = self.takes_text();
        // Kept in a register: in memory, each sequence would wait for the previous one.
        let mut may_pend = self.may_pend;
        let mut len = 0;
        let mut erases_row = false;
        while !erases_row {
            let rest = &bytes[len..];
            let text = if self.pen.background { &TEXT_OF_A_ROW } else { &TEXT };
            let text_len = if takes_text { text_len(rest, text) } else { 0 };
            may_pend |= text_len > 0;
            len += text_len;
            match self.plain_sequence(&rest[text_len..], &mut may_pend) {
                Some(sequence_len) => {
                    let before = &bytes[..len];
                    len += sequence_len;
                    erases_row = sequence_len == ERASE_TO_END.len()
                        && bytes[len - 1] == b'K'
                        && ends_in_first_column(before);
                }
                None => break,
            }
        }
        self.may_pend = may_pend;
        PlainBeginning { len, erases_row }
    }

    /// Returns the length of the sequence at the beginning of `bytes` if it is complete and needs no change.
    fn plain_sequence(&mut self, bytes: &[u8], may_pend: &mut bool) -> Option<usize> {
        let body = match bytes {
            [0x1b, b'[', b'?', b'2', b'5', b'h' | b'l', ..] => return Some(6),
            [0x1b, b'[', body @ ..] => body,
            // The beginning of `tput sgr0`.
            [0x1b, b'(', b'B', ..] => {
                self.charsets.designate(b'(', b'B');
                return Some(3);
            }
            _ => return None,
        };
        if let Some(len) = indexed_colour(body) {
            self.pen.background |= body[0] == b'4';
            return Some(len + 2);
        }
        let end = list_len(body)?;
        let passes = if body[end] == b'm' {
            self.pen.pass(&body[..end])
        } else {
            self.passes(RULES[usize::from(body[end])], may_pend)
        };
        passes.then_some(end + 3)
    }

    /// Tells whether a sequence passes now, and keeps track of its effects. Branchless, because the CPU
    /// cannot predict which sequence comes next.
    fn passes(&self, rule: Rule, may_pend: &mut bool) -> bool {
        let pends = (rule & SETTLED != 0) & *may_pend;
        let paints = (rule & ERASES != 0) & !self.pen.leaves_blanks();
        let fills = (rule & FILLS != 0) & self.pen.background;
        let stops = (rule & MARGINS != 0) & self.screens[usize::from(self.alternate)].region.is_some();
        *may_pend &= rule & MOVES == 0;
        (rule != 0) & !pends & !paints & !fills & !stops
    }
}

/// Returns the length of the parameters at the beginning of `body`. All bytes of a window are examined
/// together, because the CPU cannot predict how many digits a number has.
fn list_len(body: &[u8]) -> Option<usize> {
    const fn splat_u64(byte: u8) -> u64 {
        u64::from_le_bytes([byte; WINDOW])
    }
    if let Some(window) = body.first_chunk::<WINDOW>() {
        // 0x30 to 0x3b are parameters: digits, colon and semicolon.
        let from_zero = u64::from_le_bytes(*window) ^ splat_u64(0x30);
        let others = (((from_zero & splat_u64(0x7f)) + splat_u64(0x80 - 0x0c)) | from_zero) & splat_u64(0x80);
        if others != 0 {
            return usize::try_from(others.trailing_zeros() / 8).ok();
        }
    }
    body.iter().take(MAX_LIST).position(|byte| !matches!(byte, b'0'..=b';'))
}

/// Returns the length of `38;5;n` or `48;5;n` including the final `m`, the most common beginning of a
/// coloured cell. Again without a step per digit.
fn indexed_colour(body: &[u8]) -> Option<usize> {
    const fn splat_u32(byte: u8) -> u32 {
        u32::from_le_bytes([byte; 4])
    }
    let ([b'3' | b'4', b'8', b';', b'5', b';'], rest) = body.split_first_chunk::<5>()? else { return None };
    let index = u32::from_le_bytes(*rest.first_chunk::<4>()?);
    let from_zero = index ^ splat_u32(0x30);
    let others = (((from_zero & splat_u32(0x7f)) + splat_u32(0x80 - 0x0a)) | from_zero) & splat_u32(0x80);
    let digits = usize::try_from(others.trailing_zeros() / 8).ok()?;
    ((1..4).contains(&digits) && rest[digits] == b'm').then_some(5 + digits + 1)
}

/// Tells whether the cursor is certainly in the first column after output that needed no change. Determined
/// only where it pays off, since tracking it would make every sequence slower.
fn ends_in_first_column(plain: &[u8]) -> bool {
    if plain.ends_with(b"\r") || plain.ends_with(b"\r\n") || plain.ends_with(b"\x1b[H") {
        return true;
    }
    let Some(row) = plain.strip_suffix(b";1H") else { return false };
    let digits = row.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    row[..row.len() - digits].ends_with(b"\x1b[")
}

fn text_len(bytes: &[u8], text: &Text) -> usize {
    // Full-screen drawing consists mostly of sequences that follow a sequence or a single character.
    match bytes {
        [0x1b, ..] => return 0,
        [one, 0x1b, ..] if text[usize::from(*one)] => return 1,
        _ => {}
    }
    bytes.iter().position(|byte| !text[usize::from(*byte)]).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteOrigin, Cell, Cursor, Size, Terminal};
    use proptest::prelude::*;

    /// Returns what a terminal shows after some output fed in pieces of this length: single bytes never take
    /// the fast path for sequences.
    fn shown(output: &[u8], piece: usize) -> (Vec<Cell<'static>>, Vec<bool>, Cursor) {
        let size = Size::nearest(7, 4);
        let mut terminal = Terminal::new(size, ByteOrigin::Tty);
        output.chunks(piece).for_each(|piece| drop(terminal.feed(piece)));
        let places = (0..size.rows()).flat_map(|row| (0..size.cols()).map(move |col| (row, col)));
        let cells = places.map(|(row, col)| terminal.cell(row, col).into_owned()).collect();
        (cells, (0..size.rows()).map(|row| terminal.is_wrapped(row)).collect(), terminal.cursor())
    }

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let fixed: [&[u8]; 28] = [
            b"\r",
            b"\r\n",
            b"\x1b[K",
            b"\x1b[K",
            b"\x1b[2;1H",
            b"\x1b[H",
            b"\x1b[3;4H",
            b"\x1b[1;2;1H",
            b"\x1b[G",
            b"\x1b[2;1G",
            b"\x1b[E",
            b"\x1b[F",
            b"\x1b[C",
            b"\x1b[A",
            b"\x1b[m",
            b"\x1b[44m",
            b"\x1b[7m",
            b"\x1b[27m",
            b"\x1b[38;5;9m",
            b"\x1b[@",
            b"\x1b[P",
            b"\x1b[L",
            b"\x1b[2;3r",
            b"\x1b[?6h",
            b"\xff",
            b"\xe4\xbd",
            b"\x08",
            "\u{fe0f}".as_bytes(),
        ];
        prop_oneof![
            3 => proptest::sample::select(fixed.to_vec()).prop_map(<[u8]>::to_vec),
            1 => "[ -~é好€😀]{0,12}".prop_map(String::into_bytes),
        ]
    }

    proptest! {
        #[test]
        fn output_in_pieces_of_any_size_is_shown_as_if_it_came_byte_by_byte(
            pieces in proptest::collection::vec(piece(), 0..30),
            cut in 1_usize..60,
        ) {
            let output = pieces.concat();
            prop_assert_eq!(shown(&output, cut), shown(&output, 1));
        }
    }

    #[test]
    fn a_list_of_parameters_ends_at_the_first_other_byte() {
        for at in 0..20 {
            for byte in 0..=u8::MAX {
                let mut body = [b"0123456789:;0123456789".as_slice(), &[0xff; 20]].concat();
                body[at] = byte;
                let end = if (b'0'..=b';').contains(&byte) { 22 } else { at };
                assert_eq!(list_len(&body), Some(end), "{byte} at {at}");
                assert_eq!(list_len(&body[..=end]), Some(end), "{byte} at {at}, nothing behind it");
            }
        }
        assert_eq!(list_len(&b"1;".repeat(100)), None);
        assert_eq!(list_len(b"12"), None);
    }
}
