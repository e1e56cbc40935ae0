//! Takes snapshots of the processes that outlived their shell, from `/proc`, to find out which of them are still part of
//! the command (`survivors` decides). Costs nothing for a command that leaves nothing behind.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use rustix::fs::{AtFlags, CWD, FileType, OFlags, Statx, StatxFlags, fstat, statx};
use rustix::process::getpid;

use super::survivors::{FileId, PipeEnd, Survivor, SurvivorSnapshot};
use super::tree::{self, ProcessEntry};

/// The interval at which processes that print are looked at: as long as output may be quiet (docs/contract.md).
const SHORT: Duration = Duration::from_millis(100);
/// The longest interval at which processes that read to the end of a pipe are looked at.
const LONG: Duration = Duration::from_secs(1);
/// How much processor time, in clock ticks of 10 ms, a process uses in [`SHORT`] if it is getting on.
const TICKS: u64 = 1;
/// Descriptors inspected per process.
const MOST_DESCRIPTORS: usize = 4_096;

/// What is known of the processes that outlived a shell.
pub(super) struct SurvivorSurvey {
    /// The standard output and error of the command.
    outputs: Vec<FileId>,
    /// The processor time of each process, by its id and start, at the last snapshot, and when that was.
    used: HashMap<(i32, u64), u64>,
    used_at: Option<Duration>,
    /// The processes that were part of the command at the last snapshot, by id and start.
    part: HashSet<(i32, u64)>,
    /// The pipes that no process outside of the command writes to.
    ours: HashSet<FileId>,
    interval: Duration,
}

/// The processes that are still part of the command.
pub(super) struct WorkingProcesses {
    pub(super) names: Vec<String>,
    /// When to look again.
    pub(super) again: Duration,
}

impl SurvivorSurvey {
    /// Begins with the descriptors that are the command's standard output and error.
    pub(super) fn of(outputs: &[OwnedFd]) -> Self {
        let file = |output: &OwnedFd| {
            fstat(output).ok().map(|stat| FileId { device: stat.st_dev, inode: stat.st_ino })
        };
        Self {
            outputs: outputs.iter().filter_map(file).collect(),
            used: HashMap::new(),
            used_at: None,
            part: HashSet::new(),
            ours: HashSet::new(),
            interval: SHORT,
        }
    }

    /// Takes the first snapshot, to see later which of the processes are getting on.
    pub(super) fn begin(&mut self, now: Duration, family: impl FnOnce() -> Vec<ProcessEntry>) {
        if self.used_at.is_none() {
            let family = family();
            let snapshot = self.snapshot(now, &family);
            self.note(now, &family, &snapshot);
        }
    }

    /// Keeps what the next snapshot is compared with; returns the processes that are part of the command.
    fn note(&mut self, now: Duration, family: &[ProcessEntry], snapshot: &SurvivorSnapshot) -> BTreeSet<i32> {
        let part = snapshot.part_of_command();
        self.used = family.iter().map(|process| (process.identity(), process.cpu_ticks)).collect();
        self.used_at = Some(now);
        self.part = members(family, &part).map(ProcessEntry::identity).collect();
        if !part.is_empty() {
            self.interval = if snapshot.readers().is_empty() { SHORT } else { (self.interval * 2).min(LONG) };
        }
        part
    }

    /// Finds the processes of the family that are still part of the command; `None` if there are none.
    pub(super) fn look(
        &mut self,
        now: Duration,
        family: impl Fn() -> Vec<ProcessEntry>,
    ) -> Option<WorkingProcesses> {
        let mut seen = family();
        let mut snapshot = self.snapshot(now, &seen);
        for _ in 0..tree::MAX_LOOKS {
            if !snapshot.part_of_command().is_empty() {
                break;
            }
            // One that ran meanwhile may have closed what it read just before it was inspected, or have started another.
            let again = family();
            if tree::are_same(&seen, &again) {
                break;
            }
            seen = again;
            snapshot = self.snapshot(now, &seen);
        }
        let part = self.note(now, &seen, &snapshot);
        (!part.is_empty()).then(|| WorkingProcesses {
            names: tree::names(members(&seen, &part)),
            again: now + self.interval,
        })
    }

