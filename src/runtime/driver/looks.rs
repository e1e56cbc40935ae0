//! Looks at quiet tasks: when the next is due, and what one has found.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use jiff::Timestamp;

use super::{input_need, input_need_side};
use crate::clock;
use crate::envelope::TaskId;
use crate::model::{InputEvidence, InputNeed, InputWait};
use crate::process::{HostHandle, ProcessTable, Standstill};
use crate::runtime::bytes::TaskIo;

/// How many seconds are long.
const REST: u32 = 8;
/// How often, in seconds, ports are looked for while all tasks have been quiet for long: a server that starts mostly
/// prints something.
const RARELY: u32 = 4;

/// When to look at a task next: soon after it has gone quiet, then at growing intervals, so that hundreds of idle
/// tasks cost nothing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Looks {
    bytes: u64,
    quiet_seconds: u32,
    /// How often it got input: what was found before the last is out of date.
    pub(super) inputs: u64,
    /// Whether a process group other than its shell's has the terminal beside its streams, which is given back once that
    /// group has ended: until then it is looked at each second.
    pub(super) is_lent: bool,
}

/// What to look at of a task.
pub(super) struct TaskLook {
    pub(super) io: Arc<TaskIo>,
    pub(super) host: HostHandle,
    /// The process id of its shell.
    pub(super) shell: u32,
    pub(super) inputs: u64,
    /// Whether it is quiet. One that writes is only looked at for whose turn it is at its terminal.
    pub(super) is_quiet: bool,
    /// Whether it has been quiet for long.
    pub(super) is_at_rest: bool,
    /// Whether the terminal beside its streams may be given to another process group: nobody types.
    pub(super) may_lend: bool,
}

/// What one look at a task has found.
#[derive(Debug)]
pub(in crate::runtime) struct WaitLook {
    pub(super) id: TaskId,
    /// How often the task had got input when it was looked at.
    pub(super) inputs: u64,
    pub(super) waiting: Option<InputWait>,
    pub(super) is_quiet: bool,
    pub(super) is_lent: bool,
}

impl TaskLook {
    /// Packs its screen if nobody sees it and it has been quiet for long; tells whether it did.
    pub(super) fn pack(&self) -> bool {
        self.is_at_rest && !self.io.visible.load(Ordering::Relaxed) && self.io.screen.pack()
    }

    /// Looks. `processes` are those of the machine, if a terminal is looked at.
    pub(super) fn look(self, processes: Option<&ProcessTable>, now: Timestamp) -> WaitLook {
        let Self { io, host, shell, inputs, is_quiet, is_at_rest: _, may_lend } = self;
        let since = io.output().last_at.unwrap_or(now);
        let observe = if io.tty { input_need::observe } else { input_need_side::observe };
        let waiting = processes.filter(|_| is_quiet).and_then(|all| observe(&io, since, all));
        let still = host.pid().map(|host| Standstill::below(host, shell, processes)).unwrap_or_default();
        // Whoever reads the terminal keeps it.
        let turn = still.turn.filter(|_| may_lend && waiting.is_none());
        turn.into_iter().for_each(|turn| host.give_turn(turn));
        let stopped = still.stopped.filter(|_| turn.is_none()).map(|program| InputWait {
            kind: InputNeed::Stopped,
            evidence: if still.is_out_of_turn { InputEvidence::OutOfTurn } else { InputEvidence::Halted },
            since,
            program: Some(program),
        });
        let is_lent = still.is_lent || turn.is_some();
        WaitLook { id: io.id.clone(), inputs, waiting: waiting.or(stopped), is_quiet, is_lent }
    }
}

impl Looks {
    /// Counts one second, with `bytes` written so far.
    pub(super) fn second(&mut self, bytes: u64) -> Second {
        if self.bytes != bytes {
            *self = Self { bytes, quiet_seconds: 0, ..*self };
            return Second::Wrote;
        }
        self.quiet_seconds = self.quiet_seconds.saturating_add(1);
        if clock::is_look_due(self.quiet_seconds) || self.is_lent { Second::Look } else { Second::Rest }
    }

    /// Tells whether it has been quiet for long.
    pub(super) fn is_at_rest(&self) -> bool {
        self.quiet_seconds >= REST
    }

    /// Tells whether ports are to be looked for in this second: in each one, until all tasks have been quiet for long.
    pub(super) fn are_ports_due<'a>(all: impl Iterator<Item = &'a Self>) -> bool {
        let shortest = all.min_by_key(|looks| looks.quiet_seconds);
        shortest.is_none_or(|looks| !looks.is_at_rest() || looks.quiet_seconds.is_multiple_of(RARELY))
    }

    /// Restarts the intervals after input: the task may now wait for something else.
    pub(super) fn again(&mut self) {
        self.quiet_seconds = 0;
        self.inputs += 1;
    }

    /// Tells whether what was found after `inputs` inputs still holds: the task has got none since.
    pub(super) fn still_holds(&self, inputs: u64) -> bool {
        self.inputs == inputs
    }
}

/// What to do after one second of a task's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Second {
    /// The task wrote output: it no longer waits.
    Wrote,
    /// The task has been quiet long enough for another look.
    Look,
    /// Nothing.
    Rest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_task_is_looked_at_ever_less_often_and_again_when_it_writes() {
        let mut looks = Looks::default();
        let at: Vec<u32> = (0..=200).filter(|_| looks.second(5) == Second::Look).collect();
        assert_eq!(at, [1, 2, 4, 8, 16, 32, 60, 120, 180]);
        assert_eq!(looks.second(6), Second::Wrote, "a second with output is no quiet one");
        assert_eq!(looks.second(6), Second::Look, "and then it starts over");
    }

    #[test]
    fn ports_are_looked_for_each_second_until_a_task_has_been_quiet_for_long() {
        let mut looks = Looks::default();
        let mut due = |bytes| {
            looks.second(bytes);
            Looks::are_ports_due([looks].iter())
        };
        let seconds: Vec<u32> = (0..=20).filter(|_| due(5)).collect();
        assert_eq!(seconds, [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20]);
        assert!(!due(5) && due(6) && due(6));
    }

    #[test]
    fn a_finding_from_before_an_input_no_longer_holds() {
        let mut looks = Looks::default();
        looks.again();
        let at = looks.inputs;
        assert_eq!(looks.second(9), Second::Wrote);
        assert!(looks.still_holds(at), "output has not made it another question");
        looks.again();
        assert!(!looks.still_holds(at), "it was answered meanwhile");
    }
}
