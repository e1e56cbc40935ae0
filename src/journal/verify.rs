//! Verifies that a recording is as it was written, as far as that can be determined without trusting anyone.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::chain::Hash;
use super::layout::{self, ChainHead, is_held};
use super::problem::{Problem, ProblemKind};
use super::reader::{JournalItem, JournalReader};
use super::{JournalError, JournalRecord};

/// The result of verifying a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Number of valid lines.
    pub records: u64,
    /// Number of the last valid line.
    pub seq: u64,
    pub hash: Hash,
    /// The recording is being written now.
    pub live: bool,
    /// Its last row says that the recording was closed.
    pub closed: bool,
    /// Everything that is not as it was written, in order.
    pub problems: Vec<Problem>,
}

impl VerifyReport {
    /// Tells whether everything is as it was written.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A row that says where the journal begins after its oldest segment was removed.
#[derive(Deserialize)]
struct PrunedRow {
    seq: u64,
}

/// A row that lists what a repair found: problems it fixed no longer show, lost rows remain lost.
#[derive(Deserialize)]
struct RepairRow {
    problems: Vec<Problem>,
}

/// Verifies a recording: each line, the links between lines, the files they name, and the end.
///
/// # Errors
/// When its folder cannot be listed.
pub fn verify(recording: &Path) -> Result<VerifyReport, JournalError> {
    let live = is_held(recording);
    // Read before the lines: anything written in the meantime only adds to them.
    let head = ChainHead::read(recording);
    let mut reader = JournalReader::open(recording)?;
    let (mut problems, mut records, mut closed) = (Vec::new(), 0, false);
    let mut pruned = 0;
    for item in reader.by_ref() {
        match item {
            JournalItem::Problem(problem) => problems.push(problem),
            JournalItem::Record(record) => {
                records += 1;
                closed = record.header.kind == "closed";
                if record.header.kind == "pruned"
                    && let Ok(row) = record.data::<PrunedRow>(recording)
                {
                    pruned = pruned.max(row.seq);
                }
                if record.header.kind == "repair"
                    && let Ok(RepairRow { problems: found }) = record.data(recording)
                {
                    problems.extend(found.into_iter().filter(|problem| is_loss(problem.kind)));
                }
                problems.extend(broken_part(&record, recording));
            }
        }
    }
    let reached = reader.valid_end();
    problems.retain(|problem| {
        let is_pruned = problem.kind == ProblemKind::Missing && problem.first == 1 && problem.last <= pruned;
        // The end of a live recording is being written.
        !(is_pruned || live && problem.kind == ProblemKind::Torn)
    });
    if let Some(head) = head {
        // Of the bad lines at the end, only as many can have been rows as were synced.
        for end in problems.iter_mut().filter(|problem| problem.first > reached.seq) {
            end.last = end.last.min(head.seq.max(end.first));
        }
    }
    let told = problems.iter().map(|problem| problem.last).fold(reached.seq, u64::max);
    // The process that writes it now also writes its seal.
    problems.extend(
        end_of(&reader, head, told).filter(|problem| !(live && problem.kind == ProblemKind::Unsealed)),
    );
    Ok(VerifyReport { records, seq: reached.seq, hash: reached.hash, live, closed, problems })
}

fn broken_part(record: &JournalRecord, recording: &Path) -> Option<Problem> {
    let seq = record.header.seq;
    match record.data::<serde_json::Value>(recording) {
        Err(JournalError::Part { path, .. }) => Some(Problem {
            kind: ProblemKind::Changed,
            first: seq,
            last: seq,
            segment: format!("parts/{}", path.display()),
            offset: 0,
        }),
        _ => None,
    }
}

/// Tells whether such a problem remains after a repair: rows are lost, or may be.
fn is_loss(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::CutOff | ProblemKind::Unsealed)
}

/// Compares the end of what was read, row `seq`, with the last synced head: the chain alone cannot show that its end
/// was cut off, and without the head nothing can.
pub(super) fn end_of(reader: &JournalReader, head: Option<ChainHead>, seq: u64) -> Option<Problem> {
    let segment = layout::segment_name(reader.valid_end().segment);
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
