//! Splits a byte stream into text, controls and escape sequences, however it is cut into pieces, without
//! knowing what they mean. A string ends at the latest at the end of its line or after 4 KiB, so an
//! unterminated one cannot hide output.

use super::csi::{self, Csi};

/// The length at which an unterminated string (OSC, DCS, SOS, PM, APC) is abandoned; what follows is text
/// again.
const MAX_STRING: usize = 4096;

/// The longest OSC that is passed on; anything longer is unterminated or hostile.
const MAX_OSC: usize = 1000;

/// Receives what the scanner finds.
pub(super) trait Sink {
    /// Text: characters, and controls other than ESC. It may be split between any two characters.
    fn text(&mut self, text: &str);
    /// Bytes that are not valid UTF-8, to be shown as one U+FFFD.
    fn invalid(&mut self);
    /// A control inside a sequence.
    fn control(&mut self, byte: u8);
    /// An escape sequence; the intermediate byte is 0 if there is none.
    fn escape(&mut self, intermediate: u8, last: u8);
    /// A control sequence.
    fn csi(&mut self, csi: Csi<'_>);
    /// An operating system command, without introducer and terminator.
    fn osc(&mut self, content: &[u8]);
}

/// The state of scanning a stream.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: State,
    /// The unfinished sequence, or the beginning of a character.
    pending: Vec<u8>,
    /// The length of the current string so far.
    string_len: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In text; `pending` holds the beginning of a character.
    #[default]
    Text,
    /// After ESC; `pending` holds intermediates.
    Escape,
    /// After ESC [; `pending` holds the sequence from ESC on.
    Csi,
    /// After ESC ]; `pending` holds the content.
    Osc,
    /// In a string that is ignored.
    Ignored,
}

