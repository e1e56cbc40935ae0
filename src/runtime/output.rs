//! Reads a task's output back from its raw log: as cleaned text for previews and as files for artifacts. Memory use
//! is bounded by the requested window, however much the task wrote.

mod ends;
mod layout;
mod lines;
mod streams;
mod transcribe;

use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

pub use lines::{HeldLine, LinePart, StreamPiece};

use ends::Ends;
use layout::StreamLayout;

use serde::{Deserialize, Serialize};

use super::bytes::TaskIo;
use super::log::{self, OpenLog};
use crate::envelope::preview::StreamText;
use crate::files;
use crate::model::{Error, TaskView};
use crate::terminal::{self, ByteOrigin, LogBytes as _};

/// Bytes held per character of a window: leaves room for multi-byte encodings.
const BYTES_PER_CHAR: usize = 4;
/// Streams up to this size are cleaned as a whole.
const WHOLE_BYTES: u64 = 1 << 20;
/// How far back reading may start to find the beginning of a line, and a switch to the alternate screen.
const LINE_BYTES: u64 = 4 << 10;
const SWITCH_BYTES: u64 = 1 << 20;

/// A part of a task's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Everything in order of arrival. What appears on a terminal beside the streams is not output.
    Merged,
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The stored output of one task, up to the moment this value was created.
#[derive(Debug, Clone)]
pub struct StoredOutput {
    folder: PathBuf,
    origin: ByteOrigin,
    /// Where the merged log ended at that moment: later output is left to the next reading.
    end: u64,
    /// Its live side while the task runs: the ends of very long streams are not in the log yet.
    io: Option<Arc<TaskIo>>,
    /// Whether nothing is written after what is read here.
    is_over: bool,
    /// Line feeds that the task wrote, including those that were not kept, as far as known.
    line_feeds: u64,
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

impl StoredOutput {
    pub(super) fn new(folder: PathBuf, tty: bool, io: Option<Arc<TaskIo>>) -> Result<Self, Error> {
        let origin = ByteOrigin::of(tty);
        let log = log::log_path(&folder);
        let end = match &io {
            Some(io) => io.log_end(),
            None => match std::fs::symlink_metadata(&log) {
                Ok(facts) => facts.len().min(log::MOST_BYTES),
                // Nothing is left to read, but how the task ended is still known.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
                Err(error) => return Err(Error::io("measure", &log)(error)),
            },
        };
        Ok(Self { folder, origin, end, is_over: io.is_none(), io, line_feeds: 0 })
    }

    pub(super) fn of_so_many_lines(self, line_feeds: u64) -> Self {
        Self { line_feeds, ..self }
    }

    /// Returns the stored output of a task, read from its log alone.
    ///
    /// # Errors
    /// If its log cannot be measured.
    pub fn from_log(task: &TaskView) -> Result<Self, Error> {
        Self::new(task.folder.clone(), task.tty, None)
    }

    /// Returns the cleaned text of a stream up to `to` (an offset in the merged log); `None` if the stream is longer
    /// than `limit` bytes. Blocks.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn all_now(&self, stream: OutputStream, to: u64, limit: u64) -> Result<Option<String>, Error> {
        let own = Self { end: self.end.min(to), is_over: self.is_over && to >= self.end, ..self.clone() };
        let layout = own.layout(stream)?;
        let total = layout.total();
        if total > limit {
            return Ok(None);
        }
        if own.is_lost() {
            return Ok(Some(String::new()));
        }
        own.transcribe(&own.open()?, &layout, 0, total).map(Some)
    }

    /// Tells whether the task's log is gone because someone removed it. Its output then reads as empty.
    pub fn is_lost(&self) -> bool {
        matches!(std::fs::symlink_metadata(self.log()), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
    }

    /// Returns the end of the merged log: the cursor after everything that can be read here.
    pub fn position(&self) -> u64 {
        self.end
    }

    /// Returns the cleaned text of a stream from `from` (an offset in the merged log; 0 for all): in full if it is
    /// small, otherwise its beginning and its end, of about `window_chars` characters each.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn text(
        &self,
        stream: OutputStream,
        from: u64,
        window_chars: usize,
    ) -> Result<StreamText, Error> {
        let own = self.clone();
        blocking(move || own.text_now(stream, from, window_chars)).await
    }

    /// Returns the first bytes of a stream as they were written, at most `limit`, and whether that is all of it.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn beginning(&self, stream: OutputStream, limit: u64) -> Result<(Vec<u8>, bool), Error> {
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

