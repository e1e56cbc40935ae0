//! Reads a task's output line by line, as previews show it, in bounded memory however much the task wrote.

use std::fs::File;

use super::{Error, Layout, Output, Stream, WHOLE_BYTES, blocking, live_tail};
use crate::envelope::preview::laid_out;
use crate::terminal::{LogBytes as _, Origin, Size, Transcript, clean};

/// Bytes of one line that are read; a longer line ends with a note of how many more there are.
const LINE_BYTES: usize = 256 << 10;

/// An element of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A line, cleaned, without its line ending.
    Line(&'a str),
    /// A gap where output was not kept.
    Gap {
        /// The number of bytes.
        bytes: u64,
        /// The number of lines, if known; otherwise 0.
        lines: u64,
    },
}

impl Output {
    /// Passes each line of a stream to `take`, along with a state, until it returns false; returns the state. The
    /// lines are those that previews of the whole stream show: JSON documents are laid out, and overwritten text
    /// shows what was written last.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn fold_lines<S: Send + 'static>(
        &self,
        stream: Stream,
        state: S,
        mut take: impl FnMut(&mut S, Piece<'_>) -> bool + Send + 'static,
    ) -> Result<S, Error> {
        let own = self.clone();
        blocking(move || {
            let mut state = state;
            own.lines_now(stream, &mut |piece| take(&mut state, piece))?;
            Ok(state)
        })
        .await
    }

    /// Returns the number of the line that contains an offset in the merged log, starting at 1.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn line_at(&self, offset: u64) -> Result<u64, Error> {
        let own = self.clone();
        blocking(move || own.line_at_now(offset)).await
    }

    pub(super) fn line_at_now(&self, offset: u64) -> Result<u64, Error> {
        let before = Self { end: self.end.min(offset), io: None, ..self.clone() };
        let layout = before.layout(Stream::Merged)?;
        let file = before.open()?;
        let last = layout.total().checked_sub(1);
        let ends_line = match last {
            Some(last) => before.read(&file, &layout, last, 1)? == b"\n",
            None => true,
        };
        // The number of missing lines is known only for the whole log, and counts for offsets after the gap.
        let is_behind = layout.gaps.iter().any(|(before, _)| *before < layout.segments.len());
        let all = self.layout(Stream::Merged)?;
        let missing = if is_behind { self.lines_missing(&file, &all, None)? } else { 0 };
        let lines = before.count_with(&file, &layout, None, missing)?;
        Ok(lines + u64::from(ends_line))
    }

    /// Counts the lines of a stream.
    pub(super) fn count(&self, file: &File, layout: &Layout, live: Option<&[u8]>) -> Result<u64, Error> {
        self.count_with(file, layout, live, self.lines_missing(file, layout, live)?)
    }

    fn count_with(
        &self,
        file: &File,
        layout: &Layout,
        live: Option<&[u8]>,
        missing: u64,
    ) -> Result<u64, Error> {
        let mut all = 0;
        self.read_lines(file, layout, (live, missing), &mut |piece| {
            all += match piece {
                Piece::Line(_) => 1,
                Piece::Gap { lines, .. } => lines,
            };
            true
        })?;
        Ok(all)
    }

    /// Returns how many lines were not kept, where that can be known: for a single gap in a stream that makes up the
    /// whole log.
    fn lines_missing(&self, file: &File, layout: &Layout, live: Option<&[u8]>) -> Result<u64, Error> {
        if layout.gaps.len() != 1 || layout.shared {
            return Ok(0);
        }
        let feeds = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
        let (mut kept, mut ends_line) = (live.map_or(0, feeds), true);
        for (at, &(start, length)) in layout.segments.iter().enumerate() {
            let read = file.for_each_block(start..start + length, |_, block| {
                kept += feeds(block);
                if at + 1 == layout.gaps[0].0 {
                    ends_line = block.ends_with(b"\n");
                }
                true
            });
            read.map_err(Error::io("read", self.log()))?;
        }
        // Part of the line in which the gap begins was kept.
        Ok(self.line_feeds.saturating_sub(kept).saturating_sub(u64::from(!ends_line)))
    }

    fn lines_now(&self, stream: Stream, take: &mut dyn FnMut(Piece<'_>) -> bool) -> Result<(), Error> {
        let (layout, file) = (self.layout(stream)?, self.open()?);
        let live = self.io.as_ref().and_then(|io| live_tail(io, stream));
        if layout.dropped > 0 || live.is_some() || layout.total() > WHOLE_BYTES {
            let missing = self.dropped(stream)?.saturating_sub(layout.dropped);
            let layout = layout.followed_by_gap(missing);
            let missing = self.lines_missing(&file, &layout, live.as_deref())?;
            return self.read_lines(&file, &layout, (live.as_deref(), missing), take);
        }
        let bytes = self.read(&file, &layout, 0, layout.total())?;
        let text = clean(&bytes, self.origin, layout.first_size);
        laid_out(&text).lines().all(|line| take(Piece::Line(line)));
        Ok(())
    }

    fn read_lines(
        &self,
        file: &File,
        layout: &Layout,
        (live, missing): (Option<&[u8]>, u64),
        take: &mut dyn FnMut(Piece<'_>) -> bool,
    ) -> Result<(), Error> {
        let transcript = |size: Size| Transcript::new(self.origin, size);
        let mut lines = Lines::new(self.origin, layout.first_size, take);
        for at in 0..=layout.segments.len() {
            let gap = layout.gaps.iter().find(|(before, _)| *before == at);
            if let Some((_, bytes)) = gap
                && !(lines.end(transcript(layout.last_size))
                    && (lines.take)(Piece::Gap { bytes: *bytes, lines: missing }))
            {
                return Ok(());
            }
            let Some(&(start, length)) = layout.segments.get(at) else { break };
            let mut goes_on = true;
            let read = file.for_each_block(start..start + length, |_, block| {
                goes_on = lines.feed(block);
                goes_on
            });
            read.map_err(Error::io("read", self.log()))?;
            if !goes_on {
                return Ok(());
            }
        }
        if lines.feed(live.unwrap_or_default()) {
            lines.end(transcript(layout.last_size));
        }
        Ok(())
    }
}

/// Builds lines from bytes.
struct Lines<'a> {
    transcript: Transcript,
    /// The last rows of plain text, as long as there was nothing else: plain text is shown as it is, and only what a
    /// later sequence could still change is fed to the transcript.
    plain: Option<String>,
    rows: usize,
    /// Final text of a line that is still incomplete.
    text: String,
    /// Bytes since the current line was started or restarted.
    run: usize,
    take: &'a mut dyn FnMut(Piece<'_>) -> bool,
}

