//! Retention of past recordings: the oldest finished ones are removed, each with a row in the journal. Blocks.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::find::list;
use crate::config;
use crate::journal::{Durability, Head, Item, Journal, Reader, is_held};
use crate::runtime::events::Row;

/// One finished recording.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finished {
    folder: PathBuf,
    name: String,
    bytes: u64,
    started_at: Option<Timestamp>,
    /// Whether a command was run in it. Recordings with and without commands are counted separately, so that merely
    /// looking at tasks does not displace the record of what was done.
    has_run: bool,
}

/// Removes recordings beyond the limits and returns the size of the rest in bytes; `own` and recordings being written
/// are kept, whatever their size.
pub(in crate::runtime) fn retain(
    own: &Path,
    limits: &config::Record,
    journal: &Journal,
    now: Timestamp,
) -> u64 {
    let Some(recordings) = own.parent() else { return 0 };
    clear(recordings);
    let all = list(recordings, None);
    let open: u64 = all.iter().filter(|listed| listed.live).map(|listed| size(&listed.folder)).sum();
    let finished: Vec<Finished> = all
        .into_iter()
        .filter(|listed| !listed.live && listed.folder != own)
        .map(|listed| Finished {
            bytes: size(&listed.folder),
            started_at: listed.meta.map(|meta| meta.started_at),
            has_run: has_run(&listed.folder),
            folder: listed.folder,
            name: listed.name,
        })
        .collect();
    let mut left = open + finished.iter().map(|recording| recording.bytes).sum::<u64>();
    for (recording, reason) in too_much(&finished, open, limits, now) {
        match remove(recording, reason, journal) {
            Ok(()) => left = left.saturating_sub(recording.bytes),
            Err(error) => tracing::warn!(%error, recording = recording.name, "remove an old recording"),
        }
    }
    left
}

/// Selects the recordings to remove, oldest first. Nothing is removed until a limit is exceeded by half, so that each
/// removal is worthwhile.
fn too_much<'a>(
    finished: &'a [Finished],
    open_bytes: u64,
    limits: &config::Record,
    now: Timestamp,
) -> Vec<(&'a Finished, &'static str)> {
    let total = open_bytes + finished.iter().map(|recording| recording.bytes).sum::<u64>();
    let older = |recording: &Finished, age: Duration| {
        let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
        recording.started_at.is_some_and(|at| now.duration_since(at) > age)
    };
    let by_size = total > limits.keep_bytes.saturating_add(limits.keep_bytes / 2);
    // Recordings with commands and recordings without are counted separately.
    let mut counts = [false, true].map(|has_run| count(finished, has_run));
    let by_count = counts.map(|count| count > limits.keep_recordings + limits.keep_recordings / 2);
    let by_age = finished.iter().any(|recording| older(recording, limits.keep_for * 3 / 2));
    let mut bytes = total;
    let mut chosen = Vec::new();
    for recording in finished {
        let class = usize::from(recording.has_run);
        let reason = if by_age && older(recording, limits.keep_for) {
            "age"
        } else if by_size && bytes > limits.keep_bytes {
            "size"
        } else if by_count[class] && counts[class] > limits.keep_recordings {
            "count"
        } else {
            continue;
        };
        bytes = bytes.saturating_sub(recording.bytes);
        counts[class] -= 1;
        chosen.push((recording, reason));
    }
    chosen
}

fn count(finished: &[Finished], has_run: bool) -> usize {
    finished.iter().filter(|recording| recording.has_run == has_run).count()
}

/// Tells whether a command was run in a recording: each has a folder of its own.
fn has_run(recording: &Path) -> bool {
    fs::read_dir(recording.join("tasks")).is_ok_and(|mut tasks| tasks.next().is_some())
}

/// Removes a finished recording that contains only reads: no command ran, and no other recording was removed or
/// recovered. Blocks.
pub fn forget_looks(recording: &Path) {
    const LOOKS: [&str; 5] = ["recording", "call", "answer", "abandoned", "closed"];
    let is_look = |item: Item| match item {
        Item::Record(record) => LOOKS.contains(&record.header.kind.as_str()),
        Item::Problem(_) => false,
    };
    let only_looks = || Reader::open(recording).is_ok_and(|mut rows| rows.all(is_look));
    if !has_run(recording)
        && !is_held(recording)
        && only_looks()
        && let Err(error) = fs::remove_dir_all(recording)
    {
        tracing::warn!(%error, recording = %recording.display(), "remove a recording in which nothing was done");
    }
}