    /// Inspects the processes of `family`, and who else writes to what they read.
    fn snapshot(&mut self, now: Duration, family: &[ProcessEntry]) -> SurvivorSnapshot {
        let alive = family.iter().filter(|process| !process.zombie);
        let mut snapshot = SurvivorSnapshot {
            processes: alive.map(|process| self.inspect(process, now)).collect(),
            ..SurvivorSnapshot::default()
        };
        // Usually nothing outside writes to the pipes of a command, so that is only looked for where it matters.
        snapshot.written_outside = self.written_outside(snapshot.read_by(&snapshot.part_of_command()));
        snapshot
    }

    fn inspect(&self, process: &ProcessEntry, now: Duration) -> Survivor {
        let mut remaining = Survivor {
            pid: process.pid,
            gets_on: self.gets_on(process, now),
            was_part: self.part.contains(&process.identity()),
            is_new: process.is_copy && process.is_active && process.cpu_ticks == 0,
            ..Survivor::default()
        };
        let mut has_input = false;
        let seen = each_descriptor(process.pid, |number, path, file| {
            let id = file_id(file);
            has_input |= number == 0;
            remaining.holds_output |= self.outputs.contains(&id);
            if FileType::from_raw_mode(file.stx_mode.into()) == FileType::Fifo {
                remaining.pipes.extend(pipe_end(process, number, path, id));
            }
        });
        // One that has just ended cannot be read either.
        let lives =
            || ProcessEntry::read(process.pid).is_some_and(|now| now.start == process.start && !now.zombie);
        remaining.is_closed = seen.is_err() && lives();
        remaining.has_closed_input = seen.is_ok() && !has_input;
        remaining
    }

    /// Tells whether a process runs, waits for a disk, or has used as much processor time as one that works.
    fn gets_on(&self, process: &ProcessEntry, now: Duration) -> bool {
        let Some(before) = self.used.get(&process.identity()) else { return true };
        let passed = now.saturating_sub(self.used_at.unwrap_or(now));
        let intervals = passed.as_millis() / SHORT.as_millis();
        let enough = TICKS.saturating_mul(u64::try_from(intervals).unwrap_or(u64::MAX).max(1));
        process.is_active || process.cpu_ticks.saturating_sub(*before) >= enough
    }

    /// Returns which of the pipes a process outside of the command writes to. Once nobody does, that is not looked for
    /// again: a process that could begin to write to a pipe later would have to be given it by the command.
    fn written_outside(&mut self, mut pipes: HashSet<FileId>) -> HashSet<FileId> {
        pipes.retain(|pipe| !self.ours.contains(pipe));
        if pipes.is_empty() {
            return pipes;
        }
        let written = written_outside(&pipes, getpid().as_raw_pid());
        self.ours.extend(pipes.difference(&written));
        written
    }
}

/// Returns those of the pipes that a process which is not below `root` can write to. Processes of other users are left
/// out.
fn written_outside(pipes: &HashSet<FileId>, root: i32) -> HashSet<FileId> {
    let mut written = HashSet::new();
    for pid in tree::pids() {
        let mut found = HashSet::new();
        // It is another user's, or gone.
        let _ = each_descriptor(pid, |number, _, file| {
            let id = file_id(file);
            if pipes.contains(&id) && access(pid, number).is_some_and(|(_, writes, _)| writes) {
                found.insert(id);
            }
        });
        // One that was started since the snapshot is part of the tree as well.
        if !found.is_empty() && !tree::is_below(pid, root) {
            written.extend(found);
        }
    }
    written
}

/// Returns the processes of `family` with these ids.
fn members<'a>(family: &'a [ProcessEntry], pids: &BTreeSet<i32>) -> impl Iterator<Item = &'a ProcessEntry> {
    family.iter().filter(|process| pids.contains(&process.pid))
}

pub(super) fn file_id(file: &Statx) -> FileId {
    FileId { device: rustix::fs::makedev(file.stx_dev_major, file.stx_dev_minor), inode: file.stx_ino }
}

