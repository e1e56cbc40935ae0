//! What the first bytes of the input mean: a key, a sequence, an answer, or not yet anything.

use crate::terminal::{Key, KeyPress, host_terminal};

use super::{TerminalInput, csi};

/// The result of decoding the bytes held.
pub(super) enum DecodeStep {
    /// This many bytes were consumed, and what they mean, if anything.
    Took(usize, Option<TerminalInput>),
    /// More bytes are needed, however long they take.
    More,
    /// More bytes are needed, or a key was pressed: time decides.
    Unsure,
}

/// Decodes the bytes, of which there is at least one.
pub(super) fn step(held: &[u8]) -> DecodeStep {
    match held {
        [0x1b] | [0x1b, 0x1b] | [0x1b, b'[' | b'O' | b']' | b'P' | b'_'] => DecodeStep::Unsure,
        [0x1b, b'[', ..] => csi::step(held),
        [0x1b, b'O', third, ..] => match csi::application(*third) {
            Some(key) => DecodeStep::Took(3, Some(TerminalInput::Key(key.into()))),
            None => DecodeStep::Took(2, Some(alt(b'O'))),
        },
        // OSC, DCS and APC.
        [0x1b, b']', b'0'..=b'9', ..] | [0x1b, b'P', b' '..=b'?', ..] | [0x1b, b'_', b'G', ..] => {
            answer(held)
        }
        [0x1b, 0x1b, rest @ ..] => escaped_twice(rest),
        [0x1b, rest @ ..] => match plain(rest) {
            Some((bytes, key)) => {
                DecodeStep::Took(1 + bytes, key.map(|key| TerminalInput::Key(KeyPress { alt: true, ..key })))
            }
            None => DecodeStep::More,
        },
        _ => match plain(held) {
            Some((bytes, key)) => DecodeStep::Took(bytes, key.map(TerminalInput::Key)),
            None => DecodeStep::More,
        },
    }
}

/// Decodes a double Escape: some terminals put an Escape before the sequence of a key pressed with Alt;
/// otherwise the first is the Escape key.
fn escaped_twice(rest: &[u8]) -> DecodeStep {
    let escape = DecodeStep::Took(1, Some(TerminalInput::Key(Key::Esc.into())));
    if !matches!(rest, [b'[' | b'O', ..]) {
        return escape;
    }
    let mut once = vec![0x1b];
    once.extend_from_slice(rest);
    match step(&once) {
        DecodeStep::Took(bytes @ 3.., Some(TerminalInput::Key(key))) => {
            DecodeStep::Took(bytes + 1, Some(TerminalInput::Key(KeyPress { alt: true, ..key })))
        }
        DecodeStep::Took(..) => escape,
        // A key reports numbers at most.
        DecodeStep::More | DecodeStep::Unsure
            if matches!(rest, [b'[', b'<' | b'?' | b'>' | b'=' | b'M', ..]) =>
        {
            escape
        }
        DecodeStep::More | DecodeStep::Unsure => DecodeStep::Unsure,
    }
}

/// Decodes an answer, such as `ESC ] number …`; nothing that a person types begins like that.
fn answer(held: &[u8]) -> DecodeStep {
    let end = held[2..].iter().position(|byte| matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b));
    let Some(at) = end.map(|at| at + 2) else { return DecodeStep::More };
    let is_osc = held[1] == b']';
    let answer = || host_terminal::parse_osc(&held[2..at]).filter(|_| is_osc).map(TerminalInput::Answer);
    match &held[at..] {
        [0x07, ..] => DecodeStep::Took(at + 1, answer()),
        [0x1b, b'\\', ..] => DecodeStep::Took(at + 2, answer()),
        [0x1b] => DecodeStep::Unsure,
        // Interrupted by another sequence, or cancelled.
        [0x1b, ..] => DecodeStep::Took(at, None),
        _ => DecodeStep::Took(at + 1, None),
    }
}

/// Returns the key for Alt and a letter.
pub(super) fn alt(letter: u8) -> TerminalInput {
    TerminalInput::Key(KeyPress { alt: true, ..Key::Char(char::from(letter)).into() })
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

/// The form of an overlong sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlong {
    /// Ends with its first byte that is no parameter.
    Control,
    /// Ends with BEL or ST.
    Answer,
}

impl Overlong {
    /// Returns the form of a sequence by its first bytes.
    pub(super) fn of(held: &[u8]) -> Self {
        let introducer = held.iter().find(|byte| **byte != 0x1b);
        if introducer == Some(&b'[') { Self::Control } else { Self::Answer }
    }

    /// Returns how many of the bytes belong to it, and whether its end is among them.
    pub(super) fn skip(self, rest: &[u8]) -> (usize, bool) {
        let is_in = |byte: &u8| match self {
            Self::Control => matches!(byte, b' '..=b'?'),
            Self::Answer => !matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b),
        };
        let Some(at) = rest.iter().position(|byte| !is_in(byte)) else { return (rest.len(), false) };
        match (self, &rest[at..]) {
            (Self::Control, [b'@'..=b'~', ..]) | (Self::Answer, [0x07 | 0x18 | 0x1a, ..]) => (at + 1, true),
            (Self::Answer, [0x1b, b'\\', ..]) => (at + 2, true),
            (Self::Answer, [0x1b]) => (at, false),
            _ => (at, true),
        }
    }
}
