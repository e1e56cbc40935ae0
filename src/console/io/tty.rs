//! The person's terminal: taken over whole, given back whole, on every way out. Draws nothing.
//!
//! Whoever ends the program (the console itself, a signal, a panic on any thread) calls `give_back`;
//! the first call does it, the others do nothing. A terminal that is gone is `forget`ted instead.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError, TryLockError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::config::Mouse;
use crate::process;
use crate::terminal::{self, Size, host_terminal};

/// Alternate screen, cursor off, paste and focus told.
const TAKE: &[u8] = b"\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?2004h\x1b[?1004h";
/// Everything that may be on goes off: frame held, styles, mouse, focus, paste, cursor, screen.
const GIVE: &[u8] =
    b"\x1b[?2026l\x1b[0m\x1b[?1000l\x1b[?1002l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[0 q\x1b[?25h\x1b[?1049l";
/// Presses, drags and the wheel, in decimal numbers.
const MOUSE: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const NO_MOUSE: &[u8] = b"\x1b[?1000l\x1b[?1002l\x1b[?1006l";
/// The wheel as arrow keys, clicks as the terminal's own; how it was is kept and brought back.
const WHEEL: &[u8] = b"\x1b[?1007s\x1b[?1007h";
const NO_WHEEL: &[u8] = b"\x1b[?1007l\x1b[?1007r";

/// The wheel was made arrow keys and has to be made itself again.
static HAS_WHEEL: AtomicBool = AtomicBool::new(false);
/// The title of the window is kept, and brought back.
const KEEP_TITLE: &[u8] = b"\x1b[22;2t";
const OWN_TITLE: &[u8] = b"\x1b[23;2t";

/// The window has a title of ours.
static HAS_TITLE: AtomicBool = AtomicBool::new(false);
/// What is said when the program ends where it stands.
const FAREWELL: &[u8] = b"pilothouse was aborted (a signal, or no memory was left); its tasks end with it\n";

/// The terminal as it was found. A lock, not a message: a panic on any thread must reach it.
static FOUND: Mutex<Option<Found>> = Mutex::new(None);
/// The terminal is ours and has to be given back.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

struct Found {
    fd: OwnedFd,
    termios: Termios,
}

/// Opens the terminal of this process: standard output, else the controlling terminal.
///
/// # Errors
/// When there is none.
pub fn open() -> io::Result<File> {
    let stdout = io::stdout();
    if stdout.is_terminal() {
        return Ok(File::from(stdout.as_fd().try_clone_to_owned()?));
    }
    File::options().read(true).write(true).open("/dev/tty")
}

/// Returns the columns and rows of the terminal, at most as many as a task's may have: what a window says of its size
/// is nothing to allocate by.
///
/// # Errors
/// When it cannot be asked.
pub fn size() -> io::Result<(u16, u16)> {
    crossterm::terminal::size().map(|(columns, rows)| (columns.min(Size::MAX), rows.min(Size::MAX)))
}

/// Takes the terminal over, and again after it was given back.
///
/// # Errors
/// When its state cannot be read or set.
pub fn take(tty: &File, with: Mouse) -> io::Result<()> {
    HOOK.call_once(give_back_when_it_breaks);
    let found = Found { fd: tty.as_fd().try_clone_to_owned()?, termios: tcgetattr(tty)? };
    let mut raw = found.termios.clone();
    // Stopped from outside, its state was changed by the shell meanwhile: what was found first is what it gets back.
    if !IS_TAKEN.swap(true, Ordering::SeqCst) {
        *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    }
    raw.make_raw();
    tcsetattr(tty, OptionalActions::Now, &raw)?;
    write_all(tty.as_fd(), TAKE)?;
    mouse(tty, with)
}

/// Takes the mouse, or leaves it to the terminal.
///
/// # Errors
/// When the terminal cannot be written to.
pub fn mouse(tty: &File, what: Mouse) -> io::Result<()> {
    let is_wheel = what == Mouse::Wheel;
    if HAS_WHEEL.swap(is_wheel, Ordering::SeqCst) && !is_wheel {
        write_all(tty.as_fd(), NO_WHEEL)?;
    }
    let sequence = match what {
        Mouse::Off => NO_MOUSE.to_vec(),
        Mouse::Wheel => [NO_MOUSE, WHEEL].concat(),
        Mouse::Full => MOUSE.to_vec(),
    };
    write_all(tty.as_fd(), &sequence)
}

/// Keeps the title of the window before it gets another, or brings it back.
///
/// # Errors
/// When the terminal cannot be written to.
pub fn keep_title(tty: &File, keep: bool) -> io::Result<()> {
    match (HAS_TITLE.swap(keep, Ordering::SeqCst), keep) {
        (false, true) => write_all(tty.as_fd(), KEEP_TITLE),
        (true, false) => write_all(tty.as_fd(), OWN_TITLE),
        _ => Ok(()),
    }
}

/// Asks the terminal for its colours and the width of a mark. What is drawn for that is gone with the first frame.
///
/// # Errors
/// When the terminal cannot be written to.
pub fn ask(tty: &File) -> io::Result<()> {
    write_all(tty.as_fd(), host_terminal::queries().as_bytes())
}

/// Gives the terminal back as it was found. Errors have nobody left to be told to.
pub fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A panic while the lock was held leaves what is needed in it.
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = &*found {
        found.restore();
    }
}

impl Found {
    /// Writes and sets only, which a signal handler may.
    fn restore(&self) {
        if HAS_WHEEL.swap(false, Ordering::SeqCst) {
            let _ = write_all(self.fd.as_fd(), NO_WHEEL);
        }
        if HAS_TITLE.swap(false, Ordering::SeqCst) {
            let _ = write_all(self.fd.as_fd(), OWN_TITLE);
        }
        let _ = write_all(self.fd.as_fd(), GIVE);
        let _ = tcsetattr(&self.fd, OptionalActions::Now, &self.termios);
    }
}

/// Gives the terminal back inside a signal handler, where nothing may be waited for: a lock that is held just now is
/// that of a thread that takes or gives back the terminal.
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
        found.restore();
        let _ = write_all(found.fd.as_fd(), FAREWELL);
    }
}

/// Holds it no longer, given back. The last descriptor of the terminal beside the standard streams is closed.
pub fn close() {
    *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// The terminal is gone: from now on nothing is written to it.
pub fn forget() {
    IS_TAKEN.store(false, Ordering::SeqCst);
}

/// Blocks until the other end of the terminal is gone, or of the pipe; tells whether it was the terminal's.
pub fn wait_until_gone(tty: &File, pipe: &OwnedFd) -> bool {
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    loop {
        // No flag is asked for; a hang-up is reported all the same.
        let mut fds = [PollFd::new(tty, PollFlags::empty()), PollFd::new(pipe, PollFlags::empty())];
        match poll(&mut fds, None) {
            Ok(_) if fds[1].revents().intersects(gone) => return false,
            Ok(_) if fds[0].revents().intersects(gone) => return true,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return true,
        }
    }
}

/// A panic outside of a contained parser leaves nothing that could go on: the terminal is given back,
/// the report goes to the log and the normal screen, and the task hosts end the tasks. The same holds for the signals
/// that no loop hears of, and for memory that has run out, which aborts.
fn give_back_when_it_breaks() {
    process::before_death(give_back_at_once);
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if terminal::is_contained() {
            tracing::warn!("a screen's parser panicked and will be rebuilt: {panic}");
            return;
        }
        give_back();
        tracing::error!("panic: {panic}");
        report(panic);
        std::process::abort();
    }));
}

fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
