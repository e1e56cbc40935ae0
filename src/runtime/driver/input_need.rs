//! Detects whether a quiet task wants input, from kernel state where it shows this, and never from text alone
//! (docs/contract.md#waiting-for-input).
//!
//! [`asker`] finds the process that reads or polls the task's terminal. [`Scene::decide`] says what
//! that is a wait for: by the terminal's modes, and in raw mode by the place of the cursor on the task's screen. On a
//! terminal beside a command's streams only a program that asks reads, so more counts as a wait there. [`Sight`] compares
//! two looks at a process that polls with a timeout.

use std::time::Duration;

use jiff::Timestamp;

use super::foreground::Foreground;
use super::polling::{TerminalPoll, poll_of};
use super::sight::{Memory, Sight};
use super::terminal_reads::{
    Device, feeds_pipe, folder, has_inner_terminal, input_mode, is_closed, read_file, reads,
};
use crate::envelope::mask;
use crate::model::{InputEvidence, InputNeed, InputWait};
use crate::process::{InputMode, ProcessTable, Pty};
use crate::runtime::bytes::TaskIo;
use crate::terminal::{CursorPlace, ScreenText};

/// Length limit of a program's name, in characters.
const NAME_CHARS: usize = 32;

/// One look at a task's terminal.
pub(super) struct TerminalLook<'a> {
    pub(super) io: &'a TaskIo,
    pub(super) pty: &'a Pty,
    pub(super) processes: &'a ProcessTable,
    /// When it last wrote.
    pub(super) since: Timestamp,
    /// The time of the look, and how long a program that polls with a timeout must have been at it.
    pub(super) now: Duration,
    pub(super) patience: Duration,
    /// What the look before has left.
    pub(super) memory: &'a mut Memory,
}

/// What a process does at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TerminalUse {
    Read,
    Poll(TerminalPoll),
    /// The kernel does not show us what a program with another user's rights does.
    Closed,
}

/// A process at a terminal, and that terminal's modes.
#[derive(Clone, Copy)]
struct Asker {
    pid: i32,
    act: TerminalUse,
    mode: InputMode,
}

/// What is seen of a process at a terminal.
struct Scene<'a> {
    act: TerminalUse,
    is_echoing: bool,
    is_canonical: bool,
    /// Whether the last line of text is unfinished.
    is_open: bool,
    /// Whether the process feeds a pipe.
    is_feeding: bool,
    screen: &'a ScreenText,
}

impl TerminalLook<'_> {
    /// Looks. While nothing has moved, what was at work still is.
    pub(super) fn observe(mut self) -> Option<InputWait> {
        let group = self.pty.foreground_group()?;
        let mode = self.pty.input_mode().ok()?;
        let screen = self.memory.read_screen(&self.io.screen);
        let is_open = if self.io.tty { screen.place() == CursorPlace::Open } else { self.io.asks() };
        let is_special = !mode.canonical || !mode.echo || is_open;
        let foreground = self.memory.foreground.as_ref();
        let is_still = || foreground.is_some_and(|before| before.is_still(group, self.processes));
        if self.memory.is_at_work && !is_special && is_still() {
            return None;
        }
        self.memory.foreground = Some(Foreground::of(group, self.processes));
        let found = self.find(group, mode, (&screen, is_open));
        self.memory.is_at_work = found.is_none() && !is_special && self.memory.sight.is_none();
        found
    }

    /// Finds what the program waits for, in a terminal with this foreground group, these modes and this screen, on which the
    /// last line may be open.
    fn find(&mut self, group: u32, mode: InputMode, shown: (&ScreenText, bool)) -> Option<InputWait> {
        let (processes, is_beside, (screen, is_open)) = (self.processes, !self.io.tty, shown);
        let device = self.pty.device()?;
        let device = (libc::major(device), libc::minor(device));
        let before = self.memory.sight.take();
        let is_special = !mode.canonical || !mode.echo || is_open;
        let asker = asker(group, device, mode, processes, is_special)?;
        let Asker { pid, act, mode } = innermost(asker, device, processes)?;
        let scene = Scene {
            act,
            is_echoing: mode.echo,
            is_canonical: mode.canonical,
            is_open,
            is_feeding: !is_beside && feeds_pipe(pid),
            screen,
        };
        let (kind, evidence) = scene.decide(is_beside)?;
        let is_timed = matches!(act, TerminalUse::Poll(poll) if !poll.is_endless);
        let is_hidden = mode.canonical && !mode.echo && is_open;
        if is_timed && !is_hidden {
            let sight = Sight { pid, at: self.now, work: processes.work(group), is_settled: false };
            let sight = sight.after(before, self.patience);
            if !self.memory.sight.insert(sight).is_settled {
                return None;
            }
        }
        let question = screen.question().map(|asked| mask(&asked).into_owned());
        let program = is_beside.then(|| name(pid)).flatten();
        Some(InputWait { kind, evidence, since: self.since, program, question })
    }
}

