//! Decoding what a terminal sends, byte by byte: keys, mouse, pastes, focus, and answers to queries. An
//! answer is never taken for keys, however late or malformed; unknown sequences are discarded whole. Pure.

mod csi;

use std::time::Duration;

use crate::terminal::host_terminal::{self, Answer};
use crate::terminal::{Key, KeyPress, MouseInput};

/// A lone Escape that nothing follows within this time is the Escape key.
const ESCAPE: Duration = Duration::from_millis(25);
/// The same while answers are expected.
const ASKED: Duration = Duration::from_millis(150);
/// A sequence or paste that has begun must continue within this time, or it counts as aborted.
const BROKEN: Duration = Duration::from_millis(500);
/// Maximum length of an answer in bytes; the rest of a longer one is discarded.
const MOST_ANSWER: usize = 4_096;
/// Maximum number of bytes of a paste that are delivered at once.
const MOST_PASTE: usize = 8 << 20;
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Something the terminal sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    /// A key was pressed.
    Key(KeyPress),
    /// The mouse was moved, clicked or scrolled.
    Mouse(MouseInput),
    /// Text was pasted.
    Paste(String),
    /// The window gained or lost focus.
    Focus(bool),
    /// The terminal answered a query.
    Answer(Answer),
    /// A paste begins; used internally, never delivered.
    PasteBegins,
}

/// A streaming decoder of terminal input.
#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
    is_pasting: bool,
    /// Whether an overlong answer is being discarded up to its end.
    is_skipping: bool,
    /// Whether answers are expected, so that anything that may begin one is waited for longer.
    pub is_asked: bool,
}

/// The result of decoding the bytes held.
enum Step {
    /// This many bytes were consumed, and what they mean, if anything.
    Took(usize, Option<Decoded>),
    /// More bytes are needed.
    More,
}

impl Decoder {
    /// Decodes more bytes. It makes no difference how they are split into pieces, as long as they arrive in
    /// time.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Decoded> {
        self.held.extend_from_slice(bytes);
        self.drain(false)
    }

    /// Returns how long to wait for the next byte before calling `time_out`; none when no bytes are held.
    #[must_use]
    pub fn patience(&self) -> Option<Duration> {
        if self.held.is_empty() && !self.is_pasting && !self.is_skipping {
            return None;
        }
        // A person may stop after these; anything longer was not typed by a person.
        let is_key = !self.is_pasting && self.held.len() <= 2 && self.held.first() == Some(&0x1b);
        Some(match (is_key, self.is_asked) {
            (true, false) => ESCAPE,
            (true, true) => ASKED,
            (false, _) => BROKEN,
        })
    }

    /// Handles a timeout: the bytes held will not be continued.
    pub fn time_out(&mut self) -> Vec<Decoded> {
        self.is_skipping = false;
        self.drain(true)
    }

    fn drain(&mut self, is_all: bool) -> Vec<Decoded> {
        let mut out = Vec::new();
        loop {
            if self.is_pasting {
                let Some(text) = self.paste(is_all) else { return out };
                out.push(Decoded::Paste(text));
            }
            if self.is_skipping && !self.skip() {
                return out;
            }
            if self.held.is_empty() {
                return out;
            }
            match step(&self.held, is_all) {
                Step::More if self.held.len() > MOST_ANSWER => {
                    self.held.clear();
                    self.is_skipping = true;
                }
                Step::More => return out,
                Step::Took(bytes, decoded) => {
                    self.held.drain(..bytes);
                    match decoded {
                        Some(Decoded::PasteBegins) => self.is_pasting = true,
                        other => out.extend(other),
                    }
                }
            }
        }
    }

    /// Returns a paste that is complete, too long to wait for, or aborted.
    fn paste(&mut self, is_all: bool) -> Option<String> {
        let end = memchr::memmem::find(&self.held, PASTE_ENDS);
        let bytes = match end {
            Some(at) => {
                let bytes: Vec<u8> = self.held.drain(..at).collect();
                self.held.drain(..PASTE_ENDS.len());
                self.is_pasting = false;
                bytes
            }
            None if is_all => {
                self.is_pasting = false;
                std::mem::take(&mut self.held)
            }
            None if self.held.len() > MOST_PASTE => {
                // Its terminator may be among the last bytes.
                self.held.drain(..MOST_PASTE - PASTE_ENDS.len()).collect()
            }
            None => return None,
        };
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Discards the rest of an answer; tells whether its end was found.
    fn skip(&mut self) -> bool {
        match self.held.iter().position(|byte| matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b)) {
            Some(at) => {
                let is_string_end = self.held[at..].starts_with(b"\x1b\\");
                let is_escape = self.held[at] == 0x1b;
                self.held.drain(..at + if is_string_end { 2 } else { usize::from(!is_escape) });
                self.is_skipping = false;
                true
            }
            None => {
                self.held.clear();
                false
            }
        }
    }
}

