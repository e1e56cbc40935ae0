//! The raw log of one task: every byte in order of arrival, with its marks in a separate file.
//!
//! The first `head` bytes of each stream go to disk as they arrive; after that, a ring buffer beside the log holds
//! the last `tail` bytes, which are appended after the head when the task ends. The bytes in between are counted, not
//! kept. Nothing here interprets the bytes.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::ops::Deref;
use std::os::unix::fs::{FileExt, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::tail::StreamTail;
use crate::files::{self, FileAccess, Links};
use crate::model::{Error, OutputView, TaskView};
use crate::terminal::{ByteOrigin, ByteSource, LogBytes, LogHistory, Mark, MarkKind, Size, initial_size};

/// Bytes after which a new mark is written even if the stream stays the same.
const MARK_EVERY: u64 = 64 << 10;
/// Milliseconds after which a new mark is written, so that a recording can be replayed at its original pace.
const MARK_EVERY_MS: u32 = 50;
/// The file with a task's raw log, and the one with the log's marks.
pub(super) const LOG: &str = "output.log";
pub(super) const MARKS: &str = "output.marks";
/// How far below its recording a file of a task is: `tasks`, the task's folder, the file. No link leads there.
pub(super) const IN_RECORDING: Links = Links::NoneIn(3);
/// The longest log that is read: somewhat more than the longest one that is written.
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// How much of the marks is read: those of a log whose stream changes with every line.
const MARKS_BYTES: u64 = 24 << 20;
/// The longer a task lives, the rarer its marks: at most one per this fraction of its age.
const MARK_EVERY_PART: u32 = 5_000;

/// Returns the path of the raw log in a task's folder.
pub fn log_path(folder: &Path) -> PathBuf {
    folder.join(LOG)
}

pub(super) fn marks_path(folder: &Path) -> PathBuf {
    folder.join(MARKS)
}

/// Opens the log in a task's folder for reading: a command may have put anything in its place.
///
/// # Errors
/// When it is not there, is no regular file, or a link leads to it.
pub fn open_log(folder: &Path) -> io::Result<OpenLog> {
    files::open(&log_path(folder), IN_RECORDING, FileAccess::Read).map(OpenLog::from)
}

/// Reads the complete marks of a task, as many as are kept in memory.
///
/// # Errors
/// When the file cannot be read.
pub fn read_marks(folder: &Path) -> Result<Vec<Mark>, Error> {
    let path = marks_path(folder);
    let failed = Error::io("read the marks", &path);
    let mut bytes = Vec::new();
    let read = files::open(&path, IN_RECORDING, FileAccess::Read)
        .and_then(|file| file.take(MARKS_BYTES).read_to_end(&mut bytes));
    read.map_err(failed)?;
    let (whole, _torn) = bytes.as_chunks::<24>();
    Ok(whole.iter().filter_map(Mark::decode).collect())
}

/// What is on disk of the output of one task.
pub struct StoredLog {
    /// The bytes.
    pub file: OpenLog,
    /// The log's marks.
    pub marks: Vec<Mark>,
    /// Whether the task wrote to a terminal or to pipes.
    pub origin: ByteOrigin,
    /// The terminal's size before the first byte.
    pub size: Size,
}

impl StoredLog {
    /// Opens the log of a task.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(task: &TaskView) -> io::Result<Self> {
        let mut file = open_log(&task.folder)?;
        let facts = file.metadata()?;
        if task.ended.is_some() && facts.blocks() * 512 < facts.len() {
            // Holes are not output: what the record does not count is not read.
            file.1 = file.1.min(task.output.bytes.saturating_sub(task.output.dropped_bytes));
        }
        let marks = read_marks(&task.folder).map_err(io::Error::other)?;
        let size = initial_size(&marks).unwrap_or(task.size);
        Ok(Self { file, marks, origin: ByteOrigin::of(task.tty), size })
    }

    /// Returns the log as pages and lines.
    pub fn history(&self) -> LogHistory<'_, OpenLog> {
        LogHistory::new(&self.file, &self.marks, self.origin, self.size)
    }
}

