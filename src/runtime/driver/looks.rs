//! Looks at quiet tasks: when the next is due, and what one has found.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::input_need::TerminalLook;
use super::sight::Memory;
use crate::clock::{self, Moment};
use crate::envelope::TaskId;
use crate::model::{InputEvidence, InputNeed, InputWait};
use crate::process::{HostHandle, ProcessTable, Standstill};
use crate::runtime::bytes::TaskIo;

/// How many seconds are long.
const REST: u32 = 8;
/// How often, in seconds, ports are looked for while all tasks have been quiet for long, and for longer than [`EARLY`]: a
/// server that starts mostly prints something.
const RARELY: [u32; 2] = [4, 20];
/// How long a task has written nothing when it is quiet, in milliseconds.
const QUIET_MS: u32 = 300;
/// Seconds in which a quiet task is looked at every other second; later in every fifth.
const EARLY: u32 = 60;
/// How often the whole of a task is looked at then, in seconds; before, as often as it takes to be at rest. All tasks in the
/// same second, so that the processes of the machine are read once.
const WHOLE: u32 = 60;
/// How long a program must be seen polling with a timeout to count as waiting. Less than two seconds, because these are
/// not exact.
const PATIENCE: Duration = Duration::from_millis(1_900);
/// How often that is doubled at most.
const MOST_DOUBLINGS: u32 = 5;

/// When to look at a task next: soon after it has gone quiet, and then at longer intervals, so that hundreds of idle tasks
/// cost next to nothing.
#[derive(Debug, Default, Clone)]
pub(super) struct Looks {
    bytes: u64,
    quiet_seconds: u32,
    /// How often it got input: what was found before the last is out of date.
    inputs: u64,
    /// Whether a process group other than its shell's has the terminal beside its streams, which is given back once that
    /// group has ended: until then it is looked at each second.
    is_lent: bool,
    /// How often it has gone on by itself after it had seemed to wait in a poll with a timeout, since it got input.
    false_waits: u32,
    memory: Memory,
}

/// What to look at of a task.
pub(super) struct TaskLook {
    pub(super) io: Arc<TaskIo>,
    pub(super) host: HostHandle,
    /// The process id of its shell.
    pub(super) shell: u32,
    /// How much of it.
    pub(super) due: LookExtent,
    /// Whether the terminal beside its streams may be given to another process group: nobody types.
    pub(super) may_lend: bool,
    /// What is known of it so far.
    pub(super) looks: Looks,
}

/// What one look at a task has found.
#[derive(Debug)]
pub(in crate::runtime) struct WaitLook {
    pub(super) id: TaskId,
    pub(super) waiting: Option<InputWait>,
    pub(super) is_quiet: bool,
    looks: Looks,
}

impl TaskLook {
    /// Packs its screen if nobody sees it and it has been quiet for long; tells whether it did.
    pub(super) fn pack(&self) -> bool {
        self.looks.is_at_rest() && !self.io.visible.load(Ordering::Relaxed) && self.io.screen.pack()
    }

    /// Tells whether the processes of the machine are needed.
    pub(super) fn needs_processes(&self) -> bool {
        self.due != LookExtent::Turn && self.io.pty.get().is_some()
    }

    /// Tells whether a whole look is due: it was when this one began, or its foreground does something else now.
    pub(super) fn is_due(&self) -> bool {
        let foreground = || self.looks.memory.foreground.as_ref();
        let group = || self.io.pty.get().and_then(|pty| pty.foreground_group());
        self.due != LookExtent::Glance || foreground().is_none_or(|before| before.has_moved(group()))
    }

