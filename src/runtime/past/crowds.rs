//! Commands of one kind that ran at the same time, in the latest recordings of a user: what a lane would hold apart.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use super::find::list;
use crate::consequence::rule_words::Prefix;
use crate::journal::{JournalItem, JournalReader};
use crate::model::{CeilingHit, CeilingKind, TaskEnd};
use crate::runtime::record_row::FactKind;

/// The number of recordings read: the newest ones.
const MOST_RECORDINGS: usize = 20;
/// The number of rows read in total.
const MOST_ROWS: usize = 100_000;
/// What is over sooner, in seconds, does not count: it is in nobody's way.
const LEAST_SECONDS: i64 = 10;

/// Commands with the same beginning that ran at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crowd {
    /// How they begin.
    pub prefix: String,
    /// The most that ran at the same time.
    pub together: usize,
    /// How many of them were ended for lack of memory meanwhile.
    pub out_of_memory: usize,
}

/// Reads what ran at the same time, in all workspaces. Whatever cannot be read is skipped. Blocks while reading.
pub fn crowds(recordings: &Path) -> Vec<Crowd> {
    let listed = list(recordings, None);
    let first = listed.len().saturating_sub(MOST_RECORDINGS);
    let readers = listed[first..].iter().filter_map(|recording| {
        let reader = JournalReader::open(&recording.folder).ok()?;
        Some(reader.map(|item| (&recording.folder, item)))
    });
    let runs = readers.flatten().take(MOST_ROWS).filter_map(|(folder, item)| match item {
        JournalItem::Record(record) if FactKind::Ended.is(&record.header.kind) => {
            record.data::<CrowdRow>(folder).ok()?.task.run()
        }
        _ => None,
    });
    count(runs)
}

/// Counts, for each beginning of a command, how many ran at the same time.
fn count(runs: impl Iterator<Item = CommandRun>) -> Vec<Crowd> {
    let mut by_prefix: BTreeMap<String, Vec<CommandRun>> = BTreeMap::new();
    for run in runs {
        by_prefix.entry(run.prefix.clone()).or_default().push(run);
    }
    let crowd = |(prefix, runs): (String, Vec<CommandRun>)| {
        let beside = |at: Timestamp| runs.iter().filter(move |run| run.began <= at && at < run.ended).count();
        let together = runs.iter().map(|run| beside(run.began)).max().unwrap_or_default();
        let is_crowded = |run: &&CommandRun| {
            let is_other = |other: &&CommandRun| other.began < run.ended && run.began < other.ended;
            run.out_of_memory && runs.iter().filter(is_other).count() > 1
        };
        let out_of_memory = runs.iter().filter(is_crowded).count();
        Crowd { prefix, together, out_of_memory }
    };
    by_prefix.into_iter().map(crowd).filter(|crowd| crowd.together > 1).collect()
}

/// One run of a command.
#[derive(Debug, Clone)]
struct CommandRun {
    prefix: String,
    began: Timestamp,
    ended: Timestamp,
    out_of_memory: bool,
}

#[derive(Deserialize)]
struct CrowdRow {
    task: CrowdFields,
}

/// The fields read from a task's row.
#[derive(Deserialize)]
struct CrowdFields {
    cmd: String,
    started_at: Option<Timestamp>,
    ended: Option<TaskEnd>,
    #[serde(default)]
    ceiling: Option<CeilingHit>,
}

impl CrowdFields {
    fn run(self) -> Option<CommandRun> {
        let out_of_memory = self
            .ceiling
            .is_some_and(|hit| matches!(hit.kind, CeilingKind::MemoryLimit | CeilingKind::SystemOom));
        let (began, ended) = (self.started_at?, self.ended?.at);
        let is_long = out_of_memory || ended.duration_since(began).as_secs() >= LEAST_SECONDS;
        let prefix = Prefix::of(&self.cmd).filter(|_| is_long)?.text().to_owned();
        Some(CommandRun { prefix, began, ended, out_of_memory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(prefix: &str, began: i64, ended: i64, out_of_memory: bool) -> CommandRun {
        let at = |second| Timestamp::from_second(second).expect("a time");
        CommandRun { prefix: prefix.into(), began: at(began), ended: at(ended), out_of_memory }
    }

    #[test]
    fn commands_that_ran_at_the_same_time_are_counted_and_those_in_turn_are_not() {
        let runs = [
            run("cargo build", 0, 20, false),
            run("cargo build", 5, 30, true),
            run("cargo build", 25, 40, false),
            run("make", 0, 20, true),
            run("make", 20, 40, false),
        ];
        let crowd = Crowd { prefix: "cargo build".into(), together: 2, out_of_memory: 1 };
        assert_eq!(count(runs.into_iter()), [crowd]);
    }
}
