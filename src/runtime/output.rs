//! Reads a task's output back from its raw log: as cleaned text for previews and as files for artifacts. Memory use
//! is bounded by the requested window, however much the task wrote.

mod lines;
mod streams;

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

pub use lines::Piece;

use serde::{Deserialize, Serialize};

use super::bytes::TaskIo;
use super::{Error, TaskView, log};
use crate::envelope::preview::Text;
use crate::files;
use crate::terminal::{self, LogBytes as _, Mark, MarkKind, Origin, Size, clean};

/// Bytes read per character of a window: leaves room for escape sequences and multi-byte encodings.
const BYTES_PER_CHAR: usize = 4;
/// Streams up to this size are cleaned as a whole.
const WHOLE_BYTES: u64 = 1 << 20;
/// How far back reading may start to find the beginning of a line.
const LINE_BYTES: u64 = 4 << 10;

/// A part of a task's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Everything in order of arrival. What appears on a terminal beside the streams is not output.
    Merged,
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The stored output of one task, up to the moment this value was created.
#[derive(Debug, Clone)]
pub struct Output {
    folder: PathBuf,
    origin: Origin,
    /// Where the merged log ended at that moment: later output is left to the next reading.
    end: u64,
    /// Its live side while the task runs: the ends of very long streams are not in the log yet.
    io: Option<Arc<TaskIo>>,
    /// Line feeds that the task wrote, including those that were not kept, as far as known.
    line_feeds: u64,
}

/// Where the bytes of a stream are in the log.
#[derive(Debug, Default)]
struct Layout {
    segments: Vec<(u64, u64)>,
    /// Gaps of bytes that were not kept: the index of the segment each comes before, and its length.
    gaps: Vec<(usize, u64)>,
    dropped: u64,
    /// Whether other streams have bytes too.
    shared: bool,
    first_size: Size,
    last_size: Size,
}

/// The files with a task's exact output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredStreams {
    /// The file with its standard output; with a terminal, with all output.
    pub stdout: PathBuf,
    /// The file with its standard error; `None` with a terminal.
    pub stderr: Option<PathBuf>,
    /// Bytes in the middle that were not kept.
    pub dropped_bytes: u64,
}

impl Output {
    pub(super) fn new(folder: PathBuf, tty: bool, io: Option<Arc<TaskIo>>) -> Result<Self, Error> {
        let origin = Origin::of(tty);
        let log = log::log_path(&folder);
        let end = match &io {
            Some(io) => io.stored(),
            None => match std::fs::metadata(&log) {
                Ok(facts) => facts.len(),
                // Nothing is left to read, but how the task ended is still known.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
                Err(error) => return Err(Error::io("measure", &log)(error)),
            },
        };
        Ok(Self { folder, origin, end, io, line_feeds: 0 })
    }

    pub(super) fn of_so_many_lines(self, line_feeds: u64) -> Self {
        Self { line_feeds, ..self }
    }

    /// Returns the stored output of a task, read from its log alone.
    ///
    /// # Errors
    /// If its log cannot be measured.
    pub fn stored(task: &TaskView) -> Result<Self, Error> {
        Self::new(task.folder.clone(), task.tty, None)
    }

