//! Appends rows to the hash chain on disk. Handles failed calls, but never waits, and never decides whether the
//! program may continue.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;

use super::JournalError;
use super::chain::{self, ChainEntry, Hash};
use super::disk::{Disk, write_once};
use super::layout::{self, ChainHead, Hold};
use super::line_file::LineFile;
use super::parts;

/// Size limits.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of a line; larger values are moved to separate files.
    pub line: usize,
    /// Bytes of a segment, with the values moved out of it.
    pub segment: u64,
    /// Bytes of all segments of a recording and of the values moved out of them; beyond this, the oldest segment is
    /// removed with its values.
    pub journal: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { line: 64 << 10, segment: 16 << 20, journal: 64 << 20 }
    }
}

/// The most bytes the chain adds to a body.
const ENVELOPE_BYTES: usize = 512;
/// The number of unsynced bytes that forces a sync, whether or not a caller waits for one.
const UNSYNCED_BYTES: usize = 4 << 20;

/// The writing end of a recording.
pub(super) struct Appender {
    disk: Box<dyn Disk>,
    recording: PathBuf,
    session: String,
    bounds: Bounds,
    hold: Hold,
    /// When the last row was created.
    ts: Timestamp,
    seq: u64,
    hash: Hash,
    segment: Option<Segment>,
    next_segment: u32,
    /// Full segments, oldest first.
    full: VecDeque<FullSegment>,
    line: Vec<u8>,
    /// The lines since the last sync, to be rewritten if a sync fails.
    unsynced: Vec<u8>,
    unsynced_rows: usize,
    parts: Vec<File>,
    parts_made: u32,
    /// The last segment was abandoned because it could no longer be found.
    is_removed: bool,
}

struct Segment {
    number: u32,
    lines: LineFile,
    /// The last line in the segment.
    last: (u64, Hash),
    /// The files with values of its lines, and their bytes.
    parts: Vec<String>,
    parts_bytes: u64,
}

impl Segment {
    fn new(number: u32, lines: LineFile, last: (u64, Hash)) -> Self {
        Self { number, lines, last, parts: Vec::new(), parts_bytes: 0 }
    }

    fn bytes(&self) -> u64 {
        self.lines.length() + self.parts_bytes
    }
}

/// A segment to which nothing is appended any more; its file is closed.
struct FullSegment {
    number: u32,
    bytes: u64,
    last: (u64, Hash),
    parts: Vec<String>,
}

/// Where a chain continues after a repair.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainEnd {
    pub(super) seq: u64,
    pub(super) hash: Hash,
    /// The segment to append to and its length; `None` starts a new one.
    pub(super) segment: Option<(u32, u64)>,
    pub(super) next_segment: u32,
}

impl Appender {
    /// Starts a chain in an empty recording.
    pub(super) fn create(
        disk: Box<dyn Disk>,
        recording: &Path,
        bounds: Bounds,
    ) -> Result<Self, JournalError> {
        let hold = Hold::take(&*disk, recording)?;
        let end = ChainEnd { seq: 0, hash: Hash::NONE, segment: None, next_segment: 1 };
        let mut appender = Self::at(disk, recording, bounds, (hold, end));
        // From here on, a recording without a seal is one whose seal was removed.
        if let Err(error) = appender.disk.overwrite(&appender.hold.0, &appender.head().to_bytes()) {
            tracing::warn!(%error, "write the record's head");
        }
        let path = layout::segment_path(recording, 1);
        appender.open_segment().map_err(JournalError::io("create", path))?;
        Ok(appender)
    }

    /// Continues a chain that was read to its end.
    pub(super) fn resume(
        disk: Box<dyn Disk>,
        recording: &Path,
        (hold, end): (Hold, ChainEnd),
    ) -> Result<Self, JournalError> {
        let mut appender = Self::at(disk, recording, Bounds::default(), (hold, end));
        if let Some((number, length)) = end.segment {
            let path = layout::segment_path(recording, number);
            let file = appender.disk.open(&path).map_err(JournalError::io("open", path))?;
            appender.segment = Some(Segment::new(number, LineFile::new(file, length), (end.seq, end.hash)));
        }
        Ok(appender)
    }

