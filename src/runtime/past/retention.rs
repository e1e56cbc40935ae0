//! Retention of past recordings: the oldest finished ones are removed, each with a row in the journal. Blocks.

use std::path::{Path, PathBuf};
use std::{fs, io};

use jiff::{SignedDuration, Timestamp};

use super::find::list;
use crate::config;
use crate::files::{HeldFolder, KnownTree};
use crate::journal::{
    ChainHead, Durability, Journal, JournalItem, JournalReader, RecordingMeta, is_held, is_of_journal,
};
use crate::ledger::is_of_ledger;
use crate::runtime::record_row::{Fact, FactKind};
use crate::runtime::task_folder::{TASKS, is_of_tasks};

#[derive(Debug, Clone, PartialEq, Eq)]
struct FinishedRecording {
    folder: PathBuf,
    name: String,
    bytes: u64,
    started_at: Option<Timestamp>,
    /// Whether a command was run in it. Recordings with and without commands are counted separately, so that merely
    /// looking at tasks does not displace the record of what was done.
    has_run: bool,
}

/// Removes recordings beyond the limits; returns the size of the rest in bytes, and the name of the one removed for its
/// age; without a time, none is. `own` and recordings being written are kept, whatever their size.
pub(in crate::runtime) fn retain(
    own: &Path,
    limits: &config::RecordSettings,
    journal: &Journal,
    now: Option<Timestamp>,
) -> (u64, Option<String>) {
    let Some(recordings) = own.parent() else { return (0, None) };
    if let Err(error) = HeldFolder::open_own(recordings) {
        tracing::warn!(%error, folder = %recordings.display(), "no old recording is removed");
        return (0, None);
    }
    clear(recordings);
    let all = list(recordings, None);
    let open: u64 = all.iter().filter(|listed| listed.live).map(|listed| size(&listed.folder)).sum();
    let mut finished: Vec<FinishedRecording> = all
        .into_iter()
        .filter(|listed| !listed.live && listed.folder != own && listed.is_own())
        .map(|listed| FinishedRecording {
            bytes: size(&listed.folder),
            started_at: listed.meta.map(|meta| meta.started_at),
            has_run: has_run(&listed.folder),
            folder: listed.folder,
            name: listed.name,
        })
        .collect();
    let is_removed = |recording: &FinishedRecording, reason| match remove(recording, journal, reason) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, recording = recording.name, "remove an old recording");
            false
        }
    };
    let old =
        now.and_then(|now| too_old(&finished, limits, now).find(|at| is_removed(&finished[*at], "age")));
    let old = old.map(|at| finished.remove(at).name);
    let mut left = open + finished.iter().map(|recording| recording.bytes).sum::<u64>();
    for (recording, reason) in too_much(&finished, open, limits) {
        if is_removed(recording, reason) {
            left = left.saturating_sub(recording.bytes);
        }
    }
    (left, old)
}

/// Returns the places of the recordings that may go for their age, of which one goes at a time. The age is measured
/// against the newest of them, and the clock only where that is earlier: a wrong clock does not make others old.
fn too_old(
    finished: &[FinishedRecording],
    limits: &config::RecordSettings,
    now: Timestamp,
) -> impl Iterator<Item = usize> {
    let newest = finished.iter().filter_map(|recording| recording.started_at).max();
    let now = newest.map_or(now, |newest| newest.min(now));
    let keep_for = SignedDuration::try_from(limits.keep_for).unwrap_or(SignedDuration::MAX);
    let is_old = move |recording: &FinishedRecording| {
        recording.started_at.is_some_and(|at| now.duration_since(at) > keep_for)
    };
    finished.iter().enumerate().filter(move |(_, recording)| is_old(recording)).map(|(at, _)| at)
}

