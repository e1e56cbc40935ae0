//! The PTY of a command: our side of it, shared. Never writes to it on its own.

use std::fmt;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use portable_pty::{MasterPty, PtySize};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer};
use rustix::termios::{InputModes, LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use crate::terminal::Size;

/// Our side of a PTY. Clones share it; it closes with the last clone and duplicate.
///
/// A lock, not a message: `portable-pty` is `Send` only, and every call is one short ioctl.
#[derive(Clone)]
pub struct Pty {
    master: Arc<Mutex<Box<dyn MasterPty + Send>>>,
}

/// How the terminal treats input now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputMode {
    /// Input is echoed.
    pub echo: bool,
    /// Input is read line by line.
    pub canonical: bool,
    /// The `intr` character sends SIGINT.
    pub signals: bool,
    /// The end-of-file character, if there is one.
    pub eof: Option<u8>,
    /// The interrupt character, if there is one.
    pub intr: Option<u8>,
}

impl Pty {
    /// Opens a pair: ours, non-blocking, and the other side for the command.
    pub(super) fn open(size: Size) -> io::Result<(Self, OwnedFd)> {
        let pair = portable_pty::native_pty_system()
            .openpty(cells(size))
            .map_err(|error| os_error(&format!("{error:?}")))?;
        let pty = Self { master: Arc::new(Mutex::new(pair.master)) };
        let slave = pty.with_fd(|fd| {
            fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
            ioctl_tiocgptpeer(fd, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
        })?;
        let mut modes = tcgetattr(&slave)?;
        modes.input_modes |= InputModes::IUTF8;
        tcsetattr(&slave, OptionalActions::Now, &modes)?;
        Ok((pty, slave))
    }

    /// Returns a duplicate to read from or to write to. Unlike the library's writer, dropping it types nothing.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn duplicate(&self) -> io::Result<OwnedFd> {
        self.with_fd(|fd| rustix::io::fcntl_dupfd_cloexec(fd, 3))
    }

    /// Changes the size of the terminal; the command gets SIGWINCH.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        self.lock().resize(cells(size)).map_err(|error| os_error(&format!("{error:?}")))
    }

    /// Returns the size of the terminal.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn size(&self) -> io::Result<Size> {
        let size = self.lock().get_size().map_err(|error| os_error(&format!("{error:?}")))?;
        Ok(Size::clamped(size.cols, size.rows))
    }

    /// Returns how the terminal treats input now.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn input_mode(&self) -> io::Result<InputMode> {
        let modes = self.with_fd(|fd| tcgetattr(fd))?;
        let character = |index| Some(modes.special_codes[index]).filter(|code| *code != 0);
        Ok(InputMode {
            echo: modes.local_modes.contains(LocalModes::ECHO),
            canonical: modes.local_modes.contains(LocalModes::ICANON),
            signals: modes.local_modes.contains(LocalModes::ISIG),
            eof: character(SpecialCodeIndex::VEOF),
            intr: character(SpecialCodeIndex::VINTR),
        })
    }

    /// Returns the process group that reads from the terminal now.
    #[must_use]
    pub fn foreground_group(&self) -> Option<u32> {
        self.lock().process_group_leader().and_then(|group| u32::try_from(group).ok())
    }

    fn with_fd<R>(&self, call: impl FnOnce(BorrowedFd<'_>) -> rustix::io::Result<R>) -> io::Result<R> {
        let master = self.lock();
        let fd = super::sys::descriptor(&**master).ok_or(io::ErrorKind::Unsupported)?;
        Ok(call(fd)?)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Box<dyn MasterPty + Send>> {
        self.master.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pty").finish_non_exhaustive()
    }
}

fn cells(size: Size) -> PtySize {
    PtySize { rows: size.rows(), cols: size.cols(), pixel_width: 0, pixel_height: 0 }
}

/// Recovers the error number, which `portable-pty` keeps only inside its text.
fn os_error(text: &str) -> io::Error {
    let number = text.split_once("code: ").map(|(_, rest)| rest);
    let digits = number.and_then(|rest| rest.split(|char: char| !char.is_ascii_digit()).next());
    match digits.and_then(|digits| digits.parse().ok()) {
        Some(errno) => io::Error::from_raw_os_error(errno),
        None => io::Error::other(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_number_is_read_out_of_the_librarys_text() {
        let text =
            r#"failed to openpty: Os { code: 28, kind: StorageFull, message: "No space left on device" }"#;
        assert_eq!(os_error(text).raw_os_error(), Some(libc::ENOSPC));
        assert_eq!(os_error("something else").raw_os_error(), None);
    }

    #[test]
    fn a_fresh_terminal_echoes_by_lines_and_has_the_asked_size() {
        let (pty, slave) = Pty::open(Size::clamped(90, 33)).expect("opens");
        let mode = pty.input_mode().expect("mode");
        assert!(mode.echo && mode.canonical && mode.signals);
        assert_eq!((mode.eof, mode.intr), (Some(4), Some(3)));
        assert_eq!(pty.size().expect("size"), Size::clamped(90, 33));
        assert!(tcgetattr(&slave).expect("modes").input_modes.contains(InputModes::IUTF8));
    }

    #[test]
    fn dropping_a_duplicate_types_nothing() {
        let (pty, slave) = Pty::open(Size::default()).expect("opens");
        let mut modes = tcgetattr(&slave).expect("modes");
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes).expect("raw");
        drop(pty.duplicate().expect("a descriptor"));
        assert_eq!(rustix::io::ioctl_fionread(&slave).expect("count"), 0);
    }
}