    fn at(disk: Box<dyn Disk>, recording: &Path, bounds: Bounds, (hold, end): (Hold, ChainEnd)) -> Self {
        let name = recording.file_name().unwrap_or_default().to_string_lossy();
        let quoted = json!(name).to_string();
        Self {
            disk,
            recording: recording.to_owned(),
            session: quoted.trim_matches('"').to_owned(),
            bounds,
            hold,
            ts: Timestamp::UNIX_EPOCH,
            seq: end.seq,
            hash: end.hash,
            segment: None,
            next_segment: end.next_segment,
            full: VecDeque::new(),
            line: Vec::new(),
            unsynced: Vec::new(),
            unsynced_rows: 0,
            parts: Vec::new(),
            parts_made: 0,
            is_removed: false,
        }
    }

    /// Returns the position of the last line.
    pub(super) fn head(&self) -> ChainHead {
        ChainHead { seq: self.seq, hash: self.hash }
    }

    /// Returns the number of rows written since the last sync.
    pub(super) fn unsynced_rows(&self) -> usize {
        self.unsynced_rows
    }

    /// Writes a row as the next line. After a failure the chain ends where it did before.
    pub(super) fn append(&mut self, entry: &ChainEntry) -> io::Result<()> {
        let limit = self.bounds.line - ENVELOPE_BYTES;
        if entry.body.len() <= limit {
            return self.append_line(entry);
        }
        let (seq, made, mut names) = (self.seq + 1, &mut self.parts_made, Vec::new());
        let name = || {
            *made += 1;
            let name = format!("{seq}-{}-{made}.json", std::process::id());
            names.push(name.clone());
            name
        };
        let (body, files) = parts::spill(&*self.disk, &self.recording, (&entry.body, limit), name)?;
        self.append_line(&ChainEntry { body, ..entry.clone() })?;
        if let Some(segment) = &mut self.segment {
            segment.parts.extend(names);
            segment.parts_bytes += entry.body.len() as u64;
        }
        self.parts.extend(files);
        Ok(())
    }

