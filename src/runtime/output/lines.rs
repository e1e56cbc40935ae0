//! Reads a task's output line by line, as previews show it, in bounded memory however much the task wrote.

use super::{Error, OutputStream, StoredOutput, StreamLayout, WHOLE_BYTES, blocking, live_tail};
use crate::envelope::preview::laid_out;
use crate::runtime::log::OpenLog;
use crate::terminal::{ByteOrigin, LogBytes as _, Size, Transcript};

/// Bytes of one line that are held, and bytes of its end; the rest of a longer line is counted.
const LINE_BYTES: usize = 256 << 10;
/// Bytes of plain text that wait for more before they are taken to be final.
const PLAIN_BYTES: usize = 1 << 20;

/// A line, cleaned, without its line ending: all of it, or of a long one a part and the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldLine<'a> {
    /// The part that is held.
    pub text: &'a str,
    /// Characters of the line before that part.
    pub before: u64,
    /// Characters of the line after that part.
    pub after: u64,
    /// The last of those.
    pub end: &'a str,
}

/// An element of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamPiece<'a> {
    Line(HeldLine<'a>),
    /// The lines that follow are one line, laid out.
    LaidOut,
    /// A gap where output was not kept.
    Gap {
        /// The number of bytes.
        bytes: u64,
        /// The number of lines, if known; otherwise 0.
        lines: u64,
    },
}

/// The part of a long line that is asked for: the number of the line and of the first character, from 1.
pub type LinePart = (u64, u64);

impl<'a> HeldLine<'a> {
    /// Returns a line all of which is held.
    pub fn whole(text: &'a str) -> Self {
        Self { text, before: 0, after: 0, end: "" }
    }

    /// Returns the same line from one of its characters on, from 1.
    fn from(self, first: u64) -> Self {
        let skipped = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
        let at = self.text.char_indices().nth(skipped).map_or(self.text.len(), |(at, _)| at);
        let (before, text) = self.text.split_at(at);
        Self { text, before: count(before), ..self }
    }

    /// Returns the number of characters of the whole line.
    pub fn chars(&self) -> u64 {
        self.before + count(self.text) + self.after
    }
}

fn count(text: &str) -> u64 {
    text.chars().count() as u64
}

