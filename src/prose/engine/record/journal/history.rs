//! What earlier executions of a run have recorded, indexed for lookup: read once on resume, then never changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::row::{ProgramKey, RunHeader, RunRow};
use crate::model::{AnswerValue, RecordedAnswer};
use crate::prose::engine::record::command_result::CommandResult;
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::record::state::StateLine;

#[derive(Debug, Default)]
pub(super) struct RunHistory {
    pub(super) places: HashMap<ProgramKey, KeyHistory>,
    pub(super) numbers: HashMap<(ProgramKey, String), u32>,
    /// The last writer of each binding's file.
    pub(super) writers: HashMap<PathBuf, (ProgramKey, WrittenBinding)>,
    /// How the run ended, and whether it can be resumed.
    pub(super) end: Option<(String, bool)>,
    /// How often each line was added to the `state.md` of a folder; `None` is the run's own folder.
    lines: HashMap<(Option<PathBuf>, String), usize>,
    /// The last line recorded, if no other row follows it.
    pub(super) last_line: Option<StateLine>,
}

/// The possible contents of a binding's file, as digests: what was to be written last, or what was there before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenBinding {
    digest: String,
    before: Option<String>,
}

impl WrittenBinding {
    /// Returns whether a text is what was there before: the run was interrupted before it wrote the file.
    pub fn is_stale(&self, text: &str) -> bool {
        let digest = digest(text);
        digest != self.digest && self.before.as_ref() == Some(&digest)
    }
}

/// What is known about one place in the program.
#[derive(Debug, Default)]
pub(super) struct KeyHistory {
    pub(super) is_begun: bool,
    /// The line of the command.
    pub(super) line: u32,
    pub(super) is_bound: bool,
    pub(super) ran: Option<Box<CommandResult>>,
    /// The outcome of the command that ended the run.
    pub(super) failed: Option<Box<CommandResult>>,
    pub(super) decided: Option<RecordedDecision>,
    pub(super) marks: Vec<String>,
    pub(super) joined: Option<Vec<(usize, bool)>>,
}

impl RunHistory {
    /// Parses the complete rows of a journal.
    ///
    /// # Errors
    /// The first row that is not valid.
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<(RunHeader, Self), RunError> {
        let broken =
            |line: usize, reason: String| RunError::Journal { path: path.to_owned(), line: line + 1, reason };
        let mut rows = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
        let parse = |(at, line): (usize, &[u8])| {
            serde_json::from_slice::<RunRow>(line).map_err(|error| broken(at, error.to_string()))
        };
        let first = match rows.next().map(parse).transpose()? {
            Some(RunRow::Run(first)) if first.version == RunHeader::VERSION => first,
            Some(RunRow::Run(first)) => {
                return Err(broken(0, format!("version {} is not known", first.version)));
            }
            _ => return Err(broken(0, "it does not begin with the run".to_owned())),
        };
        let mut history = Self::default();
        for row in rows {
            history.apply(parse(row)?);
        }
        Ok((first, history))
    }

    fn place(&mut self, key: ProgramKey) -> &mut KeyHistory {
        self.places.entry(key).or_default()
    }

    fn apply(&mut self, row: RunRow) {
        self.last_line = None;
        match row {
            RunRow::Resumed { .. } => self.end = None,
            RunRow::Begun { key, line, .. } => {
                let place = self.place(key);
                (place.failed, place.is_begun, place.line) = (None, true, line);
            }
            RunRow::Ran { key, ran } => {
                let place = self.place(key);
                (place.failed, place.ran) = (None, Some(ran));
            }
            // An answer that is not on record is asked for again.
            RunRow::Run(_)
            | RunRow::Decided {
                decided: RecordedDecision::Answered(RecordedAnswer { value: AnswerValue::Hidden(_), .. }),
                ..
            } => {}
            RunRow::Decided { key, decided } => self.place(key).decided = Some(decided),
            RunRow::Number { key, of, number } => drop(self.numbers.insert((key, of), number)),
            RunRow::Mark { key, text, of } => {
                self.place(key).marks.push(text.clone());
                let times = self.lines.entry((of.clone(), text.clone())).or_default();
                *times += 1;
                self.last_line = Some(StateLine { of, text, times: *times });
            }
            RunRow::Bound { key, file, digest } => {
                let before = self.writers.remove(&file).map(|(_, written)| written.digest);
                self.writers.insert(file, (key.clone(), WrittenBinding { digest, before }));
                self.place(key).is_bound = true;
            }
            RunRow::Joined { key, ends } => self.place(key).joined = Some(ends),
            RunRow::End { how, place, .. } => {
                let can_resume = how == "interrupted" || place.is_some();
                if let Some(place) = place {
                    self.reopen(&place);
                }
                self.end = Some((how, can_resume));
            }
        }
    }

    /// Reverts what ended a run and everything that followed from it: the enclosing joins, and the `catch` and
    /// `finally` it led to.
    fn reopen(&mut self, key: &ProgramKey) {
        let place = self.place(key.clone());
        (place.is_begun, place.decided) = (false, None);
        place.failed = place.ran.take().or(place.failed.take());
        for (at, _) in key.match_indices('/') {
            let (around, inner) = (&key[..at], &key[at + 1..]);
            if let Some(place) = self.places.get_mut(around) {
                place.joined = None;
            }
            let follows: &[&str] = match inner.split('/').next() {
                Some("try") => &["catch", "finally"],
                Some("catch") => &["finally"],
                _ => continue,
            };
            for part in follows {
                let beneath = format!("{around}/{part}/");
                self.places.retain(|key, _| !key.starts_with(&beneath));
                self.writers.retain(|_, (key, _)| !key.starts_with(&beneath));
            }
        }
    }
}

pub(super) fn digest(text: &str) -> String {
    let mut digits = crate::files::digest(text);
    digits.truncate(16);
    digits
}
