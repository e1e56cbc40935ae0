//! Which of the processes that outlived their shell are still part of the command: those that work on the command's own
//! data. Decided from a snapshot of their pipes; pure (`survey` takes the snapshot).
//!
//! A process is part of the command if what it reads can only come from the command: its standard input, or a pipe that
//! it inherited, has no writer left except processes that are part of the command themselves. This is worked out from
//! the shell outward, so two processes that write to each other are not part of it. A server does not wait for the end
//! of a pipe: its workers read from it, its logger is written to by it, and of a pipe that it wakes itself with, it holds
//! both ends. A process that holds the command's standard output or error, and is getting on, is part of it as well; so
//! is one that has closed what it read, or its standard input, and is getting on, and one that has not run since it was
//! forked, because it is not known yet what it will read.

use std::collections::{BTreeSet, HashSet};

/// A file, by its device and inode numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileId {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// A pipe, or a named pipe, as a process holds it through one descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PipeEnd {
    pub(super) pipe: FileId,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// Whether the process was given it: it is the standard input, or a pipe without a name that the process may have
    /// inherited.
    pub(super) is_given: bool,
}

/// A process that outlived the shell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Survivor {
    pub(super) pid: i32,
    pub(super) pipes: Vec<PipeEnd>,
    /// Whether its descriptors cannot be read, so that it may hold any pipe.
    pub(super) is_closed: bool,
    /// Whether it holds the standard output or error of the command.
    pub(super) holds_output: bool,
    /// Whether it has used the processor since the snapshot before, or is about to.
    pub(super) gets_on: bool,
    /// Whether it was part of the command in the snapshot before: what it has read may still have to be written.
    pub(super) was_part: bool,
    /// Whether it has no standard input, as one that has read all of it, or that is ending.
    pub(super) has_closed_input: bool,
    /// Whether it was forked a moment ago and has not run yet, so that its pipes are still those of its parent.
    pub(super) is_new: bool,
}

/// All processes that outlived a shell, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SurvivorSnapshot {
    pub(super) processes: Vec<Survivor>,
    /// The pipes that a process outside of the command writes to.
    pub(super) written_outside: HashSet<FileId>,
}

impl SurvivorSnapshot {
    /// Returns the processes that are part of the command because of what they read.
    pub(super) fn readers(&self) -> BTreeSet<i32> {
        self.closure(BTreeSet::new())
    }

    /// Returns all processes that are part of the command.
    pub(super) fn part_of_command(&self) -> BTreeSet<i32> {
        let writes_on = |process: &&Survivor| {
            let wrote_or_read = process.holds_output || process.was_part || process.has_closed_input;
            process.is_new || process.gets_on && wrote_or_read
        };
        self.closure(self.processes.iter().filter(writes_on).map(|process| process.pid).collect())
    }

    /// Returns the pipes that these processes read and were given.
    pub(super) fn read_by(&self, pids: &BTreeSet<i32>) -> HashSet<FileId> {
        let readers = self.processes.iter().filter(|process| pids.contains(&process.pid));
        let ends = readers.flat_map(|process| &process.pipes).filter(|end| end.reads && end.is_given);
        ends.map(|end| end.pipe).collect()
    }

    /// Adds those that read only from processes in the set, until nothing changes.
    fn closure(&self, mut part: BTreeSet<i32>) -> BTreeSet<i32> {
        loop {
            let unwritten = self.unwritten(&part);
            let reads_on = |process: &&Survivor| {
                process.pipes.iter().any(|end| end.reads && end.is_given && unwritten.contains(&end.pipe))
            };
            let readers = self.processes.iter().filter(|process| !part.contains(&process.pid));
            let more: Vec<i32> = readers.filter(reads_on).map(|process| process.pid).collect();
            if more.is_empty() {
                return part;
            }
            part.extend(more);
        }
    }

