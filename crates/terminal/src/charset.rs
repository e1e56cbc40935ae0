//! The character sets G0 and G1, each of which may be the line drawing set.

use std::borrow::Cow;

/// The two sets, and which one is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Charsets {
    /// Whether G0 and G1 are the line drawing set.
    drawing: [bool; 2],
    shifted: bool,
}

/// The characters 0x5f to 0x7e of the VT100's line drawing set.
const DRAWING: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽',
    '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

impl Charsets {
    /// Applies `ESC intermediate last`, if it designates G0 or G1.
    pub(super) fn designate(&mut self, intermediate: u8, last: u8) {
        match intermediate {
            b'(' => self.drawing[0] = last == b'0',
            b')' => self.drawing[1] = last == b'0',
            _ => {}
        }
    }

    /// Applies SO (true, use G1) or SI (false, use G0).
    pub(super) fn shift(&mut self, out: bool) {
        self.shifted = out;
    }

    /// Tells whether text is currently line drawing.
    pub(super) fn is_drawing(&self) -> bool {
        self.drawing[usize::from(self.shifted)]
    }

    /// Returns the text as displayed.
    pub(super) fn translate<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.is_drawing() {
            return Cow::Borrowed(text);
        }
        let drawn = |c: char| match u32::from(c).checked_sub(0x5f).and_then(|at| usize::try_from(at).ok()) {
            Some(at) => DRAWING.get(at).copied().unwrap_or(c),
            None => c,
        };
        Cow::Owned(text.chars().map(drawn).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_drawing_replaces_lower_case_while_its_set_is_in_use() {
        let mut sets = Charsets::default();
        sets.designate(b')', b'0');
        assert_eq!(sets.translate("lqk"), "lqk");
        sets.shift(true);
        assert_eq!(sets.translate("lqk_~Aé"), "┌─┐ ·Aé");
        sets.shift(false);
        assert_eq!(sets.translate("lqk"), "lqk");
    }
}
