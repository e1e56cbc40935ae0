//! Detects, from kernel state, programs that ask for input on the terminal beside a command's streams.
//!
//! Only a program that asks reads such a terminal, and only such a program turns its echo off. Therefore more counts
//! as a wait here than on a command's own terminal: a read in raw mode, a reader in any thread, a reader outside the
//! foreground group (the pinentry of an agent in the background), and, while echo is off, a program that the kernel
//! does not let us inspect (sudo).

use std::fs;

use jiff::Timestamp;

use super::polling::polls_tty;
use super::terminal_reads::{folder, is_closed, reads};
use crate::model::{InputEvidence, InputNeed, InputWait};
use crate::process::ProcessTable;
use crate::runtime::bytes::TaskIo;

/// Length limit of a program's name, in characters.
const NAME_CHARS: usize = 32;

/// Inspects the terminal beside a task's streams; `since` is when the task last wrote.
pub(super) fn observe(io: &TaskIo, since: Timestamp, processes: &ProcessTable) -> Option<InputWait> {
    let pty = io.pty.get()?;
    let (mode, group, device) = (pty.input_mode().ok()?, pty.foreground_group()?, pty.device()?);
    let is_hidden = !mode.echo;
    let reader = processes.members(group).find(|pid| reads(*pid, device, processes));
    let hidden = || processes.members(group).find(|pid| is_closed(*pid));
    let elsewhere = || processes.pids().find(|pid| reads(*pid, device, processes));
    let reader =
        reader.or_else(|| is_hidden.then(hidden).flatten()).or_else(|| is_hidden.then(elsewhere).flatten());
    let poller = || processes.members(group).find(|pid| io.asks() && polls_tty(*pid, processes));
    let (pid, polls) = match reader {
        Some(reader) => (reader, false),
        None => (poller()?, true),
    };
    let (kind, evidence) = match (is_hidden, mode.canonical, polls) {
        (true, true, _) => (InputNeed::Secret, InputEvidence::EchoOff),
        (true, false, false) if io.asks() => (InputNeed::Secret, InputEvidence::EchoOff),
        (false, true, false) => (InputNeed::Line, InputEvidence::TtyRead),
        (_, false, false) => (InputNeed::Key, InputEvidence::TtyRead),
        (_, _, true) => (InputNeed::Line, InputEvidence::TtyPoll),
    };
    Some(InputWait { kind, evidence, since, program: name(pid) })
}

/// Returns a program's name as reported by the kernel.
fn name(pid: i32) -> Option<String> {
    let name = fs::read_to_string(folder(pid).join("comm")).ok()?;
    let name: String = name.trim().chars().filter(|char| !char.is_control()).take(NAME_CHARS).collect();
    Some(name).filter(|name| !name.is_empty())
}
