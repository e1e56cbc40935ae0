//! Decoding what a terminal sends: keys, mouse, pastes, focus, and answers to queries. An answer is never taken for
//! keys, however late or malformed; unknown sequences are discarded whole.
//!
//! Time decides one thing only: whether an Escape, alone or with one more character, was a key. Whatever else has
//! begun lasts until its own end, however long the pauses are: time may deliver or drop a part, it never turns the
//! rest into keys. Pure; the time is given, as a reading of the monotonic clock.

mod csi;
mod pasting;
mod sequence;
mod torn;

use std::time::Duration;

use crate::terminal::host_terminal::TerminalAnswer;
use crate::terminal::{Key, KeyPress, MouseInput};

use pasting::OpenPaste;
use sequence::{DecodeStep, Overlong, alt, step};
use torn::{Continuation, TornSequence};

/// A lone Escape that nothing follows within this time is the Escape key.
const ESCAPE: Duration = Duration::from_millis(25);
/// The same while answers are expected.
const ASKED: Duration = Duration::from_millis(150);
/// Maximum length of a sequence or an answer in bytes; a longer one is discarded.
const MOST_ANSWER: usize = 4_096;

/// Something the terminal sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalInput {
    /// A key was pressed.
    Key(KeyPress),
    /// The mouse was moved, clicked or scrolled.
    Mouse(MouseInput),
    /// Text was pasted.
    Paste(String),
    /// A paste that is not delivered, or not yet.
    PasteTrouble(PasteTrouble),
    /// The window gained or lost focus.
    Focus(bool),
    /// The terminal answered a query.
    Answer(TerminalAnswer),
    /// A paste begins; used internally, never delivered.
    PasteBegins,
}

/// What is wrong with a paste.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasteTrouble {
    /// Nothing has come for a while, and its end is missing. The Escape key drops it now; any other byte is part of it.
    Stalled,
    /// It was dropped with the Escape key, after this many bytes.
    Dropped(usize),
    /// It had this many bytes, more than [`MOST_PASTE`], and was dropped whole.
    TooLong(usize),
}

/// Maximum length of a paste in bytes.
pub const MOST_PASTE: usize = 8 << 20;

/// A streaming decoder of terminal input.
#[derive(Debug, Default)]
pub struct KeyDecoder {
    held: Vec<u8>,
    /// Whether the bytes held are a key if nothing follows them soon.
    may_be_key: bool,
    pasting: Option<OpenPaste>,
    /// The overlong sequence that is being discarded up to its end.
    skipped: Option<Overlong>,
    /// The beginning of a sequence that was delivered as keys because nothing followed it in time.
    torn: Option<TornSequence>,
    /// Whether a paste was dropped whose end may still come.
    has_dropped: bool,
    /// When the last byte arrived.
    last: Duration,
    /// Whether answers are expected, so that anything that may begin one is waited for longer.
    pub is_asked: bool,
}

