//! Detects whether a quiet task wants input or is stopped, from kernel state where it shows this, never by guessing
//! (docs/contract.md#waiting-for-input).
//!
//! A process in the terminal's foreground group that sleeps in a read of the terminal wants input; the kind of input
//! follows from the terminal's modes. A process that waits in `poll`, `select` or `epoll`, or reads single keys, may
//! just as well be an editor, a server with a few keys, or a shell: that counts only after an unfinished line of
//! output, and only as weak evidence.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::order::DriverOrder;
use super::polling::polls_tty;
use super::{Driver, asking};
use crate::envelope::TaskId;
use crate::model::{InputEvidence, InputNeed, InputWait};
use crate::process::{HostHandle, Standstill};
use crate::runtime::bytes::TaskIo;
use crate::runtime::log::open_log;
use crate::runtime::supervisor::SupervisorInput;
use crate::terminal::{ByteOrigin, clean};

/// Kernel functions in which a process sleeps while it reads a terminal; in some of them also while it writes to one.
pub(super) const TTY_SLEEPS: [&str; 3] = ["n_tty_read", "wait_woken", "tty_read"];

/// Bytes at the end of a log that are searched for a prompt.
const PROMPT_BYTES: u64 = 2_048;

/// Inspects a task's terminal; `since` is when the task last wrote.
pub(super) fn observe(io: &TaskIo, since: Timestamp, groups: &Groups) -> Option<InputWait> {
    let pty = io.pty.get()?;
    let mode = pty.input_mode().ok()?;
    let group = pty.foreground_group()?;
    let reads = groups.members(group).any(reads_tty);
    let hidden = !mode.echo && mode.canonical;
    let (kind, evidence) = match (reads, hidden, mode.canonical) {
        (true, true, _) => (InputNeed::Secret, InputEvidence::EchoOff),
        (true, false, true) => (InputNeed::Line, InputEvidence::TtyRead),
        // In raw mode an editor or a pager reads keys all the time, which is no question, or weak evidence of one.
        _ if !is_at_prompt(io) => return None,
        (true, false, false) => (InputNeed::Key, InputEvidence::TtyRead),
        _ if !groups.members(group).any(polls_tty) => return None,
        (false, true, _) => (InputNeed::Secret, InputEvidence::EchoOff),
        (false, false, _) => (InputNeed::Line, InputEvidence::TtyPoll),
    };
    Some(InputWait { kind, evidence, since, program: None })
}

/// Tells whether a task's output ends in text on an unfinished line. Reads the end of its log.
fn is_at_prompt(io: &TaskIo) -> bool {
    let Ok(log) = open_log(&io.folder) else { return false };
    let length = log.metadata().map_or(0, |log| log.len());
    let mut end = vec![0; usize::try_from(length.min(PROMPT_BYTES)).unwrap_or(0)];
    if log.read_exact_at(&mut end, length.saturating_sub(PROMPT_BYTES)).is_err() {
        return false;
    }
    let size = io.pty.get().and_then(|pty| pty.size().ok()).unwrap_or_default();
    let text = clean(&end, ByteOrigin::Tty, size);
    !text.ends_with('\n') && text.lines().last().is_some_and(|line| !line.trim().is_empty())
}

/// The machine's processes by process group: one scan of `/proc`, however many terminals are inspected.
pub(super) struct Groups(Vec<(u32, String)>);

impl Groups {
    pub(super) fn scan() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        Self(entries.filter_map(|entry| grouped(entry.file_name().into_string().ok()?)).collect())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, pid)| pid.as_str())
    }

    pub(super) fn members(&self, group: u32) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(own, _)| *own == group).map(|(_, pid)| pid.as_str())
    }
}

fn grouped(pid: String) -> Option<(u32, String)> {
    pid.parse::<u32>().ok()?;
    let stat = fs::read_to_string(Path::new("/proc").join(&pid).join("stat")).ok()?;
    // Field 5 is the process group; the name before it may contain anything, but ends at the last `)`.
    let fields = stat.rsplit_once(')')?.1;
    let group = fields.split_ascii_whitespace().nth(2)?.parse().ok()?;
    Some((group, pid))
}

fn reads_tty(pid: &str) -> bool {
    let of = |name: &str| fs::read_to_string(Path::new("/proc").join(pid).join(name));
    let sleeps = of("wchan").is_ok_and(|function| TTY_SLEEPS.contains(&function.trim()));
    // The system call distinguishes a read from a write, where the kernel lets us see it.
    sleeps && of("syscall").map_or(true, |call| is_read(&call))
}

/// Tells whether a line of `/proc/PID/syscall` is a read.
fn is_read(call: &str) -> bool {
    let number = call.split_ascii_whitespace().next().and_then(|number| number.parse().ok());
    number == Some(libc::SYS_read)
}

/// When to look at a task next: soon after it has gone quiet, then at growing intervals, so that hundreds of idle
/// tasks cost nothing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Looks {
    bytes: u64,
    quiet_seconds: u32,
    /// How often it got input: what was found before the last is out of date.
    inputs: u64,
    /// Whether a process group other than its shell's has the terminal beside its streams, which is given back once that
    /// group has ended: until then it is looked at each second.
    is_lent: bool,
}

