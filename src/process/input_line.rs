//! The line that has begun in a terminal and not ended: what the kernel makes of typed bytes, by the terminal's modes. Pure.

use rustix::termios::{InputModes, LocalModes, SpecialCodeIndex, Termios};

/// A line that was typed and has not ended, in a terminal that hands over whole lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputLine {
    bytes: Vec<u8>,
    /// Whether the next byte is taken as it is.
    is_quoted: bool,
}

/// What input does to a line; places are offsets in the input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineChange {
    /// The line that has begun by its end.
    pub line: InputLine,
    /// Bytes of the longest line, without its end.
    pub longest: usize,
    /// Whether the longest line had begun before.
    pub is_begun: bool,
    /// Where the first line ends, behind the last signal.
    pub first_end: Option<usize>,
    /// Behind the last character that sends a signal, at which the kernel throws away what has not been read.
    pub signal_end: Option<usize>,
}

/// What a byte is to a terminal.
enum TypedByte {
    Data,
    Nothing,
    Signal,
    Quote,
    Erase,
    EraseWord,
    Kill,
    End,
}

impl InputLine {
    /// Returns how many bytes it has.
    #[must_use]
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Returns what `input` does to it. A terminal that does not read by lines has none.
    #[must_use]
    pub fn after(&self, input: &[u8], modes: &Termios) -> LineChange {
        let has_lines = modes.local_modes.contains(LocalModes::ICANON);
        let line = if has_lines { self.clone() } else { Self::default() };
        let mut change = LineChange { line, ..LineChange::default() };
        for (at, byte) in input.iter().enumerate() {
            let is_quoted = std::mem::take(&mut change.line.is_quoted);
            let bytes = &mut change.line.bytes;
            match if is_quoted { TypedByte::Data } else { TypedByte::of(*byte, modes) } {
                TypedByte::Data if !has_lines => {}
                TypedByte::Data => {
                    bytes.push(*byte);
                    if bytes.len() > change.longest {
                        change.longest = bytes.len();
                        change.is_begun =
                            self.length() > 0 && change.first_end.is_none() && change.signal_end.is_none();
                    }
                }
                TypedByte::Nothing => {}
                TypedByte::Signal => {
                    bytes.clear();
                    (change.first_end, change.signal_end) = (None, Some(at + 1));
                }
                TypedByte::Quote => change.line.is_quoted = true,
                TypedByte::Erase => erase(bytes, modes),
                TypedByte::EraseWord => erase_word(bytes, modes),
                TypedByte::Kill => bytes.clear(),
                TypedByte::End => {
                    bytes.clear();
                    change.first_end.get_or_insert(at + 1);
                }
            }
        }
        change
    }
}

impl TypedByte {
    /// Classifies a byte as the kernel does.
    fn of(byte: u8, modes: &Termios) -> Self {
        use SpecialCodeIndex as Code;
        let is = |code| byte != 0 && modes.special_codes[code] == byte;
        let (input, local) =
            (|mode| modes.input_modes.contains(mode), |mode| modes.local_modes.contains(mode));
        let (has_lines, is_extended) = (local(LocalModes::ICANON), local(LocalModes::IEXTEN));
        let is_signal = is(Code::VINTR) || is(Code::VQUIT) || is(Code::VSUSP);
        match byte {
            _ if input(InputModes::IXON) && (is(Code::VSTART) || is(Code::VSTOP)) => Self::Nothing,
            _ if local(LocalModes::ISIG) && is_signal => {
                if local(LocalModes::NOFLSH) {
                    Self::Nothing
                } else {
                    Self::Signal
                }
            }
            b'\r' if input(InputModes::IGNCR) => Self::Nothing,
            _ if !has_lines => Self::Data,
            b'\r' if input(InputModes::ICRNL) => Self::End,
            b'\n' if !input(InputModes::INLCR) => Self::End,
            _ if is(Code::VERASE) => Self::Erase,
            _ if is(Code::VKILL) => Self::Kill,
            _ if is_extended && is(Code::VWERASE) => Self::EraseWord,
            _ if is_extended && is(Code::VLNEXT) => Self::Quote,
            _ if is(Code::VEOF) || is(Code::VEOL) || is_extended && is(Code::VEOL2) => Self::End,
            _ => Self::Data,
        }
    }
}

/// Takes away the last character.
fn erase(bytes: &mut Vec<u8>, modes: &Termios) {
    while let Some(byte) = bytes.pop() {
        if !modes.input_modes.contains(InputModes::IUTF8) || byte & 0xC0 != 0x80 {
            break;
        }
    }
}

/// Takes away the last word and what follows it.
fn erase_word(bytes: &mut Vec<u8>, modes: &Termios) {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    while !bytes.is_empty() && !is_word(bytes.last()) {
        erase(bytes, modes);
    }
    while is_word(bytes.last()) {
        bytes.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Pty;
    use crate::terminal::Size;

    fn modes(change: impl FnOnce(&mut Termios)) -> Termios {
        let (pty, _slave) = Pty::open(Size::default()).expect("opens");
        let mut modes = pty.modes().expect("modes");
        change(&mut modes);
        modes
    }

    fn length_after(typed: &str) -> usize {
        InputLine::default().after(typed.as_bytes(), &modes(|_| {})).line.length()
    }

    #[test]
    fn a_line_ends_where_the_terminals_modes_say_and_is_counted_over_several_inputs() {
        let by_lines = modes(|modes| modes.special_codes[SpecialCodeIndex::VEOL] = b';');
        let first = InputLine::default().after(&[b'a'; 3_000], &by_lines);
        assert_eq!((first.line.length(), first.longest, first.is_begun), (3_000, 3_000, false));
        let second = first.line.after(&[b'a'; 3_001], &by_lines);
        assert_eq!((second.longest, second.is_begun), (6_001, true));
        for end in ["\n", "\r", "\u{4}", ";"] {
            let ended = first.line.after(format!("{end}abc").as_bytes(), &by_lines);
            assert_eq!((ended.line.length(), ended.longest, ended.first_end), (3, 3, Some(1)), "{end:?}");
        }
        let no_return = modes(|modes| modes.input_modes -= InputModes::ICRNL);
        assert_eq!(first.line.after(b"\rabc", &no_return).longest, 3_004);
        let raw = first.line.after(&[b'a'; 5_000], &modes(Termios::make_raw));
        assert_eq!((raw.line.length(), raw.longest), (0, 0));
    }

    #[test]
    fn what_is_erased_is_not_counted() {
        assert_eq!(length_after("abc\u{7f}"), 2);
        assert_eq!(length_after("ab\u{e9}\u{7f}"), 2, "one character of two bytes");
        assert_eq!(length_after("one two. \u{17}"), 4, "the word and what follows it");
        assert_eq!(length_after("one two\u{15}"), 0);
        assert_eq!(length_after("a\u{16}\u{15}"), 2, "taken as it is");
        assert_eq!(length_after("a\u{13}\u{11}"), 1, "stop and start");
    }

    #[test]
    fn a_signal_throws_away_what_was_typed_before_it_unless_the_terminal_keeps_it() {
        let typed = InputLine::default().after(b"one\ntwo\x03end", &modes(|_| {}));
        assert_eq!((typed.line.length(), typed.first_end, typed.signal_end), (3, None, Some(8)));
        let keeps = modes(|modes| modes.local_modes |= LocalModes::NOFLSH);
        let typed = InputLine::default().after(b"one\ntwo\x03end", &keeps);
        assert_eq!((typed.line.length(), typed.first_end, typed.signal_end), (6, Some(4), None));
    }
}
