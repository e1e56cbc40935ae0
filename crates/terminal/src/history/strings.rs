//! Strings (OSC, DCS, APC, SOS, PM) that are open at a position in a log.

use std::io;

use super::LogHistory;
use super::log::LogBytes;
use crate::open_string::open_string;
use crate::scanner::Patience;

impl<L: LogBytes + ?Sized> LogHistory<'_, L> {
    /// Returns where the string begins that is open at an offset, if there is one; none if the program wrote on in
    /// it for so long that it is text.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn open_string(&self, offset: u64) -> io::Result<Option<u64>> {
        let Some(begin) = open_string(offset, |range| self.log.read_range(range))? else { return Ok(None) };
        let first = self.marks.partition_point(|mark| mark.offset <= begin);
        let mut patience = Patience::default();
        let mut inside = self.marks.iter().skip(first).take_while(|mark| mark.offset < offset);
        let is_over = inside.any(|mark| patience.is_over(Some(0), u64::from(mark.at_ms)));
        Ok(Some(begin).filter(|_| !is_over))
    }
}
