//! Output as text, with the times at which it came.

use super::{Error, StoredOutput, StreamLayout};
use crate::runtime::log::OpenLog;
use crate::terminal::{LogBytes as _, Transcript};

impl StoredOutput {
    /// Returns the text of a part of a stream, by the stream's own offsets.
    pub(super) fn transcribe(
        &self,
        file: &OpenLog,
        layout: &StreamLayout,
        from: u64,
        to: u64,
    ) -> Result<String, Error> {
        let size = if from == 0 { layout.first_size } else { layout.last_size };
        let mut transcript = Transcript::new(self.origin, size);
        let (mut skip, mut left) = (from, to.saturating_sub(from));
        for &(start, length) in &layout.segments {
            let skipped = skip.min(length);
            skip -= skipped;
            let (at, end) = (start + skipped, start + length.min(skipped.saturating_add(left)));
            left -= end.saturating_sub(at);
            for (at, end, now_ms) in layout.timed_pieces(at, end) {
                if let Some(now_ms) = now_ms {
                    transcript.note_time(now_ms.into());
                }
                let part = file.read_range(at..end).map_err(Error::io("read", self.log()))?;
                transcript.feed(&part);
            }
        }
        Ok(if self.is_over { transcript.finish() } else { transcript.so_far() })
    }
}
