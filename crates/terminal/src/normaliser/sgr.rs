//! Colours and attributes (SGR), rewritten into the forms vt100 understands: 4:n and 21 become 4; underline
//! colours and colour space identifiers are dropped.

use crate::csi::{Csi, Numbers, Parameter};

/// The attributes that affect how blanks look. Underline and inverse must not be set when a sequence erases,
/// or vt100 would paint the blanks with them; a background colour must be on the blanks that scrolling brings
/// in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pen {
    pub(super) underline: bool,
    pub(super) inverse: bool,
    pub(super) background: bool,
    /// Whether text is struck through, which vt100 does not know.
    pub(super) struck: bool,
}

impl Pen {
    /// Applies an SGR sequence; returns what to send instead if it cannot be sent unchanged.
    pub(super) fn take(&mut self, csi: &Csi<'_>) -> Option<Vec<u8>> {
        if self.pass(csi.list) { None } else { Some(self.rewrite(csi)) }
    }

    /// Applies a list of parameters if it can be sent unchanged; tells whether it can.
    pub(super) fn pass(&mut self, list: &[u8]) -> bool {
        match list {
            b"" | b"0" => {
                *self = Self::default();
                return true;
            }
            [which @ (b'3' | b'4'), b'8', b';', b'5', b';', index @ ..]
                if index.iter().all(u8::is_ascii_digit) =>
            {
                self.background |= *which == b'4';
                return true;
            }
            [b'3' | b'9', b'0'..=b'7' | b'9'] => return true,
            [b'4', which @ (b'0'..=b'7' | b'9')] => {
                self.background = *which != b'9';
                return true;
            }
            _ if list.contains(&b':') => return false,
            _ => {}
        }
        let mut pen = *self;
        let mut values = Numbers::of(list);
        while let Some(value) = values.next() {
            match value {
                38 | 48 => {
                    pen.background |= value == 48;
                    match values.next() {
                        Some(5) => drop(values.next()),
                        Some(2) => drop(values.nth(2)),
                        _ => {}
                    }
                }
                // What follows is no plain text any more.
                9 | 21 | 58 | 59 => return false,
                _ => pen.note(value),
            }
        }
        *self = pen;
        true
    }

    /// Keeps track of an attribute.
    fn note(&mut self, value: u16) {
        match value {
            0 => *self = Self::default(),
            4 | 24 => self.underline = value == 4,
            7 | 27 => self.inverse = value == 7,
            9 | 29 => self.struck = value == 9,
            40..=47 | 49 | 100..=107 => self.background = value != 49,
            _ => {}
        }
    }

    /// Tells whether an erasing sequence leaves plain blanks.
    pub(super) fn leaves_blanks(self) -> bool {
        !(self.underline || self.inverse)
    }

    fn rewrite(&mut self, csi: &Csi<'_>) -> Vec<u8> {
        let mut rewritten = Rewritten(Vec::new());
        let mut parameters = csi.parameters();
        while let Some(parameter) = parameters.next() {
            self.one(parameter, &mut parameters, &mut rewritten);
        }
        if rewritten.0.is_empty() {
            // Nothing left is not the same as an empty list, which would reset.
            return Vec::new();
        }
        [b"\x1b[", rewritten.0.as_slice(), b"m"].concat()
    }

    fn one<'a>(
        &mut self,
        parameter: Parameter<'a>,
        following: &mut impl Iterator<Item = Parameter<'a>>,
        rewritten: &mut Rewritten,
    ) {
        let (value, part) = {
            let mut parts = parameter.parts();
            (parts.next().unwrap_or(0), parts.next())
        };
        match (value, part) {
            (4, Some(0)) | (24, _) => {
                self.note(24);
                return rewritten.push(b"24");
            }
            (4 | 21, _) => {
                self.note(4);
                return rewritten.push(b"4");
            }
            (38 | 48, part) => {
                self.background |= value == 48;
                return match part {
                    Some(_) => rewritten.color(parameter),
                    None => rewritten.old_color(parameter, following),
                };
            }
            (58, Some(_)) | (59, _) => return,
            (58, None) => return Rewritten(Vec::new()).old_color(parameter, following),
            _ => self.note(value),
        }
        rewritten.push(parameter.raw());
    }
}

