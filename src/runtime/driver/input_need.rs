//! Detects whether a quiet task wants input or is stopped, from kernel state where it shows this, never by guessing
//! (docs/contract.md#waiting-for-input).
//!
//! A process in the terminal's foreground group that sleeps in a read of the terminal wants input; the kind of input
//! follows from the terminal's modes. While echo is off, a reader anywhere counts, and a program that the kernel does not let
//! us inspect. A process that waits in `poll`, `select` or `epoll`, or reads single keys, may
//! just as well be an editor, a server with a few keys, or a shell: that counts only after an unfinished line of
//! output, and only as weak evidence.

use std::os::unix::fs::FileExt as _;

use jiff::Timestamp;

use super::polling::polls_tty;
use super::terminal_reads::{is_closed, reads};
use crate::model::{InputEvidence, InputNeed, InputWait};
use crate::process::ProcessTable;
use crate::runtime::bytes::TaskIo;
use crate::runtime::log::open_log;
use crate::terminal::{ByteOrigin, clean};

/// Bytes at the end of a log that are searched for a prompt.
const PROMPT_BYTES: u64 = 2_048;

/// Inspects a task's terminal; `since` is when the task last wrote.
pub(super) fn observe(io: &TaskIo, since: Timestamp, processes: &ProcessTable) -> Option<InputWait> {
    let pty = io.pty.get()?;
    let mode = pty.input_mode().ok()?;
    let group = pty.foreground_group()?;
    let device = pty.device()?;
    let hidden = !mode.echo && mode.canonical;
    let is_read = |pid: i32| reads(pid, device, processes);
    // A program with another user's rights (sudo) shows nothing of its call, and one of another session (pinentry) is in no
    // group of this terminal.
    let elsewhere = || processes.members(group).any(is_closed) || processes.pids().any(is_read);
    let reads = processes.members(group).any(is_read) || hidden && elsewhere();
    let (kind, evidence) = match (reads, hidden, mode.canonical) {
        (true, true, _) => (InputNeed::Secret, InputEvidence::EchoOff),
        (true, false, true) => (InputNeed::Line, InputEvidence::TtyRead),
        // Looked at before its output, which takes longer.
        (false, ..) if !processes.members(group).any(|pid| polls_tty(pid, processes)) => return None,
        // In raw mode an editor or a pager reads keys all the time, which is no question, or weak evidence of one.
        _ if !is_at_prompt(io) => return None,
        (true, false, false) => (InputNeed::Key, InputEvidence::TtyRead),
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
