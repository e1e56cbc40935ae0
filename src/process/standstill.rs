//! Processes of a command that are stopped, and whose turn it is at the terminal beside its streams.
//!
//! The kernel stops a process group that reads or sets up its terminal while another group is the foreground one. A
//! shell with job control would bring it forward; beside the streams of a command there is none.

use std::fs::File;

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::tcsetpgrp;
use serde::{Deserialize, Serialize};

use super::process_table::ProcessTable;
use super::tree::{self, ProcessEntry};

/// What stands still in the process tree of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standstill {
    /// The name of a process that is stopped.
    pub stopped: Option<String>,
    /// Whether a process group waits for its turn at the terminal, which another one has.
    pub is_out_of_turn: bool,
    /// Who is to have the terminal next.
    pub turn: Option<Turn>,
    /// Whether a group other than the shell's has the terminal.
    pub is_lent: bool,
}

/// A change of a terminal's foreground process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    group: i32,
    /// Whether the kernel has stopped it at the terminal, so that it has to be continued.
    is_stopped: bool,
}

impl Standstill {
    /// Looks at the tree below a task host, in which `shell` is the shell: in the table of all processes, if there is one,
    /// or else by reading a few files per process.
    pub fn below(host: u32, shell: u32, processes: Option<&ProcessTable>) -> Self {
        let (Ok(host), Ok(shell)) = (i32::try_from(host), i32::try_from(shell)) else {
            return Self::default();
        };
        let below = processes.map_or_else(|| tree::descendants(host), |all| all.below([host]));
        Self::of(&below, host, shell)
    }

    /// Decides from the processes. Those with a terminal beside their streams are in the session of their host.
    fn of(processes: &[ProcessEntry], session: i32, shell: i32) -> Self {
        let alive = || processes.iter().filter(|process| !process.zombie);
        let name = |process: &ProcessEntry| process.name.clone();
        let stopped = alive().find(|process| process.stopped.is_some()).map(name);
        let here = || alive().filter(move |process| process.session == session && process.foreground > 0);
        let Some(foreground) = here().next().map(|process| process.foreground) else {
            return Self { stopped, ..Self::default() };
        };
        let lives = |group: i32| here().any(|process| process.group == group);
        let waits = here().filter(|process| process.group != foreground && is_stopped_by_terminal(process));
        // The shell's own group comes first: it may be the one that ends the others.
        let next = waits.map(|process| process.group).min_by_key(|group| (*group != shell, *group));
        let is_held = foreground != shell && lives(foreground);
        let turn = match next {
            _ if is_held => None,
            Some(group) => Some(Turn { group, is_stopped: true }),
            None => (foreground != shell && lives(shell)).then_some(Turn { group: shell, is_stopped: false }),
        };
        let is_lent = foreground != shell && lives(shell);
        Self { stopped, is_out_of_turn: is_held && next.is_some(), turn, is_lent }
    }
}

/// Tells whether the kernel stopped a process because it is not in its terminal's foreground group. A process that
/// stopped itself, or was stopped by another one, has another signal. Older kernels do not say which it was.
fn is_stopped_by_terminal(process: &ProcessEntry) -> bool {
    matches!(process.stopped, Some(libc::SIGTTIN | libc::SIGTTOU))
}

impl Turn {
    /// Makes the group the foreground one of this process's terminal, as `fg` does.
    pub(super) fn give(self) {
        let (Some(group), Ok(terminal)) = (Pid::from_raw(self.group), File::open("/dev/tty")) else { return };
        // Refused if the group has ended meanwhile. This stops no process: a host ignores SIGTTOU.
        if tcsetpgrp(&terminal, group).is_ok() && self.is_stopped {
            let _ = kill_process_group(group, Signal::CONT);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOST: i32 = 10;
    const SHELL: i32 = 11;

    /// A process of a group at the terminal whose foreground group is given; stopped by a signal, if one is.
    fn process(group: i32, foreground: i32, stopped: Option<i32>) -> ProcessEntry {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let name = format!("of {group}");
        let any = ProcessEntry::read(own).expect("reads");
        ProcessEntry { group, session: HOST, foreground, stopped, zombie: false, name, ..any }
    }

    fn turn(processes: &[ProcessEntry]) -> Option<(i32, bool)> {
        Standstill::of(processes, HOST, SHELL).turn.map(|turn| (turn.group, turn.is_stopped))
    }

    #[test]
    fn a_group_that_the_kernel_stopped_gets_the_terminal_and_the_shell_gets_it_back() {
        let shell = |foreground| process(SHELL, foreground, None);
        for signal in [libc::SIGTTIN, libc::SIGTTOU] {
            let stopped = Standstill::of(&[shell(SHELL), process(20, SHELL, Some(signal))], HOST, SHELL);
            assert_eq!(stopped.turn, Some(Turn { group: 20, is_stopped: true }));
            assert_eq!((stopped.stopped.as_deref(), stopped.is_lent), (Some("of 20"), false));
        }
        assert_eq!(turn(&[shell(20), process(20, 20, None)]), None, "it has it");
        assert!(Standstill::of(&[shell(20), process(20, 20, None)], HOST, SHELL).is_lent);
        assert_eq!(turn(&[shell(20)]), Some((SHELL, false)), "it has ended");
        assert_eq!(turn(&[process(SHELL, 20, Some(libc::SIGTTIN))]), Some((SHELL, true)));
        assert_eq!(turn(&[process(21, 20, None)]), None, "there is no shell any more");
    }

    #[test]
    fn a_self_stopped_process_stays_stopped_and_one_kept_off_the_terminal_waits() {
        let shell = |foreground| process(SHELL, foreground, None);
        for signal in [libc::SIGSTOP, libc::SIGTSTP, 0] {
            let stopped = Standstill::of(&[shell(SHELL), process(20, SHELL, Some(signal))], HOST, SHELL);
            assert_eq!((stopped.turn, stopped.stopped.as_deref()), (None, Some("of 20")));
        }
        let held = [shell(20), process(20, 20, None), process(21, 20, Some(libc::SIGTTIN))];
        let held = Standstill::of(&held, HOST, SHELL);
        assert_eq!((held.turn, held.is_out_of_turn), (None, true));
        let elsewhere = ProcessEntry { session: 12, ..process(20, SHELL, Some(libc::SIGTTIN)) };
        assert_eq!(turn(&[shell(SHELL), elsewhere]), None, "a terminal of its own");
    }

    proptest! {
        /// Giving turns as decided never takes the terminal from a living group, and comes to an end.
        #[test]
        fn a_living_foreground_group_never_loses_the_terminal(
            groups in prop::collection::vec((20..24_i32, prop_oneof![
                Just(None), Just(Some(libc::SIGTTIN)), Just(Some(libc::SIGSTOP)),
            ]), 0..6),
            foreground in 19..24_i32,
        ) {
            let foreground = if foreground == 19 { SHELL } else { foreground };
            let mut all = vec![process(SHELL, foreground, None)];
            all.extend(groups.iter().map(|(group, stopped)| process(*group, foreground, *stopped)));
            let lives = all.iter().any(|process| process.group == foreground);
            let still = Standstill::of(&all, HOST, SHELL);
            if let Some(given) = still.turn {
                prop_assert!(foreground == SHELL || !lives);
                prop_assert!(given.group != foreground);
                for process in &mut all {
                    process.foreground = given.group;
                    if process.group == given.group && given.is_stopped {
                        process.stopped = None;
                    }
                }
                let then = Standstill::of(&all, HOST, SHELL);
                prop_assert!(then.turn.is_none() || given.group == SHELL);
            }
        }
    }
}