/// Finds the process that reads a terminal or waits for it: in the foreground, or anywhere if something `is_special` about
/// the terminal.
fn asker(
    group: u32,
    device: Device,
    mode: InputMode,
    processes: &ProcessTable,
    is_special: bool,
) -> Option<Asker> {
    let read = |pid: i32| reads(pid, device, processes).then_some((pid, TerminalUse::Read));
    let poll = |pid: i32| Some((pid, TerminalUse::Poll(poll_of(pid, device, processes)?)));
    let closed = |pid: i32| is_closed(pid).then_some((pid, TerminalUse::Closed));
    let members = || processes.members(group);
    let found = members().find_map(read);
    let found = found.or_else(|| members().find_map(closed).filter(|_| !mode.echo));
    let found = found.or_else(|| members().find_map(poll));
    // The pinentry of an agent in another session has opened the terminal by its path.
    let found = found.or_else(|| {
        let pids = || processes.pids().filter(|_| is_special);
        pids().find_map(read).or_else(|| pids().find_map(poll))
    });
    found.map(|(pid, act)| Asker { pid, act, mode })
}

/// Returns the process that asks on the inner terminal of one that passes everything on (`script`); `None` if none does.
fn innermost(outer: Asker, device: Device, processes: &ProcessTable) -> Option<Asker> {
    if !matches!(outer.act, TerminalUse::Poll(_)) || !has_inner_terminal(outer.pid) {
        return Some(outer);
    }
    let mut is_empty = true;
    let inner = processes.inner_terminals(outer.pid).filter(|(_, inner)| *inner != device);
    let found = inner.inspect(|_| is_empty = false).find_map(|(pid, inner)| {
        let read = reads(pid, inner, processes).then_some(TerminalUse::Read);
        let act = read.or_else(|| poll_of(pid, inner, processes).map(TerminalUse::Poll))?;
        Some(Asker { pid, act, mode: input_mode(pid)? })
    });
    found.or(is_empty.then_some(outer))
}

/// Returns a program's name as reported by the kernel.
fn name(pid: i32) -> Option<String> {
    let name = read_file(&folder(pid).join("comm")).ok()?;
    let name: String = name.trim().chars().filter(|char| !char.is_control()).take(NAME_CHARS).collect();
    Some(name).filter(|name| !name.is_empty())
}