impl KeyDecoder {
    /// Decodes more bytes, which arrived at this time. It makes no difference how they are split into pieces, as long
    /// as no time runs out between them.
    pub fn feed(&mut self, now: Duration, bytes: &[u8]) -> Vec<TerminalInput> {
        self.last = now;
        if let Some(pasting) = &mut self.pasting
            && pasting.may_leave(bytes)
        {
            return Vec::new();
        }
        let bytes = self.behind_dropped(bytes);
        let mut held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return self.drain(bytes);
        }
        held.extend_from_slice(bytes);
        self.drain(&held)
    }

    /// Returns when to call `time_out` unless a byte arrives before, as a reading of the clock.
    pub fn due(&self) -> Option<Duration> {
        let patience = match &self.pasting {
            Some(pasting) => pasting.patience()?,
            None if !self.may_be_key => return None,
            None if self.is_asked => ASKED,
            None => ESCAPE,
        };
        Some(self.last.saturating_add(patience))
    }

    /// Handles the time at which nothing more had arrived; has no effect before the time of `due`.
    pub fn time_out(&mut self, now: Duration) -> Vec<TerminalInput> {
        if self.due().is_none_or(|due| now < due) {
            return Vec::new();
        }
        self.last = now;
        if let Some(pasting) = &mut self.pasting {
            let trouble = pasting.time_out();
            if let PasteTrouble::Dropped(_) = trouble {
                (self.pasting, self.torn, self.has_dropped) = (None, Some(TornSequence::paste_end()), true);
            }
            return vec![TerminalInput::PasteTrouble(trouble)];
        }
        self.may_be_key = false;
        let held = std::mem::take(&mut self.held);
        let escape = TerminalInput::Key(Key::Esc.into());
        if self.torn.is_some() {
            return self.typed_on(&held);
        }
        let (out, torn) = match held[..] {
            _ if self.skipped.take().is_some() => (Vec::new(), TornSequence::answer_end()),
            [0x1b] => (vec![escape], TornSequence::key(&held)),
            [0x1b, 0x1b] => (vec![escape.clone(), escape], TornSequence::key(&held[1..])),
            // The Escape key, and a sequence that has not ended yet.
            [0x1b, 0x1b, ..] => {
                let mut out = vec![escape];
                out.append(&mut self.drain(&held[1..]));
                return out;
            }
            [0x1b, letter] => (vec![alt(letter)], TornSequence::key(&held)),
            // An answer, and the first half of its end.
            _ => (Vec::new(), TornSequence::answer_end()),
        };
        self.torn = Some(torn);
        out
    }

    /// Returns what is behind the end of a dropped paste, if that end is among the bytes: what precedes it was pasted.
    fn behind_dropped<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = Some(bytes).filter(|_| self.has_dropped).and_then(pasting::end);
        let Some(end) = end.filter(|end| pasting::begin(bytes).is_none_or(|begin| end.start < begin)) else {
            return bytes;
        };
        (self.has_dropped, self.may_be_key, self.torn) = (false, false, None);
        self.held.clear();
        &bytes[end.end..]
    }

    /// Delivers as keys what might have been the rest of a torn sequence.
    fn typed_on(&mut self, held: &[u8]) -> Vec<TerminalInput> {
        let torn = self.torn.take().and_then(|torn| torn.with_keys(held));
        let out = self.drain(held);
        self.torn = torn;
        out
    }

    fn drain(&mut self, bytes: &[u8]) -> Vec<TerminalInput> {
        let mut out = Vec::new();
        let mut rest = bytes;
        self.may_be_key = false;
        while !rest.is_empty() {
            if let Some(pasting) = &mut self.pasting {
                let Some((pasted, behind)) = pasting.take(rest) else { return out };
                (self.pasting, rest) = (None, behind);
                out.push(pasted);
                continue;
            }
            if let Some(form) = self.skipped {
                let (bytes, has_ended) = form.skip(rest);
                rest = &rest[bytes..];
                if !has_ended {
                    // The first byte of its end, perhaps.
                    self.may_be_key = !rest.is_empty();
                    break;
                }
                self.skipped = None;
                continue;
            }
            if let Some(mut torn) = self.torn.take() {
                match torn.goes_on(rest) {
                    Continuation::No => {}
                    Continuation::Perhaps => {
                        (self.torn, self.may_be_key) = (Some(torn), true);
                        break;
                    }
                    Continuation::Ended(bytes) => {
                        (self.torn, rest) = (torn.rest(), &rest[bytes..]);
                        continue;
                    }
                    Continuation::Yes { is_dropped } => {
                        let mut more = self.drain(&[torn.bytes(), rest].concat());
                        if is_dropped && matches!(more.first(), Some(TerminalInput::Key(_))) {
                            more.remove(0);
                        }
                        out.append(&mut more);
                        return out;
                    }
                }
            }
            let Some(behind) = self.decode_one(rest, &mut out) else { break };
            rest = behind;
        }
        self.held = rest.to_vec();
        out
    }

    /// Decodes what bytes begin with; returns what is behind it, or `None` if it has not ended yet.
    fn decode_one<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<TerminalInput>) -> Option<&'a [u8]> {
        match step(bytes) {
            DecodeStep::More | DecodeStep::Unsure if bytes.len() > MOST_ANSWER => {
                self.skipped = Some(Overlong::of(bytes));
                Some(if bytes.ends_with(b"\x1b") { b"\x1b" } else { b"" })
            }
            DecodeStep::More => None,
            DecodeStep::Unsure => {
                self.may_be_key = true;
                None
            }
            DecodeStep::Took(length, decoded) => {
                match decoded.filter(|_| length <= MOST_ANSWER) {
                    Some(TerminalInput::PasteBegins) => {
                        (self.pasting, self.has_dropped) = (Some(OpenPaste::default()), false);
                    }
                    other => out.extend(other),
                }
                Some(&bytes[length..])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{MouseButton, MouseKind};

    /// Feeds pieces, each followed by a pause; returns what came of each piece and its pause.
    fn with_pauses(decoder: &mut KeyDecoder, pieces: &[(&[u8], Duration)]) -> Vec<Vec<TerminalInput>> {
        let mut now = decoder.last;
        let mut played = Vec::new();
        for (bytes, pause) in pieces {
            let mut out = decoder.feed(now, bytes);
            now += *pause;
            while let Some(due) = decoder.due().filter(|due| *due <= now) {
                out.extend(decoder.time_out(due));
            }
            played.push(out);
        }
        played
    }

    fn all(bytes: &[u8]) -> Vec<TerminalInput> {
        paused(&[bytes])
    }

    /// Feeds pieces, each followed by a long pause.
    fn paused(pieces: &[&[u8]]) -> Vec<TerminalInput> {
        let pieces: Vec<_> = pieces.iter().map(|bytes| (*bytes, Duration::from_mins(1))).collect();
        with_pauses(&mut KeyDecoder::default(), &pieces).concat()
    }

    fn keys(names: &[&str]) -> Vec<TerminalInput> {
        names.iter().map(|name| TerminalInput::Key(KeyPress::parse(name).expect("a key"))).collect()
    }

    #[test]
    fn the_bytes_of_a_terminal_decode_to_the_pressed_keys() {
        let cases: &[(&[u8], &[&str])] = &[
            (b"aG\xc3\xa9", &["a", "G", "é"]),
            (b"\r\n\t\x7f\x08", &["Enter", "C-j", "Tab", "Backspace", "C-h"]),
            (b"\x00\x03\x1c\x1d\x1e\x1f", &["C-Space", "C-c", "C-\\", "C-]", "C-^", "C-_"]),
            (b"\x1b", &["Esc"]),
            (b"\x1b\x1b", &["Esc", "Esc"]),
            (b"\x1bx\x1b\r\x1b\x7f", &["M-x", "M-Enter", "M-Backspace"]),
            (b"\x1b[A\x1bOA\x1b[1;5C\x1b[1;2D", &["Up", "Up", "C-Right", "S-Left"]),
            (b"\x1b\x1b[A", &["M-Up"]),
            (b"\x1b[H\x1b[4~\x1b[5~\x1b[6;5~", &["Home", "End", "PageUp", "C-PageDown"]),
            (b"\x1bOP\x1b[15~\x1b[24~\x1b[1;2P\x1b[[A", &["F1", "F5", "F12", "S-F1", "F1"]),
            (b"\x1b[1;2R\x1b[R", &["S-F3", "F3"]),
            (b"\x1b[Z", &["BackTab"]),
            (b"\x1b]", &["M-]"]),
            (b"\x1b]x", &["M-]", "x"]),
            (b"\x1b[", &["M-["]),
            (b"\x1bO", &["M-O"]),
            (b"\x1b[97;5u\x1b[27;5;13~\x1b[13u\x1b[97;1:3u\x1b[97:65;2u", &["C-a", "C-Enter", "Enter", "A"]),
            (b"\xff\xc3(", &["("]),
        ];
        for (bytes, names) in cases {
            assert_eq!(all(bytes), keys(names), "{}", String::from_utf8_lossy(bytes).escape_debug());
        }
    }

    #[test]
    fn the_mouse_the_focus_and_pastes_are_told() {
        let mouse = |kind, row, col| {
            TerminalInput::Mouse(MouseInput { kind, row, col, shift: false, alt: false, ctrl: false })
        };
        let got = all(b"\x1b[<0;5;3M\x1b[<0;5;3m\x1b[<32;6;3M\x1b[<65;1;1M\x1b[<35;2;2M\x1b[M !!\x1b[<128;5;3M\x1b[<129;5;3m");
        let expected = [
            mouse(MouseKind::Press(MouseButton::Left), 2, 4),
            mouse(MouseKind::Release(MouseButton::Left), 2, 4),
            mouse(MouseKind::Drag(MouseButton::Left), 2, 5),
            mouse(MouseKind::ScrollDown, 0, 0),
            mouse(MouseKind::Move, 1, 1),
            mouse(MouseKind::Press(MouseButton::Left), 0, 0),
            mouse(MouseKind::Press(MouseButton::Back), 2, 4),
            mouse(MouseKind::Release(MouseButton::Forward), 2, 4),
        ];
        assert_eq!(got, expected);
        assert_eq!(all(b"\x1b[I\x1b[O"), [TerminalInput::Focus(true), TerminalInput::Focus(false)]);
        let pasted = all(b"\x1b[200~rm x\n\x1b[31mred\x1b[201~q");
        assert_eq!(pasted[0], TerminalInput::Paste("rm x\n\x1b[31mred".into()));
        assert_eq!(pasted[1..], keys(&["q"]));
        assert_eq!(all(b"\x1b[200~never ends"), [TerminalInput::PasteTrouble(PasteTrouble::Stalled)]);
    }

    #[test]
    fn an_answer_of_the_terminal_is_never_read_as_keys_however_it_is_cut() {
        let whole: &[&[u8]] = &[
            b"\x1b]11;rgb:0000/0000/0000\x1b\\",
            b"\x1b]4;7;rgb:e5e5/e5e5/e5e5\x07",
            b"\x1b[2;3R",
            b"\x1b[?62;22c",
            b"\x1b[?0u",
            b"\x1b[>41;390;0c",
            b"\x1b]11;garbage that means nothing\x07",
            b"\x1b]11;broken off\x1b[?1;2c",
            b"\x1b[?2026;2$y",
            b"\x1b[8;24;80t",
            b"\x1bP>|a terminal(1.2)\x1b\\",
            b"\x1b_Gi=31;OK\x1b\\",
        ];
        let is_key = |decoded: &TerminalInput| !matches!(decoded, TerminalInput::Answer(_));
        for bytes in whole {
            for cut in 0..=bytes.len() {
                let mut decoder = KeyDecoder::default();
                let mut got = decoder.feed(Duration::ZERO, &bytes[..cut]);
                got.extend(decoder.feed(Duration::ZERO, &bytes[cut..]));
                got.extend(decoder.feed(Duration::ZERO, b"q"));
                let pressed: Vec<_> = got.into_iter().filter(is_key).collect();
                assert_eq!(
                    pressed,
                    keys(&["q"]),
                    "{} at {cut}",
                    String::from_utf8_lossy(bytes).escape_debug()
                );
            }
        }
        let long = [&b"\x1b]11;"[..], &vec![b'x'; 10_000], b"\x07q"].concat();
        assert_eq!(all(&long), keys(&["q"]));
        assert_eq!(all(b"\x1b]11;rgb:12/"), []);
        assert_eq!(all(b"\x1b[12;"), [], "nobody types that, and it is nothing");
    }

    #[test]
    fn a_sequence_torn_by_a_pause_gives_no_letter_keys() {
        let whole: &[&[u8]] = &[
            b"\x1b[<0;10;12M",
            b"\x1b[M !!",
            b"\x1b[I",
            b"\x1b[A",
            b"\x1bOP",
            b"\x1b[1;5C",
            b"\x1b[15~",
            b"\x1b[97;5u",
            b"\x1b[[A",
            b"\x1b[2;3R",
            b"\x1b[?62;22c",
            b"\x1b[?2026;2$y",
            b"\x1b]11;rgb:0000/0000/0000\x1b\\",
            b"\x1b]11;garbage\x07",
            b"\x1bP>|a terminal(1.2)\x1b\\",
            b"\x1b_Gi=31;OK\x1b\\",
            b"\xe2\x82\xac",
        ];
        let is_letter = |decoded: &TerminalInput| {
            matches!(
                decoded,
                TerminalInput::Key(KeyPress { key: Key::Char('!'..='~'), alt: false, ctrl: false, .. })
            )
        };
        for bytes in whole {
            for cut in 1..bytes.len() {
                let mut got = paused(&[&bytes[..cut], &bytes[cut..], b"q"]);
                got.retain(is_letter);
                assert_eq!(got, keys(&["q"]), "{} at {cut}", bytes.escape_ascii());
            }
        }
        assert_eq!(paused(&[b"\x1b[<0;10", b";12M"]).len(), 1, "a report is delivered, however late");
    }

    #[test]
    fn slowly_typed_escape_sequences_are_keys() {
        let cases: &[(&[&[u8]], &[&str])] = &[
            (&[b"\x1b", b"[", b"I"], &["Esc", "[", "I"]),
            (&[b"\x1b", b"[", b"["], &["Esc", "[", "["]),
            (&[b"\x1b", b"O", b"A"], &["Esc", "O", "A"]),
            (&[b"\x1b", b"]", b"1"], &["Esc", "]", "1"]),
            (&[b"\x1b", b"[", b"2", b"0", b"1"], &["Esc", "[", "2", "0", "1"]),
            (&[b"\x1b", b"[[[["], &["Esc", "[", "[", "[", "["]),
            (&[b"\x1b[", b"ls"], &["M-[", "l", "s"]),
            (&[b"\x1b[", b"5", b"x"], &["M-[", "5", "x"]),
            (&[b"\x1b]", b"1", b"1"], &["M-]", "1", "1"]),
            (&[b"\x1bP", b"1"], &["M-P", "1"]),
            (&[b"\x1b", b"\x1b", b"x"], &["Esc", "Esc", "x"]),
        ];
        for (pieces, names) in cases {
            assert_eq!(paused(pieces), keys(names), "{}", pieces.concat().escape_ascii());
        }
    }

    #[test]
    fn escape_right_before_a_report_is_escape() {
        let reports: &[&[u8]] = &[
            b"\x1b[<0;5;3M",
            b"\x1b[M !!",
            b"\x1b[I",
            b"\x1b[200~yes\x1b[201~",
            b"\x1b]11;rgb:0000/0000/0000\x07",
            b"\x1b[?62;22c",
        ];
        for report in reports {
            let bytes = [b"\x1b", *report].concat();
            let got = all(&bytes);
            assert_eq!(got[..1], keys(&["Esc"]), "{}", bytes.escape_ascii());
            assert_eq!(got[1..], all(report), "{}", bytes.escape_ascii());
            for cut in 1..bytes.len() {
                let got = paused(&[&bytes[..cut], &bytes[cut..]]);
                let escapes = got.iter().filter(|got| **got == keys(&["Esc"])[0]).count();
                assert!(escapes >= 1, "{} at {cut}: {got:?}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn a_paste_that_does_not_end_is_dropped_by_escape_alone() {
        let (mut decoder, second) = (KeyDecoder::default(), Duration::from_secs(1));
        let trouble = |trouble| vec![TerminalInput::PasteTrouble(trouble)];
        let pieces: &[(&[u8], Duration)] = &[
            (b"\x1b[200~yes", second),
            (b"\x1b", 3 * second),
            (b"q", second),
            (b"\x1b", second),
            (b"\rqq", 9 * second),
            (b"\x1b", second),
            (b"q", second),
        ];
        let expected = [
            vec![],
            trouble(PasteTrouble::Stalled),
            vec![],
            vec![],
            trouble(PasteTrouble::Stalled),
            trouble(PasteTrouble::Dropped(9)),
            keys(&["q"]),
        ];
        assert_eq!(with_pauses(&mut decoder, pieces), expected);
        // Its end may come after all.
        let late = paused(&[b"\x1b[200~yes", b"\x1b", b"more\r\x1b[201~z"]);
        assert_eq!(late[2..], keys(&["z"]));
    }

    #[test]
    fn f51_a_paste_of_any_size_is_one_paste_or_none() {
        for (size, is_taken) in
            [(5 << 20, true), (MOST_PASTE, true), (MOST_PASTE + 1, false), (3 * MOST_PASTE, false)]
        {
            let bytes = [&b"\x1b[200~"[..], &vec![b'x'; size], b"\x1b[201~z"].concat();
            let mut decoder = KeyDecoder::default();
            let got: Vec<_> =
                bytes.chunks(4_095).flat_map(|piece| decoder.feed(Duration::ZERO, piece)).collect();
            let expected = match is_taken {
                true => TerminalInput::Paste("x".repeat(size)),
                false => TerminalInput::PasteTrouble(PasteTrouble::TooLong(size)),
            };
            assert!(got[0] == expected, "{size} bytes");
            assert_eq!(got[1..], keys(&["z"]));
        }
    }

    proptest::proptest! {
        #[test]
        fn bytes_mean_the_same_however_they_are_cut(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    &b"\x1b[A"[..], b"\x1b]4;1;rgb:00/00/00\x07", b"a", b"\x1b[<0;1;1M", b"\x1b[200~x\x1b[201~", b"\xc3\xa9",
                    b"\x1bOP", b"\r", b"\x1b[2;2R", b"\x1b[1;5D", b"\x1bx",
                ]), 0..12),
            cut in 0..120_usize,
        ) {
            let bytes: Vec<u8> = pieces.concat();
            let cut = cut.min(bytes.len());
            let mut decoder = KeyDecoder::default();
            let mut got = decoder.feed(Duration::ZERO, &bytes[..cut]);
            got.extend(decoder.feed(Duration::ZERO, &bytes[cut..]));
            proptest::prop_assert_eq!(got, all(&bytes));
        }

        #[test]
        fn decoding_any_bytes_never_panics(bytes: Vec<u8>) {
            let _ = all(&bytes);
        }

        #[test]
        fn f50_no_byte_of_a_paste_is_a_key_however_it_is_cut(
            before in proptest::sample::select(vec![
                &b""[..], b"a", b"\x1b", b"\x1b\x1b", b"\x1b[", b"\x1bO", b"\x1b]1", b"\x1b[<0;1", b"\x1b[M ", b"\xc3", b"\x1b\x1b[",
            ]),
            text in proptest::collection::vec(
                proptest::sample::select(vec![
                    &b"yes\r"[..], b"q", b"\x03", b"[201~", b"[A", b"\xc3\xa9", b"\xff", b"~", b"\x1b[20", b"\x1b", b"\x1b[200~",
                ]), 0..8),
            cuts in proptest::collection::vec((0..60_usize, proptest::sample::select(vec![0, 10, 30, 600, 2_500, 90_000])), 0..12),
        ) {
            let mut text: Vec<u8> = text.concat();
            text.truncate(pasting::end(&text).map_or(text.len(), |end| end.start));
            let (from, until) = (before.len() + 6, before.len() + 6 + text.len() + 6);
            let bytes = [before, b"\x1b[200~", &text, b"\x1b[201~", b"z"].concat();
            let ends = [(from, 0), (until, 0), (bytes.len(), 90_000)];
            let mut cuts: Vec<(usize, u64)> = cuts.into_iter().chain(ends).filter(|(at, _)| *at <= bytes.len()).collect();
            cuts.sort_unstable();
            let mut begins = 0;
            let pieces: Vec<(&[u8], Duration)> = cuts.iter().map(|(at, pause)| {
                let piece = &bytes[begins..*at];
                begins = *at;
                (piece, Duration::from_millis(*pause))
            }).collect();
            let played = with_pauses(&mut KeyDecoder::default(), &pieces);
            let has_escape = text.contains(&0x1b);
            let is_drop = |got: &TerminalInput| matches!(got, TerminalInput::PasteTrouble(PasteTrouble::Dropped(_)));
            let is_silent = |got: &TerminalInput| {
                matches!(got, TerminalInput::Paste(_) | TerminalInput::PasteTrouble(_))
            };
            let pasted = played.iter().zip(&cuts).filter(|(_, (at, _))| (from..=until).contains(at)).skip_while(|(_, (at, _))| *at == from);
            let pasted: Vec<TerminalInput> = pasted.flat_map(|(got, _)| got.clone()).collect();
            // Only an Escape in the text, alone after a silence, is the person's.
            let kept = pasted.iter().take_while(|got| !(has_escape && is_drop(got)));
            for got in kept {
                proptest::prop_assert!(is_silent(got), "{got:?} of {}", bytes.escape_ascii());
            }
            let was_dropped = played.iter().flatten().any(is_drop);
            if !was_dropped {
                let expected = TerminalInput::Paste(String::from_utf8_lossy(&text).into_owned());
                proptest::prop_assert_eq!(pasted.iter().filter(|got| **got == expected).count(), 1);
            }
            if !(was_dropped && has_escape) {
                let last = played.concat().pop();
                proptest::prop_assert_eq!(last, keys(&["z"]).pop());
            }
        }
    }
}
