//! Detects whether a quiet task wants input, from kernel state where it shows this, never by guessing
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

use super::order::Order;
use super::polling::polls_tty;
use super::{Driver, asking};
use crate::envelope::TaskId;
use crate::facts::{InputEvidence, Need, Waiting};
use crate::runtime::bytes::TaskIo;
use crate::runtime::log::open_log;
use crate::runtime::supervisor::Input;
use crate::terminal::{Origin, clean};

/// Kernel functions in which a process sleeps while it reads a terminal; in some of them also while it writes to one.
pub(super) const TTY_SLEEPS: [&str; 3] = ["n_tty_read", "wait_woken", "tty_read"];

/// Bytes at the end of a log that are searched for a prompt.
const PROMPT_BYTES: u64 = 2_048;

/// Inspects a task's terminal; `since` is when the task last wrote.
pub(super) fn observe(io: &TaskIo, since: Timestamp, groups: &Groups) -> Option<Waiting> {
    let pty = io.pty.get()?;
    let mode = pty.input_mode().ok()?;
    let group = pty.foreground_group()?;
    let reads = groups.members(group).any(reads_tty);
    let hidden = !mode.echo && mode.canonical;
    let (kind, evidence) = match (reads, hidden, mode.canonical) {
        (true, true, _) => (Need::Secret, InputEvidence::EchoOff),
        (true, false, true) => (Need::Line, InputEvidence::TtyRead),
        // In raw mode an editor or a pager reads keys all the time, which is no question, or weak evidence of one.
        _ if !is_at_prompt(io) => return None,
        (true, false, false) => (Need::Key, InputEvidence::TtyRead),
        _ if !groups.members(group).any(polls_tty) => return None,
        (false, true, _) => (Need::Secret, InputEvidence::EchoOff),
        (false, false, _) => (Need::Line, InputEvidence::TtyPoll),
    };
    Some(Waiting { kind, evidence, since, program: None })
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
    let text = clean(&end, Origin::Tty, size);
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
}

/// What one look at a task has found.
#[derive(Debug)]
pub(in crate::runtime) struct Found {
    id: TaskId,
    /// How often the task had got input when it was looked at.
    inputs: u64,
    waiting: Option<Waiting>,
}

impl Looks {
    /// Counts one second, with `bytes` written so far.
    pub(super) fn second(&mut self, bytes: u64) -> Second {
        if self.bytes != bytes {
            *self = Self { bytes, quiet_seconds: 0, inputs: self.inputs };
            return Second::Wrote;
        }
        self.quiet_seconds = self.quiet_seconds.saturating_add(1);
        let due = self.quiet_seconds.is_power_of_two() || self.quiet_seconds.is_multiple_of(60);
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
    /// Checks outside the loop which quiet tasks want input.
    pub(super) fn look(&mut self) {
        let (mut quiet, mut wrote) = (Vec::new(), Vec::new());
        for live in self.live.values_mut().filter(|live| live.io.pty.get().is_some()) {
            match live.looks.second(live.io.written()) {
                Second::Look => quiet.push((live.io.clone(), live.looks.inputs)),
                Second::Wrote => wrote.push(live.io.id.clone()),
                Second::Rest => {}
            }
        }
        wrote.into_iter().for_each(|id| self.step(Input::Waiting { id, waiting: None }));
        if quiet.is_empty() {
            return;
        }
        let (own, now) = (self.own.clone(), self.now().wall);
        self.blocking_job(move || {
            let groups = Groups::scan();
            let look = |(io, inputs): (Arc<TaskIo>, u64)| {
                let since = io.output().last_at.unwrap_or(now);
                let observe = if io.tty { observe } else { asking::observe };
                let waiting = observe(&io, since, &groups);
                Found { id: io.id.clone(), inputs, waiting }
            };
            // Once the driver is gone, nobody shows the result.
            let _ = own.blocking_send(Order::Waiting { seen: quiet.into_iter().map(look).collect() });
        });
    }

    /// Applies what quiet tasks were found waiting for; returns whether any of it is new.
    pub(super) fn seen(&mut self, mut seen: Vec<Found>) -> bool {
        seen.retain(|Found { id, inputs, waiting }| {
            self.live.get(id).is_some_and(|live| live.looks.still_holds(*inputs))
                && self.supervisor.get(id).is_some_and(|task| task.waiting != *waiting)
        });
        let is_news = !seen.is_empty();
        seen.into_iter().for_each(|Found { id, waiting, .. }| self.step(Input::Waiting { id, waiting }));
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