impl Scene<'_> {
    /// Decides what the process waits for, if for anything.
    fn decide(&self, is_beside: bool) -> Option<(InputNeed, InputEvidence)> {
        let hidden = (InputNeed::Secret, InputEvidence::EchoOff);
        match (self.is_canonical, self.is_echoing, self.act) {
            (true, false, TerminalUse::Read | TerminalUse::Closed) => Some(hidden),
            (true, false, TerminalUse::Poll(poll)) => (self.is_open || poll.is_alone).then_some(hidden),
            (true, true, TerminalUse::Closed) => None,
            (true, true, TerminalUse::Read) => {
                (self.is_open || !self.is_feeding).then_some((InputNeed::Line, InputEvidence::TtyRead))
            }
            (true, true, TerminalUse::Poll(poll)) => {
                // Beside the streams, the question may be among the output.
                let is_open = self.is_open || self.screen.place() == CursorPlace::Open;
                (is_open && self.is_asking(poll)).then_some((InputNeed::Line, InputEvidence::TtyPoll))
            }
            (false, ..) if is_beside => Some(self.decide_beside()),
            (false, ..) => self.decide_raw(),
        }
    }

    /// Decides about a terminal in raw mode. An editor or a pager reads keys all the time, which is no question, or weak
    /// evidence of one.
    fn decide_raw(&self) -> Option<(InputNeed, InputEvidence)> {
        let place = self.screen.place();
        let asks = match (place, self.act) {
            (CursorPlace::Idle, _) => false,
            (CursorPlace::Below, TerminalUse::Poll(poll)) => poll.is_alone,
            (CursorPlace::Open, TerminalUse::Poll(poll)) => self.is_asking(poll),
            (CursorPlace::Open, TerminalUse::Closed) => self.screen.ends_as_question(),
            _ => true,
        };
        let is_read = self.act == TerminalUse::Read;
        let need = match place {
            _ if self.screen.asks_secret() => InputNeed::Secret,
            CursorPlace::Open if !is_read => InputNeed::Line,
            _ => InputNeed::Key,
        };
        asks.then_some((need, if is_read { InputEvidence::TtyRead } else { InputEvidence::TtyPoll }))
    }

    /// Decides about a terminal beside the streams in raw mode: whatever is open there is hidden.
    fn decide_beside(&self) -> (InputNeed, InputEvidence) {
        let is_read = !matches!(self.act, TerminalUse::Poll(_));
        let is_hidden =
            !self.is_echoing && is_read && self.is_open && self.screen.place() == CursorPlace::Open;
        match is_hidden || self.screen.asks_secret() {
            true => (InputNeed::Secret, InputEvidence::EchoOff),
            false if is_read => (InputNeed::Key, InputEvidence::TtyRead),
            false if self.is_open => (InputNeed::Line, InputEvidence::TtyPoll),
            false => (InputNeed::Key, InputEvidence::TtyPoll),
        }
    }

    /// Tells whether an open line before a wait is a question: what waits for other files too may be at work.
    fn is_asking(&self, poll: TerminalPoll) -> bool {
        poll.is_alone || self.screen.ends_as_question()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{ByteOrigin, Contents, Size, Terminal};

    const MIXED: TerminalUse = TerminalUse::Poll(TerminalPoll { is_endless: true, is_alone: false });
    const ALONE: TerminalUse = TerminalUse::Poll(TerminalPoll { is_endless: true, is_alone: true });

    /// What is found of a process at a terminal in `mode` (`canonical`, `hidden` or `raw`) that shows this.
    fn need_of(act: TerminalUse, mode: &str, shown: &str, is_beside: bool) -> &'static str {
        let mut terminal = Terminal::new(Size::nearest(40, 8), ByteOrigin::Tty);
        let _ = terminal.feed(shown.as_bytes());
        let screen = ScreenText::of(&Contents::of(&terminal));
        let is_open = screen.place() == CursorPlace::Open;
        let (is_echoing, is_canonical) = (mode == "canonical", mode != "raw");
        let scene = Scene { act, is_echoing, is_canonical, is_open, is_feeding: false, screen: &screen };
        match scene.decide(is_beside) {
            None => "nothing",
            Some((need, InputEvidence::TtyPoll)) => match need {
                InputNeed::Secret => "perhaps secret",
                InputNeed::Line => "perhaps line",
                _ => "perhaps key",
            },
            Some((need, _)) => need.into(),
        }
    }

    #[test]
    fn a_wait_is_known_by_the_terminals_modes_and_by_the_cursor() {
        const SCREEN: &str = "\x1b[?1049h\x1b[HPick\r\n";
        for (act, mode, shown, expected) in [
            (TerminalUse::Read, "canonical", "", "line"),
            (TerminalUse::Read, "hidden", "", "secret"),
            (TerminalUse::Closed, "hidden", "", "secret"),
            (TerminalUse::Closed, "canonical", "name: ", "nothing"),
            (MIXED, "hidden", "working\r\n", "nothing"),
            (MIXED, "hidden", "PIN: ", "secret"),
            (ALONE, "hidden", "", "secret"),
            (ALONE, "canonical", "name ", "perhaps line"),
            (MIXED, "canonical", "working ", "nothing"),
            (MIXED, "canonical", "name: ", "perhaps line"),
            (TerminalUse::Read, "raw", "press h\r\n", "nothing"),
            (TerminalUse::Read, "raw", "any key ", "key"),
            (TerminalUse::Read, "raw", "Password: ", "secret"),
            (TerminalUse::Read, "raw", "? Pick\r\n> a\r\n\x1b[?25l", "key"),
            (TerminalUse::Read, "raw", SCREEN, "key"),
            (MIXED, "raw", SCREEN, "perhaps key"),
            (MIXED, "raw", "press h\r\n", "nothing"),
            (MIXED, "raw", "working ", "nothing"),
            (MIXED, "raw", "name: ", "perhaps line"),
            (MIXED, "raw", "Project\r\n   ", "perhaps line"),
            (MIXED, "raw", "--More--(1%)", "perhaps key"),
            (ALONE, "raw", "Enter the token ", "perhaps secret"),
            (TerminalUse::Closed, "raw", "working ", "nothing"),
        ] {
            assert_eq!(need_of(act, mode, shown, false), expected, "{act:?} {mode} {shown:?}");
        }
    }

    #[test]
    fn beside_the_streams_every_reader_asks() {
        for (act, mode, shown, expected) in [
            (TerminalUse::Read, "raw", "", "key"),
            (TerminalUse::Read, "raw", "Key: ", "secret"),
            (TerminalUse::Read, "raw", "Pick\r\n\x1b[?25l", "key"),
            (MIXED, "raw", "? Pick\r\n", "perhaps key"),
            (MIXED, "raw", "Passphrase: ", "secret"),
            (MIXED, "canonical", "working ", "nothing"),
            (TerminalUse::Closed, "hidden", "", "secret"),
        ] {
            assert_eq!(need_of(act, mode, shown, true), expected, "{act:?} {mode} {shown:?}");
        }
    }

    #[test]
    fn who_feeds_a_pipe_and_has_asked_nothing_does_not_wait_for_a_person() {
        let screen = ScreenText::default();
        assert_eq!(quiet(TerminalUse::Read, &screen).decide(false), None);
        let asked = Scene { is_open: true, ..quiet(TerminalUse::Read, &screen) };
        assert_eq!(asked.decide(false), Some((InputNeed::Line, InputEvidence::TtyRead)));
    }

    #[test]
    fn a_question_among_the_output_is_answered_at_the_terminal_beside_it() {
        let mut terminal = Terminal::new(Size::nearest(40, 8), ByteOrigin::Tty);
        let _ = terminal.feed(b"name: ");
        let screen = ScreenText::of(&Contents::of(&terminal));
        assert_eq!(quiet(MIXED, &screen).decide(true), Some((InputNeed::Line, InputEvidence::TtyPoll)));
    }

    /// A process that feeds a pipe, at a terminal in line mode that shows no question.
    fn quiet(act: TerminalUse, screen: &ScreenText) -> Scene<'_> {
        Scene { act, is_echoing: true, is_canonical: true, is_open: false, is_feeding: true, screen }
    }
}
