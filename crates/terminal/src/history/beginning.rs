//! Where interpreting a log can begin so that a later part of it is drawn as if all of it had been.

use std::io;

use super::log::LogBytes;
use super::{LogHistory, line_feeds};
use crate::csi::Csi;
use crate::marks::{Mark, MarkKind};
use crate::reach::{SequenceReach, reach};
use crate::switch::switch;

/// Up to this many bytes are interpreted from the beginning.
const WHOLE: u64 = 1 << 20;
/// Number of bytes that are looked at at once, going back.
const BLOCK: u64 = 256 << 10;
/// Maximum number of bytes that are looked at before everything is interpreted from the beginning.
const LOOKED_AT: u64 = 8 << 20;
/// How far a sequence that says something of the screen may go on behind a block.
const AROUND: u64 = 16;

/// What sequences have said of the screen.
#[derive(Debug, Clone, Copy, Default)]
struct ScrollState {
    is_primary: Option<bool>,
    has_no_region: Option<bool>,
}

impl ScrollState {
    /// Returns what the sequence says that output begins with.
    fn said_by(output: &[u8]) -> Self {
        let is_reset = output.starts_with(b"\x1bc");
        let is_primary = switch(output).map(|is_alternate| !is_alternate);
        let csi = Csi::first_in(output).and_then(|(_, csi)| csi);
        let has_no_region = csi.and_then(|csi| match (csi.marker, csi.intermediate, csi.last) {
            (0, 0, b'r') => Some(csi.list.is_empty()),
            (0, b'!', b'p') => Some(true),
            _ => None,
        });
        if is_reset {
            Self { is_primary: Some(true), has_no_region: Some(true) }
        } else {
            Self { is_primary, has_no_region }
        }
    }

    /// Returns the same, and where it says nothing, what another says.
    fn or(self, other: Self) -> Self {
        let is_primary = self.is_primary.or(other.is_primary);
        Self { is_primary, has_no_region: self.has_no_region.or(other.has_no_region) }
    }

    fn is_known(self) -> bool {
        self.is_primary.is_some() && self.has_no_region.is_some()
    }

    /// Tells whether line feeds scroll all of the primary screen, as they do unless something else was said.
    fn scrolls(self) -> bool {
        self.is_primary.unwrap_or(true) && self.has_no_region.unwrap_or(true)
    }
}

impl<L: LogBytes + ?Sized> LogHistory<'_, L> {
    /// Returns where to begin for the rows from `start` on, and the line that begins there: before so many lines of
    /// plain text that nothing printed earlier is on the screen any more.
    pub(super) fn beginning_before(&self, start: u64) -> io::Result<(u64, u64)> {
        let mut end = start;
        while end > WHOLE && start - end < LOOKED_AT {
            let begin = self.line_start(end - BLOCK, end)?;
            let begin = self.open_string(begin)?.unwrap_or(begin);
            if self.settles(&self.log.read_range(begin..end)?) && self.screen_before(begin)?.scrolls() {
                return Ok((begin, self.line_at(begin)?));
            }
            end -= BLOCK;
        }
        Ok((0, 0))
    }

    /// Tells whether some output leaves nothing of earlier output on a screen that scrolls as a whole. A cleared screen
    /// does not tell: how many were cleared before it would not be known.
    fn settles(&self, output: &[u8]) -> bool {
        let sizes = self.marks.iter().filter_map(|mark| match mark.kind {
            MarkKind::Resize(size) => Some(size.rows()),
            _ => None,
        });
        let height = u64::from(sizes.chain([self.size.rows()]).max().unwrap_or_default());
        let mut screen = ScrollState::default();
        let (mut feeds, mut from) = (0, 0);
        for escape in memchr::memchr_iter(0x1b, output).chain([output.len()]) {
            feeds += line_feeds(&output[from..escape]);
            if screen.scrolls() && feeds > height {
                return true;
            }
            let sequence = &output[escape..];
            screen = ScrollState::said_by(sequence).or(screen);
            if !sequence.is_empty() && reach(sequence) != SequenceReach::Line {
                feeds = 0;
            }
            from = escape;
        }
        false
    }

    /// Returns what the last sequences before an offset have said of the screen.
    fn screen_before(&self, offset: u64) -> io::Result<ScrollState> {
        let gap = |mark: &&Mark| matches!(mark.kind, MarkKind::Gap { .. });
        let begin = self.marks.iter().rev().filter(|mark| mark.offset <= offset).find(gap);
        let begin = begin.map_or(0, |mark| mark.offset);
        let (mut screen, mut end) = (ScrollState::default(), offset);
        while end > begin && !screen.is_known() {
            let from = end.saturating_sub(BLOCK).max(begin);
            let bytes = self.log.read_range(from..(end + AROUND).min(offset))?;
            let room = usize::try_from(end - from).unwrap_or(usize::MAX).min(bytes.len());
            for escape in memchr::memrchr_iter(0x1b, &bytes[..room]) {
                screen = screen.or(ScrollState::said_by(&bytes[escape..]));
            }
            end = from;
        }
        Ok(screen)
    }
}
