//! The colours a page or a picture is drawn in: a terminal has its own, a file has to bring them.

use crate::terminal::cell::{CellStyle, Color};

/// Red, green, blue.
type Rgb = (u8, u8, u8);

/// What the default colours and the 16 named ones look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// Text in the default colour.
    pub fore: Rgb,
    /// The ground it stands on.
    pub back: Rgb,
    /// Black, red, green, yellow, blue, magenta, cyan, white; then the same, bright.
    pub named: [Rgb; 16],
}

/// The steps of the colour cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

const fn rgb(hex: u32) -> Rgb {
    let [_, r, g, b] = hex.to_be_bytes();
    (r, g, b)
}

impl Palette {
    /// Light text on dark.
    pub const DARK: Self = Self {
        fore: rgb(0x00d5_d8de),
        back: rgb(0x0015_181e),
        named: [
            rgb(0x0015_181e),
            rgb(0x00e0_6c75),
            rgb(0x0098_c379),
            rgb(0x00e5_c07b),
            rgb(0x0061_afef),
            rgb(0x00c6_78dd),
            rgb(0x0056_b6c2),
            rgb(0x00c8_ccd4),
            rgb(0x006b_7280),
            rgb(0x00ff_7b86),
            rgb(0x00b5_e08d),
            rgb(0x00ff_d68a),
            rgb(0x007c_c4ff),
            rgb(0x00de_92f5),
            rgb(0x006f_d3df),
            rgb(0x00ff_ffff),
        ],
    };

    /// Dark text on light.
    pub const LIGHT: Self = Self {
        fore: rgb(0x0024_292f),
        back: rgb(0x00ff_ffff),
        named: [
            rgb(0x0024_292f),
            rgb(0x00b3_261e),
            rgb(0x0011_6329),
            rgb(0x007d_4e00),
            rgb(0x0005_50ae),
            rgb(0x0082_50df),
            rgb(0x000b_6b74),
            rgb(0x0057_606a),
            rgb(0x006e_7781),
            rgb(0x00cf_222e),
            rgb(0x001a_7f37),
            rgb(0x009a_6700),
            rgb(0x0009_69da),
            rgb(0x00a4_75f9),
            rgb(0x001b_7c83),
            rgb(0x008c_959f),
        ],
    };

    /// Returns what text and ground of a cell look like; no ground when it is the page's own.
    pub(super) fn inks(&self, style: CellStyle) -> (String, Option<String>) {
        let fore = self.ink(style.fg).unwrap_or(self.fore);
        let back = self.ink(style.bg);
        match style.inverse {
            true => (hex(back.unwrap_or(self.back)), Some(hex(fore))),
            false => (hex(fore), back.map(hex)),
        }
    }

    fn ink(&self, color: Color) -> Option<Rgb> {
        match color {
            Color::Default => None,
            Color::Rgb(r, g, b) => Some((r, g, b)),
            Color::Indexed(index) => Some(match index {
                0..=15 => self.named[usize::from(index)],
                16..=231 => {
                    let step = |part: u8| STEPS[usize::from(part % 6)];
                    (step((index - 16) / 36), step((index - 16) / 6), step(index - 16))
                }
                grey => {
                    let level = 8 + (grey - 232) * 10;
                    (level, level, level)
                }
            }),
        }
    }
}

pub(super) fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_usual_256() {
        let of = |index| Palette::DARK.ink(Color::Indexed(index)).map(hex).unwrap_or_default();
        assert_eq!(
            (of(16), of(231), of(196), of(232), of(255)),
            ("#000000".into(), "#ffffff".into(), "#ff0000".into(), "#080808".into(), "#eeeeee".into())
        );
    }

    #[test]
    fn inverse_swaps_and_brings_the_ground() {
        let plain = CellStyle { inverse: true, ..CellStyle::default() };
        assert_eq!(Palette::LIGHT.inks(plain), ("#ffffff".into(), Some("#24292f".into())));
    }
}
