//! Splits a byte stream into text, controls and escape sequences, however it is cut into pieces, without
//! knowing what they mean. A string (OSC, DCS, APC, SOS, PM) is swallowed up to its terminator. One that has
//! none, because another sequence or the end of the stream comes first or it is too long, is shown as text:
//! a stray introducer in a log hides nothing.

mod patience;
mod strings;

use super::csi::{self, Csi};
pub(super) use patience::Patience;
pub(super) use strings::label;
use strings::{EndedString, HeldString};

/// The longest string, in bytes; one that is longer is shown as text.
pub(super) const MAX_STRING: usize = 4 << 20;

/// Receives what the scanner finds.
pub(super) trait SequenceSink {
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
    /// An operating system command, without introducer and terminator; whether BEL ended it.
    fn osc(&mut self, content: &[u8], by_bell: bool);
    /// A picture that took this many bytes (sixel, kitty, iTerm2).
    fn picture(&mut self, bytes: usize);
}

/// The state of scanning a stream.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: ScanState,
    /// The unfinished sequence, or the beginning of a character.
    pending: Vec<u8>,
    /// The current string, or the last one.
    held: HeldString,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    /// In text; `pending` holds the beginning of a character.
    #[default]
    Text,
    /// After ESC; `pending` holds intermediates.
    Escape,
    /// After ESC [; `pending` holds the sequence from ESC on.
    Csi,
    /// In a string; `held` has its content.
    String,
    /// After ESC in a string.
    StringEscape,
}

impl Scanner {
    /// Returns a scanner that keeps only the end of a long string, for a screen, which has no room for more.
    pub(super) fn for_screen() -> Self {
        Self { held: HeldString::for_screen(), ..Self::default() }
    }

    /// Tells whether the next byte starts something new.
    pub(super) fn is_idle(&self) -> bool {
        self.state == ScanState::Text && self.pending.is_empty()
    }

    /// Returns the number of the string that has begun and not ended; each has another.
    pub(super) fn open_string(&self) -> Option<u64> {
        matches!(self.state, ScanState::String | ScanState::StringEscape).then(|| self.held.number())
    }

    /// Shows the content of an open string as text. What follows is text again.
    pub(super) fn give_up_string(&mut self, sink: &mut impl SequenceSink) {
        if self.open_string().is_some() {
            let content = self.held.give_up();
            self.enter(ScanState::Text);
            self.show(&content, false, sink);
        }
    }

