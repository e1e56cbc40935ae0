//! The user's terminal: taken over completely, and restored completely on every way out. Draws nothing.
//!
//! Whatever ends the program (the console itself, a signal, a panic on any thread) calls `give_back`; the
//! first call does the work, later calls do nothing. A terminal that has gone away is `forget`ted instead.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError, TryLockError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetsid, tcgetwinsize, tcsetattr};

use super::output::{BufferedSink, ByteSink, WriteStep};
use crate::config::Mouse;
use crate::process;
use crate::terminal::{self, Size, host_terminal};

/// Alternate screen, hidden cursor, bracketed paste and focus reporting.
const TAKE: &[u8] = b"\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?2004h\x1b[?1004h";
/// Turns off everything that may be on: synchronized output, styles, mouse, focus reporting, bracketed paste,
/// cursor changes, alternate screen.
const GIVE: &[u8] =
    b"\x1b[?2026l\x1b[0m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[0 q\x1b[?25h\x1b[?1049l";
/// Reports presses, drags and the wheel, as decimal numbers (SGR).
const MOUSE: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const NO_MOUSE: &[u8] = b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l";
/// Reports each movement too, or no longer: terminals have one such mode at a time.
const HOVER: &[u8] = b"\x1b[?1003h";
const NO_HOVER: &[u8] = b"\x1b[?1003l\x1b[?1000h\x1b[?1002h";
/// Gives keys that usually share a code one of their own (kitty's protocol), and restores what was set before.
const KEYS: &[u8] = b"\x1b[>1u";
const OWN_KEYS: &[u8] = b"\x1b[<u";
/// The same if it may still be set.
const KEYS_AGAIN: &[u8] = b"\x1b[=1u";

/// Whether keys have codes of their own.
static HAS_KEYS: AtomicBool = AtomicBool::new(false);
/// Wheel as arrow keys, clicks left to the terminal; the previous setting is saved and restored.
const WHEEL: &[u8] = b"\x1b[?1007s\x1b[?1007h";
const NO_WHEEL: &[u8] = b"\x1b[?1007l\x1b[?1007r";

/// Whether the wheel was turned into arrow keys and must be restored.
static HAS_WHEEL: AtomicBool = AtomicBool::new(false);
/// Saves the title of the window, and restores it.
const KEEP_TITLE: &[u8] = b"\x1b[22;2t";
const OWN_TITLE: &[u8] = b"\x1b[23;2t";

/// Whether the window has a title set by us.
static HAS_TITLE: AtomicBool = AtomicBool::new(false);
/// How long a program that is aborted may take to restore a terminal.
const ABORTED: Duration = Duration::from_millis(500);
/// Printed when the program is aborted.
const FAREWELL: &[u8] = b"pilothouse was aborted (a signal, or no memory was left); its tasks end with it\n";

/// The terminal's original state. A lock rather than a message, because a panic on any thread must be able to
/// reach it.
static FOUND: Mutex<Option<OriginalTty>> = Mutex::new(None);
/// Whether the terminal is taken over and must be restored.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

struct OriginalTty {
    sink: ByteSink,
    termios: Termios,
}

/// Opens the terminal of this process: standard output, or else the controlling terminal.
///
/// # Errors
/// When there is none.
pub fn open() -> io::Result<ByteSink> {
    let stdout = io::stdout();
    // The shell and other programs have the same description of standard output: it stays as it is, and the terminal
    // is opened once more.
    let own = |path: &str| {
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let opened = File::options().read(true).write(true).custom_flags(flags).open(path);
        opened.map(|file| ByteSink::new(file, WriteStep::Any))
    };
    if !stdout.is_terminal() || tcgetsid(stdout.as_fd()).is_ok() {
        return own("/dev/tty");
    }
    // Not this process's own terminal; opening it may be refused if it belongs to another user.
    own("/proc/self/fd/1").or_else(|_| {
        let shared = File::from(stdout.as_fd().try_clone_to_owned()?);
        Ok(ByteSink::new(shared, WriteStep::SHARED_TERMINAL))
    })
}

/// Returns the size of the terminal in columns and rows, limited to the largest size of a task, so that
/// allocations do not depend on what a window claims. A terminal that says none (a serial line, a container) has the
/// `usual` one.
///
/// # Errors
/// When the size cannot be queried.
pub fn size(usual: (u16, u16)) -> io::Result<(u16, u16)> {
    let stdout = io::stdout();
    let said = match stdout.is_terminal() {
        true => tcgetwinsize(stdout.as_fd()),
        false => tcgetwinsize(File::open("/dev/tty")?.as_fd()),
    }?;
    let or = |said: u16, usual: u16| if said == 0 { usual } else { said }.min(Size::MAX);
    Ok((or(said.ws_col, usual.0), or(said.ws_row, usual.1)))
}

/// Takes over the terminal, the first time or again after it was restored.
///
/// # Errors
/// When its state cannot be read or set, or it is gone.
pub fn take(output: &mut BufferedSink, with: Mouse) -> io::Result<()> {
    HOOK.call_once(give_back_when_it_breaks);
    let found = OriginalTty { sink: output.sink().try_clone()?, termios: tcgetattr(output.sink().file())? };
    let mut raw = found.termios.clone();
    // If we were stopped from outside, the shell has changed the state meanwhile: the state found first is
    // the one to restore.
    if !IS_TAKEN.swap(true, Ordering::SeqCst) {
        *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    }
    raw.make_raw();
    tcsetattr(output.sink().file(), OptionalActions::Now, &raw)?;
    output.send(TAKE)?;
    mouse(output, with)
}