/// The log of one task, opened for reading, and how many bytes of it are read at most.
#[derive(Debug)]
pub struct OpenLog(File, u64);

impl From<File> for OpenLog {
    fn from(file: File) -> Self {
        Self(file, MOST_BYTES)
    }
}

impl Deref for OpenLog {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl LogBytes for OpenLog {
    fn len(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len().min(self.1))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.1.saturating_sub(offset)).unwrap_or(usize::MAX).min(buf.len());
        FileExt::read_at(&self.0, buf.get_mut(..most).unwrap_or_default(), offset)
    }
}

/// Syncs the log of an ended task to disk. Blocks.
pub(super) fn sync(folder: &Path) {
    for path in [log_path(folder), marks_path(folder)] {
        let opened = files::open(&path, IN_RECORDING, FileAccess::Read);
        if let Err(error) = opened.and_then(|file| file.sync_data()) {
            tracing::warn!(%error, path = %path.display(), "sync the log of a task");
        }
    }
}

/// Counts a log's contents, for a task whose counts were never recorded.
pub(super) fn measure(folder: &Path, known: OutputView) -> OutputView {
    let Ok(file) = open_log(folder) else { return known };
    let gaps = read_marks(folder).unwrap_or_default().into_iter().map(|mark| match mark.kind {
        MarkKind::Gap { dropped } => dropped,
        _ => 0,
    });
    let dropped_bytes = gaps.sum::<u64>();
    let (mut bytes, mut lines) = (0, 0);
    let _ = file.for_each_block(0..LogBytes::len(&file), |_, block| {
        bytes += block.len() as u64;
        lines += memchr::memchr_iter(b'\n', block).count() as u64;
        true
    });
    OutputView { bytes: bytes + dropped_bytes, lines, dropped_bytes, ..known }
}

/// The files of a log and its marks, before anything is stored.
#[derive(Debug)]
pub(crate) struct LogFiles {
    log: File,
    marks: File,
    /// The recorded size of the terminal.
    size: Option<Size>,
}

impl LogFiles {
    /// Creates the files in a task's folder.
    ///
    /// # Errors
    /// If one already exists or cannot be created.
    pub(crate) fn create(folder: &Path) -> Result<Self, Error> {
        Ok(Self { log: create_new(&log_path(folder))?, marks: create_new(&marks_path(folder))?, size: None })
    }

    /// Records the size of the terminal at the start, in place of one recorded before.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn set_size(&mut self, size: Size) -> io::Result<()> {
        if self.size == Some(size) {
            return Ok(());
        }
        if self.size.take().is_some() {
            self.marks.set_len(0)?;
        }
        let mark = Mark { offset: 0, line: 0, at_ms: 0, kind: MarkKind::Resize(size) };
        self.marks.write_all(&mark.encode())?;
        self.size = Some(size);
        Ok(())
    }
}

/// The writing side of a raw log.
#[derive(Debug)]
pub(crate) struct OutputLog {
    folder: PathBuf,
    file: File,
    marks: File,
    head: u64,
    tail: usize,
    position: u64,
    lines: u64,
    current: Option<ByteSource>,
    marked: u64,
    marked_ms: u32,
    /// When input was sent, in milliseconds, that has no mark yet.
    sent_ms: Option<u32>,
    streams: Vec<KeptStream>,
    /// A write failed: nothing more is stored, and everything is counted as dropped.
    broken: bool,
}

/// What is kept of one stream.
#[derive(Debug)]
struct KeptStream {
    stream: ByteSource,
    written: u64,
    tail: Option<StreamTail>,
}