    /// Scans bytes and passes the results to `sink`.
    pub(super) fn scan(&mut self, bytes: &[u8], sink: &mut impl SequenceSink) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = rest.get(self.advance(rest, sink)..).unwrap_or_default();
        }
    }

    /// Scans text and at most one sequence; returns the number of bytes consumed, 0 if it only completed what
    /// was pending.
    pub(super) fn advance(&mut self, bytes: &[u8], sink: &mut impl SequenceSink) -> usize {
        let Some(first) = bytes.first() else { return 0 };
        match self.state {
            ScanState::Text if !self.pending.is_empty() => self.complete_character(*first, sink),
            ScanState::Text => self.text(bytes, sink),
            ScanState::String => self.string(bytes, sink),
            ScanState::StringEscape => self.string_escape(*first, sink),
            ScanState::Escape | ScanState::Csi => self.step(*first, sink),
        }
    }

    /// Ends the stream: an incomplete character is invalid, and an open string is shown as text.
    pub(super) fn finish(&mut self, sink: &mut impl SequenceSink) {
        self.give_up_string(sink);
        if let Some(picture) = self.held.end_pictures() {
            sink.picture(picture);
        }
        self.end_characters(sink);
        self.enter(ScanState::Text);
    }

    fn end_characters(&mut self, sink: &mut impl SequenceSink) {
        if self.state == ScanState::Text && !self.pending.is_empty() {
            sink.invalid();
            self.pending.clear();
        }
    }

    /// Shows the content of a string as text, with its ESC left out. Cannot begin another string: that would
    /// take quadratic time. `last` means that nothing can complete a character at its end.
    fn show(&mut self, content: &[u8], last: bool, sink: &mut impl SequenceSink) {
        let mut pieces = content.split(|byte| *byte == 0x1b).peekable();
        while let Some(piece) = pieces.next() {
            let cut_off = self.characters(piece, last || pieces.peek().is_some(), sink);
            self.pending.extend_from_slice(cut_off);
        }
    }

    /// Scans text up to the next ESC, and the sequence that begins there; returns the number of bytes
    /// consumed.
    fn text(&mut self, bytes: &[u8], sink: &mut impl SequenceSink) -> usize {
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
        self.state = ScanState::Escape;
        len + 1
    }

    /// Passes on characters; returns an incomplete one at the end, unless nothing can complete it.
    fn characters<'a>(&self, bytes: &'a [u8], last: bool, sink: &mut impl SequenceSink) -> &'a [u8] {
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
    fn complete_character(&mut self, byte: u8, sink: &mut impl SequenceSink) -> usize {
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
    fn step(&mut self, byte: u8, sink: &mut impl SequenceSink) -> usize {
        match (self.state, byte) {
            (_, 0x1b) => self.enter(ScanState::Escape),
            (_, 0x18 | 0x1a) => self.enter(ScanState::Text),
            (_, 0..=0x1f) => sink.control(byte),
            (ScanState::Escape, _) => self.escape(byte, sink),
            (_, 0x20..=0x7e) => self.csi(byte, sink),
            _ => {}
        }
        1
    }

    fn enter(&mut self, state: ScanState) {
        self.state = state;
        self.pending.clear();
    }

    /// Scans the content of a string up to what may end it; returns the number of bytes consumed.
    fn string(&mut self, bytes: &[u8], sink: &mut impl SequenceSink) -> usize {
        let end = self.held.end_in(bytes).unwrap_or(bytes.len());
        let content = end.min(MAX_STRING - self.held.len());
        self.held.push(&bytes[..content]);
        if content < end {
            self.give_up_string(sink);
            return content;
        }
        let Some(&last) = bytes.get(end) else { return content };
        match last {
            0x1b => self.state = ScanState::StringEscape,
            0x07 => self.end_string(true, sink),
            // Cancelled (CAN, SUB).
            _ => self.give_up_string(sink),
        }
        content + 1
    }

    /// Scans the byte after an ESC in a string; returns how many bytes were consumed: 1 or 0.
    fn string_escape(&mut self, byte: u8, sink: &mut impl SequenceSink) -> usize {
        if byte == b'\\' {
            self.end_string(false, sink);
            return 1;
        }
        if byte == 0x1b && self.held.doubles_escapes() && self.held.len() + 2 <= MAX_STRING {
            self.held.push(b"\x1b\x1b");
            self.state = ScanState::String;
            return 1;
        }
        // Another sequence begins: this string has no terminator.
        self.give_up_string(sink);
        self.end_characters(sink);
        self.enter(ScanState::Escape);
        0
    }

    /// Ends a string that has its terminator.
    fn end_string(&mut self, by_bell: bool, sink: &mut impl SequenceSink) {
        self.enter(ScanState::Text);
        match self.held.end() {
            EndedString::Osc(content) => sink.osc(content, by_bell),
            EndedString::Picture(bytes) => sink.picture(bytes),
            EndedString::Nothing => {}
        }
    }

    fn escape(&mut self, byte: u8, sink: &mut impl SequenceSink) {
        match (byte, self.pending.as_slice()) {
            (0x20..=0x2f, [] | [_]) => self.pending.push(byte),
            (0x20..=0x2f, _) => {}
            (b'[', []) => {
                self.enter(ScanState::Csi);
                self.pending.extend_from_slice(b"\x1b[");
            }
            (b']' | b'P' | b'X' | b'^' | b'_', []) => {
                self.enter(ScanState::String);
                self.held.begin(byte);
            }
            (0x30..=0x7e, intermediates) => {
                match intermediates {
                    [] => sink.escape(0, byte),
                    [intermediate] => sink.escape(*intermediate, byte),
                    _ => {}
                }
                self.enter(ScanState::Text);
            }
            _ => {}
        }
    }

    fn csi(&mut self, byte: u8, sink: &mut impl SequenceSink) {
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
        self.enter(ScanState::Text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records everything it receives, with adjacent texts joined.
    #[derive(Default, Debug, PartialEq)]
    struct Record(Vec<String>);

    impl SequenceSink for Record {
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
        fn osc(&mut self, content: &[u8], _: bool) {
            self.0.push(format!("osc {}", String::from_utf8_lossy(content)));
        }
        fn picture(&mut self, bytes: usize) {
            self.0.push(format!("picture {bytes}"));
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
                "t:d",
                "picture 2",
                "t:e",
                "invalid",
                "t:z"
            ]
        );
    }

    #[test]
    fn f58_a_string_is_swallowed_to_its_terminator() {
        let long = "x".repeat(100_000);
        for string in [
            format!("\x1b]0;a\r\nb{long}\x07"),
            format!("\x1b]52;c;{long}\x1b\\"),
            format!("\x1bX{long}\n\x07{long}\x1b\\"),
            format!("\x1b^{long}\x1b\\"),
            format!("\x1b_{long}\x1b\\"),
            format!("\x1bP+q{long}\x1b\\"),
            format!("\x1bPtmux;\x1b\x1b]52;c;{long}\x07\x1b\\"),
            format!("\x1bPtmux;\x1b\x1b]52;c;{long}\x1b\x1b\\\x1b\\"),
        ] {
            assert_eq!(scanned(&[b"a", string.as_bytes(), b"z"]), ["t:az"], "{}", &string[1..9]);
        }
        let most = [b"\x1b_".as_slice(), &vec![b'x'; MAX_STRING], b"\x1b\\seen"].concat();
        assert_eq!(scanned(&[&most]), ["t:seen"]);
    }

    #[test]
    fn f58_a_string_without_a_terminator_is_shown_as_text() {
        assert_eq!(scanned(&[b"\x1b]0;title\r\nseen"]), ["t:0;title\r\nseen"], "by the end");
        assert_eq!(
            scanned(&[b"\x1bPan error\n\x1b[31mred"]),
            ["t:an error\n", "csi 31m", "t:red"],
            "a sequence"
        );
        assert_eq!(scanned(&[b"\x1bPsaid\x18next"]), ["t:saidnext"], "cancelled");
        assert_eq!(scanned(&[b"\x1b_a\xc3\x1b[m"]), ["t:a", "invalid", "csi m"], "half a character");
        assert_eq!(scanned(&[b"\x1b_a\xc3\xa9"]), ["t:a\u{e9}"]);
        let long = [b"\x1bP".as_slice(), &vec![b'x'; MAX_STRING + 5], b"\x1b\\"].concat();
        assert_eq!(scanned(&[&long]), [&*format!("t:{}", "x".repeat(MAX_STRING + 5)), "escape 0 \\"]);
        // Nothing in a string that is shown begins another one.
        let nested =
            b"\x1bPtmux;".iter().chain(b"\x1b\x1bPtmux;".repeat(1_000).iter()).copied().collect::<Vec<_>>();
        assert_eq!(scanned(&[&nested]), [format!("t:tmux;{}", "Ptmux;".repeat(1_000))]);
    }

    #[test]
    fn a_screen_keeps_the_end_of_a_long_string() {
        let (mut scanner, mut record) = (Scanner::for_screen(), Record::default());
        scanner.scan(b"\x1bP", &mut record);
        for line in 0..100_000 {
            scanner.scan(format!("line {line}\n").as_bytes(), &mut record);
        }
        assert!(scanner.held.capacity() <= 1 << 20, "{}", scanner.held.capacity());
        scanner.give_up_string(&mut record);
        assert!(record.0[0].ends_with("line 99998\nline 99999\n") && record.0[0].len() > 100_000);
        scanner.scan(b"next", &mut record);
        assert!(record.0[0].ends_with("line 99999\nnext"));
    }

    #[test]
    fn f58_a_picture_is_one_piece_however_it_is_sent() {
        let data = "A".repeat(50_000);
        for (picture, bytes) in [
            (format!("\x1bP0;0;0q#0;2;0;0;0\n{data}\x1b\\"), data.len() + 17),
            (format!("\x1b]1337;File=inline=1:{data}\x07"), data.len() + 19),
            (format!("\x1b_Ga=T,f=100;{data}\x1b\\"), data.len() + 11),
            (
                format!("\x1b_Ga=T,m=1;{data}\x1b\\\x1b_Gm=1;{data}\x1b\\\x1b_Gm=0;{data}\x1b\\"),
                3 * data.len() + 19,
            ),
            (
                format!(
                    "\x1b]1337;MultipartFile=inline=1\x07\x1b]1337;FilePart={data}\x07\x1b]1337;FileEnd\x07"
                ),
                data.len() + 26,
            ),
            (format!("\x1bPtmux;\x1b\x1b_Ga=T;{data}\x1b\x1b\\\x1b\\"), data.len() + 16),
        ] {
            let mut found = scanned(&[b"a", picture.as_bytes(), b"z"]);
            found.retain(|found| !found.starts_with("osc"));
            assert_eq!(found, ["t:a", &format!("picture {bytes}"), "t:z"]);
        }
        for none in [
            "\x1b_Ga=d\x1b\\",
            "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
            "\x1bP$qm\x1b\\",
            "\x1b]1337;CurrentDir=/\x07",
        ] {
            assert!(
                !scanned(&[none.as_bytes()]).iter().any(|found| found.starts_with("picture")),
                "{none:?}"
            );
        }
        // A program that was killed in the middle of one.
        assert_eq!(scanned(&[b"\x1b_Ga=T,m=1;AAAA\x1b\\"]), ["picture 13"]);
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
        fn scanning_gives_the_same_result_wherever_the_bytes_are_cut(
            bytes in proptest::collection::vec(prop_oneof![
                Just(0x1b_u8), Just(b'['), Just(b']'), Just(b'P'), Just(b'_'), Just(b'G'), Just(0x07), Just(b'\n'),
                Just(0x18), Just(b';'), Just(b'm'), Just(b'?'), Just(b'\\'), Just(0xe4), Just(0xbd), Just(0xa0), any::<u8>()], 0..200),
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