impl StoredOutput {
    /// Passes each line of a stream to `take`, along with a state, until it returns false; returns the state. The
    /// lines are those that previews of the whole stream show: JSON documents are laid out, and overwritten text
    /// shows what was written last. Of the line named by `part`, what is held begins there.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn fold_lines<S: Send + 'static>(
        &self,
        stream: OutputStream,
        part: Option<LinePart>,
        state: S,
        mut take: impl FnMut(&mut S, StreamPiece<'_>) -> bool + Send + 'static,
    ) -> Result<S, Error> {
        let own = self.clone();
        blocking(move || {
            let mut state = state;
            own.lines_now(stream, part, &mut |piece| take(&mut state, piece))?;
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
        let before = Self { end: self.end.min(offset), io: None, is_over: false, ..self.clone() };
        let layout = before.layout(OutputStream::Merged)?;
        let file = before.open()?;
        let last = layout.total().checked_sub(1);
        let ends_line = match last {
            Some(last) => before.read(&file, &layout, last, 1)? == b"\n",
            None => true,
        };
        // The number of missing lines is known only for the whole log, and counts for offsets after the gap.
        let is_behind = layout.gaps.iter().any(|(before, _)| *before < layout.segments.len());
        let all = self.layout(OutputStream::Merged)?;
        let missing = if is_behind { self.lines_missing(&file, &all, None)? } else { 0 };
        let lines = before.count(&file, &layout, missing)?;
        Ok(lines + u64::from(ends_line))
    }

    /// Counts the lines of a stream, `missing` of which were not kept.
    fn count(&self, file: &OpenLog, layout: &StreamLayout, missing: u64) -> Result<u64, Error> {
        let mut all = 0;
        self.read_lines(file, layout, (None, missing), None, &mut |piece| {
            all += match piece {
                StreamPiece::Line(_) => 1,
                StreamPiece::LaidOut => 0,
                StreamPiece::Gap { lines, .. } => lines,
            };
            true
        })?;
        Ok(all)
    }

    /// Returns how many lines were not kept, where that can be known: for a single gap in a stream that makes up the
    /// whole log.
    pub(super) fn lines_missing(
        &self,
        file: &OpenLog,
        layout: &StreamLayout,
        live: Option<&[u8]>,
    ) -> Result<u64, Error> {
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

    fn lines_now(
        &self,
        stream: OutputStream,
        part: Option<LinePart>,
        take: &mut dyn FnMut(StreamPiece<'_>) -> bool,
    ) -> Result<(), Error> {
        let (layout, file) = (self.layout(stream)?, self.open()?);
        let live = self.io.as_ref().and_then(|io| live_tail(io, stream));
        if layout.dropped > 0 || live.is_some() || layout.total() > WHOLE_BYTES {
            let missing = self.dropped_bytes(stream)?.saturating_sub(layout.dropped);
            let layout = layout.followed_by_gap(missing);
            let missing = self.lines_missing(&file, &layout, live.as_deref())?;
            return self.read_lines(&file, &layout, (live.as_deref(), missing), part, take);
        }
        let text = self.transcribe(&file, &layout, 0, layout.total())?;
        let laid_out = laid_out(&text);
        if laid_out.is_some() && !take(StreamPiece::LaidOut) {
            return Ok(());
        }
        for (number, line) in (1..).zip(laid_out.as_deref().unwrap_or(&text).lines()) {
            let line = HeldLine::whole(line);
            let first = part.filter(|(wanted, _)| *wanted == number).map(|(_, first)| first);
            if !take(StreamPiece::Line(first.map_or(line, |first| line.from(first)))) {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn read_lines(
        &self,
        file: &OpenLog,
        layout: &StreamLayout,
        (live, missing): (Option<&[u8]>, u64),
        part: Option<LinePart>,
        take: &mut dyn FnMut(StreamPiece<'_>) -> bool,
    ) -> Result<(), Error> {
        let transcript = |size: Size| Transcript::new(self.origin, size);
        let mut lines = LineBuilder::new(self.origin, layout.first_size, part, take);
        for at in 0..=layout.segments.len() {
            let gap = layout.gaps.iter().find(|(before, _)| *before == at);
            if let Some((_, bytes)) = gap
                && !(lines.end(transcript(layout.last_size), true) && lines.gap(*bytes, missing))
            {
                return Ok(());
            }
            let Some(&(start, length)) = layout.segments.get(at) else { break };
            for (begin, end, now_ms) in layout.timed_pieces(start, start + length) {
                if let Some(now_ms) = now_ms {
                    lines.transcript.note_time(now_ms.into());
                }
                let mut goes_on = true;
                let read = file.for_each_block(begin..end, |_, block| {
                    goes_on = lines.feed(block);
                    goes_on
                });
                read.map_err(Error::io("read", self.log()))?;
                if !goes_on {
                    return Ok(());
                }
            }
        }
        if lines.feed(live.unwrap_or_default()) {
            lines.end(transcript(layout.last_size), self.is_over);
        }
        Ok(())
    }
}

/// Builds lines from bytes.
struct LineBuilder<'a> {
    transcript: Transcript,
    /// The last rows of plain text, as long as there was nothing else: plain text is shown as it is, and only what a
    /// later sequence could still change is fed to the transcript.
    plain: Option<String>,
    rows: usize,
    /// The part of the current line that is held.
    text: String,
    /// Its characters before and after that part, so far.
    before: u64,
    after: u64,
    /// The last of those after it.
    tail: String,
    /// The number of the current line.
    number: u64,
    part: Option<LinePart>,
    take: &'a mut dyn FnMut(StreamPiece<'_>) -> bool,
}

impl<'a> LineBuilder<'a> {
    fn new(
        origin: ByteOrigin,
        size: Size,
        part: Option<LinePart>,
        take: &'a mut dyn FnMut(StreamPiece<'_>) -> bool,
    ) -> Self {
        Self {
            transcript: Transcript::new(origin, size),
            plain: (origin == ByteOrigin::Pipe).then(String::new),
            rows: usize::from(size.rows()),
            text: String::new(),
            before: 0,
            after: 0,
            tail: String::new(),
            number: 1,
            part,
            take,
        }
    }

    /// Feeds bytes and passes on the lines that are final. Returns whether more are wanted.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        if let Some(mut plain) = self.plain.take() {
            let is_short = plain.len() + bytes.len() <= PLAIN_BYTES;
            if let Some(text) = str::from_utf8(bytes).ok().filter(|_| is_short && bytes.iter().all(is_plain))
            {
                plain.push_str(text);
                let end = memchr::memrchr_iter(b'\n', plain.as_bytes()).nth(self.rows);
                self.plain = Some(plain.split_off(end.map_or(0, |end| end + 1)));
                return self.hand_on(&plain);
            }
            self.transcript.feed(plain.as_bytes());
        }
        self.transcript.feed(bytes);
        let fresh = self.transcript.take_final();
        self.hand_on(&fresh)
    }

    /// Passes on complete lines.
    fn hand_on(&mut self, fresh: &str) -> bool {
        for part in fresh.split_inclusive('\n') {
            self.hold(part.trim_end_matches('\n'));
            if part.ends_with('\n') && !self.give() {
                return false;
            }
        }
        true
    }

    /// Adds to the current line, as far as it is held.
    fn hold(&mut self, text: &str) {
        let first = self.part.filter(|(line, _)| *line == self.number).map_or(1, |(_, first)| first);
        let skipped =
            usize::try_from(first.saturating_sub(1).saturating_sub(self.before)).unwrap_or(usize::MAX);
        let from = match skipped {
            0 => 0,
            skipped => text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at),
        };
        let (passed, rest) = text.split_at(from);
        self.before += count(passed);
        let room = if self.after > 0 { 0 } else { LINE_BYTES.saturating_sub(self.text.len()) };
        let (held, after) = rest.split_at(rest.floor_char_boundary(room));
        self.text.push_str(held);
        if !after.is_empty() {
            self.after += count(after);
            self.tail.push_str(after);
            if self.tail.len() > 2 * LINE_BYTES {
                let from = self.tail.ceil_char_boundary(self.tail.len() - LINE_BYTES);
                self.tail.drain(..from);
            }
        }
    }

    /// Passes on the current line, which has ended.
    fn give(&mut self) -> bool {
        let Self { text, before, after, tail, .. } = self;
        let line = HeldLine { text, before: *before, after: *after, end: tail };
        let goes_on = (self.take)(StreamPiece::Line(line));
        self.text.clear();
        self.tail.clear();
        (self.before, self.after) = (0, 0);
        self.number += 1;
        goes_on
    }

    /// Passes on a gap, which is between two lines.
    fn gap(&mut self, bytes: u64, lines: u64) -> bool {
        self.number += lines;
        (self.take)(StreamPiece::Gap { bytes, lines })
    }

    /// Passes on what is left and starts over; `is_over` says that the output has ended.
    fn end(&mut self, next: Transcript, is_over: bool) -> bool {
        let ended = std::mem::replace(&mut self.transcript, next);
        let rest = self.plain.take().unwrap_or_else(|| if is_over { ended.finish() } else { ended.so_far() });
        self.hand_on(&rest) && (self.text.is_empty() && self.before == 0 || self.give())
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
    use crate::terminal::clean;

    /// Reads bytes line by line, feeding `piece` bytes at a time.
    fn read(bytes: &[u8], piece: usize) -> Vec<String> {
        let mut all = Vec::new();
        let take: &mut dyn FnMut(StreamPiece<'_>) -> bool = &mut |piece| {
            all.extend(match piece {
                StreamPiece::Line(line) => Some(line.text.to_owned()),
                StreamPiece::LaidOut | StreamPiece::Gap { .. } => None,
            });
            true
        };
        read_with(bytes, piece, None, take);
        all
    }

    fn read_with(
        bytes: &[u8],
        piece: usize,
        part: Option<LinePart>,
        take: &mut dyn FnMut(StreamPiece<'_>) -> bool,
    ) {
        let size = Size::nearest(20, 3);
        let mut lines = LineBuilder::new(ByteOrigin::Pipe, size, part, take);
        for piece in bytes.chunks(piece) {
            assert!(lines.feed(piece));
        }
        lines.end(Transcript::new(ByteOrigin::Pipe, size), true);
    }

    proptest! {
        #[test]
        fn lines_read_in_pieces_are_those_of_the_whole_text(
            plain in "([a-z ]{0,9}|\n|\t){0,30}",
            rest in "([a-zé\u{1F600}]{0,9}|\n|\r|\t|\u{8}|\u{1b}\\[[ABCDKJ]|\u{1b}\\[2;3H){0,60}",
            piece in 1_usize..70,
        ) {
            let text = plain + &rest;
            let whole = clean(text.as_bytes(), ByteOrigin::Pipe, Size::nearest(20, 3));
            prop_assert_eq!(read(text.as_bytes(), piece), whole.lines().collect::<Vec<_>>());
        }
    }

    /// Returns the contents of a folder's log of seven lines: lines, and gaps as `+bytes (lines)`.
    fn stored(folder: &std::path::Path, stream: OutputStream) -> Vec<String> {
        let output = StoredOutput::new(folder.to_owned(), false, None).expect("a log").of_so_many_lines(7);
        let mut all = Vec::new();
        let take: &mut dyn FnMut(StreamPiece<'_>) -> bool = &mut |piece| {
            all.push(match piece {
                StreamPiece::Line(line) => line.text.to_owned(),
                StreamPiece::LaidOut => String::new(),
                StreamPiece::Gap { bytes, lines } => format!("+{bytes} ({lines})"),
            });
            true
        };
        output.lines_now(stream, None, take).expect("read");
        all
    }

    #[test]
    fn bytes_that_were_not_kept_are_marked_where_they_were() {
        use crate::terminal::ByteSource::{Stderr, Stdout};
        let dir = tempfile::tempdir().expect("temp dir");
        let mut log = OutputLog::begin(dir.path(), LogFiles::create(dir.path()).expect("files"), 8, 6);
        for (stream, text) in [(Stdout, "a1\na2\n"), (Stderr, "b1\n"), (Stdout, "a3\na4\na5\na6\n")] {
            log.append(stream, text.as_bytes(), 0);
        }
        log.finish(9);
        assert_eq!(stored(dir.path(), OutputStream::Stdout), ["a1", "a2", "a3", "+4 (0)", "a5", "a6"]);
        assert_eq!(stored(dir.path(), OutputStream::Stderr), ["b1"]);
        assert_eq!(stored(dir.path(), OutputStream::Merged), ["a1", "a2", "b1", "a3", "+4 (1)", "a5", "a6"]);
        let output =
            StoredOutput::new(dir.path().to_owned(), false, None).expect("a log").of_so_many_lines(7);
        assert_eq!(output.line_at_now(14).expect("read"), 7, "behind what is missing");
        assert_eq!([0, 2, 3, 7].map(|at| output.line_at_now(at).expect("read")), [1, 1, 2, 3]);
    }

    #[test]
    fn f58_a_line_without_end_takes_no_more_room_than_it_may_and_is_counted() {
        let most = LINE_BYTES as u64;
        let long =
            [b"x".repeat(LINE_BYTES * 9), b"NEEDLE\nnext\n".to_vec(), "é".repeat(LINE_BYTES).into_bytes()]
                .concat();
        for piece in [4_000, 1 << 20] {
            let mut seen = Vec::new();
            let take: &mut dyn FnMut(StreamPiece<'_>) -> bool = &mut |piece| {
                let StreamPiece::Line(line) = piece else { panic!("a gap") };
                let end: String = line.end.chars().rev().take(6).collect();
                seen.push((line.text.len(), line.before, line.after, end.chars().rev().collect::<String>()));
                true
            };
            read_with(&long, piece, None, take);
            let half = most / 2;
            assert_eq!(
                seen,
                [
                    (LINE_BYTES, 0, 8 * most + 6, "NEEDLE".to_owned()),
                    (4, 0, 0, String::new()),
                    (LINE_BYTES, 0, half, "éééééé".to_owned()),
                ]
            );
            let mut part = None;
            read_with(&long, piece, Some((1, 9 * most - 1)), &mut |piece| {
                let StreamPiece::Line(line) = piece else { panic!("a gap") };
                part.get_or_insert((line.text.to_owned(), line.before, line.after));
                true
            });
            assert_eq!(part, Some(("xxNEEDLE".to_owned(), 9 * most - 2, 0)));
        }
        let bar = "working 10%\r".repeat(LINE_BYTES / 4);
        assert_eq!(read(bar.as_bytes(), 4_000), ["working 10%"]);
    }
}