impl<'a> Lines<'a> {
    fn new(origin: Origin, size: Size, take: &'a mut dyn FnMut(Piece<'_>) -> bool) -> Self {
        let plain = (origin == Origin::Pipe).then(String::new);
        let transcript = Transcript::new(origin, size);
        Self { transcript, plain, rows: usize::from(size.rows()), text: String::new(), run: 0, take }
    }

    /// Feeds bytes and passes on the lines that are final. Returns whether more are wanted.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        let first = memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len());
        // Whether no line in `bytes` exceeds the limit.
        let is_short = bytes.len() <= LINE_BYTES && self.run + first <= LINE_BYTES;
        let mut fresh = None;
        if let Some(mut plain) = self.plain.take() {
            match str::from_utf8(bytes).ok().filter(|_| is_short && bytes.iter().all(is_plain)) {
                Some(text) => {
                    plain.push_str(text);
                    let end = memchr::memrchr_iter(b'\n', plain.as_bytes()).nth(self.rows);
                    self.plain = Some(plain.split_off(end.map_or(0, |end| end + 1)));
                    fresh = Some(plain);
                }
                None => self.transcript.feed(plain.as_bytes()),
            }
        }
        if is_short {
            let begun = memchr::memrchr2(b'\n', b'\r', bytes).map(|at| bytes.len() - at - 1);
            self.run = begun.unwrap_or(self.run + bytes.len());
        }
        let fresh = fresh.unwrap_or_else(|| {
            if is_short {
                self.transcript.feed(bytes)
            } else {
                self.feed_by_lines(bytes)
            }
            self.transcript.take_final()
        });
        self.hand_on(&fresh)
    }

    /// Feeds bytes, leaving out whatever exceeds the limit of a line.
    fn feed_by_lines(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            let kept = run.len().min(LINE_BYTES.saturating_sub(self.run));
            self.transcript.feed(&run[..kept]);
            self.run += run.len();
            let (line_end, later) = after.split_at(after.len().min(1));
            if !line_end.is_empty() {
                self.say_what_is_missing();
                self.transcript.feed(line_end);
                self.run = 0;
            }
            rest = later;
        }
    }

    fn say_what_is_missing(&mut self) {
        if let Some(missing @ 1..) = self.run.checked_sub(LINE_BYTES) {
            self.transcript.feed(format!(" …(+{missing} bytes)").as_bytes());
        }
    }

    /// Passes on complete lines.
    fn hand_on(&mut self, fresh: &str) -> bool {
        for part in fresh.split_inclusive('\n') {
            self.text.push_str(part.trim_end_matches('\n'));
            // Rows of a terminal that wrap endlessly are not one line.
            if part.ends_with('\n') || self.text.len() > 4 * LINE_BYTES {
                let goes_on = (self.take)(Piece::Line(&self.text));
                self.text.clear();
                if !goes_on {
                    return false;
                }
            }
        }
        true
    }

    /// Passes on what is left and starts over.
    fn end(&mut self, next: Transcript) -> bool {
        self.say_what_is_missing();
        self.run = 0;
        let ended = std::mem::replace(&mut self.transcript, next);
        let rest = self.plain.take().unwrap_or_else(|| ended.finish());
        if !self.hand_on(&rest) {
            return false;
        }
        let last = std::mem::take(&mut self.text);
        last.is_empty() || (self.take)(Piece::Line(&last))
    }
}