/// Removes a recording: first records the removal, then renames its folder, then removes its files.
fn remove(recording: &Finished, reason: &str, journal: &Journal) -> std::io::Result<()> {
    if is_held(&recording.folder) {
        return Ok(());
    }
    let head = Head::read(&recording.folder);
    let row = Row::Pruned {
        recording: &recording.name,
        seq: head.map_or(0, |head| head.seq),
        hash: head.map(|head| head.hash),
        bytes: recording.bytes,
        reason,
    };
    journal.note(&row, Durability::Synced).map_err(std::io::Error::other)?;
    let gone = recording.folder.with_file_name(format!("{REMOVED}{}", recording.name));
    fs::rename(&recording.folder, &gone)?;
    fs::remove_dir_all(gone)
}

/// The name prefix of a recording's folder while its files are being removed.
const REMOVED: &str = ".removed-";

/// Removes what an earlier, interrupted removal left.
fn clear(recordings: &Path) {
    for entry in fs::read_dir(recordings).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(REMOVED)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%error, folder = %entry.path().display(), "remove the rest of a recording");
        }
    }
}

/// Returns the total size of the files in a folder and its subfolders, in bytes. Links are not followed.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => size(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: config::Record = config::Record {
        audit: config::Audit::Required,
        keep_bytes: 100,
        keep_for: Duration::from_secs(30 * 86_400),
        keep_recordings: 4,
    };

    /// Finished recordings, each given by its size in bytes and its age in days.
    fn finished(of: &[(u64, i64)]) -> Vec<Finished> {
        let day = |days: i64| Timestamp::UNIX_EPOCH - SignedDuration::from_hours(24 * days);
        let one = |(bytes, days): &(u64, i64)| Finished {
            folder: PathBuf::new(),
            name: format!("{bytes}/{days}"),
            bytes: *bytes,
            started_at: Some(day(*days)),
            has_run: *bytes > 0,
        };
        of.iter().map(one).collect()
    }

    fn chosen(of: &[(u64, i64)], open: u64) -> Vec<(String, &'static str)> {
        let finished = finished(of);
        let chosen = too_much(&finished, open, &LIMITS, Timestamp::UNIX_EPOCH);
        chosen.into_iter().map(|(recording, reason)| (recording.name.clone(), reason)).collect()
    }

    #[test]
    fn nothing_goes_until_a_limit_is_passed_by_half() {
        assert_eq!(chosen(&[(50, 40), (50, 1), (20, 1), (30, 0)], 0), []);
    }

    #[test]
    fn the_oldest_go_until_the_rest_is_within_the_limit() {
        let said = |of: &[(&str, &'static str)]| {
            of.iter().map(|(name, why)| ((*name).to_owned(), *why)).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[(60, 3), (50, 2), (41, 1)], 0), said(&[("60/3", "size")]));
        assert_eq!(
            chosen(&[(1, 9), (1, 8), (1, 7), (1, 6), (1, 5), (1, 4), (1, 3)], 0),
            said(&[("1/9", "count"), ("1/8", "count"), ("1/7", "count")])
        );
        assert_eq!(chosen(&[(1, 46), (1, 31), (1, 29)], 0), said(&[("1/46", "age"), ("1/31", "age")]));
    }

    #[test]
    fn recordings_in_which_nothing_ran_do_not_push_out_others() {
        let looks = [(0, 5), (0, 4), (0, 3), (0, 2), (0, 1), (0, 0), (0, 0)];
        let all = [&[(7, 9)][..], &looks].concat();
        let said = chosen(&all, 0);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said.iter().all(|(name, why)| name.starts_with("0/") && *why == "count"), "{said:?}");
    }

    #[test]
    fn what_is_being_written_counts_and_stays() {
        assert_eq!(chosen(&[(10, 2), (10, 1)], 200).len(), 2);
    }
}
