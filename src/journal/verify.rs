//! Whether a recording is as it was written: everything that can be told without trusting anyone.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::chain::Hash;
use super::layout::{self, Head, is_held};
use super::problem::{Problem, ProblemKind};
use super::reader::{Item, Reader};
use super::{Error, Record};

/// What a check of a recording found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Lines that are as they were written.
    pub records: u64,
    /// Number of the last of them.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
    /// Somebody writes it now.
    pub live: bool,
    /// Its last row says that it was closed.
    pub closed: bool,
    /// What is not as it was written, in order.
    pub problems: Vec<Problem>,
}

impl Report {
    /// Tells whether everything is as it was written.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A row that says where the journal begins, since its oldest segment was removed.
#[derive(Deserialize)]
struct Pruned {
    seq: u64,
}

/// A row that says what a repair found: what it made good shows no longer, what was taken away stays so.
#[derive(Deserialize)]
struct Repaired {
    problems: Vec<Problem>,
}

/// Checks a recording: each line, the links between them, the files they name, and the end.
///
/// # Errors
/// When its folder cannot be listed.
pub fn verify(recording: &Path) -> Result<Report, Error> {
    let live = is_held(recording);
    // Read before the lines: what is written meanwhile only adds to them.
    let head = Head::read(recording);
    let mut reader = Reader::open(recording)?;
    let (mut problems, mut records, mut closed) = (Vec::new(), 0, false);
    let mut pruned = 0;
    for item in reader.by_ref() {
        match item {
            Item::Problem(problem) => problems.push(problem),
            Item::Record(record) => {
                records += 1;
                closed = record.header.kind == "closed";
                if record.header.kind == "pruned"
                    && let Ok(row) = record.data::<Pruned>(recording)
                {
                    pruned = pruned.max(row.seq);
                }
                if record.header.kind == "repair"
                    && let Ok(Repaired { problems: found }) = record.data(recording)
                {
                    problems.extend(found.into_iter().filter(|problem| is_loss(problem.kind)));
                }
                problems.extend(broken_part(&record, recording));
            }
        }
    }
    let reached = reader.reached();
    problems.retain(|problem| {
        let is_pruned = problem.kind == ProblemKind::Missing && problem.first == 1 && problem.last <= pruned;
        // The end of a live recording is being written.
        !(is_pruned || live && problem.kind == ProblemKind::Torn)
    });
    if let Some(head) = head {
        // Of bad lines at the end, no more were rows than were synced.
        for end in problems.iter_mut().filter(|problem| problem.first > reached.seq) {
            end.last = end.last.min(head.seq.max(end.first));
        }
    }
    let told = problems.iter().map(|problem| problem.last).fold(reached.seq, u64::max);
    // Whoever writes it now writes its seal as well.
    problems.extend(
        end_of(&reader, head, told).filter(|problem| !(live && problem.kind == ProblemKind::Unsealed)),
    );
    Ok(Report { records, seq: reached.seq, hash: reached.hash, live, closed, problems })
}

fn broken_part(record: &Record, recording: &Path) -> Option<Problem> {
    let seq = record.header.seq;
    match record.data::<serde_json::Value>(recording) {
        Err(Error::Part { path, .. }) => Some(Problem {
            kind: ProblemKind::Changed,
            first: seq,
            last: seq,
            segment: format!("parts/{}", path.display()),
            offset: 0,
        }),
        _ => None,
    }
}

/// Tells whether such a problem outlives a repair: rows are gone, or may be.
fn is_loss(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::CutOff | ProblemKind::Unsealed)
}

/// Compares the end of what was read, row `seq`, with what was last synced: the chain alone cannot tell that it was
/// cut. Without that nothing can.
pub(super) fn end_of(reader: &Reader, head: Option<Head>, seq: u64) -> Option<Problem> {
    let segment = layout::segment_name(reader.reached().segment);
    let problem =
        |kind, first, last| Some(Problem { kind, first, last, segment: segment.clone(), offset: 0 });
    let Some(head) = head else {
        let segment = layout::HEAD.to_owned();
        return Some(Problem { kind: ProblemKind::Unsealed, first: seq, last: seq, segment, offset: 0 });
    };
    if head.seq > seq {
        return problem(ProblemKind::CutOff, seq + 1, head.seq);
    }
    match reader.hash_of(head.seq) {
        Some(hash) if hash != head.hash => problem(ProblemKind::Changed, head.seq, head.seq),
        _ => None,
    }
}
