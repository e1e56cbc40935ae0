//! Reads a recording line by line and reports where it differs from what was written. Read-only; a writer may be
//! active at the same time.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::JournalError;
use super::chain::{self, ChainLine, Hash, LineHeader};
use super::layout;
use super::parts::{self, StoredPart};
use super::problem::{Problem, ProblemKind};
use crate::files::{self, OWN};

/// The size limit for reading a segment; a writer never makes one even half as large.
const SEGMENT_BYTES: u64 = 64 << 20;

/// One line, complete and unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRecord {
    /// The part that precedes the row's own data.
    pub header: LineHeader,
    pub hash: Hash,
    line: Vec<u8>,
}

impl JournalRecord {
    /// Decodes the row's data; parts stored in files are read from the recording.
    ///
    /// # Errors
    /// If the data does not decode as `T`, or a file does not have the expected contents.
    pub fn data<T: DeserializeOwned>(&self, recording: &Path) -> Result<T, JournalError> {
        #[derive(Deserialize)]
        struct RowData<T> {
            data: T,
        }
        self.row(recording).map(|RowData { data }| data)
    }

    /// Decodes the row's `kind` and `data`, as [`data`](Self::data) does.
    ///
    /// # Errors
    /// As [`data`](Self::data).
    pub fn row<T: DeserializeOwned>(&self, recording: &Path) -> Result<T, JournalError> {
        let seq = self.header.seq;
        let decode = |source| JournalError::Decode { seq, source };
        let parts = self.parts().map_err(decode)?;
        if parts.is_empty() {
            return serde_json::from_slice(&self.line).map_err(decode);
        }
        let mut row: Value = serde_json::from_slice(&self.line).map_err(decode)?;
        parts::restore(recording, &mut row["data"], &parts)
            .map_err(|path| JournalError::Part { seq, path: PathBuf::from(path) })?;
        serde_json::from_value(row).map_err(decode)
    }

    /// Returns the line as stored in the journal, without its line feed.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    fn parts(&self) -> serde_json::Result<Vec<StoredPart>> {
        #[derive(Deserialize)]
        struct PartsField {
            #[serde(default)]
            parts: Vec<StoredPart>,
        }
        serde_json::from_slice::<PartsField>(&self.line).map(|named| named.parts)
    }
}

/// What a [`JournalReader`] yields.
#[derive(Debug)]
pub enum JournalItem {
    /// A valid line.
    Record(JournalRecord),
    /// A problem found at this place.
    Problem(Problem),
}

/// Reads a recording from its beginning.
#[derive(Debug)]
pub struct JournalReader {
    recording: PathBuf,
    segments: VecDeque<u32>,
    bytes: Vec<u8>,
    at: usize,
    number: u32,
    known: ReadLines,
    /// Invalid lines since the last valid one.
    bad: Option<InvalidRun>,
    ready: VecDeque<JournalItem>,
    version: Option<u64>,
    repeats: Repeats,
    is_stopped: bool,
}

/// Whether repeated lines are allowed here: a segment starts with the lines that its predecessor may have lost,
/// consecutively up to the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeats {
    /// Allowed: at the beginning of a segment.
    May,
    /// Under way: the repeated lines have reached this one.
    Reached(u64),
    /// No longer allowed in this segment.
    Over,
}

/// The lines read so far, by number.
#[derive(Debug, Default)]
struct ReadLines {
    first: u64,
    hashes: Vec<Hash>,
}

/// A run of invalid lines.
#[derive(Debug, Clone, Copy)]
struct InvalidRun {
    number: u32,
    offset: u64,
    lines: u64,
    /// The last of them ends with a line feed.
    has_end: bool,
}

/// Where the valid part of a recording ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValidEnd {
    pub(super) seq: u64,
    pub(super) hash: Hash,
    pub(super) segment: u32,
}

impl JournalReader {
    /// Opens a recording.
    ///
    /// # Errors
    /// When its folder cannot be listed.
    pub fn open(recording: &Path) -> Result<Self, JournalError> {
        let segments = layout::segments(recording).map_err(JournalError::io("list", recording))?;
        Ok(Self {
            recording: recording.to_owned(),
            segments: segments.into(),
            bytes: Vec::new(),
            at: 0,
            number: 0,
            known: ReadLines::default(),
            bad: None,
            ready: VecDeque::new(),
            version: None,
            repeats: Repeats::Over,
            is_stopped: false,
        })
    }

