//! Checksums of the screen (DECRQCRA), by which test suites of terminals read it.

use super::Pass;
use crate::csi::Csi;

/// The most cells that are summed up for one question; a larger rectangle gets no answer.
const MOST_CELLS: usize = 4_096;

impl Pass<'_> {
    /// Replies with the sum of the characters in a rectangle, negated, in 16 bits. A blank counts as one.
    pub(super) fn checksum(&mut self, csi: &Csi<'_>) {
        let size = self.state.size;
        let margins = *self.state.margins();
        let first = margins.region.filter(|_| margins.relative).map_or(0, |(top, _)| top);
        let from = |at: usize| csi.parameter(at, 1) - 1;
        let rows = from(2).saturating_add(first)
            ..csi.parameter(4, size.rows()).saturating_add(first).min(size.rows());
        let cols = from(3)..csi.parameter(5, size.cols()).min(size.cols());
        if rows.len() * cols.len() > MOST_CELLS {
            return;
        }
        self.flush();
        let mut sum = 0_u16;
        for (row, col) in rows.flat_map(|row| cols.clone().map(move |col| (row, col))) {
            let cell = self.emulator.cell(row, col);
            let code = cell.text.chars().next().map_or(u32::from(' '), u32::from);
            sum = sum.wrapping_sub(u16::try_from(code & 0xffff).unwrap_or(0));
        }
        self.reply(format!("\x1bP{}!~{sum:04X}\x1b\\", csi.parameter(0, 0)).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use crate::{ByteOrigin, Size, Terminal};

    #[test]
    fn a_rectangle_is_summed_up_and_a_large_one_is_not() {
        let mut terminal = Terminal::new(Size::nearest(100, 100), ByteOrigin::Tty);
        let fed = terminal
            .feed(b"AB\x1b[7;1;1;1;1;1*y\x1b[8;1;1;1;1;2*y\x1b[9;1;2;3;2;3*y\x1b[1;1*y\x1b[2;1;9;9;1;1*y");
        let answers = "\x1bP7!~FFBF\x1b\\\x1bP8!~FF7D\x1b\\\x1bP9!~FFE0\x1b\\\x1bP2!~0000\x1b\\";
        assert_eq!(String::from_utf8(fed.replies).unwrap(), answers);
    }
}
