//! The colours of HTML and SVG exports: a terminal has its own, but a file must contain them.

use crate::cell::{CellStyle, Color};

/// Red, green, blue.
type Rgb = (u8, u8, u8);

/// The RGB values of the default colours and the 16 named ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// The default text colour.
    pub fore: Rgb,
    /// The background colour.
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

const fn rgb_array(hex: [u32; 16]) -> [Rgb; 16] {
    let mut colours = [(0, 0, 0); 16];
    let mut at = 0;
    while at < hex.len() {
        colours[at] = rgb(hex[at]);
        at += 1;
    }
    colours
}

impl Palette {
    /// Light text on dark.
    pub const DARK: Self = Self {
        fore: rgb(0xd5_d8_de),
        back: rgb(0x15_18_1e),
        named: rgb_array([
            0x15_18_1e, 0xe0_6c_75, 0x98_c3_79, 0xe5_c0_7b, 0x61_af_ef, 0xc6_78_dd, 0x56_b6_c2, 0xc8_cc_d4,
            0x6b_72_80, 0xff_7b_86, 0xb5_e0_8d, 0xff_d6_8a, 0x7c_c4_ff, 0xde_92_f5, 0x6f_d3_df, 0xff_ff_ff,
        ]),
    };

    /// Dark text on light.
    pub const LIGHT: Self = Self {
        fore: rgb(0x24_29_2f),
        back: rgb(0xff_ff_ff),
        named: rgb_array([
            0x24_29_2f, 0xb3_26_1e, 0x11_63_29, 0x7d_4e_00, 0x05_50_ae, 0x82_50_df, 0x0b_6b_74, 0x57_60_6a,
            0x6e_77_81, 0xcf_22_2e, 0x1a_7f_37, 0x9a_67_00, 0x09_69_da, 0xa4_75_f9, 0x1b_7c_83, 0x8c_95_9f,
        ]),
    };

    /// Returns the text and background colours of a cell; no background if it is the page's own.
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
    fn inverse_swaps_the_colours_and_sets_the_background() {
        let plain = CellStyle { inverse: true, ..CellStyle::default() };
        assert_eq!(Palette::LIGHT.inks(plain), ("#ffffff".into(), Some("#24292f".into())));
    }
}
