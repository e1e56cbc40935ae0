//! The PTY of a command: our side of it, shared. Never writes to it on its own.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use portable_pty::PtySize;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::ioctl_fionread;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Winsize, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr, tcsetwinsize,
};

use crate::terminal::Size;

/// Our side of a PTY. Clones share it; it closes with the last clone and duplicate.
#[derive(Clone)]
pub struct Pty {
    master: Arc<OwnedFd>,
    /// The other side, kept open where a command may open and close its own as it likes.
    slave: Option<Arc<OwnedFd>>,
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
        let master = super::sys::descriptor(&*pair.master).ok_or(io::ErrorKind::Unsupported)?;
        let master = master.try_clone_to_owned()?;
        let slave = other_side(&master)?;
        Ok((Self { master: Arc::new(master), slave: None }, slave))
    }

    /// Opens a pair that stands beside the streams of a command: ours, non-blocking, which keeps the other side open as
    /// well, so that reading it never ends; and that other side.
    pub(super) fn open_aside(size: Size) -> io::Result<(Self, OwnedFd)> {
        // Closed on exec from the first moment on: nothing has to be locked.
        let master = openpt(OPEN)?;
        unlockpt(&master)?;
        let slave = other_side(&master)?;
        tcsetwinsize(&master, rows_and_columns(size))?;
        let kept = slave.try_clone()?;
        Ok((Self { master: Arc::new(master), slave: Some(Arc::new(kept)) }, slave))
    }

    /// Returns a duplicate to read from or to write to. Unlike the library's writer, dropping it types nothing.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn duplicate(&self) -> io::Result<OwnedFd> {
        Ok(rustix::io::fcntl_dupfd_cloexec(&self.master, 3)?)
    }

    /// Changes the size of the terminal; the command gets SIGWINCH.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        Ok(tcsetwinsize(&self.master, rows_and_columns(size))?)
    }

    /// Returns the size of the terminal.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn size(&self) -> io::Result<Size> {
        let size = tcgetwinsize(&self.master)?;
        Ok(Size::clamped(size.ws_col, size.ws_row))
    }

    /// Returns how the terminal treats input now.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn input_mode(&self) -> io::Result<InputMode> {
        let modes = tcgetattr(&self.master)?;
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
        tcgetpgrp(&self.master).ok().map(|group| group.as_raw_nonzero().get().unsigned_abs())
    }

    /// Returns the path of the command's side.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let path = ptsname(&self.master, Vec::new()).ok()?;
        Some(OsString::from_vec(path.into_bytes()).into())
    }

    /// Returns the device number of the terminal, by which the processes that have it open are found.
    #[must_use]
    pub fn device(&self) -> Option<u64> {
        let slave = self.slave.as_ref()?;
        rustix::fs::fstat(slave).ok().map(|slave| slave.st_rdev)
    }

    /// Makes the kernel process what was typed, echo included, which it would otherwise do a moment later.
    pub fn settle(&self) {
        if let Some(slave) = &self.slave {
            // Where no line is ready, the kernel first takes in what is on its way to the slave.
            let _ = poll(&mut [PollFd::new(slave, PollFlags::IN)], Some(&AT_ONCE));
            // A line is ready before its echo is written: to count what is ready, the kernel waits until it has done both.
            let _ = ioctl_fionread(slave);
        }
    }

    /// Tells whether something that was written to it has not been read yet.
    #[must_use]
    pub fn has_output(&self) -> bool {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        poll(&mut fds, Some(&AT_ONCE)).is_ok_and(|ready| ready > 0)
    }
}

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// How both sides are opened: never as the controlling terminal of this process, which may lead a session without one.
const OPEN: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);

/// Makes our side non-blocking, and opens the other.
fn other_side(master: &OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(master, fcntl_getfl(master)? | OFlags::NONBLOCK)?;
    let slave = ioctl_tiocgptpeer(master, OPEN)?;
    let mut modes = tcgetattr(&slave)?;
    modes.input_modes |= InputModes::IUTF8;
    tcsetattr(&slave, OptionalActions::Now, &modes)?;
    Ok(slave)
}

fn rows_and_columns(size: Size) -> Winsize {
    Winsize { ws_row: size.rows(), ws_col: size.cols(), ws_xpixel: 0, ws_ypixel: 0 }
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
    fn a_terminal_beside_a_command_survives_every_other_opening_of_it() {
        let (pty, slave) = Pty::open_aside(Size::clamped(90, 33)).expect("opens");
        assert_eq!(pty.size().expect("size"), Size::clamped(90, 33));
        assert!(tcgetattr(&slave).expect("modes").input_modes.contains(InputModes::IUTF8));
        assert!(!pty.has_output());
        rustix::io::write(&slave, b"said\n").expect("written");
        drop(slave);
        assert!(pty.has_output());
        let (reader, mut said) = (pty.duplicate().expect("a descriptor"), [0; 16]);
        assert_eq!(rustix::io::read(&reader, &mut said), Ok(6));
        assert_eq!(rustix::io::read(&reader, &mut said), Err(rustix::io::Errno::AGAIN), "no end");
        assert!(!pty.has_output());
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