    /// Looks. `processes` are those of the machine, if a terminal is looked at.
    pub(super) fn look(self, processes: Option<&ProcessTable>, now: Moment) -> WaitLook {
        let Self { io, host, shell, due, may_lend, mut looks } = self;
        let is_quiet = due != LookExtent::Turn;
        let since = io.output().last_at.unwrap_or(now.wall);
        let terminal = io.pty.get().zip(processes).filter(|_| is_quiet);
        let waiting = terminal.and_then(|(pty, processes)| {
            let (patience, memory) = (looks.patience(), &mut looks.memory);
            TerminalLook { io: &io, pty, processes, since, now: now.mono, patience, memory }.observe()
        });
        let still = host.pid().map(|host| Standstill::below(host, shell, processes)).unwrap_or_default();
        // Whoever reads the terminal keeps it.
        let turn = still.turn.filter(|_| may_lend && waiting.is_none());
        turn.into_iter().for_each(|turn| host.give_turn(turn));
        let stopped = still.stopped.filter(|_| turn.is_none()).map(|program| InputWait {
            kind: InputNeed::Stopped,
            evidence: if still.is_out_of_turn { InputEvidence::OutOfTurn } else { InputEvidence::Halted },
            since,
            program: Some(program),
            question: None,
        });
        looks.is_lent = still.is_lent || turn.is_some();
        WaitLook { id: io.id.clone(), waiting: waiting.or(stopped), is_quiet, looks }
    }
}

impl Looks {
    /// Counts one second, at the end of which `bytes` were written, the last of them `silent_ms` ago. `second` is the same
    /// for all tasks.
    pub(super) fn second(&mut self, bytes: u64, silent_ms: u32, second: u32) -> Second {
        let has_written = self.bytes != bytes;
        if has_written {
            let seemed = self.memory.sight.as_ref().is_some_and(|sight| sight.is_settled);
            self.false_waits = (self.false_waits + u32::from(seemed)).min(MOST_DOUBLINGS);
            (self.bytes, self.quiet_seconds, self.memory) = (bytes, 0, Memory::default());
            if silent_ms < QUIET_MS {
                return Second { has_written, due: None };
            }
        }
        self.quiet_seconds = self.quiet_seconds.saturating_add(1);
        let is_early = self.quiet_seconds < EARLY;
        let is_whole = match is_early {
            true if self.quiet_seconds < REST => {
                clock::is_look_due(self.quiet_seconds) || self.memory.is_unsettled()
            }
            true => second.is_multiple_of(REST) || self.memory.is_unsettled(),
            false => second.is_multiple_of(WHOLE) || self.memory.is_unsettled() && second.is_multiple_of(2),
        };
        let is_glance = second.is_multiple_of(if is_early { 2 } else { 5 });
        let due = match (is_whole || self.is_lent, is_glance) {
            (true, _) => Some(LookExtent::Whole),
            (false, true) => Some(LookExtent::Glance),
            (false, false) => None,
        };
        Second { has_written, due }
    }

    /// Tells whether it has been quiet for long.
    fn is_at_rest(&self) -> bool {
        self.quiet_seconds >= REST
    }

    fn patience(&self) -> Duration {
        PATIENCE * 2_u32.pow(self.false_waits)
    }

    /// Tells whether ports are to be looked for in this second: in each one, until all tasks have been quiet for long.
    pub(super) fn are_ports_due<'a>(all: impl Iterator<Item = &'a Self>) -> bool {
        let shortest = all.min_by_key(|looks| looks.quiet_seconds);
        let is_due = |looks: &Self| {
            let every = if looks.quiet_seconds <= EARLY { RARELY[0] } else { RARELY[1] };
            looks.quiet_seconds.is_multiple_of(every)
        };
        shortest.is_none_or(|looks| !looks.is_at_rest() || is_due(looks))
    }

    /// Restarts the intervals after input: the task may now wait for something else.
    pub(super) fn again(&mut self) {
        (self.quiet_seconds, self.false_waits) = (0, 0);
        self.memory = Memory { screen: self.memory.screen.take(), ..Memory::default() };
        self.inputs += 1;
    }

    /// Takes over what a look has found; tells whether it still holds: the task has got no input since.
    pub(super) fn take(&mut self, found: &WaitLook) -> bool {
        self.is_lent = found.looks.is_lent;
        let holds = self.inputs == found.looks.inputs;
        if holds && self.bytes == found.looks.bytes {
            self.memory = found.looks.memory.clone();
        }
        holds
    }
}

