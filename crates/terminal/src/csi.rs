//! A parsed control sequence: `ESC [`, a private marker, parameters, an intermediate byte, a final byte.

/// The longest sequence that has any effect, in bytes; longer ones are ignored.
pub(super) const MAX_LEN: usize = 256;

/// A well-formed control sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Csi<'a> {
    /// The whole sequence, from ESC to the last byte.
    pub(super) raw: &'a [u8],
    /// `<`, `=`, `>` or `?` in front of the parameters, or 0.
    pub(super) marker: u8,
    /// The intermediate byte before the final one, or 0.
    pub(super) intermediate: u8,
    /// The final byte, which determines what the sequence does.
    pub(super) last: u8,
    /// The raw parameter list.
    pub(super) list: &'a [u8],
}

/// One parameter with its subparameters, which follow it after colons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parameter<'a>(&'a [u8]);

impl<'a> Csi<'a> {
    /// Returns the length of the sequence at the beginning of `bytes`, and the sequence if it is well-formed;
    /// `None` if it is incomplete or contains controls.
    pub(super) fn first_in(bytes: &'a [u8]) -> Option<(usize, Option<Self>)> {
        let body = bytes.strip_prefix(b"\x1b[")?;
        let body = body.get(..MAX_LEN - 2).unwrap_or(body);
        let end = body.iter().position(|byte| !matches!(byte, b'0'..=b';'))?;
        // Most sequences are just numbers and a letter.
        if let Some(last @ 0x40..=0x7e) = body.get(end) {
            let (raw, list) = (bytes.get(..end + 3)?, body.get(..end)?);
            return Some((end + 3, Some(Self { raw, marker: 0, intermediate: 0, last: *last, list })));
        }
        let end = end + body.get(end..)?.iter().position(|byte| !matches!(byte, 0x20..=0x3f))?;
        matches!(body.get(end), Some(0x40..=0x7e))
            .then(|| (end + 3, bytes.get(..end + 3).and_then(Self::parse)))
    }

    /// Parses a sequence; `None` if it is malformed or has more than one intermediate byte.
    pub(super) fn parse(raw: &'a [u8]) -> Option<Self> {
        let [0x1b, b'[', body @ .., last @ 0x40..=0x7e] = raw else { return None };
        let (marker, body) = match body {
            [marker @ b'<'..=b'?', rest @ ..] => (*marker, rest),
            _ => (0, body),
        };
        let (intermediate, list) = match body {
            [rest @ .., intermediate @ b' '..=b'/'] => (*intermediate, rest),
            _ => (0, body),
        };
        let well_formed = list.iter().all(|byte| matches!(byte, b'0'..=b';'));
        well_formed.then_some(Self { raw, marker, intermediate, last: *last, list })
    }

    /// Returns the parameters; an empty list counts as one empty parameter.
    pub(super) fn parameters(&self) -> impl Iterator<Item = Parameter<'a>> + use<'a> {
        self.list.split(|byte| *byte == b';').map(Parameter)
    }

    /// Returns the parameter at index `at`, or `default` if it is missing or 0.
    pub(super) fn parameter(&self, at: usize, default: u16) -> u16 {
        match self.parameters().nth(at).map_or(0, Parameter::value) {
            0 => default,
            value => value,
        }
    }
}

impl<'a> Parameter<'a> {
    /// Returns its number, or 0 if empty.
    pub(super) fn value(self) -> u16 {
        self.parts().next().unwrap_or(0)
    }

    /// Returns its numbers: its value, then the subparameters.
    pub(super) fn parts(self) -> impl Iterator<Item = u16> + use<'a> {
        self.0.split(|byte| *byte == b':').map(number)
    }

    /// Returns its raw bytes.
    pub(super) fn raw(self) -> &'a [u8] {
        self.0
    }
}

/// The values of a list of parameters without subparameters.
pub(super) struct Numbers<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Numbers<'a> {
    /// Returns the values of a list; an empty list is a single 0.
    pub(super) fn of(list: &'a [u8]) -> Self {
        Self { rest: Some(list) }
    }
}

impl Iterator for Numbers<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let list = self.rest.take()?;
        let mut value = 0;
        for (at, byte) in list.iter().enumerate() {
            if *byte == b';' {
                self.rest = list.get(at + 1..);
                break;
            }
            value = with_digit(value, *byte);
        }
        Some(value)
    }
}

fn number(digits: &[u8]) -> u16 {
    digits.iter().fold(0, |value, digit| with_digit(value, *digit))
}

fn with_digit(value: u16, digit: u8) -> u16 {
    value.saturating_mul(10).saturating_add(u16::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_taken_apart() {
        let csi = Csi::parse(b"\x1b[?1049;2$p").unwrap();
        assert_eq!((csi.marker, csi.intermediate, csi.last), (b'?', b'$', b'p'));
        assert_eq!(csi.parameters().map(Parameter::value).collect::<Vec<_>>(), [1049, 2]);
        let csi = Csi::parse(b"\x1b[38:2::1:2:3;;70000m").unwrap();
        assert_eq!(csi.parameters().next().unwrap().parts().collect::<Vec<_>>(), [38, 2, 0, 1, 2, 3]);
        assert_eq!((csi.parameter(1, 7), csi.parameter(2, 7), csi.parameter(3, 7)), (7, u16::MAX, 7));
    }

    #[test]
    fn malformed_sequences_are_not_parsed() {
        for raw in [&b"\x1b[1?m"[..], b"\x1b[1 2m", b"\x1b[1  q", b"\x1b[1", b"\x1b]1m"] {
            assert_eq!(Csi::parse(raw), None, "{raw:?}");
        }
    }
}