    /// Syncs everything written so far to disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if self.unsynced_rows == 0 && self.parts.is_empty() && !self.is_removed {
            return Ok(());
        }
        while let Some(part) = self.parts.pop() {
            // Never retried on the same file, as with segments.
            self.disk.sync(&part)?;
        }
        self.sync_lines()?;
        self.look()?;
        self.unsynced.clear();
        self.unsynced_rows = 0;
        if let Err(error) = self.disk.overwrite(&self.hold.0, &self.head().to_bytes()) {
            // The rows are safe; but without the head, a truncated end could not be distinguished from an intact one.
            tracing::warn!(%error, "write the record's head");
        }
        Ok(())
    }

    /// Checks that the current segment can still be found: a segment whose folder was removed accepts every row and
    /// keeps none. Such a segment is abandoned, and the rows not yet known to be on disk go to the next one.
    pub(super) fn look(&mut self) -> io::Result<()> {
        let path = |number| layout::segment_path(&self.recording, number);
        let is_there = |segment: &Segment| self.disk.is_in_place(segment.lines.file(), &path(segment.number));
        if self.segment.as_ref().is_none_or(is_there) {
            return Ok(());
        }
        self.is_removed = true;
        self.seal();
        Err(io::Error::new(io::ErrorKind::NotFound, "the recording was removed or moved away"))
    }

    fn append_line(&mut self, entry: &ChainEntry) -> io::Result<()> {
        let needed = (entry.body.len() + ENVELOPE_BYTES) as u64;
        let is_full =
            |segment: &Segment| segment.lines.length() > 0 && segment.bytes() + needed > self.bounds.segment;
        if self.segment.as_ref().is_some_and(is_full) {
            self.turn()?;
        }
        if self.segment.is_none() {
            self.open_segment()?;
        }
        self.write_line(entry)
    }

    fn write_line(&mut self, entry: &ChainEntry) -> io::Result<()> {
        self.ts = entry.ts;
        let hash = chain::write(&mut self.line, entry, &self.session, self.seq + 1, self.hash);
        let Some(segment) = &mut self.segment else { return Err(io::ErrorKind::NotFound.into()) };
        if let Err(error) = segment.lines.append(&*self.disk, &self.line) {
            if segment.lines.is_torn() {
                // The segment's end cannot be trusted: leave it as it is, and start a new segment with the next line.
                self.seal();
            }
            return Err(error);
        }
        segment.last = (self.seq + 1, hash);
        (self.seq, self.hash) = (self.seq + 1, hash);
        self.unsynced.extend_from_slice(&self.line);
        self.unsynced_rows += 1;
        if self.unsynced.len() > UNSYNCED_BYTES {
            // The line is written; a failed sync is reported by the next sync that a caller waits for.
            let _ = self.sync();
        }
        Ok(())
    }

    /// Syncs the lines; if that fails, rewrites them to a new segment and syncs that.
    fn sync_lines(&mut self) -> io::Result<()> {
        if let Some(segment) = &self.segment {
            let Err(error) = self.disk.sync(segment.lines.file()) else { return Ok(()) };
            tracing::error!(%error, segment = segment.number, "sync the journal; the segment is given up");
            self.seal();
        }
        self.open_segment()?;
        let Some(segment) = &self.segment else { return Err(io::ErrorKind::NotFound.into()) };
        let synced = self.disk.sync(segment.lines.file());
        if synced.is_err() {
            self.seal();
        }
        synced
    }

    /// Starts a new segment after a full one.
    fn turn(&mut self) -> io::Result<()> {
        self.sync()?;
        self.seal();
        self.open_segment()?;
        self.prune()
    }

    /// Opens the next segment, starting with the lines that are not known to be on disk.
    fn open_segment(&mut self) -> io::Result<()> {
        let number = self.next_segment;
        let created = self.disk.create(&layout::segment_path(&self.recording, number));
        // A number that no file has is not passed over.
        let is_there =
            created.as_ref().map_or_else(|error| error.kind() == io::ErrorKind::AlreadyExists, |_| true);
        self.next_segment += u32::from(is_there);
        let file = created?;
        self.disk.sync_folder(&self.recording)?;
        if !self.unsynced.is_empty() {
            write_once(&*self.disk, &file, &self.unsynced)?;
        }
        self.is_removed = false;
        let lines = LineFile::new(file, self.unsynced.len() as u64);
        let takes_over = lines.length() > 0;
        self.segment = Some(Segment::new(number, lines, (self.seq, self.hash)));
        if takes_over {
            // Without this row it would be a copy.
            let data = json!({ "problems": [], "sealed": layout::segment_name(number - 1) });
            self.write_line(&own_row("repair", &data, self.ts))?;
        }
        Ok(())
    }

    fn seal(&mut self) {
        let full = self.segment.take().map(|segment| FullSegment {
            number: segment.number,
            bytes: segment.bytes(),
            last: segment.last,
            parts: segment.parts,
        });
        self.full.extend(full);
    }

    /// Removes the oldest segments while there are too many; a row records where the chain now begins.
    fn prune(&mut self) -> io::Result<()> {
        let size = |appender: &Self| appender.full.iter().map(|full| full.bytes).sum::<u64>();
        while size(self) + self.bounds.segment > self.bounds.journal {
            let Some(oldest) = self.full.pop_front() else { break };
            let (seq, hash) = oldest.last;
            let data = json!({
                "segment": layout::segment_name(oldest.number), "seq": seq, "hash": hash, "bytes": oldest.bytes,
            });
            self.write_line(&own_row("pruned", &data, self.ts))?;
            self.sync()?;
            if let Err(error) = self.disk.remove(&layout::segment_path(&self.recording, oldest.number)) {
                tracing::warn!(%error, segment = oldest.number, "remove the oldest segment");
            }
            for part in &oldest.parts {
                let path = self.recording.join(parts::FOLDER).join(part);
                if let Err(error) = self.disk.remove(&path) {
                    tracing::warn!(%error, part, "remove a value of the oldest segment");
                }
            }
        }
        Ok(())
    }
}

/// Creates one of the journal's own rows.
pub(super) fn own_row(kind: &str, data: &serde_json::Value, ts: Timestamp) -> ChainEntry {
    ChainEntry { ts, mono: 0, body: format!("\"kind\":\"{kind}\",\"data\":{data}").into_bytes() }
}