impl OutputLog {
    /// Begins a log in `folder`, which has its `files`.
    pub(crate) fn begin(folder: &Path, files: LogFiles, head: u64, tail: usize) -> Self {
        Self {
            folder: folder.to_owned(),
            file: files.log,
            marks: files.marks,
            head,
            tail,
            position: 0,
            lines: 0,
            current: None,
            marked: 0,
            marked_ms: 0,
            sent_ms: None,
            streams: Vec::new(),
            broken: false,
        }
    }

    /// Stores a chunk that arrived `at_ms` after the start; returns the number of bytes it displaced because there
    /// was no room between head and tail.
    pub(crate) fn append(&mut self, stream: ByteSource, bytes: &[u8], at_ms: u32) -> u64 {
        if self.broken {
            return bytes.len() as u64;
        }
        let (head, tail) = (self.head, self.tail);
        let kept = kept_stream(&mut self.streams, stream);
        let room = usize::try_from(head - kept.written).unwrap_or(usize::MAX);
        let (stored, rest) = bytes.split_at(bytes.len().min(room));
        kept.written += stored.len() as u64;
        let displaced = kept.push(rest, &self.folder, tail);
        let stored = if stored.is_empty() { Ok(()) } else { self.store(stream, stored, at_ms) };
        displaced.and_then(|displaced| stored.map(|()| displaced)).unwrap_or_else(|_| {
            self.broken = true;
            bytes.len() as u64
        })
    }

    /// Records a new terminal size.
    pub(crate) fn resize(&mut self, size: Size, at_ms: u32) {
        self.current = None;
        self.broken |= self.mark(MarkKind::Resize(size), at_ms).is_err();
    }

    /// Notes that input is sent. It is recorded in front of what follows, which gets a time of its own: nothing is written
    /// while a key is on its way.
    pub(crate) fn note_input(&mut self, at_ms: u32) {
        self.current = None;
        self.sent_ms.get_or_insert(at_ms);
    }

    /// Appends the tails after the heads. Call once, when nothing more arrives.
    pub(crate) fn finish(&mut self, at_ms: u32) {
        for KeptStream { stream, tail, .. } in std::mem::take(&mut self.streams) {
            if let Some(tail) = tail.filter(|_| !self.broken) {
                self.broken |= self.take_over(stream, &tail, at_ms).is_err();
            }
        }
    }

    fn take_over(&mut self, stream: ByteSource, tail: &StreamTail, at_ms: u32) -> io::Result<()> {
        let bytes = tail.read()?;
        self.mark(MarkKind::Gap { dropped: tail.displaced_bytes() }, at_ms)?;
        self.mark(MarkKind::Chunk(stream), at_ms)?;
        self.write(&bytes)
    }

    /// Returns the end of the log on disk.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the end of a stream that is kept beside the log, if its head is full.
    pub(crate) fn live_tail(&self, stream: ByteSource) -> Option<Vec<u8>> {
        let kept = self.streams.iter().find(|kept| kept.stream == stream)?;
        // A tail that cannot be read counts as missing.
        kept.tail.as_ref()?.read().ok()
    }