/// Selects the recordings to remove, oldest first. Nothing is removed until a limit is exceeded by half, so that each
/// removal is worthwhile.
fn too_much<'a>(
    finished: &'a [FinishedRecording],
    open_bytes: u64,
    limits: &config::RecordSettings,
) -> Vec<(&'a FinishedRecording, &'static str)> {
    let total = open_bytes + finished.iter().map(|recording| recording.bytes).sum::<u64>();
    let by_size = total > limits.keep_bytes.saturating_add(limits.keep_bytes / 2);
    // Recordings with commands and recordings without are counted separately.
    let mut counts = [false, true].map(|has_run| count(finished, has_run));
    let by_count = counts.map(|count| count > limits.keep_recordings + limits.keep_recordings / 2);
    let mut bytes = total;
    let mut chosen = Vec::new();
    for recording in finished {
        let class = usize::from(recording.has_run);
        let reason = if by_size && bytes > limits.keep_bytes {
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

fn count(finished: &[FinishedRecording], has_run: bool) -> usize {
    finished.iter().filter(|recording| recording.has_run == has_run).count()
}

/// Tells whether a command was run in a recording: each has a folder of its own.
fn has_run(recording: &Path) -> bool {
    fs::read_dir(recording.join(TASKS)).is_ok_and(|mut tasks| tasks.next().is_some())
}

/// Removes a finished recording that contains only reads: no command ran, and no other recording was removed or
/// recovered. Blocks.
pub fn forget_looks(recording: &Path) {
    use FactKind::{Abandoned, Answer, Call, Closed, Recording};
    const LOOKS: [FactKind; 5] = [Recording, Call, Answer, Abandoned, Closed];
    let is_look = |item: JournalItem| match item {
        JournalItem::Record(record) => LOOKS.iter().any(|kind| kind.is(&record.header.kind)),
        JournalItem::Problem(_) => false,
    };
    let only_looks = || JournalReader::open(recording).is_ok_and(|mut rows| rows.all(is_look));
    if !has_run(recording)
        && !is_held(recording)
        && only_looks()
        && let Err(error) = Removable::find(recording).and_then(Removable::remove)
    {
        tracing::warn!(%error, recording = %recording.display(), "remove a recording in which nothing was done");
    }
}

/// Removes a recording: first records the removal, then renames its folder, then removes its files.
fn remove(recording: &FinishedRecording, journal: &Journal, reason: &str) -> io::Result<()> {
    if is_held(&recording.folder) {
        return Ok(());
    }
    let mut removable = Removable::find(&recording.folder)?;
    let head = ChainHead::read(&recording.folder);
    let row = Fact::Pruned {
        recording: recording.name.as_str().into(),
        seq: head.map_or(0, |head| head.seq),
        hash: head.map(|head| head.hash),
        bytes: recording.bytes,
        reason: reason.into(),
    };
    journal.note(&row, Durability::Synced).map_err(io::Error::other)?;
    let gone = PathBuf::from(format!("{REMOVED}{}", recording.name));
    removable.recordings.rename(&removable.name, &gone)?;
    removable.name = gone;
    removable.remove()
}

/// The name prefix of a recording's folder while its files are being removed.
const REMOVED: &str = ".removed-";
/// The file that is removed last: as long as a recording is there, it says that it is one.
const LAST: &str = "meta.json";

/// Removes what an earlier, interrupted removal left.
fn clear(recordings: &Path) {
    for entry in fs::read_dir(recordings).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(was) = name.to_str().and_then(|name| name.strip_prefix(REMOVED)) else { continue };
        let is_own = RecordingMeta::read(&entry.path()).is_some_and(|meta| meta.recording_name() == was);
        if is_own && let Err(error) = Removable::read(&entry.path()).and_then(Removable::remove) {
            tracing::warn!(%error, folder = %entry.path().display(), "remove the rest of a recording");
        }
    }
}

/// A recording of this user's, with nothing in it but what belongs there.
struct Removable {
    /// The folder it is in.
    recordings: HeldFolder,
    name: PathBuf,
    tree: KnownTree,
}

impl Removable {
    /// Checks a recording: its description and its rows carry its name.
    fn find(recording: &Path) -> io::Result<Self> {
        let name = recording.file_name().unwrap_or_default().to_string_lossy();
        let is_named = RecordingMeta::read(recording).is_some_and(|meta| meta.recording_name() == name);
        let mut rows = JournalReader::open(recording).map_err(io::Error::other)?;
        let is_first =
            |item: &JournalItem| matches!(item, JournalItem::Record(record) if record.header.session == name);
        if !is_named || !rows.next().is_some_and(|first| is_first(&first)) {
            return Err(io::Error::other(
                "its description and its first row do not say that it is a recording",
            ));
        }
        Self::read(recording)
    }

    fn read(recording: &Path) -> io::Result<Self> {
        let (above, name) = (recording.parent().unwrap_or(recording), recording.file_name());
        let (recordings, name) = (HeldFolder::open_own(above)?, PathBuf::from(name.unwrap_or_default()));
        let tree = KnownTree::read(&recordings, &name, |path, is_folder| {
            is_of_journal(path, is_folder) || is_of_tasks(path, is_folder) || is_of_ledger(path)
        })?;
        Ok(Self { recordings, name, tree })
    }

    fn remove(self) -> io::Result<()> {
        self.tree.remove(&self.recordings, &self.name, Path::new(LAST))
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
    use std::time::Duration;

    use super::*;

    const LIMITS: config::RecordSettings = config::RecordSettings {
        audit: config::AuditPolicy::Required,
        keep_bytes: 100,
        keep_for: Duration::from_secs(30 * 86_400),
        keep_recordings: 4,
        keep_live_bytes: 100,
    };

    /// Finished recordings, each given by its size in bytes and its age in days.
    fn finished(of: &[(u64, i64)]) -> Vec<FinishedRecording> {
        let day = |days: i64| Timestamp::UNIX_EPOCH - SignedDuration::from_hours(24 * days);
        let one = |(bytes, days): &(u64, i64)| FinishedRecording {
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
        let chosen = too_much(&finished, open, &LIMITS);
        chosen.into_iter().map(|(recording, reason)| (recording.name.clone(), reason)).collect()
    }

    #[test]
    fn no_recording_is_removed_until_a_limit_is_passed_by_half() {
        assert_eq!(chosen(&[(50, 29), (50, 1), (20, 1), (30, 0)], 0), []);
    }

    #[test]
    fn the_oldest_recordings_are_removed_until_the_rest_is_within_the_limit() {
        let said = |of: &[(&str, &'static str)]| {
            of.iter().map(|(name, why)| ((*name).to_owned(), *why)).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[(60, 3), (50, 2), (41, 1)], 0), said(&[("60/3", "size")]));
        assert_eq!(
            chosen(&[(1, 9), (1, 8), (1, 7), (1, 6), (1, 5), (1, 4), (1, 3)], 0),
            said(&[("1/9", "count"), ("1/8", "count"), ("1/7", "count")])
        );
    }

    #[test]
    fn age_is_measured_against_the_newest_and_never_by_a_wrong_clock() {
        let old =
            |of: &[(u64, i64)]| too_old(&finished(of), &LIMITS, Timestamp::UNIX_EPOCH).collect::<Vec<_>>();
        assert_eq!(old(&[(1, 46), (1, 32), (1, 31), (1, 1)]), [0, 1]);
        // The clock is 400 days ahead now, or was for one of them.
        assert_eq!(old(&[(1, 420), (1, 410), (1, 400)]), [0_usize; 0]);
        assert_eq!(old(&[(1, 20), (1, 1), (1, -400)]), [0_usize; 0]);
        assert_eq!(old(&[(1, 440), (1, 410), (1, 400)]), [0]);
    }

    #[test]
    fn one_recording_is_removed_for_its_age_and_none_without_a_time() {
        let temp = tempfile::tempdir().expect("temp dir");
        let recordings = temp.path().join("recordings");
        fs::create_dir(&recordings).expect("made");
        let ours = [440, 420, 400, 1].map(|days| recording(&recordings, days, 7));
        let own = recording(&recordings, 0, 1);
        let (journal, _) = crate::journal::repair(&own, crate::clock::Clock::start()).expect("opened");
        let limits = config::RecordSettings { keep_bytes: u64::MAX, ..LIMITS };
        let name = |path: &PathBuf| path.file_name().expect("a name").display().to_string();
        assert_eq!(retain(&own, &limits, &journal, None).1, None);
        assert_eq!(retain(&own, &limits, &journal, Some(Timestamp::UNIX_EPOCH)).1, Some(name(&ours[0])));
        journal.close();
        assert_eq!(ours.map(|path| path.exists()), [false, true, true, true]);
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
    fn the_recording_being_written_counts_towards_the_limit_and_stays() {
        assert_eq!(chosen(&[(10, 2), (10, 1)], 200).len(), 2);
    }
    /// The number of hostile entries beside the recordings; `PILOTHOUSE_HOSTILE` sets another one.
    const HOSTILE: usize = 120;

    /// Creates a finished recording in which a command ran.
    fn recording(recordings: &Path, age_days: i64, pid: u32) -> PathBuf {
        let started_at = Timestamp::UNIX_EPOCH - SignedDuration::from_hours(24 * age_days);
        let meta = RecordingMeta {
            version: crate::journal::META_VERSION,
            workspace: "/w".into(),
            pid,
            start: 1,
            boot_id: String::new(),
            started_at,
            program: "1".to_owned(),
        };
        let folder = recordings.join(meta.recording_name());
        let task = folder.join(TASKS).join("task_4k2m9x7q");
        fs::create_dir_all(&task).expect("made");
        for name in ["output.log", "output.marks", "exit.json", ".exit.json.0123abcd", "stdout.log"] {
            fs::write(task.join(name), "ours").expect("written");
        }
        let journal = Journal::create(&folder, &meta, crate::clock::Clock::start(), Default::default());
        let journal = journal.expect("a journal");
        let row = Fact::Recording { workspace: Path::new("/w").into(), pid, program: "1".into() };
        journal.note(&row, Durability::Synced).expect("noted");
        journal.close();
        folder
    }

    /// Puts something beside or into the recordings that is not ours, or not only ours; returns its path.
    fn put_hostile(kind: usize, number: usize, recordings: &Path, outside: &Path) -> PathBuf {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        use std::os::unix::fs::symlink;
        let pid = u32::try_from(100_000 + number).expect("a number");
        let own = || recording(recordings, 400, pid);
        let named = || recordings.join(format!("19690101T000000.000Z-{pid}"));
        let fifo =
            |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
        let folder = |path: PathBuf| {
            fs::create_dir_all(path.join("deep/er")).expect("made");
            fs::write(path.join("deep/er/holiday.jpg"), "mine").expect("written");
            path
        };
        let renamed = |almost: &dyn Fn(String) -> String| {
            let path = own();
            let to = recordings.join(almost(path.file_name().expect("a name").display().to_string()));
            fs::rename(path, &to).expect("renamed");
            to
        };
        match kind {
            0 => folder(recordings.join(format!("photos-{number:05}"))),
            1 => folder(named()),
            2 => {
                symlink(outside, named()).expect("a link");
                named()
            }
            // Another user's copy, a backup, a copy by a file manager.
            3 => renamed(&|name| format!("{name}.bak")),
            4 => renamed(&|name| name.replace("Z-", "z-")),
            5 => renamed(&|name| format!("{name}0")),
            6 => {
                let path = own();
                fs::write(path.join("notes.txt"), "mine").expect("written");
                path
            }
            7 => {
                let path = own();
                symlink(outside, path.join(TASKS).join("task_00000000")).expect("a link");
                path
            }
            8 => {
                let path = own();
                fs::rename(path.join(TASKS), outside.join(format!("tasks-{number}"))).expect("moved");
                symlink(outside.join(format!("tasks-{number}")), path.join(TASKS)).expect("a link");
                path
            }
            9 => {
                let path = own();
                fs::remove_file(path.join("journal-0001.jsonl")).expect("removed");
                path
            }
            10 => {
                let (path, other) = (own(), recording(recordings, 401, pid));
                fs::rename(other.join("journal-0001.jsonl"), path.join("journal-0001.jsonl")).expect("moved");
                fs::remove_dir_all(other).expect("removed");
                path
            }
            11 => {
                let path = own();
                fs::remove_file(path.join("meta.json")).expect("removed");
                fifo(&path.join("meta.json"));
                path
            }
            12 => {
                let path = own();
                fs::remove_file(path.join("head.json")).expect("removed");
                fifo(&path.join("head.json"));
                path
            }
            13 => {
                fifo(&named());
                named()
            }
            14 => {
                symlink(named(), named()).expect("a link");
                named()
            }
            15 => {
                let path = folder(recordings.join(format!(".removed-photos-{number}")));
                let from = own();
                fs::rename(from.join("meta.json"), path.join("meta.json")).expect("moved");
                fs::remove_dir_all(from).expect("removed");
                path
            }
            16 => folder(recordings.join(format!(".removed-19690101T000000.000Z-{pid}"))),
            17 => {
                let path = recordings.join(format!(".removed-19690101T000000.000Z-{pid}"));
                symlink(outside, &path).expect("a link");
                path
            }
            18 => {
                let path = own();
                if rustix::process::geteuid().is_root() {
                    std::os::unix::fs::chown(&path, Some(12_345), None).expect("given away");
                } else {
                    fs::write(path.join("notes.txt"), "mine").expect("written");
                }
                path
            }
            19 => {
                let path = own();
                let log = path.join(TASKS).join("task_4k2m9x7q/output.log");
                fs::remove_file(&log).expect("removed");
                symlink(recordings, &log).expect("a loop");
                path
            }
            20 => {
                let path = own();
                fs::create_dir(path.join("parts")).expect("made");
                fs::write(path.join("parts/report.json"), "mine").expect("written");
                path
            }
            _ => {
                fs::write(named(), "a file").expect("written");
                named()
            }
        }
    }

    /// Everything in a folder: kind and contents by path. Links are not followed.
    fn contents(path: &Path, all: &mut std::collections::BTreeMap<PathBuf, Vec<u8>>) {
        let facts = path.symlink_metadata().expect("there");
        let told = match () {
            () if facts.is_dir() => {
                fs::read_dir(path).expect("listed").flatten().for_each(|entry| contents(&entry.path(), all));
                b"folder".to_vec()
            }
            () if facts.is_symlink() => {
                fs::read_link(path).expect("read").into_os_string().into_encoded_bytes()
            }
            () if facts.is_file() => fs::read(path).expect("read"),
            () => b"other".to_vec(),
        };
        all.insert(path.to_owned(), told);
    }

    #[test]
    fn f45_nothing_without_our_mark_is_removed() {
        use proptest::prelude::*;
        use proptest::strategy::ValueTree as _;
        use proptest::test_runner::TestRunner;
        let asked = std::env::var("PILOTHOUSE_HOSTILE").ok().and_then(|count| count.parse().ok());
        let count: usize = asked.unwrap_or(HOSTILE);
        let temp = tempfile::tempdir().expect("temp dir");
        let (recordings, outside) = (temp.path().join("recordings"), temp.path().join("outside"));
        fs::create_dir_all(&outside).expect("made");
        fs::write(outside.join("meta.json"), "mine").expect("written");
        fs::create_dir(&recordings).expect("made");
        let mut runner = TestRunner::default();
        let any = prop::collection::vec(0..22_usize, count..=count);
        let kinds = any.new_tree(&mut runner).expect("kinds").current();
        let hostile: Vec<PathBuf> = (0..22)
            .chain(kinds)
            .enumerate()
            .map(|(number, kind)| put_hostile(kind, number, &recordings, &outside))
            .collect();
        let ours: Vec<PathBuf> = (1..=12).map(|days| recording(&recordings, days, 7)).collect();
        // A removal that was interrupted after most of it was done.
        let begun = recordings.join(format!("{REMOVED}{}", ours[11].file_name().expect("a name").display()));
        fs::rename(&ours[11], &begun).expect("renamed");
        fs::remove_file(begun.join("journal-0001.jsonl")).expect("removed");
        let own = recording(&recordings, 0, 1);
        let mut before = std::collections::BTreeMap::new();
        hostile.iter().chain([&outside]).for_each(|path| contents(path, &mut before));
        let clock = crate::clock::Clock::start();
        let (journal, _) = crate::journal::repair(&own, clock).expect("opened");
        let limits = config::RecordSettings { keep_bytes: u64::MAX, ..LIMITS };
        retain(&own, &limits, &journal, Some(Timestamp::UNIX_EPOCH));
        journal.close();
        let mut after = std::collections::BTreeMap::new();
        hostile.iter().chain([&outside]).for_each(|path| contents(path, &mut after));
        for (path, told) in &before {
            assert_eq!(after.get(path), Some(told), "{}", path.display());
        }
        assert_eq!(after.len(), before.len());
        assert!(!begun.exists(), "an interrupted removal is finished");
        assert!(ours[4..].iter().all(|path| !path.exists()), "the oldest of ours are removed");
        assert!(ours[..4].iter().all(|path| path.exists()), "the newest of ours are kept");
    }

    #[test]
    fn f45_nothing_is_removed_through_a_link_to_the_recordings() {
        let temp = tempfile::tempdir().expect("temp dir");
        let (there, link) = (temp.path().join("there"), temp.path().join("recordings"));
        fs::create_dir(&there).expect("made");
        let ours: Vec<PathBuf> = (1..=12).map(|days| recording(&there, days, 7)).collect();
        let own = recording(&there, 0, 1);
        std::os::unix::fs::symlink(&there, &link).expect("a link");
        let (journal, _) = crate::journal::repair(&own, crate::clock::Clock::start()).expect("opened");
        retain(&link.join(own.file_name().expect("a name")), &LIMITS, &journal, Some(Timestamp::UNIX_EPOCH));
        journal.close();
        assert!(ours.iter().all(|path| path.exists()));
    }
}