/// Captures the mouse, or leaves it to the terminal.
///
/// # Errors
/// When the terminal is gone.
pub fn mouse(output: &mut BufferedSink, what: Mouse) -> io::Result<()> {
    let is_wheel = what == Mouse::Wheel;
    if HAS_WHEEL.swap(is_wheel, Ordering::SeqCst) && !is_wheel {
        output.send(NO_WHEEL)?;
    }
    match what {
        Mouse::Off => output.send(NO_MOUSE),
        Mouse::Wheel => output.send(&[NO_MOUSE, WHEEL].concat()),
        Mouse::Full => output.send(MOUSE),
    }
}

/// Has each movement of the mouse reported, or only those with a button held.
///
/// # Errors
/// When the terminal is gone.
pub fn hover(output: &mut BufferedSink, is_wanted: bool) -> io::Result<()> {
    output.send(if is_wanted { HOVER } else { NO_HOVER })
}

/// Gives keys that usually share a code one of their own, on a terminal that can.
///
/// # Errors
/// When the terminal is gone.
pub fn distinct_keys(output: &mut BufferedSink) -> io::Result<()> {
    output.send(if HAS_KEYS.swap(true, Ordering::SeqCst) { KEYS_AGAIN } else { KEYS })
}

/// Saves the title of the window before it is changed, or restores it.
///
/// # Errors
/// When the terminal is gone.
pub fn keep_title(output: &mut BufferedSink, keep: bool) -> io::Result<()> {
    match (HAS_TITLE.swap(keep, Ordering::SeqCst), keep) {
        (false, true) => output.send(KEEP_TITLE),
        (true, false) => output.send(OWN_TITLE),
        _ => Ok(()),
    }
}

/// Queries the terminal's colours and the width of a glyph. Anything printed for that disappears with the
/// first frame.
///
/// # Errors
/// When the terminal is gone.
pub fn ask(output: &mut BufferedSink) -> io::Result<()> {
    output.send(host_terminal::queries().as_bytes())
}

/// Restores the terminal, if it takes the bytes for that within `patience`. There is nobody left to report errors to.
pub fn give_back(patience: Duration) {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A panic while the lock was held leaves the needed state intact.
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = &*found {
        found.restore(patience);
    }
}

impl OriginalTty {
    /// Only writes, waits, and sets attributes, which is allowed in a signal handler.
    fn restore(&self, patience: Duration) {
        let mut left = patience;
        let mut write = |bytes| {
            // A terminal that takes nothing is waited for only once.
            if !matches!(self.sink.write_within(bytes, left), Ok(true)) {
                left = Duration::ZERO;
            }
        };
        if HAS_WHEEL.swap(false, Ordering::SeqCst) {
            write(NO_WHEEL);
        }
        if HAS_TITLE.swap(false, Ordering::SeqCst) {
            write(OWN_TITLE);
        }
        // Before the alternate screen is left, which has settings of its own.
        if HAS_KEYS.swap(false, Ordering::SeqCst) {
            write(OWN_KEYS);
        }
        write(GIVE);
        let _ = tcsetattr(self.sink.file(), OptionalActions::Now, &self.termios);
    }
}

/// Restores the terminal from a signal handler, which must not block: if the lock is held, its owner is a
/// thread that is taking over or restoring the terminal.
fn give_back_at_once() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let found = match FOUND.try_lock() {
        Ok(found) => found,
        Err(TryLockError::Poisoned(found)) => found.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    if let Some(found) = &*found {
        found.restore(ABORTED);
        let _ = found.sink.write_within(FAREWELL, ABORTED);
    }
}

/// Drops the state of the restored terminal, and with it the last descriptor for the terminal apart from the
/// standard streams.
pub fn close() {
    *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Records that the terminal has gone away: nothing is written to it from now on.
pub fn forget() {
    IS_TAKEN.store(false, Ordering::SeqCst);
}

/// Blocks until the other end of the terminal or of the pipe is gone; tells whether it was the terminal's.
pub fn wait_until_gone(tty: &File, pipe: &OwnedFd) -> bool {
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    loop {
        // No event is requested; a hang-up is reported anyway.
        let mut fds = [PollFd::new(tty, PollFlags::empty()), PollFd::new(pipe, PollFlags::empty())];
        match poll(&mut fds, None) {
            Ok(_) if fds[1].revents().intersects(gone) => return false,
            Ok(_) if fds[0].revents().intersects(gone) => return true,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return true,
        }
    }
}

/// Restores the terminal on failures the program cannot survive. After a panic outside a contained parser,
/// the terminal is restored, the report goes to the log and the normal screen, and the task hosts end the
/// tasks. The same applies to signals that no loop handles, and to running out of memory, which aborts.
fn give_back_when_it_breaks() {
    process::before_death(give_back_at_once);
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if terminal::is_contained() {
            tracing::warn!("a screen's parser panicked and will be rebuilt: {panic}");
            return;
        }
        give_back(ABORTED);
        tracing::error!("panic: {panic}");
        report(panic);
        std::process::abort();
    }));
}