/// Calls `see` with each open descriptor of a process: its number, its path below `/proc`, and its file.
pub(super) fn each_descriptor(pid: i32, mut see: impl FnMut(i32, &Path, &Statx)) -> io::Result<()> {
    // A file system that hangs is not asked.
    let flags = AtFlags::STATX_DONT_SYNC;
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))?.take(MOST_DESCRIPTORS).flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Ok(file) = statx(CWD, entry.path(), flags, StatxFlags::TYPE | StatxFlags::INO) {
            see(number, &entry.path(), &file);
        }
    }
    Ok(())
}

fn pipe_end(process: &ProcessEntry, number: i32, path: &Path, pipe: FileId) -> Option<PipeEnd> {
    let (reads, writes, closes) = access(process.pid, number)?;
    let is_named = || fs::read_link(path).is_ok_and(|target| target.is_absolute());
    // What closes on exec was not inherited by a program that was executed.
    let is_given = number == 0 || (!closes || process.is_copy) && !is_named();
    Some(PipeEnd { pipe, reads, writes, is_given })
}

/// Returns whether a descriptor reads, writes, and is closed on exec.
pub(super) fn access(pid: i32, number: i32) -> Option<(bool, bool, bool)> {
    let info = tree::proc_file(pid, &format!("fdinfo/{number}")).ok()?;
    let info = String::from_utf8_lossy(&info);
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    let flags = OFlags::from_bits_retain(u32::from_str_radix(flags.trim(), 8).ok()?);
    let mode = flags & OFlags::RWMODE;
    let is_open = !flags.contains(OFlags::PATH);
    let (reads, writes) = (mode != OFlags::WRONLY, mode != OFlags::RDONLY);
    Some((is_open && reads, is_open && writes, flags.contains(OFlags::CLOEXEC)))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use rustix::pipe::{PipeFlags, pipe_with};

    use super::*;

    #[test]
    fn a_descriptor_is_read_with_its_direction_and_whether_it_was_given() {
        let own =
            ProcessEntry::read(i32::try_from(std::process::id()).expect("a pid")).expect("this process");
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let end = |fd: &OwnedFd, process: &ProcessEntry| {
            let stat = fstat(fd).expect("a file");
            let id = FileId { device: stat.st_dev, inode: stat.st_ino };
            let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
            pipe_end(process, fd.as_raw_fd(), Path::new(&path), id).expect("a pipe")
        };
        let executed = ProcessEntry { is_copy: false, ..own.clone() };
        assert_eq!((end(&read, &executed).reads, end(&read, &executed).writes), (true, false));
        assert_eq!((end(&write, &executed).reads, end(&write, &executed).writes), (false, true));
        assert!(!end(&read, &executed).is_given, "a program that was executed has made it");
        assert!(end(&read, &ProcessEntry { is_copy: true, ..own }).is_given);
        let id = end(&read, &executed).pipe;
        assert_eq!(written_outside(&HashSet::from([id]), NOBODY), HashSet::from([id]));
        drop(write);
        // A process that another test is just starting has a copy until it is executed.
        let is_unwritten = |_| written_outside(&HashSet::from([id]), NOBODY).is_empty();
        assert!((0..10_000).any(is_unwritten));
    }

    /// No process has this id.
    const NOBODY: i32 = i32::MAX;

    #[test]
    fn f56_a_process_that_was_started_meanwhile_is_not_outside() {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let mut writer = std::process::Command::new("sleep");
        writer.arg("300").stdout(write);
        let mut child = writer.spawn().expect("starts");
        drop(writer);
        let stat = fstat(&read).expect("a file");
        let pipes = HashSet::from([FileId { device: stat.st_dev, inode: stat.st_ino }]);
        let own = i32::try_from(std::process::id()).expect("a pid");
        assert_eq!(written_outside(&pipes, NOBODY), pipes);
        assert_eq!(written_outside(&pipes, own), HashSet::new());
        child.kill().expect("killed");
        child.wait().expect("reaped");
    }
}