    /// Returns the cleaned text of the last `limit` bytes of the merged log. Blocks.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(crate) fn last_bytes(&self, limit: u64) -> Result<String, Error> {
        if self.is_lost() {
            return Ok(String::new());
        }
        let range = self.end.saturating_sub(limit)..self.end;
        let bytes = self.open()?.read_range(range).map_err(Error::io("read", self.log()))?;
        Ok(terminal::clean(&bytes, self.origin, terminal::Size::default()))
    }

    /// Returns a file with exactly the stored bytes of the stream, writing it if necessary.
    ///
    /// # Errors
    /// When the log cannot be read or the file cannot be written.
    pub async fn artifact(&self, stream: OutputStream) -> Result<PathBuf, Error> {
        let own = self.clone();
        blocking(move || own.artifact_now(stream)).await
    }

    /// Returns how many bytes of a stream are not stored.
    ///
    /// # Errors
    /// When the marks cannot be read.
    pub fn dropped_bytes(&self, stream: OutputStream) -> Result<u64, Error> {
        Ok(match &self.io {
            Some(io) if stream == OutputStream::Merged => io.output().dropped_bytes,
            _ => self.layout(stream)?.dropped,
        })
    }

    fn text_now(&self, stream: OutputStream, from: u64, window_chars: usize) -> Result<StreamText, Error> {
        if self.is_lost() {
            return Ok(StreamText::Whole(String::new()));
        }
        let layout = self.layout(stream)?;
        let file = self.open()?;
        if from > 0 {
            return self.text_since(&file, &layout, from, window_chars);
        }
        let live = self.io.as_ref().and_then(|io| live_tail(io, stream));
        let total = layout.total();
        let window = window_chars.saturating_mul(BYTES_PER_CHAR);
        if layout.dropped == 0 && live.is_none() && total <= WHOLE_BYTES.max(window as u64) {
            return self.transcribe(&file, &layout, 0, total).map(StreamText::Whole);
        }
        self.ends(&file, &layout, live.as_deref(), window)
    }

    /// Reads a long stream once, and keeps its beginning, its end and its numbers.
    fn ends(
        &self,
        file: &OpenLog,
        layout: &StreamLayout,
        live: Option<&[u8]>,
        window: usize,
    ) -> Result<StreamText, Error> {
        let missing = self.lines_missing(file, layout, live)?;
        let mut ends = Ends::new(window);
        self.read_lines(file, layout, (live, missing), None, &mut |piece| {
            ends.take(piece);
            true
        })?;
        Ok(ends.into_text())
    }

    /// Returns the text printed since a cursor, which may be inside a line or an escape sequence: reads from a place
    /// before it where neither is the case, and removes the text before the cursor again.
    fn text_since(
        &self,
        file: &OpenLog,
        layout: &StreamLayout,
        from: u64,
        window_chars: usize,
    ) -> Result<StreamText, Error> {
        let total = layout.total();
        let from = layout.before(from);
        let begin = self.quiet_before(file, layout, from)?;
        let before = Self { is_over: false, ..self.clone() };
        let shown = before.transcribe(file, layout, begin, from)?;
        let whole = usize::try_from(WHOLE_BYTES).unwrap_or(usize::MAX);
        let window = window_chars.saturating_mul(BYTES_PER_CHAR).max(whole);
        if total - begin <= window as u64 {
            let all = self.transcribe(file, layout, begin, total)?;
            return Ok(StreamText::Whole(all).without(&shown));
        }
        let rest = layout.since(begin);
        Ok(self.ends(file, &rest, None, window)?.without(&shown))
    }

    /// Returns the last place before one of a stream's own offsets where a line begins, outside of any string, and on
    /// the primary screen.
    fn quiet_before(&self, file: &OpenLog, layout: &StreamLayout, from: u64) -> Result<u64, Error> {
        let read = |range: Range<u64>| self.read(file, layout, range.start, range.end - range.start);
        let mut begin = from;
        if self.origin == ByteOrigin::Tty {
            let back = from.saturating_sub(SWITCH_BYTES);
            let before = read(back..from)?;
            if let Some((at, true)) = terminal::last_switch(&before) {
                begin = back + at as u64;
            }
        }
        begin = terminal::open_string(begin, read)?.unwrap_or(begin);
        let back = begin.saturating_sub(LINE_BYTES);
        let before = read(back..begin)?;
        let line = memchr::memrchr(b'\n', &before).map_or(back, |at| back + at as u64 + 1);
        Ok(terminal::open_string(line, read)?.unwrap_or(line))
    }

    fn artifact_now(&self, stream: OutputStream) -> Result<PathBuf, Error> {
        let layout = self.layout(stream)?;
        if !layout.shared {
            return Ok(self.log());
        }
        let name = match stream {
            OutputStream::Merged => "merged.log",
            OutputStream::Stdout => "stdout.log",
            OutputStream::Stderr => "stderr.log",
        };
        let path = self.folder.join(name);
        let file = self.open()?;
        let written = files::replace(&path, |artifact| {
            for &(start, length) in &layout.segments {
                let mut written = Ok(());
                let read = file.for_each_block(start..start + length, |_, block| {
                    written = artifact.write_all(block);
                    written.is_ok()
                });
                read.and(written)?;
            }
            Ok(())
        });
        written.map_err(Error::io("write", &path))?;
        Ok(path)
    }

    fn layout(&self, stream: OutputStream) -> Result<StreamLayout, Error> {
        let marks = log::read_marks(&self.folder)?;
        Ok(StreamLayout::of(&marks, (stream, self.origin), self.end))
    }

    /// Reads `length` bytes of the stream from its own offset `skip`.
    fn read(&self, file: &OpenLog, layout: &StreamLayout, skip: u64, length: u64) -> Result<Vec<u8>, Error> {
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

    fn open(&self) -> Result<OpenLog, Error> {
        log::open_log(&self.folder).map_err(Error::io("open the output log", self.log()))
    }
}

fn live_tail(io: &TaskIo, stream: OutputStream) -> Option<Vec<u8>> {
    let of = |stream| io.live_tail(stream).filter(|_| stream != terminal::ByteSource::Tty || io.tty);
    match stream {
        OutputStream::Stderr => of(terminal::ByteSource::Stderr),
        OutputStream::Stdout => of(terminal::ByteSource::Stdout).or_else(|| of(terminal::ByteSource::Tty)),
        OutputStream::Merged => {
            [terminal::ByteSource::Tty, terminal::ByteSource::Stdout, terminal::ByteSource::Stderr]
                .into_iter()
                .find_map(of)
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    // A join fails only when the work panicked or the runtime is being dropped.
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Error::ShuttingDown))
}