fn step(held: &[u8], is_all: bool) -> Step {
    match held {
        [0x1b] | [0x1b, 0x1b] if is_all => Step::Took(1, Some(Decoded::Key(Key::Esc.into()))),
        [0x1b] | [0x1b, 0x1b] => Step::More,
        [0x1b, b'[', ..] if held.len() > 2 || !is_all => csi::step(held, is_all),
        [0x1b, b'O', third, ..] => match csi::application(*third) {
            Some(key) => Step::Took(3, Some(Decoded::Key(key.into()))),
            None => Step::Took(2, Some(alt(b'O'))),
        },
        [0x1b, b']', b'0'..=b'9', ..] => answer(held, is_all),
        [0x1b, b'O' | b']'] if !is_all => Step::More,
        [0x1b, 0x1b, rest @ ..] => escaped_twice(rest, is_all),
        [0x1b, rest @ ..] => match plain(rest) {
            Some((bytes, key)) => {
                Step::Took(1 + bytes, key.map(|key| Decoded::Key(KeyPress { alt: true, ..key })))
            }
            None if is_all => Step::Took(held.len(), None),
            None => Step::More,
        },
        _ => match plain(held) {
            Some((bytes, key)) => Step::Took(bytes, key.map(Decoded::Key)),
            None if is_all => Step::Took(held.len(), None),
            None => Step::More,
        },
    }
}

/// Decodes a double Escape: some terminals put an Escape before the sequence of a key pressed with Alt;
/// otherwise the first is the Escape key.
fn escaped_twice(rest: &[u8], is_all: bool) -> Step {
    if !matches!(rest, [b'[' | b'O', ..]) {
        return Step::Took(1, Some(Decoded::Key(Key::Esc.into())));
    }
    let mut once = vec![0x1b];
    once.extend_from_slice(rest);
    match step(&once, is_all) {
        Step::Took(bytes, Some(Decoded::Key(key))) => {
            Step::Took(bytes + 1, Some(Decoded::Key(KeyPress { alt: true, ..key })))
        }
        Step::Took(bytes, decoded) => Step::Took(bytes + 1, decoded),
        Step::More => Step::More,
    }
}

/// Decodes an answer, `ESC ] number …`; nothing that a person types begins like that.
fn answer(held: &[u8], is_all: bool) -> Step {
    let end = held[2..].iter().position(|byte| matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b));
    let Some(at) = end.map(|at| at + 2) else {
        return if is_all { Step::Took(held.len(), None) } else { Step::More };
    };
    let answer = host_terminal::parse_osc(&held[2..at]).map(Decoded::Answer);
    match &held[at..] {
        [0x07, ..] => Step::Took(at + 1, answer),
        [0x1b, b'\\', ..] => Step::Took(at + 2, answer),
        [0x1b] if !is_all => Step::More,
        [0x1b] => Step::Took(held.len(), None),
        // Interrupted by another sequence, or cancelled.
        [0x1b, ..] => Step::Took(at, None),
        _ => Step::Took(at + 1, None),
    }
}

fn alt(letter: u8) -> Decoded {
    Decoded::Key(KeyPress { alt: true, ..Key::Char(char::from(letter)).into() })
}