/// The parameter list to send.
struct Rewritten(Vec<u8>);

impl Rewritten {
    fn push(&mut self, parameter: &[u8]) {
        if !self.0.is_empty() {
            self.0.push(b';');
        }
        self.0.extend_from_slice(if parameter.is_empty() { b"0" } else { parameter });
    }

    /// `38:5:n`, `38:2:r:g:b`, and `38:2:space:r:g:b`, whose colour space is dropped.
    fn color(&mut self, parameter: Parameter<'_>) {
        let parts: Vec<u16> = parameter.parts().collect();
        let flat = match parts[..] {
            [which, 5, index, ..] => format!("{which};5;{index}"),
            [which, 2, r, g, b] | [which, 2, _, r, g, b, ..] => format!("{which};2;{r};{g};{b}"),
            _ => return,
        };
        self.push(flat.as_bytes());
    }

    /// `38;5;n` and `38;2;r;g;b`, where the parameters that follow belong to it.
    fn old_color<'a>(
        &mut self,
        parameter: Parameter<'a>,
        following: &mut impl Iterator<Item = Parameter<'a>>,
    ) {
        let Some(form) = following.next() else { return };
        let count = match form.value() {
            2 => 3,
            5 => 1,
            _ => return,
        };
        self.push(parameter.raw());
        self.push(form.raw());
        for part in following.take(count) {
            self.push(part.raw());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(parameters: &str) -> (String, Pen) {
        let raw = format!("\x1b[{parameters}m");
        let mut pen = Pen { underline: true, inverse: true, ..Pen::default() };
        let rewritten = pen.take(&Csi::parse(raw.as_bytes()).unwrap());
        (rewritten.map_or(raw, |bytes| String::from_utf8(bytes).unwrap()), pen)
    }

    #[test]
    fn known_forms_of_sgr_pass_and_others_are_rewritten() {
        for (given, expected) in [
            ("", "\x1b[m"),
            ("1;31", "\x1b[1;31m"),
            ("38;2;1;2;3;4", "\x1b[38;2;1;2;3;4m"),
            ("38:2::1:2:3;1", "\x1b[38;2;1;2;3;1m"),
            ("48:2:1:2:3", "\x1b[48;2;1;2;3m"),
            ("38:5:9", "\x1b[38;5;9m"),
            ("4:3", "\x1b[4m"),
            ("4:0", "\x1b[24m"),
            ("21;1", "\x1b[4;1m"),
            ("9;1", "\x1b[9;1m"),
            ("58;5;1", ""),
            ("58;2;1;2;3;1", "\x1b[1m"),
            ("58:2::1:2:3;;59", "\x1b[0m"),
        ] {
            assert_eq!(sent(given).0, expected, "{given}");
        }
    }

    #[test]
    fn the_pen_follows_the_colours_and_attributes_that_are_set() {
        assert_eq!(sent("0").1, Pen::default());
        assert_eq!(sent("").1, Pen::default());
        assert_eq!(sent("27;4:0").1, Pen::default());
        assert!(sent("1;9").1.struck && !sent("9;29").1.struck && !sent("38;5;9").1.struck);
        assert_eq!(sent("38;5;0").1, Pen { underline: true, inverse: true, ..Pen::default() });
        for set in
            ["41", "107", "48;5;0", "1;48;5;0", "48;2;0;0;0", "48:5:1", "48:2::1:2:3", "49;40", "21;40"]
        {
            assert!(sent(set).1.background, "{set}");
        }
        for unset in
            ["31", "49", "38;5;41", "1;38;2;41;42;43", "58;5;41", "40;49", "40;0", "21;40;49", "21;41;0"]
        {
            assert!(!sent(unset).1.background, "{unset}");
        }
    }
}
