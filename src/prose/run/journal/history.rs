//! What a journal says, by what it is asked for: read once when a run is gone on with, never changed after.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::row::VERSION;
use super::{Key, Line, Row, RunRow, Written};
use crate::prose::run::error::Error;
use crate::prose::vm::effects::{Decided, Ran};

/// The rows of a journal, by what they are asked for.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) begun: HashSet<Key>,
    pub(super) ran: HashMap<Key, Box<Ran>>,
    pub(super) failed: HashMap<Key, Box<Ran>>,
    pub(super) decided: HashMap<Key, Decided>,
    pub(super) numbers: HashMap<(Key, String), u32>,
    pub(super) marks: HashMap<Key, Vec<String>>,
    pub(super) bound: HashSet<Key>,
    /// Who wrote a binding last.
    pub(super) writers: HashMap<PathBuf, (Key, Written)>,
    pub(super) joined: HashMap<Key, Vec<(usize, bool)>>,
    /// How it ended, and whether it can be gone on with.
    pub(super) end: Option<(String, bool)>,
    /// How often each line went into the `state.md` of a folder; none is the run's own.
    lines: HashMap<(Option<PathBuf>, String), usize>,
    /// The line of the last row, if that is one.
    pub(super) last_line: Option<Line>,
}

/// Reads the rows of a journal.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<(RunRow, History), Error> {
    let broken =
        |line: usize, reason: String| Error::Journal { path: path.to_owned(), line: line + 1, reason };
    let mut rows = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let parse = |(at, line): (usize, &[u8])| {
        serde_json::from_slice::<Row>(line).map_err(|error| broken(at, error.to_string()))
    };
    let first = match rows.next().map(parse).transpose()? {
        Some(Row::Run(first)) if first.version == VERSION => first,
        Some(Row::Run(first)) => return Err(broken(0, format!("version {} is not known", first.version))),
        _ => return Err(broken(0, "it does not begin with the run".to_owned())),
    };
    let mut memory = History::default();
    for row in rows {
        memory.take(parse(row)?);
    }
    Ok((first, memory))
}

impl History {
    fn take(&mut self, row: Row) {
        self.last_line = None;
        match row {
            Row::Run(_) => {}
            Row::Resumed { .. } => self.end = None,
            Row::Begun { key, .. } => {
                self.failed.remove(&key);
                self.begun.insert(key);
            }
            Row::Ran { key, ran } => {
                self.failed.remove(&key);
                self.ran.insert(key, ran);
            }
            Row::Decided { key, decided } => {
                self.decided.insert(key, decided);
            }
            Row::Number { key, of, number } => {
                self.numbers.insert((key, of), number);
            }
            Row::Mark { key, text, of } => {
                self.marks.entry(key).or_default().push(text.clone());
                let times = self.lines.entry((of.clone(), text.clone())).or_default();
                *times += 1;
                self.last_line = Some(Line { of, text, times: *times });
            }
            Row::Bound { key, file, digest } => {
                let before = self.writers.remove(&file).map(|(_, written)| written.digest);
                self.writers.insert(file, (key.clone(), Written { digest, before }));
                self.bound.insert(key);
            }
            Row::Joined { key, ends } => {
                self.joined.insert(key, ends);
            }
            Row::End { how, place, .. } => {
                let can_resume = how == "interrupted" || place.is_some();
                if let Some(place) = place {
                    self.reopen(&place);
                }
                self.end = Some((how, can_resume));
            }
        }
    }

    /// Takes back what ended the run, and what was done only because of it: how the blocks around it were joined,
    /// what caught it, and what was done in any case, since that comes after what is now done again.
    fn reopen(&mut self, place: &Key) {
        self.begun.remove(place);
        self.decided.remove(place);
        if let Some(ran) = self.ran.remove(place) {
            self.failed.insert(place.clone(), ran);
        }
        for (at, _) in place.match_indices('/') {
            let (around, inner) = (&place[..at], &place[at + 1..]);
            self.joined.remove(around);
            let follows: &[&str] = match inner.split('/').next() {
                Some("try") => &["catch", "finally"],
                Some("catch") => &["finally"],
                _ => continue,
            };
            for part in follows {
                self.forget(&format!("{around}/{part}/"));
            }
        }
    }

    fn forget(&mut self, beneath: &str) {
        let stays = |key: &Key| !key.starts_with(beneath);
        self.begun.retain(stays);
        self.ran.retain(|key, _| stays(key));
        self.failed.retain(|key, _| stays(key));
        self.decided.retain(|key, _| stays(key));
        self.marks.retain(|key, _| stays(key));
        self.bound.retain(stays);
        self.writers.retain(|_, (key, _)| stays(key));
        self.joined.retain(|key, _| stays(key));
    }
}