    /// Returns the pipes that are written to by nobody outside of `part`, and of which no process holds both ends.
    fn unwritten(&self, part: &BTreeSet<i32>) -> HashSet<FileId> {
        let is_outside = |process: &&Survivor| !part.contains(&process.pid);
        if self.processes.iter().filter(is_outside).any(|process| process.is_closed) {
            return HashSet::new();
        }
        let mut unwritten: HashSet<FileId> =
            self.processes.iter().flat_map(|process| &process.pipes).map(|end| end.pipe).collect();
        unwritten.retain(|pipe| !self.written_outside.contains(pipe));
        for process in &self.processes {
            let (mut read, mut written) = (HashSet::new(), HashSet::new());
            for end in &process.pipes {
                read.extend(end.reads.then_some(end.pipe));
                written.extend(end.writes.then_some(end.pipe));
            }
            if part.contains(&process.pid) {
                written.retain(|pipe| read.contains(pipe));
            }
            unwritten.retain(|pipe| !written.contains(pipe));
        }
        unwritten
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pipe(number: u64) -> FileId {
        FileId { device: 1, inode: number }
    }

    fn stdin(number: u64) -> PipeEnd {
        PipeEnd { pipe: pipe(number), reads: true, writes: false, is_given: true }
    }

    fn own(number: u64) -> PipeEnd {
        PipeEnd { is_given: false, ..stdin(number) }
    }

    fn into(number: u64) -> PipeEnd {
        PipeEnd { pipe: pipe(number), reads: false, writes: true, is_given: true }
    }

    fn process(pid: i32, pipes: &[PipeEnd]) -> Survivor {
        Survivor { pid, pipes: pipes.to_vec(), ..Survivor::default() }
    }

    fn busy(pid: i32, pipes: &[PipeEnd]) -> Survivor {
        Survivor { holds_output: true, gets_on: true, ..process(pid, pipes) }
    }

    fn part(processes: &[Survivor], outside: &[u64]) -> Vec<i32> {
        let written_outside = outside.iter().copied().map(pipe).collect();
        SurvivorSnapshot { processes: processes.to_vec(), written_outside }
            .part_of_command()
            .into_iter()
            .collect()
    }

    #[test]
    fn f56_a_process_that_reads_the_commands_own_data_is_part_of_it_and_a_server_is_not() {
        let closed = |pid| Survivor { is_closed: true, ..process(pid, &[]) };
        let new = |pid, pipes: &[PipeEnd]| Survivor { is_new: true, ..process(pid, pipes) };
        let was = |pid, gets_on| Survivor { was_part: true, gets_on, ..process(pid, &[]) };
        let ending = |pid, gets_on| Survivor { has_closed_input: true, gets_on, ..process(pid, &[]) };
        let idle = |pid| Survivor { holds_output: true, ..process(pid, &[]) };
        let elsewhere = |pid| Survivor { gets_on: true, ..process(pid, &[]) };
        type Case<'a> = (&'a str, Vec<Survivor>, &'a [u64], &'a [i32]);
        let cases: &[Case<'_>] = &[
            ("nothing", vec![], &[], &[]),
            ("> >(sort): its writer has ended", vec![process(2, &[stdin(1)])], &[], &[2]),
            (
                "> >(sleep; cat): so has that of its child",
                vec![process(2, &[stdin(1)]), process(3, &[stdin(1)])],
                &[],
                &[2, 3],
            ),
            (
                "tee >(a) >(b): the second also holds the first's write end",
                vec![process(2, &[stdin(1)]), process(3, &[stdin(2), into(1)])],
                &[],
                &[2, 3],
            ),
            (
                "> >(gzip | ssh): worked out from the shell outward",
                vec![process(2, &[stdin(1)]), process(3, &[stdin(1), into(2)]), process(4, &[stdin(2)])],
                &[],
                &[2, 3, 4],
            ),
            ("5< <(list): a pipe that it inherited", vec![process(2, &[stdin(5)])], &[], &[2]),
            ("a pipe that it made, whose writer has ended", vec![process(2, &[own(5)])], &[], &[]),
            ("server", vec![idle(2)], &[], &[]),
            ("server | tee log &", vec![process(2, &[into(1)]), process(3, &[stdin(1)])], &[], &[]),
            (
                "server > >(tee log) &: two loggers in a row",
                vec![process(2, &[into(1)]), process(3, &[stdin(1), into(2)]), process(4, &[stdin(2)])],
                &[],
                &[],
            ),
            ("a server that wakes itself through a pipe", vec![process(2, &[stdin(7), into(7)])], &[], &[]),
            (
                "its workers, which inherited that pipe, and each read from it through another",
                vec![
                    process(2, &[own(7), into(7), into(8), into(9)]),
                    process(3, &[stdin(7), into(7), stdin(8)]),
                    process(4, &[stdin(7), into(7), stdin(9)]),
                ],
                &[],
                &[],
            ),
            (
                "a master and a worker that answer each other",
                vec![process(2, &[own(2), into(1)]), process(3, &[stdin(1), into(2)])],
                &[],
                &[],
            ),
            ("reader of a named pipe that another task writes to", vec![process(2, &[stdin(3)])], &[3], &[]),
            ("what the call may still type into", vec![process(2, &[stdin(4)])], &[4], &[]),
            ("another user's process may hold any pipe", vec![closed(2), process(3, &[stdin(1)])], &[], &[]),
            ("computes, and will print", vec![busy(2, &[])], &[], &[2]),
            ("has read everything, closed it, and writes a file", vec![was(2, true)], &[], &[2]),
            ("has become a server", vec![was(2, false)], &[], &[]),
            (
                "had read everything before the shell exited, and writes a file",
                vec![ending(2, true)],
                &[],
                &[2],
            ),
            ("a server without a standard input", vec![ending(2, false)], &[], &[]),
            ("computes, and prints nothing here", vec![elsewhere(2)], &[], &[]),
            (
                "forked a moment ago: it holds both ends of what it will read",
                vec![new(2, &[stdin(1), into(1)])],
                &[],
                &[2],
            ),
            (
                "computes | sorts | prints",
                vec![busy(2, &[into(1)]), process(3, &[stdin(1), into(2)]), process(4, &[stdin(2)])],
                &[],
                &[2, 3, 4],
            ),
            ("a server beside a reader", vec![idle(2), process(3, &[stdin(1)])], &[], &[3]),
        ];
        for (what, processes, outside, expected) in cases {
            assert_eq!(part(processes, outside), *expected, "{what}");
        }
    }