    fn store(&mut self, stream: ByteSource, bytes: &[u8], at_ms: u32) -> io::Result<()> {
        let is_late = at_ms.saturating_sub(self.marked_ms) >= MARK_EVERY_MS.max(at_ms / MARK_EVERY_PART);
        if self.current != Some(stream) || self.position - self.marked >= MARK_EVERY || is_late {
            self.mark(MarkKind::Chunk(stream), at_ms)?;
            self.current = Some(stream);
            (self.marked, self.marked_ms) = (self.position, at_ms);
        }
        self.write(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.position += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        Ok(())
    }

    fn mark(&mut self, kind: MarkKind, at_ms: u32) -> io::Result<()> {
        let sent = self.sent_ms.take().map(|at_ms| (MarkKind::Input, at_ms));
        let marks = sent.into_iter().chain([(kind, at_ms)]);
        let record = |(kind, at_ms)| Mark { offset: self.position, line: self.lines, at_ms, kind }.encode();
        self.marks.write_all(&marks.flat_map(record).collect::<Vec<u8>>())
    }
}

impl KeptStream {
    /// Keeps bytes that do not fit into the head; returns how many bytes they displaced.
    fn push(&mut self, bytes: &[u8], folder: &Path, capacity: usize) -> io::Result<u64> {
        if bytes.is_empty() {
            return Ok(0);
        }
        match &mut self.tail {
            Some(tail) => tail.push(bytes),
            none => none.insert(StreamTail::create(folder, capacity)?).push(bytes),
        }
    }
}

fn kept_stream(streams: &mut Vec<KeptStream>, stream: ByteSource) -> &mut KeptStream {
    let at = streams.iter().position(|kept| kept.stream == stream).unwrap_or_else(|| {
        streams.push(KeptStream { stream, written: 0, tail: None });
        streams.len() - 1
    });
    &mut streams[at]
}

fn create_new(path: &Path) -> Result<File, Error> {
    files::private().create_new(true).append(true).open(path).map_err(Error::io("create", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(folder: &Path, head: u64, tail: usize) -> OutputLog {
        OutputLog::begin(folder, LogFiles::create(folder).expect("files"), head, tail)
    }

    #[test]
    fn head_gap_and_tail_add_up_to_the_stream() {
        let dir = tempfile::tempdir().expect("temp dir");
        let mut log = log(dir.path(), 10, 4);
        let mut dropped = 0;
        for chunk in ["0123", "4567", "89ab", "cdef", "ghij"] {
            dropped += log.append(ByteSource::Stdout, chunk.as_bytes(), 0);
        }
        assert_eq!(log.live_tail(ByteSource::Stdout).as_deref(), Some(b"ghij".as_slice()));
        log.finish(9);
        assert_eq!(std::fs::read(log_path(dir.path())).expect("log"), b"0123456789ghij");
        assert_eq!(dropped, 20 - 14);
        let marks = read_marks(dir.path()).expect("marks");
        let kinds: Vec<_> = marks.iter().map(|mark| (mark.offset, mark.kind)).collect();
        assert_eq!(
            kinds,
            [
                (0, MarkKind::Chunk(ByteSource::Stdout)),
                (10, MarkKind::Gap { dropped: 6 }),
                (10, MarkKind::Chunk(ByteSource::Stdout)),
            ]
        );
    }

    #[test]
    fn input_is_marked_in_front_of_the_output_that_it_causes() {
        let dir = tempfile::tempdir().expect("temp dir");
        let mut log = log(dir.path(), 100, 4);
        log.append(ByteSource::Tty, b"name: ", 1);
        log.note_input(7);
        log.note_input(8);
        log.append(ByteSource::Tty, b"me", 9);
        let marks = read_marks(dir.path()).expect("marks");
        let seen: Vec<_> = marks.iter().map(|mark| (mark.offset, mark.at_ms, mark.kind)).collect();
        let chunk = MarkKind::Chunk(ByteSource::Tty);
        assert_eq!(seen, [(0, 1, chunk), (6, 7, MarkKind::Input), (6, 9, chunk)]);
    }

    #[test]
    fn a_change_of_stream_is_marked() {
        let dir = tempfile::tempdir().expect("temp dir");
        let mut log = log(dir.path(), 100, 4);
        log.append(ByteSource::Stdout, b"out\n", 1);
        log.append(ByteSource::Stdout, b"more\n", 2);
        log.append(ByteSource::Stderr, b"err\n", 3);
        let marks = read_marks(dir.path()).expect("marks");
        let seen: Vec<_> = marks.iter().map(|mark| (mark.offset, mark.line, mark.kind)).collect();
        assert_eq!(
            seen,
            [(0, 0, MarkKind::Chunk(ByteSource::Stdout)), (9, 2, MarkKind::Chunk(ByteSource::Stderr))]
        );
    }
}
