//! The beginning of a piece of output that the emulator may have just as it is: ASCII text and the sequences programs
//! use most, told by their bytes alone. Whatever it is not sure of, it leaves to the scanner.

use super::State;

/// The longest parameter list that is looked at here.
const MAX_LIST: usize = 64;

/// How much of it is looked at in one go.
const WINDOW: usize = 16;

/// Bytes of text that mean the same to the emulator: ASCII but for BEL, BS, SO, SI and ESC.
const TEXT: [bool; 256] = {
    let mut text = [false; 256];
    let mut byte = 0;
    while byte < 0x80 {
        text[byte] = !matches!(byte, 0x07 | 0x08 | 0x0e | 0x0f | 0x1b);
        byte += 1;
    }
    text
};

impl State {
    /// Returns the length of what needs no change at the beginning of `bytes`, and keeps track of what it does.
    pub(super) fn plain_len(&mut self, bytes: &[u8]) -> usize {
        let takes_text = self.takes_text();
        let mut len = 0;
        loop {
            let rest = &bytes[len..];
            let text_len = if takes_text { text_len(rest) } else { 0 };
            self.may_pend |= text_len > 0;
            match self.plain_sequence(&rest[text_len..]) {
                Some(sequence_len) => len += text_len + sequence_len,
                None => return len + text_len,
            }
        }
    }

    /// Returns the length of the sequence at the beginning of `bytes` when it is whole and needs no change.
    fn plain_sequence(&mut self, bytes: &[u8]) -> Option<usize> {
        let body = match bytes {
            [0x1b, b'[', b'?', b'2', b'5', b'h' | b'l', ..] => return Some(6),
            [0x1b, b'[', body @ ..] => body,
            // What `tput sgr0` begins with.
            [0x1b, b'(', b'B', ..] => {
                self.charsets.designate(b'(', b'B');
                return Some(3);
            }
            _ => return None,
        };
        let end = list_len(body)?;
        let passes = match body[end] {
            b'm' => self.pen.pass(&body[..end]),
            b'G' | b'H' | b'f' | b'`' | b'C' | b'E' | b'F' => {
                self.may_pend = false;
                true
            }
            b'K' => self.pen.leaves_blanks(),
            b'X' => self.pen.leaves_blanks() && !self.may_pend,
            b'A' | b'B' | b'D' | b'@' | b'P' => !self.may_pend,
            b'L' | b'M' | b'S' => true,
            _ => false,
        };
        passes.then_some(end + 3)
    }
}

/// Returns the length of the parameters at the beginning of `body`. All bytes of a window are looked at together: how
/// many digits a number has is nothing a processor can foresee.
fn list_len(body: &[u8]) -> Option<usize> {
    const fn each(byte: u8) -> u128 {
        u128::from_le_bytes([byte; WINDOW])
    }
    if let Some(window) = body.first_chunk::<WINDOW>() {
        // 0x30 to 0x3b are parameters: digits, colon and semicolon.
        let from_zero = u128::from_le_bytes(*window) ^ each(0x30);
        let others = (((from_zero & each(0x7f)) + each(0x80 - 0x0c)) | from_zero) & each(0x80);
        if others != 0 {
            return usize::try_from(others.trailing_zeros() / 8).ok();
        }
    }
    body.iter().take(MAX_LIST).position(|byte| !matches!(byte, b'0'..=b';'))
}

fn text_len(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !TEXT[usize::from(*byte)]).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_at_the_first_byte_that_is_none_of_it() {
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