    #[test]
    fn a_process_that_only_reads_is_told_from_one_that_computes() {
        let processes = vec![busy(2, &[into(1)]), process(3, &[stdin(1)]), process(4, &[stdin(2)])];
        let snapshot = SurvivorSnapshot { processes, written_outside: HashSet::new() };
        assert_eq!(snapshot.readers(), BTreeSet::from([4]));
        assert_eq!(snapshot.read_by(&BTreeSet::from([3, 4])), HashSet::from([pipe(1), pipe(2)]));
    }

    fn snapshots() -> impl Strategy<Value = SurvivorSnapshot> {
        let end = (0..4u64, any::<bool>(), any::<bool>(), any::<bool>());
        let end = end.prop_map(|(number, reads, writes, is_given)| PipeEnd {
            pipe: pipe(number),
            reads,
            writes: writes || !reads,
            is_given,
        });
        let one =
            (prop::collection::vec(end, 0..4), any::<bool>(), any::<bool>(), prop::bool::weighted(0.05));
        let all = prop::collection::vec(one, 0..6);
        (all, prop::collection::hash_set(0..4u64, 0..2)).prop_map(|(all, outside)| SurvivorSnapshot {
            processes: (1..)
                .zip(all)
                .map(|(pid, (pipes, holds_output, gets_on, is_closed))| Survivor {
                    pid,
                    pipes: if is_closed { Vec::new() } else { pipes },
                    is_closed,
                    holds_output,
                    gets_on,
                    is_new: false,
                    was_part: false,
                    has_closed_input: false,
                })
                .collect(),
            written_outside: outside.into_iter().map(pipe).collect(),
        })
    }

    proptest! {
        /// Each member has a reason that rests on members alone, everything that has such a reason is a member, and
        /// the order in which the processes are listed means nothing.
        #[test]
        fn f56_each_member_has_a_reason_and_each_reason_makes_a_member(snapshot in snapshots()) {
            let part = snapshot.part_of_command();
            prop_assert!(snapshot.readers().is_subset(&part));
            for process in &snapshot.processes {
                let ends = |pid: i32| snapshot.processes.iter().filter(move |other| other.pid == pid).flat_map(|other| &other.pipes);
                let holds_both = |pipe: FileId| snapshot.processes.iter().any(|other| {
                    ends(other.pid).any(|end| end.pipe == pipe && end.reads) && ends(other.pid).any(|end| end.pipe == pipe && end.writes)
                });
                let is_written = |pipe: FileId| snapshot.written_outside.contains(&pipe) || snapshot.processes.iter().any(|other| {
                    !part.contains(&other.pid) && (other.is_closed || ends(other.pid).any(|end| end.pipe == pipe && end.writes))
                });
                let reads = ends(process.pid).any(|end| {
                    end.reads && end.is_given && !holds_both(end.pipe) && !is_written(end.pipe)
                });
                let computes = process.holds_output && process.gets_on;
                prop_assert_eq!(part.contains(&process.pid), reads || computes, "{:?}", process);
            }
            let mut reversed = snapshot.clone();
            reversed.processes.reverse();
            prop_assert_eq!(reversed.part_of_command(), part);
        }
    }
}