/// Decodes a character or control: the number of bytes and the key, or `None` if it is incomplete.
fn plain(held: &[u8]) -> Option<(usize, Option<KeyPress>)> {
    let ctrl = |c: char| Some(KeyPress { ctrl: true, ..Key::Char(c).into() });
    let first = *held.first()?;
    let key = match first {
        b'\r' => Some(Key::Enter.into()),
        b'\t' => Some(Key::Tab.into()),
        0x7f => Some(Key::Backspace.into()),
        0x00 => ctrl(' '),
        0x1b => Some(Key::Esc.into()),
        0x01..=0x1a => ctrl(char::from(first - 1 + b'a')),
        0x1c..=0x1f => ctrl(char::from(first - 0x1c + b'\\')),
        b' '..=b'~' => Some(Key::Char(char::from(first)).into()),
        _ => return character(held),
    };
    Some((1, key))
}

fn character(held: &[u8]) -> Option<(usize, Option<KeyPress>)> {
    let bytes = match held.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        // Not a valid first byte of a character.
        _ => return Some((1, None)),
    };
    let whole = held.get(..bytes.min(held.len()))?;
    match std::str::from_utf8(whole) {
        Ok(text) => Some((bytes, text.chars().next().map(|c| Key::Char(c).into()))),
        // Incomplete, but valid so far.
        Err(error) if error.error_len().is_none() => None,
        Err(_) => Some((1, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{MouseButton, MouseKind};

    fn all(bytes: &[u8]) -> Vec<Decoded> {
        let mut decoder = Decoder::default();
        let mut out = decoder.feed(bytes);
        while decoder.patience().is_some() {
            out.extend(decoder.time_out());
        }
        out
    }

    fn keys(names: &[&str]) -> Vec<Decoded> {
        names.iter().map(|name| Decoded::Key(KeyPress::parse(name).expect("a key"))).collect()
    }

    #[test]
    fn keys_are_those_people_press() {
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
            Decoded::Mouse(MouseInput { kind, row, col, shift: false, alt: false, ctrl: false })
        };
        let got = all(b"\x1b[<0;5;3M\x1b[<0;5;3m\x1b[<32;6;3M\x1b[<65;1;1M\x1b[<35;2;2M\x1b[M !!");
        let expected = [
            mouse(MouseKind::Press(MouseButton::Left), 2, 4),
            mouse(MouseKind::Release(MouseButton::Left), 2, 4),
            mouse(MouseKind::Drag(MouseButton::Left), 2, 5),
            mouse(MouseKind::ScrollDown, 0, 0),
            mouse(MouseKind::Move, 1, 1),
            mouse(MouseKind::Press(MouseButton::Left), 0, 0),
        ];
        assert_eq!(got, expected);
        assert_eq!(all(b"\x1b[I\x1b[O"), [Decoded::Focus(true), Decoded::Focus(false)]);
        let pasted = all(b"\x1b[200~rm x\n\x1b[31mred\x1b[201~q");
        assert_eq!(pasted[0], Decoded::Paste("rm x\n\x1b[31mred".into()));
        assert_eq!(pasted[1..], keys(&["q"]));
        assert_eq!(all(b"\x1b[200~never ends"), [Decoded::Paste("never ends".into())]);
    }

    #[test]
    fn an_answer_is_no_key_however_it_comes() {
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
        ];
        let is_key = |decoded: &Decoded| !matches!(decoded, Decoded::Answer(_));
        for bytes in whole {
            for cut in 0..=bytes.len() {
                let mut decoder = Decoder::default();
                let mut got = decoder.feed(&bytes[..cut]);
                got.extend(decoder.feed(&bytes[cut..]));
                got.extend(decoder.feed(b"q"));
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
            let mut decoder = Decoder::default();
            let mut got = decoder.feed(&bytes[..cut]);
            got.extend(decoder.feed(&bytes[cut..]));
            proptest::prop_assert_eq!(got, all(&bytes));
        }

        #[test]
        fn nothing_that_comes_is_beyond_decoding(bytes: Vec<u8>) {
            let _ = all(&bytes);
        }
    }
}