    /// Returns where the valid part ends, once everything is read.
    pub(super) fn valid_end(&self) -> ValidEnd {
        ValidEnd { seq: self.known.last(), hash: self.known.last_hash(), segment: self.number }
    }

    /// Returns the version of the first line written by a newer program.
    pub(super) fn newer_version(&self) -> Option<u64> {
        self.version
    }

    /// Returns the hash of a line read earlier.
    pub(super) fn hash_of(&self, seq: u64) -> Option<Hash> {
        self.known.get(seq)
    }

    /// Reads until an item is ready; returns false at the end.
    fn advance(&mut self) -> bool {
        if self.is_stopped {
            return false;
        }
        if self.at >= self.bytes.len() {
            return self.next_segment();
        }
        let offset = self.at;
        let rest = self.bytes.get(offset..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest);
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at = offset + line.len() + usize::from(end.is_some());
        // Without its line feed, even a complete line may be the beginning of a longer one.
        let read = if end.is_some() { chain::read(line) } else { ChainLine::Invalid };
        let line = line.to_vec();
        match read {
            ChainLine::Valid(header, hash) => self.valid(JournalRecord { header, hash, line }, offset as u64),
            ChainLine::Invalid => {
                let bad = InvalidRun { number: self.number, offset: offset as u64, lines: 0, has_end: false };
                let bad = self.bad.unwrap_or(bad);
                self.bad = Some(InvalidRun { lines: bad.lines + 1, has_end: end.is_some(), ..bad });
            }
            ChainLine::Version(version) => {
                self.version = Some(version);
                let seq = self.known.last() + 1;
                self.report(ProblemKind::Version, (seq, seq), (self.number, offset as u64));
                self.is_stopped = true;
            }
        }
        true
    }

    fn next_segment(&mut self) -> bool {
        // One that takes over says so in a row of its own.
        if let Repeats::Reached(reached) = self.repeats
            && self.number > 0
        {
            self.report(ProblemKind::Repeated, (reached, reached), (self.number, 0));
        }
        let Some(number) = self.segments.pop_front() else {
            self.is_stopped = true;
            self.end();
            return !self.ready.is_empty();
        };
        if self.number > 0 && number != self.number + 1 {
            let seq = self.known.last() + 1;
            self.report(ProblemKind::Renumbered, (seq, seq), (number, 0));
        }
        (self.number, self.at) = (number, 0);
        self.repeats = if self.known.hashes.is_empty() { Repeats::Over } else { Repeats::May };
        match files::read(&layout::segment_path(&self.recording, number), OWN, SEGMENT_BYTES) {
            Ok(bytes) => self.bytes = bytes,
            Err(error) => {
                tracing::warn!(%error, segment = number, "read a segment");
                self.bytes.clear();
                let seq = self.known.last() + 1;
                self.report(ProblemKind::Unreadable, (seq, seq), (number, 0));
            }
        }
        true
    }

    /// Reports problems at the end of the recording.
    fn end(&mut self) {
        let Some(bad) = self.bad.take() else { return };
        let seq = self.known.last() + 1;
        let kind = if bad.has_end { ProblemKind::Changed } else { ProblemKind::Torn };
        self.report(kind, (seq, seq + bad.lines - 1), (bad.number, bad.offset));
    }