    /// Returns the cleaned text of a stream up to `to` (an offset in the merged log); `None` if the stream is longer
    /// than `limit` bytes. Blocks.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn all_now(&self, stream: Stream, to: u64, limit: u64) -> Result<Option<String>, Error> {
        let own = Self { end: self.end.min(to), ..self.clone() };
        let layout = own.layout(stream)?;
        let total = layout.total();
        if total > limit {
            return Ok(None);
        }
        if own.is_lost() {
            return Ok(Some(String::new()));
        }
        let bytes = own.read(&own.open()?, &layout, 0, total)?;
        Ok(Some(clean(&bytes, own.origin, layout.first_size)))
    }

    /// Tells whether the task's log is gone because someone removed it. Its output then reads as empty.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(std::fs::symlink_metadata(self.log()), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
    }

    /// Returns the end of the merged log: the cursor after everything that can be read here.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.end
    }

    /// Returns the cleaned text of a stream from `from` (an offset in the merged log; 0 for all): in full if it is
    /// small, otherwise its beginning and its end, of about `window_chars` characters each.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn text(&self, stream: Stream, from: u64, window_chars: usize) -> Result<Text, Error> {
        let own = self.clone();
        blocking(move || own.text_now(stream, from, window_chars)).await
    }

    /// Returns the first bytes of a stream as they were written, at most `limit`, and whether that is all of it.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn beginning(&self, stream: Stream, limit: u64) -> Result<(Vec<u8>, bool), Error> {
        if self.is_empty() && !self.is_lost() {
            return Ok((Vec::new(), true));
        }
        let own = self.clone();
        blocking(move || {
            if own.is_lost() {
                return Ok((Vec::new(), false));
            }
            let layout = own.layout(stream)?;
            let total = layout.total();
            let bytes = own.read(&own.open()?, &layout, 0, total.min(limit))?;
            Ok((bytes, total <= limit && layout.dropped == 0))
        })
        .await
    }

    /// Returns a file with exactly the stored bytes of the stream, writing it if necessary.
    ///
    /// # Errors
    /// When the log cannot be read or the file cannot be written.
    pub async fn artifact(&self, stream: Stream) -> Result<PathBuf, Error> {
        let own = self.clone();
        blocking(move || own.artifact_now(stream)).await
    }

    /// Returns how many bytes of a stream are not stored.
    ///
    /// # Errors
    /// When the marks cannot be read.
    pub fn dropped(&self, stream: Stream) -> Result<u64, Error> {
        Ok(match &self.io {
            Some(io) if stream == Stream::Merged => io.output().dropped_bytes,
            _ => self.layout(stream)?.dropped,
        })
    }

    fn text_now(&self, stream: Stream, from: u64, window_chars: usize) -> Result<Text, Error> {
        if self.is_lost() {
            return Ok(Text::Whole(String::new()));
        }
        let layout = self.layout(stream)?;
        let file = self.open()?;
        if from > 0 {
            return self.text_since(&file, &layout, from, window_chars);
        }
        let live = self.io.as_ref().and_then(|io| live_tail(io, stream));
        let total = layout.total();
        let window = (window_chars * BYTES_PER_CHAR) as u64;
        let complete = layout.dropped == 0 && live.is_none();
        if complete && total <= WHOLE_BYTES.max(window) {
            let bytes = self.read(&file, &layout, 0, total)?;
            return Ok(Text::Whole(clean(&bytes, self.origin, layout.first_size)));
        }
        let head = self.read(&file, &layout, 0, window.min(total))?;
        let lines = Some(self.count(&file, &layout, live.as_deref())?);
        let tail = match live {
            Some(live) => live,
            None => self.read(&file, &layout, total.saturating_sub(window), window.min(total))?,
        };
        Ok(Text::Ends {
            head: clean(&head, self.origin, layout.first_size),
            tail: clean(after_line(&tail), self.origin, layout.last_size),
            lines,
        })
    }

    /// Returns the text printed since a cursor, which may be inside a line or an escape sequence: reads from the
    /// start of the line, and removes the text before the cursor again.
    fn text_since(
        &self,
        file: &File,
        layout: &Layout,
        from: u64,
        window_chars: usize,
    ) -> Result<Text, Error> {
        let (at, total) = (from, layout.total());
        let from = layout.before(from);
        let back = from.min(LINE_BYTES);
        let before = self.read(file, layout, from - back, back)?;
        let line = memchr::memrchr(b'\n', &before).map_or(before.as_slice(), |at| &before[at + 1..]);
        let window = ((window_chars * BYTES_PER_CHAR) as u64).max(WHOLE_BYTES);
        let shown = clean(line, self.origin, layout.last_size);
        if total - from <= window {
            let fresh = self.read(file, layout, from, total - from)?;
            let all = clean(&[line, &fresh].concat(), self.origin, layout.last_size);
            return Ok(Text::Whole(all.strip_prefix(&shown).map_or(all.clone(), str::to_owned)));
        }
        let head = clean(&self.read(file, layout, from, window)?, self.origin, layout.last_size);
        let tail = self.read(file, layout, total - window, window)?;
        let lines = (self.count(file, layout, None)? + 1).checked_sub(self.line_at_now(at)?);
        Ok(Text::Ends { head, tail: clean(after_line(&tail), self.origin, layout.last_size), lines })
    }

    fn artifact_now(&self, stream: Stream) -> Result<PathBuf, Error> {
        let layout = self.layout(stream)?;
        if !layout.shared {
            return Ok(self.log());
        }
        let name = match stream {
            Stream::Merged => "merged.log",
            Stream::Stdout => "stdout.log",
            Stream::Stderr => "stderr.log",
        };
        let path = self.folder.join(name);
        let file = self.open()?;
        let created = files::private().create(true).write(true).truncate(true).open(&path);
        let mut artifact = created.map_err(Error::io("create", &path))?;
        for &(start, length) in &layout.segments {
            let mut written = Ok(());
            let read = file.for_each_block(start..start + length, |_, block| {
                written = artifact.write_all(block);
                written.is_ok()
            });
            read.map_err(Error::io("read", self.log()))?;
            written.map_err(Error::io("write", &path))?;
        }
        Ok(path)
    }

    fn layout(&self, stream: Stream) -> Result<Layout, Error> {
        let marks = log::read_marks(&self.folder)?;
        Ok(Layout::of(&marks, (stream, self.origin), self.end))
    }

    /// Reads `length` bytes of the stream from its own offset `skip`.
    fn read(&self, file: &File, layout: &Layout, skip: u64, length: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let (mut skip, mut left) = (skip, length);
        for &(start, size) in &layout.segments {
            if skip >= size {
                skip -= size;
                continue;
            }
            let from = start + skip;
            let part = file.read_range(from..from + (size - skip).min(left));
            let part = part.map_err(Error::io("read", self.log()))?;
            left -= part.len() as u64;
            bytes.extend_from_slice(&part);
            skip = 0;
            if left == 0 {
                break;
            }
        }
        Ok(bytes)
    }

    fn log(&self) -> PathBuf {
        log::log_path(&self.folder)
    }

    fn open(&self) -> Result<File, Error> {
        let path = self.log();
        File::open(&path).map_err(Error::io("open the output log", path))
    }
}

