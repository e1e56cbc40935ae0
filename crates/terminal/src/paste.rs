//! Pasted text as sent to the program. The text can never terminate its own paste.

use super::modes::Modes;

const BEGIN: &str = "\x1b[200~";
const END: &str = "\x1b[201~";

/// The end marker with the eight-bit CSI, which some programs also accept.
const SHORT_END: &str = "\u{9b}201~";
/// The length of both markers in bytes.
pub const MARKERS: usize = BEGIN.len() + END.len();

/// Returns the bytes for pasting `text`: between markers if the program has requested them, otherwise with
/// carriage returns as line ends, as if typed.
pub fn paste(text: &str, modes: Modes) -> Vec<u8> {
    if !modes.bracketed_paste {
        return text.replace("\r\n", "\r").replace('\n', "\r").into_bytes();
    }
    let mut bytes = Vec::with_capacity(text.len() + MARKERS);
    bytes.extend_from_slice(BEGIN.as_bytes());
    for piece in text.as_bytes().split_inclusive(|byte| *byte == b'~') {
        bytes.extend_from_slice(piece);
        // Removing one marker may join the halves of another, which then ends at a later byte.
        let inner = &bytes[BEGIN.len()..];
        if let Some(end) = [END, SHORT_END].iter().find(|end| inner.ends_with(end.as_bytes())) {
            bytes.truncate(bytes.len() - end.len());
        }
    }
    bytes.extend_from_slice(END.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bracketed() -> Modes {
        Modes { bracketed_paste: true, ..Modes::default() }
    }

    #[test]
    fn a_paste_is_typed_when_the_program_did_not_ask_for_markers() {
        assert_eq!(paste("a\nb\r\nc", Modes::default()), b"a\rb\rc");
    }

    #[test]
    fn a_paste_is_between_markers_when_the_program_asked_for_them() {
        assert_eq!(paste("a\nb", bracketed()), b"\x1b[200~a\nb\x1b[201~");
    }

    #[test]
    fn the_end_marker_cannot_come_from_the_text() {
        assert_eq!(paste("x\x1b[201~rm", bracketed()), b"\x1b[200~xrm\x1b[201~");
        assert_eq!(paste("x\x1b[20\x1b[201~1~rm", bracketed()), b"\x1b[200~xrm\x1b[201~");
        assert_eq!(paste("x\u{9b}201~rm", bracketed()), b"\x1b[200~xrm\x1b[201~");
        assert_eq!(paste("[201~\x1b", bracketed()), b"\x1b[200~[201~\x1b\x1b[201~");
    }

    #[test]
    fn f51_markers_within_markers_take_no_longer() {
        let many = 50_000;
        let text = format!("{}rm{}", "\x1b[20".repeat(many), "1~".repeat(many));
        assert_eq!(paste(&text, bracketed()).len(), text.len() + MARKERS, "the halves do not meet");
        let text = format!("x{}{}", "\x1b[20".repeat(many), "1~".repeat(many));
        assert_eq!(paste(&text, bracketed()), b"\x1b[200~x\x1b[201~");
    }
}