    fn valid(&mut self, record: JournalRecord, offset: u64) {
        let (seq, last) = (record.header.seq, self.known.last());
        let place = (self.number, offset);
        if self.known.hashes.is_empty() {
            self.first(record, place);
            return;
        }
        if seq <= last {
            self.again(seq, record.hash, place);
            return;
        }
        if let Repeats::Reached(reached) = self.repeats
            && reached < last
        {
            self.report(ProblemKind::Repeated, (reached, reached), place);
        }
        self.repeats = Repeats::Over;
        let follows = seq == last + 1 && record.header.prev == self.known.last_hash();
        match self.bad.take() {
            // A later segment has taken over from a torn end.
            Some(bad) if follows && bad.number < self.number => {}
            Some(bad) if follows => self.report(ProblemKind::Foreign, (seq, seq), (bad.number, bad.offset)),
            Some(bad) => {
                let end = seq.saturating_sub(1).max(last + 1);
                self.report(ProblemKind::Changed, (last + 1, end), (bad.number, bad.offset));
            }
            None if follows => {}
            None if seq == last + 1 => self.report(ProblemKind::Unlinked, (seq, seq), place),
            None => self.report(ProblemKind::Missing, (last + 1, seq - 1), place),
        }
        self.known.pass_to(seq, record.hash);
        self.ready.push_back(JournalItem::Record(record));
    }

    /// Handles a line whose number was seen before.
    fn again(&mut self, seq: u64, hash: Hash, place: (u32, u64)) {
        if self.known.get(seq) != Some(hash) {
            return self.report(ProblemKind::Foreign, (seq, seq), place);
        }
        let follows = match self.repeats {
            Repeats::May => true,
            Repeats::Reached(reached) => seq == reached + 1,
            Repeats::Over => false,
        };
        if follows {
            self.repeats = Repeats::Reached(seq);
        } else {
            self.report(ProblemKind::Repeated, (seq, seq), place);
        }
    }

    fn first(&mut self, record: JournalRecord, place: (u32, u64)) {
        let seq = record.header.seq;
        let begins = seq == 1 && record.header.prev == Hash::NONE;
        if begins && self.number > 1 && self.bad.is_none() {
            self.report(ProblemKind::Renumbered, (1, 1), place);
        }
        match self.bad.take() {
            Some(bad) if begins && bad.number < self.number => {}
            Some(bad) => {
                let end = seq.saturating_sub(1).max(1);
                self.report(ProblemKind::Changed, (1, end), (bad.number, bad.offset));
            }
            // If the oldest segments were removed, a later row says so; `verify` takes that into account.
            None if seq > 1 => self.report(ProblemKind::Missing, (1, seq - 1), place),
            None => {}
        }
        self.known = ReadLines { first: seq, hashes: vec![record.hash] };
        self.ready.push_back(JournalItem::Record(record));
    }

    fn report(&mut self, kind: ProblemKind, (first, last): (u64, u64), (number, offset): (u32, u64)) {
        let segment = layout::segment_name(number);
        self.ready.push_back(JournalItem::Problem(Problem { kind, first, last, segment, offset }));
    }
}

impl Iterator for JournalReader {
    type Item = JournalItem;

    fn next(&mut self) -> Option<JournalItem> {
        while self.ready.is_empty() && self.advance() {}
        self.ready.pop_front()
    }
}

/// Returns the last line of a recording if it is valid; earlier lines are not checked.
pub fn last(recording: &Path) -> Option<JournalRecord> {
    let number = layout::segments(recording).ok()?.pop()?;
    let bytes = files::read(&layout::segment_path(recording, number), OWN, SEGMENT_BYTES).ok()?;
    let whole = bytes.strip_suffix(b"\n")?;
    let start = memchr::memrchr(b'\n', whole).map_or(0, |at| at + 1);
    let line = whole.get(start..)?.to_vec();
    match chain::read(&line) {
        ChainLine::Valid(header, hash) => Some(JournalRecord { header, hash, line }),
        _ => None,
    }
}

impl ReadLines {
    fn last(&self) -> u64 {
        (self.first + self.hashes.len() as u64).saturating_sub(1)
    }

    fn last_hash(&self) -> Hash {
        self.hashes.last().copied().unwrap_or(Hash::NONE)
    }

    fn get(&self, seq: u64) -> Option<Hash> {
        let at = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        self.hashes.get(at).copied()
    }

    /// Adds a line; nothing is known of any lines skipped before it.
    fn pass_to(&mut self, seq: u64, hash: Hash) {
        let skipped = seq.saturating_sub(self.last() + 1);
        if skipped > 0 {
            // A later segment cannot repeat any line before this one.
            *self = Self { first: seq, hashes: vec![hash] };
        } else {
            self.hashes.push(hash);
        }
    }
}