impl Layout {
    fn of(marks: &[Mark], wanted: (Stream, Origin), end: u64) -> Self {
        let mut layout = Self::default();
        let ends = marks.iter().skip(1).map(|mark| mark.offset.min(end)).chain(std::iter::once(end));
        let mut current = None;
        let mut gap = 0;
        for (at, (mark, next)) in marks.iter().zip(ends).enumerate() {
            match mark.kind {
                MarkKind::Chunk(stream) => {
                    current = Some(stream);
                    if belongs(stream, wanted) && gap > 0 {
                        layout.dropped += gap;
                        layout.gaps.push((layout.segments.len(), gap));
                    }
                    gap = 0;
                }
                MarkKind::Resize(size) => {
                    layout.last_size = size;
                    if at == 0 {
                        layout.first_size = size;
                    }
                }
                MarkKind::Gap { dropped } => gap = dropped,
            }
            if next > mark.offset {
                match current {
                    Some(stream) if belongs(stream, wanted) => layout.push(mark.offset, next - mark.offset),
                    _ => layout.shared = true,
                }
            }
        }
        layout
    }

    /// Returns the length of the stream as far as it is stored.
    fn total(&self) -> u64 {
        self.segments.iter().map(|(_, length)| length).sum()
    }

    /// Appends a gap of bytes that were not kept.
    fn followed_by_gap(mut self, bytes: u64) -> Self {
        self.gaps.extend((bytes > 0).then_some((self.segments.len(), bytes)));
        self
    }

    /// Returns how many bytes of the stream come before an offset in the log.
    fn before(&self, offset: u64) -> u64 {
        let parts = self.segments.iter().map(|&(start, length)| offset.saturating_sub(start).min(length));
        parts.sum()
    }

    fn push(&mut self, start: u64, length: u64) {
        let is_behind_gap = self.gaps.last().is_some_and(|(before, _)| *before == self.segments.len());
        match self.segments.last_mut() {
            Some((last, size)) if *last + *size == start && !is_behind_gap => *size += length,
            _ => self.segments.push((start, length)),
        }
    }
}

fn belongs(stream: terminal::Stream, (wanted, origin): (Stream, Origin)) -> bool {
    if stream == terminal::Stream::Tty && origin == Origin::Pipe {
        // From a terminal beside the streams: shown to the operator, and to nobody else.
        return false;
    }
    match wanted {
        Stream::Merged => true,
        Stream::Stdout => stream != terminal::Stream::Stderr,
        Stream::Stderr => stream == terminal::Stream::Stderr,
    }
}

fn live_tail(io: &TaskIo, stream: Stream) -> Option<Vec<u8>> {
    let of = |stream| io.live_tail(stream).filter(|_| stream != terminal::Stream::Tty || io.tty);
    match stream {
        Stream::Stderr => of(terminal::Stream::Stderr),
        Stream::Stdout => of(terminal::Stream::Stdout).or_else(|| of(terminal::Stream::Tty)),
        Stream::Merged => [terminal::Stream::Tty, terminal::Stream::Stdout, terminal::Stream::Stderr]
            .into_iter()
            .find_map(of),
    }
}

/// Returns what follows the first line feed, or everything if there is none.
fn after_line(bytes: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', bytes).map_or(bytes, |at| &bytes[at + 1..])
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    // A join fails only when the work panicked or the runtime is being dropped.
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Error::ShuttingDown))
}