/// What to do after one second of a task's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Second {
    /// Whether the task wrote output: it no longer waits.
    pub(super) has_written: bool,
    /// The look that is due.
    pub(super) due: Option<LookExtent>,
}

/// How much of a task is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LookExtent {
    /// Everything.
    Whole,
    /// Everything, if what is in the foreground does something else than before.
    Glance,
    /// Whose turn it is at its terminal: it writes.
    Turn,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::driver::sight::Sight;

    /// The seconds in which a look is due, of a task that is quiet from the first on.
    fn seconds_of(looks: &mut Looks, seconds: std::ops::RangeInclusive<u32>, due: LookExtent) -> Vec<u32> {
        seconds.filter(|at| looks.second(5, 500, *at).due == Some(due)).collect()
    }

    #[test]
    fn a_quiet_task_is_looked_at_ever_less_often_and_again_when_it_writes() {
        let mut looks = Looks::default();
        let mut other = looks.clone();
        assert_eq!(
            seconds_of(&mut looks, 1..=200, LookExtent::Whole),
            [1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 60, 120, 180]
        );
        let glances = seconds_of(&mut other, 1..=80, LookExtent::Glance);
        assert_eq!(glances[..3], [6, 10, 12]);
        assert_eq!(glances[glances.len() - 6..], [54, 58, 65, 70, 75, 80]);
        let wrote = looks.second(6, 200, 201);
        assert_eq!(wrote, Second { has_written: true, due: None }, "a second with output is no quiet one");
        assert_eq!(looks.second(6, 1_200, 202).due, Some(LookExtent::Whole), "and then it starts over");
        let wrote = looks.second(7, 300, 203);
        assert_eq!(
            wrote,
            Second { has_written: true, due: Some(LookExtent::Whole) },
            "it has been quiet since"
        );
    }

    #[test]
    fn ports_are_looked_for_each_second_until_a_task_has_been_quiet_for_long() {
        let mut looks = Looks::default();
        let mut due = |bytes, silent_ms| {
            looks.second(bytes, silent_ms, 0);
            Looks::are_ports_due([looks.clone()].iter())
        };
        let seconds: Vec<u32> = (0..=20).filter(|at| due(5, at * 1_000)).collect();
        assert_eq!(seconds, [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20]);
        let later: Vec<u32> = (21..=100).filter(|at| due(5, at * 1_000)).filter(|at| *at > 50).collect();
        assert_eq!(later, [52, 56, 60, 80, 100]);
        assert!(!due(5, 101_000) && due(6, 0) && due(6, 1_000));
    }

    #[test]
    fn a_finding_from_before_an_input_no_longer_holds() {
        let mut looks = Looks::default();
        looks.again();
        let found = |looks: &Looks| WaitLook {
            id: TaskId::random(),
            waiting: None,
            is_quiet: true,
            looks: looks.clone(),
        };
        let before = found(&looks);
        assert!(looks.second(9, 0, 1).has_written);
        assert!(looks.take(&before), "output has not made it another question");
        looks.again();
        assert!(!looks.take(&before), "it was answered meanwhile");
    }

    #[test]
    fn a_program_that_goes_on_by_itself_must_be_quiet_for_longer() {
        let mut looks = Looks::default();
        let mut patience = |bytes| {
            let sight = Sight { pid: 7, at: Duration::ZERO, work: (0, 0), is_settled: true };
            looks.memory.sight = Some(sight);
            looks.second(bytes, 0, 1);
            looks.patience().as_millis()
        };
        assert_eq!((patience(1), patience(2), patience(2), patience(3)), (3_800, 7_600, 7_600, 15_200));
        looks.again();
        assert_eq!(looks.patience(), PATIENCE);
    }
}