impl Scanner {
    /// Tells whether the next byte starts something new.
    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Text && self.pending.is_empty()
    }

    /// Scans bytes and passes the results to `sink`.
    pub(super) fn scan(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = rest.get(self.advance(rest, sink)..).unwrap_or_default();
        }
    }

    /// Scans text and at most one sequence; returns the number of bytes consumed, 0 if it only completed what
    /// was pending.
    pub(super) fn advance(&mut self, bytes: &[u8], sink: &mut impl Sink) -> usize {
        let Some(first) = bytes.first() else { return 0 };
        match self.state {
            State::Text if !self.pending.is_empty() => self.complete_character(*first, sink),
            State::Text => self.text(bytes, sink),
            _ => self.step(*first, sink),
        }
    }

    /// Ends the stream: an incomplete character is invalid.
    pub(super) fn finish(&mut self, sink: &mut impl Sink) {
        if self.state == State::Text && !self.pending.is_empty() {
            sink.invalid();
        }
        *self = Self::default();
    }

    /// Scans text up to the next ESC, and the sequence that begins there; returns the number of bytes
    /// consumed.
    fn text(&mut self, bytes: &[u8], sink: &mut impl Sink) -> usize {
        let len =
            if bytes.first() == Some(&0x1b) { 0 } else { memchr::memchr(0x1b, bytes).unwrap_or(bytes.len()) };
        let (text, after) = bytes.split_at(len);
        if !text.is_empty() {
            let cut_off = self.characters(text, !after.is_empty(), sink);
            self.pending.extend_from_slice(cut_off);
        }
        if after.is_empty() {
            return len;
        }
        if let Some((csi_len, csi)) = Csi::first_in(after) {
            if let Some(csi) = csi {
                sink.csi(csi);
            }
            return len + csi_len;
        }
        self.state = State::Escape;
        len + 1
    }

    /// Passes on characters; returns an incomplete one at the end, unless nothing can complete it.
    fn characters<'a>(&self, bytes: &'a [u8], last: bool, sink: &mut impl Sink) -> &'a [u8] {
        let mut rest = bytes;
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok("") => return rest,
                Ok(text) => {
                    sink.text(text);
                    return &[];
                }
                Err(error) => error,
            };
            let (valid, bad) = rest.split_at(error.valid_up_to());
            if let Ok(text) = std::str::from_utf8(valid)
                && !text.is_empty()
            {
                sink.text(text);
            }
            match error.error_len() {
                None if !last => return bad,
                None => rest = &[],
                Some(len) => rest = bad.get(len..).unwrap_or_default(),
            }
            sink.invalid();
        }
    }

    /// Adds a byte to an incomplete character; returns whether the byte belonged to it.
    fn complete_character(&mut self, byte: u8, sink: &mut impl Sink) -> usize {
        self.pending.push(byte);
        let taken = match std::str::from_utf8(&self.pending) {
            Ok(text) => {
                sink.text(text);
                1
            }
            Err(error) if error.error_len().is_none() => return 1,
            Err(_) => {
                sink.invalid();
                0
            }
        };
        self.pending.clear();
        taken
    }

    /// Scans one byte of a sequence; returns how many bytes were consumed: 1 or 0.
    fn step(&mut self, byte: u8, sink: &mut impl Sink) -> usize {
        match (self.state, byte) {
            (_, 0x1b) => {
                self.end_string(sink);
                self.enter(State::Escape);
            }
            (_, 0x18 | 0x1a) => self.enter(State::Text),
            (State::Osc, 0x07) => {
                self.end_string(sink);
                self.enter(State::Text);
            }
            // Abandoned at the end of the line: whatever follows must be visible.
            (State::Osc | State::Ignored, b'\r' | b'\n') => {
                self.enter(State::Text);
                return 0;
            }
            (State::Osc | State::Ignored, _) => self.string(byte),
            (_, 0..=0x1f) => sink.control(byte),
            (State::Escape, _) => self.escape(byte, sink),
            (_, 0x20..=0x7e) => self.csi(byte, sink),
            _ => {}
        }
        1
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.string_len = 0;
        self.pending.clear();
    }

    fn string(&mut self, byte: u8) {
        self.string_len += 1;
        if self.string_len > MAX_STRING {
            self.enter(State::Text);
        } else if self.state == State::Osc && byte >= 0x20 && self.pending.len() <= MAX_OSC {
            self.pending.push(byte);
        }
    }

    fn end_string(&mut self, sink: &mut impl Sink) {
        if self.state == State::Osc && self.pending.len() <= MAX_OSC {
            sink.osc(&self.pending);
        }
    }

    fn escape(&mut self, byte: u8, sink: &mut impl Sink) {
        match (byte, self.pending.as_slice()) {
            (0x20..=0x2f, [] | [_]) => self.pending.push(byte),
            (0x20..=0x2f, _) => {}
            (b'[', []) => {
                self.enter(State::Csi);
                self.pending.extend_from_slice(b"\x1b[");
            }
            (b']', []) => self.enter(State::Osc),
            (b'P' | b'X' | b'^' | b'_', []) => self.enter(State::Ignored),
            (0x30..=0x7e, intermediates) => {
                match intermediates {
                    [] => sink.escape(0, byte),
                    [intermediate] => sink.escape(*intermediate, byte),
                    _ => {}
                }
                self.enter(State::Text);
            }
            _ => {}
        }
    }

    fn csi(&mut self, byte: u8, sink: &mut impl Sink) {
        if self.pending.len() < csi::MAX_LEN + 1 {
            self.pending.push(byte);
        }
        if byte < 0x40 {
            return;
        }
        if self.pending.len() <= csi::MAX_LEN
            && let Some(csi) = Csi::parse(&self.pending)
        {
            sink.csi(csi);
        }
        self.enter(State::Text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records everything it receives, with adjacent texts joined.
    #[derive(Default, Debug, PartialEq)]
    struct Record(Vec<String>);

    impl Sink for Record {
        fn text(&mut self, text: &str) {
            assert!(!text.is_empty());
            match self.0.last_mut().filter(|last| last.starts_with("t:")) {
                Some(last) => last.push_str(text),
                None => self.0.push(format!("t:{text}")),
            }
        }
        fn invalid(&mut self) {
            self.0.push("invalid".to_owned());
        }
        fn control(&mut self, byte: u8) {
            self.0.push(format!("control {byte}"));
        }
        fn escape(&mut self, intermediate: u8, last: u8) {
            self.0.push(format!("escape {intermediate} {}", char::from(last)));
        }
        fn csi(&mut self, csi: Csi<'_>) {
            self.0.push(format!("csi {}", String::from_utf8_lossy(&csi.raw[2..])));
        }
        fn osc(&mut self, content: &[u8]) {
            self.0.push(format!("osc {}", String::from_utf8_lossy(content)));
        }
    }

    fn scanned(pieces: &[&[u8]]) -> Vec<String> {
        let (mut scanner, mut record) = (Scanner::default(), Record::default());
        for piece in pieces {
            scanner.scan(piece, &mut record);
        }
        scanner.finish(&mut record);
        record.0
    }

    #[test]
    fn text_controls_and_sequences_are_told_apart() {
        let bytes = b"a\xc3\xa9\r\n\x1b[1;2Hb\x1b(0\x1b7\x1b]0;t\x07c\x1b]2;u\x1b\\d\x1bPq#\x1b\\e\xffz";
        assert_eq!(
            scanned(&[bytes]),
            [
                "t:aé\r\n",
                "csi 1;2H",
                "t:b",
                "escape 40 0",
                "escape 0 7",
                "osc 0;t",
                "t:c",
                "osc 2;u",
                "escape 0 \\",
                "t:d",
                "escape 0 \\",
                "t:e",
                "invalid",
                "t:z"
            ]
        );
    }

    #[test]
    fn an_unterminated_string_ends_at_the_line_or_at_four_kib() {
        assert_eq!(scanned(&[b"\x1b]0;hidden\r\nseen"]), ["t:\r\nseen"]);
        assert_eq!(scanned(&[b"\x1bPhidden\nseen"]), ["t:\nseen"]);
        let long = [b"\x1b]0;", vec![b'x'; 5000].as_slice()].concat();
        assert_eq!(scanned(&[&long]), [format!("t:{}", "x".repeat(5000 - 4096 + 1))]);
    }

    #[test]
    fn an_oversize_osc_is_dropped() {
        let long = [b"\x1b]0;", vec![b'x'; 1000].as_slice(), b"\x07y"].concat();
        assert_eq!(scanned(&[&long]), ["t:y"]);
    }

    #[test]
    fn controls_inside_a_sequence_act_at_once() {
        assert_eq!(scanned(&[b"\x1b[3\r1mx"]), ["control 13", "csi 31m", "t:x"]);
    }

    #[test]
    fn cut_characters_are_one_replacement() {
        assert_eq!(scanned(&[b"\xe4\xbd\x1b[m"]), ["invalid", "csi m"]);
        assert_eq!(scanned(&[b"\xe4\xbd", b"A"]), ["invalid", "t:A"]);
        assert_eq!(scanned(&[b"\xe4\xbd"]), ["invalid"]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            bytes in proptest::collection::vec(prop_oneof![
                Just(0x1b_u8), Just(b'['), Just(b']'), Just(b'P'), Just(0x07), Just(b'\n'), Just(0x18), Just(b';'),
                Just(b'm'), Just(b'?'), Just(b'\\'), Just(0xe4), Just(0xbd), Just(0xa0), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(0_usize..200, 0..20),
        ) {
            let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(scanned(&pieces), scanned(&[&bytes]));
        }
    }
}