/// Tells whether a byte is shown as it is, and moves nothing but the text after it.
fn is_plain(byte: &u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::runtime::log::{LogFiles, OutputLog};

    /// Reads bytes line by line, feeding `piece` bytes at a time.
    fn read(bytes: &[u8], piece: usize) -> Vec<String> {
        let mut all = Vec::new();
        let take: &mut dyn FnMut(Piece<'_>) -> bool = &mut |piece| {
            all.extend(match piece {
                Piece::Line(line) => Some(line.to_owned()),
                Piece::Gap { .. } => None,
            });
            true
        };
        let size = Size::clamped(20, 3);
        let mut lines = Lines::new(Origin::Pipe, size, take);
        for piece in bytes.chunks(piece) {
            assert!(lines.feed(piece));
        }
        lines.end(Transcript::new(Origin::Pipe, size));
        all
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_whole_text(
            plain in "([a-z ]{0,9}|\n|\t){0,30}",
            rest in "([a-zé\u{1F600}]{0,9}|\n|\r|\t|\u{8}|\u{1b}\\[[ABCDKJ]|\u{1b}\\[2;3H){0,60}",
            piece in 1_usize..70,
        ) {
            let text = plain + &rest;
            let whole = clean(text.as_bytes(), Origin::Pipe, Size::clamped(20, 3));
            prop_assert_eq!(read(text.as_bytes(), piece), whole.lines().collect::<Vec<_>>());
        }
    }

    /// Returns the contents of a folder's log of seven lines: lines, and gaps as `+bytes (lines)`.
    fn stored(folder: &std::path::Path, stream: Stream) -> Vec<String> {
        let output = Output::new(folder.to_owned(), false, None).expect("a log").of_so_many_lines(7);
        let mut all = Vec::new();
        let take: &mut dyn FnMut(Piece<'_>) -> bool = &mut |piece| {
            all.push(match piece {
                Piece::Line(line) => line.to_owned(),
                Piece::Gap { bytes, lines } => format!("+{bytes} ({lines})"),
            });
            true
        };
        output.lines_now(stream, take).expect("read");
        all
    }

    #[test]
    fn what_was_not_kept_is_told_where_it_was() {
        use crate::terminal::Stream::{Stderr, Stdout};
        let dir = tempfile::tempdir().expect("temp dir");
        let mut log = OutputLog::begin(dir.path(), LogFiles::create(dir.path()).expect("files"), 8, 6);
        for (stream, text) in [(Stdout, "a1\na2\n"), (Stderr, "b1\n"), (Stdout, "a3\na4\na5\na6\n")] {
            log.append(stream, text.as_bytes(), 0);
        }
        log.finish(9);
        assert_eq!(stored(dir.path(), Stream::Stdout), ["a1", "a2", "a3", "+4 (0)", "a5", "a6"]);
        assert_eq!(stored(dir.path(), Stream::Stderr), ["b1"]);
        assert_eq!(stored(dir.path(), Stream::Merged), ["a1", "a2", "b1", "a3", "+4 (1)", "a5", "a6"]);
        let output = Output::new(dir.path().to_owned(), false, None).expect("a log").of_so_many_lines(7);
        assert_eq!(output.line_at_now(14).expect("read"), 7, "behind what is missing");
        assert_eq!([0, 2, 3, 7].map(|at| output.line_at_now(at).expect("read")), [1, 1, 2, 3]);
    }

    #[test]
    fn a_line_without_end_takes_no_more_room_than_it_may() {
        let long = [b"x".repeat(LINE_BYTES + 5), b"\nnext\n".to_vec(), b"y".repeat(LINE_BYTES + 7)].concat();
        let lines = read(&long, 4_000);
        assert_eq!(lines.len(), 3);
        assert!(lines[0].len() < LINE_BYTES + 20 && lines[0].ends_with("x …(+5 bytes)"));
        assert!(lines[1] == "next" && lines[2].ends_with("y …(+7 bytes)"));
        let bar = "working 10%\r".repeat(LINE_BYTES / 4);
        assert_eq!(read(bar.as_bytes(), 4_000), ["working 10%"]);
    }
}
