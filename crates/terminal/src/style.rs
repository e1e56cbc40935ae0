//! Colours and attributes (SGR), applied to a style.

use super::cell::{CellStyle, Color};
use super::csi::{Csi, Parameter};

impl CellStyle {
    /// Applies an SGR sequence.
    pub(super) fn take(&mut self, csi: &Csi<'_>) {
        let mut parameters = csi.parameters();
        while let Some(parameter) = parameters.next() {
            let value = parameter.value();
            match value {
                38 | 48 | 58 => match (value, color(parameter, &mut parameters)) {
                    (38, Some(color)) => self.fg = color,
                    (48, Some(color)) => self.bg = color,
                    _ => {}
                },
                4 => self.underline = parameter.parts().nth(1) != Some(0),
                0..=29 => self.attribute(value),
                _ => self.palette(value),
            }
        }
    }

    fn attribute(&mut self, value: u16) {
        match value {
            0 => *self = Self::default(),
            1 | 2 | 22 => (self.bold, self.dim) = (value == 1, value == 2),
            3 | 23 => self.italic = value == 3,
            21 | 24 => self.underline = value == 21,
            7 | 27 => self.inverse = value == 7,
            9 | 29 => self.struck = value == 9,
            _ => {}
        }
    }

    fn palette(&mut self, value: u16) {
        let indexed = |from: u16, index: u16| Color::Indexed(u8::try_from(value - from + index).unwrap_or(0));
        match value {
            30..=37 => self.fg = indexed(30, 0),
            39 => self.fg = Color::Default,
            40..=47 => self.bg = indexed(40, 0),
            49 => self.bg = Color::Default,
            90..=97 => self.fg = indexed(90, 8),
            100..=107 => self.bg = indexed(100, 8),
            _ => {}
        }
    }

    /// Returns the style of a cell that is erased while this style is set.
    pub(super) fn of_erased(self) -> Self {
        Self { bg: self.bg, ..Self::default() }
    }
}

/// Returns the colour that a parameter selects, by its subparameters (`38:5:n`, `38:2:r:g:b`, `38:2:space:r:g:b`)
/// or by the parameters that follow it.
fn color<'a>(parameter: Parameter<'a>, following: &mut impl Iterator<Item = Parameter<'a>>) -> Option<Color> {
    let byte = |value: u16| u8::try_from(value).ok();
    let parts: Vec<u16> = parameter.parts().collect();
    match parts[..] {
        [_] => {}
        [_, 5, index, ..] => return byte(index).map(Color::Indexed),
        [_, 2, r, g, b] | [_, 2, _, r, g, b, ..] => return Some(Color::Rgb(byte(r)?, byte(g)?, byte(b)?)),
        _ => return None,
    }
    let mut next = || following.next().map_or(0, Parameter::value);
    match next() {
        5 => byte(next()).map(Color::Indexed),
        2 => {
            let (r, g, b) = (next(), next(), next());
            Some(Color::Rgb(byte(r)?, byte(g)?, byte(b)?))
        }
        _ => None,
    }
}