/// What to look at of a task.
struct TaskLook {
    io: Arc<TaskIo>,
    host: HostHandle,
    /// The process id of its shell.
    shell: u32,
    inputs: u64,
    /// Whether it is quiet. One that writes is only looked at for whose turn it is at its terminal.
    is_quiet: bool,
    /// Whether the terminal beside its streams may be given to another process group: nobody types.
    may_lend: bool,
}

/// What one look at a task has found.
#[derive(Debug)]
pub(in crate::runtime) struct WaitLook {
    id: TaskId,
    /// How often the task had got input when it was looked at.
    inputs: u64,
    waiting: Option<InputWait>,
    is_quiet: bool,
    is_lent: bool,
}

impl TaskLook {
    /// Looks. `groups` are the processes by group, if a terminal is looked at.
    fn look(self, groups: Option<&Groups>, now: Timestamp) -> WaitLook {
        let Self { io, host, shell, inputs, is_quiet, may_lend } = self;
        let since = io.output().last_at.unwrap_or(now);
        let observe = if io.tty { observe } else { asking::observe };
        let waiting = groups.filter(|_| is_quiet).and_then(|groups| observe(&io, since, groups));
        let still = host.pid().map(|host| Standstill::below(host, shell)).unwrap_or_default();
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
        let due =
            self.quiet_seconds.is_power_of_two() || self.quiet_seconds.is_multiple_of(60) || self.is_lent;
        if due { Second::Look } else { Second::Rest }
    }

    /// Restarts the intervals after input: the task may now wait for something else.
    pub(super) fn again(&mut self) {
        self.quiet_seconds = 0;
        self.inputs += 1;
    }

    /// Tells whether what was found after `inputs` inputs still holds: the task has got none since.
    fn still_holds(&self, inputs: u64) -> bool {
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

impl Driver {
    /// Checks outside the loop which quiet tasks want input or are stopped, and gives turns at terminals.
    pub(super) fn look(&mut self) {
        let (mut looks, mut wrote) = (Vec::new(), Vec::new());
        let supervisor = &self.supervisor;
        for (id, live) in &mut self.live {
            let Some(task) = supervisor.get(id) else { continue };
            let (Some(host), Some(shell)) = (&live.host, task.pid) else { continue };
            let second = live.looks.second(live.io.written());
            if second == Second::Wrote {
                wrote.push(id.clone());
            }
            let is_quiet = second == Second::Look;
            let has_side = task.side_terminal && live.io.pty.get().is_some();
            if is_quiet || second == Second::Wrote && has_side {
                let (io, host, inputs) = (live.io.clone(), host.clone(), live.looks.inputs);
                let may_lend = has_side && task.lease.is_none();
                looks.push(TaskLook { io, host, shell, inputs, is_quiet, may_lend });
            }
        }
        wrote.into_iter().for_each(|id| self.step(SupervisorInput::Waiting { id, waiting: None }));
        if looks.is_empty() {
            return;
        }
        let (own, now) = (self.own.clone(), self.now().wall);
        self.blocking_job(move || {
            let has_terminal = |look: &TaskLook| look.is_quiet && look.io.pty.get().is_some();
            let groups = looks.iter().any(has_terminal).then(Groups::scan);
            let seen = looks.into_iter().map(|look| look.look(groups.as_ref(), now)).collect();
            // Once the driver is gone, nobody shows the result.
            let _ = own.blocking_send(DriverOrder::Waiting { seen });
        });
    }

    /// Applies what quiet tasks were found waiting for; returns whether any of it is new.
    pub(super) fn seen(&mut self, mut seen: Vec<WaitLook>) -> bool {
        for found in &seen {
            if let Some(live) = self.live.get_mut(&found.id) {
                live.looks.is_lent = found.is_lent;
            }
        }
        seen.retain(|WaitLook { id, inputs, waiting, is_quiet, .. }| {
            *is_quiet
                && self.live.get(id).is_some_and(|live| live.looks.still_holds(*inputs))
                && self.supervisor.get(id).is_some_and(|task| task.waiting != *waiting)
        });
        let is_news = !seen.is_empty();
        seen.into_iter()
            .for_each(|WaitLook { id, waiting, .. }| self.step(SupervisorInput::Waiting { id, waiting }));
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_task_is_looked_at_ever_less_often_and_again_when_it_writes() {
        let mut looks = Looks::default();
        let at: Vec<u32> = (0..=20).filter(|_| looks.second(5) == Second::Look).collect();
        assert_eq!(at, [1, 2, 4, 8, 16]);
        assert_eq!(looks.second(6), Second::Wrote, "a second with output is no quiet one");
        assert_eq!(looks.second(6), Second::Look, "and then it starts over");
    }

    #[test]
    fn what_was_found_before_an_input_no_longer_holds() {
        let mut looks = Looks::default();
        looks.again();
        let at = looks.inputs;
        assert_eq!(looks.second(9), Second::Wrote);
        assert!(looks.still_holds(at), "output has not made it another question");
        looks.again();
        assert!(!looks.still_holds(at), "it was answered meanwhile");
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_process_that_sleeps_in_a_write_does_not_wait_for_input() {
        assert!(is_read(
            "0 0x0 0x7f9d4fa63000 0x20000 0x7f9d4faf6b60 0xffffffff 0x0 0x7ffc0e8ea268 0x7f9d4fbdf2ad"
        ));
        for other in ["1 0x1 0x55d0 0x2000 0x0 0x0 0x0 0x7ffe 0x7f12", "running", ""] {
            assert!(!is_read(other), "{other}");
        }
    }
}
