//! The PTY of a command: our side of it, shared. Never writes to it by itself.

use std::ffi::OsString;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

use portable_pty::{Child, CommandBuilder, PtyPair, PtySize};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, Timestamps, UTIME_OMIT, fcntl_getfl, fcntl_setfl, fstat, futimens};
use rustix::io::{Errno, ioctl_fionread, readv, retry_on_intr};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, Winsize, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr, tcsetwinsize,
};

use super::{CallerTerminal, sys};
use crate::terminal::Size;

/// Our side of a PTY. Clones share it; it closes with the last clone and duplicate.
#[derive(Clone)]
pub struct Pty {
    master: Arc<OwnedFd>,
    /// The other side, kept open if a command may open and close its own at any time.
    slave: Option<Arc<OwnedFd>>,
    /// The terminal's device number, where it was made for a command.
    device: Option<u64>,
}

/// The terminal's current input modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputMode {
    /// Whether input is echoed.
    pub echo: bool,
    /// Whether input is read line by line.
    pub canonical: bool,
    /// Whether the `intr` character sends SIGINT.
    pub signals: bool,
    /// The end-of-file character, if there is one.
    pub eof: Option<u8>,
    /// The interrupt character, if there is one.
    pub intr: Option<u8>,
}

/// What a look at the input of a terminal has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputLook {
    /// How many bytes can be read: whole lines only, if the terminal hands over those.
    pub bytes: u64,
    /// Whether anything may have been read since the look before; at the first, it may.
    pub was_read: bool,
    /// Whether the terminal hands over whole lines.
    pub has_lines: bool,
}

impl InputMode {
    /// Returns those of a terminal.
    ///
    /// # Errors
    /// If it is none, or the kernel refuses.
    pub fn of(terminal: impl AsFd) -> io::Result<Self> {
        let modes = tcgetattr(terminal)?;
        let character = |index| Some(modes.special_codes[index]).filter(|code| *code != 0);
        Ok(Self {
            echo: modes.local_modes.contains(LocalModes::ECHO),
            canonical: modes.local_modes.contains(LocalModes::ICANON),
            signals: modes.local_modes.contains(LocalModes::ISIG),
            eof: character(SpecialCodeIndex::VEOF),
            intr: character(SpecialCodeIndex::VINTR),
        })
    }
}

impl Pty {
    /// Opens a pair: our side, non-blocking, and the other side for the command.
    pub(super) fn open(size: Size) -> io::Result<(Self, OwnedFd)> {
        let master = own_side(&pair(size)?)?;
        let slave = other_side(&master)?;
        Ok((Self { master: Arc::new(master), slave: None, device: device(&slave) }, slave))
    }

    /// Starts a program as the leader of a session whose terminal this is; our side is non-blocking.
    pub(super) fn start(
        command: CommandBuilder,
        size: Size,
    ) -> io::Result<(Self, Box<dyn Child + Send + Sync>)> {
        let pair = pair(size)?;
        let child = pair.slave.spawn_command(command).map_err(|error| os_error(&format!("{error:?}")))?;
        let master = own_side(&pair)?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        Ok((Self { master: Arc::new(master), slave: None, device: None }, child))
    }

    /// Opens a pair that stands for the terminal of a caller: as that is, and in its place from now on.
    pub(super) fn open_for(caller: &CallerTerminal) -> io::Result<(Self, OwnedFd)> {
        let (own, slave) = Self::open(caller.size().unwrap_or_default())?;
        caller.give_way(&own.master, &slave)?;
        Ok((own, slave))
    }

    /// Opens a pair for a terminal beside the streams of a command. Our side is non-blocking and also keeps the other
    /// side open, so that reading never reaches end-of-file.
    pub(super) fn open_aside(size: Size) -> io::Result<(Self, OwnedFd)> {
        // Opened close-on-exec, so the spawning lock is not required.
        let master = openpt(OPEN)?;
        unlockpt(&master)?;
        let slave = other_side(&master)?;
        tcsetwinsize(&master, rows_and_columns(size))?;
        let kept = slave.try_clone()?;
        let device = device(&slave);
        Ok((Self { master: Arc::new(master), slave: Some(Arc::new(kept)), device }, slave))
    }

    /// Returns a duplicate for reading or writing. Unlike the library's writer, it types nothing when dropped.
    ///
    /// # Errors
    /// If no descriptors are left.
    pub fn duplicate(&self) -> io::Result<OwnedFd> {
        Ok(rustix::io::fcntl_dupfd_cloexec(&self.master, 3)?)
    }

    /// Writes as much as the terminal takes now; returns how much that was.
    ///
    /// # Errors
    /// `EAGAIN` if it takes nothing now, and whatever else the kernel refuses with.
    pub fn write(&self, bytes: &[u8]) -> rustix::io::Result<usize> {
        rustix::io::write(&self.master, bytes)
    }

    /// Changes the size of the terminal; the command receives SIGWINCH.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        Ok(tcsetwinsize(&self.master, rows_and_columns(size))?)
    }

    /// Gives the terminal the size of its caller's.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn follow(&self, caller: &CallerTerminal) -> io::Result<()> {
        caller.give_size(&self.master)
    }

    /// Returns the size of the terminal.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn size(&self) -> io::Result<Size> {
        let size = tcgetwinsize(&self.master)?;
        Ok(Size::nearest(size.ws_col, size.ws_row))
    }

    /// Returns the terminal's current input modes.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn input_mode(&self) -> io::Result<InputMode> {
        InputMode::of(&self.master)
    }

    /// Returns all modes of the terminal.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn modes(&self) -> io::Result<Termios> {
        Ok(tcgetattr(&self.master)?)
    }

    /// Makes reads of our side also report that a program has thrown away its input ([`read_terminal`]).
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn report_flushes(&self) -> io::Result<()> {
        sys::report_terminal(self.master.as_fd())
    }

    /// Looks at what was typed and not read. The kernel notes when a terminal is read, to 8 s: each look sets that time to
    /// one that it never is, so that the next knows whether somebody has read since.
    ///
    /// # Errors
    /// If no descriptors are left, or the kernel refuses.
    pub fn look_at_input(&self) -> io::Result<InputLook> {
        let opened;
        let slave = match &self.slave {
            Some(kept) => &**kept,
            None => {
                opened = ioctl_tiocgptpeer(&*self.master, OPEN)?;
                &opened
            }
        };
        let was_read = fstat(slave)?.st_atime != 0;
        let (unread, as_it_is) =
            (Timespec { tv_sec: 0, tv_nsec: 0 }, Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT });
        // Without it, anything may have been read.
        let _ = futimens(slave, &Timestamps { last_access: unread, last_modification: as_it_is });
        take_in(slave);
        let has_lines = tcgetattr(slave)?.local_modes.contains(LocalModes::ICANON);
        Ok(InputLook { bytes: ioctl_fionread(slave)?, was_read, has_lines })
    }

    /// Returns the terminal's current foreground process group.
    #[must_use]
    pub fn foreground_group(&self) -> Option<u32> {
        tcgetpgrp(&self.master).ok().map(|group| group.as_raw_nonzero().get().unsigned_abs())
    }

    /// Returns the path of the command's side.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let path = ptsname(&self.master, Vec::new()).ok()?;
        Some(OsString::from_vec(path.into_bytes()).into())
    }

    /// Returns the terminal's device number, by which the processes that have it open are found.
    #[must_use]
    pub fn device(&self) -> Option<u64> {
        self.device
    }

    /// Makes the kernel process typed input now, including its echo, which it would otherwise do a moment later.
    pub fn settle(&self) {
        self.slave.iter().for_each(|slave| take_in(slave));
    }

    /// Tells whether output is waiting to be read.
    #[must_use]
    pub fn has_output(&self) -> bool {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        poll(&mut fds, Some(&AT_ONCE)).is_ok_and(|ready| ready > 0)
    }
}

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// How both sides are opened: never as the controlling terminal of this process, which may lead a session without
/// one.
const OPEN: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);

/// Returns the device number of a terminal.
fn device(slave: &OwnedFd) -> Option<u64> {
    fstat(slave).ok().map(|slave| slave.st_rdev)
}

/// Makes the kernel process now what was typed on the other side of this one.
pub(super) fn take_in(slave: &OwnedFd) {
    // Where no line is ready to be read, answering the poll processes the input on its way to the slave.
    let _ = poll(&mut [PollFd::new(slave, PollFlags::IN)], Some(&AT_ONCE));
    // A line can be read before its echo is written; counting the bytes that are ready waits for both.
    let _ = ioctl_fionread(slave);
}

/// Opens a pair.
fn pair(size: Size) -> io::Result<PtyPair> {
    portable_pty::native_pty_system().openpty(cells(size)).map_err(|error| os_error(&format!("{error:?}")))
}

/// Returns our side of a pair.
fn own_side(pair: &PtyPair) -> io::Result<OwnedFd> {
    super::sys::descriptor(&*pair.master).ok_or(io::ErrorKind::Unsupported)?.try_clone_to_owned()
}

/// Makes our side non-blocking and opens the other side.
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

/// Reads output of a command from a pipe or a terminal; 0 bytes at its end.
///
/// A terminal that no process has open any more fails with EIO. So it does, now and then, while the kernel still moves
/// the last output through it: only if nothing can be read then is it at its end.
///
/// # Errors
/// As `read(2)`.
pub fn read_output(fd: impl AsFd, bytes: &mut [u8]) -> rustix::io::Result<usize> {
    until_end(&fd, || rustix::io::read(&fd, &mut *bytes))
}

fn until_end(
    fd: &impl AsFd,
    mut read: impl FnMut() -> rustix::io::Result<usize>,
) -> rustix::io::Result<usize> {
    loop {
        match read() {
            Err(Errno::IO) if is_readable(fd) => {}
            Err(Errno::IO) => return Ok(0),
            read => return read,
        }
    }
}

/// What was read of a terminal that reports ([`Pty::report_flushes`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalRead {
    /// So many bytes of output; 0 at its end.
    Output(usize),
    /// A program has thrown away the input that was not read, or a signal character has.
    Flush,
    /// Something else.
    Report,
}

/// Reads output of a command from a terminal that reports. There must be room for a byte at least.
///
/// # Errors
/// As `read(2)`.
pub fn read_terminal(fd: impl AsFd, bytes: &mut [u8]) -> rustix::io::Result<TerminalRead> {
    let mut report = [0];
    let length =
        until_end(&fd, || readv(&fd, &mut [IoSliceMut::new(&mut report), IoSliceMut::new(&mut *bytes)]))?;
    Ok(match report {
        [0] => TerminalRead::Output(length.saturating_sub(1)),
        [report] if report & FLUSH != 0 => TerminalRead::Flush,
        _ => TerminalRead::Report,
    })
}

/// The bit of a report that says that input was thrown away (`TIOCPKT_FLUSHREAD`).
const FLUSH: u8 = 1;

/// Tells whether there is something to read; of a terminal, once what is on its way has arrived.
fn is_readable(fd: &impl AsFd) -> bool {
    let mut ready = [PollFd::new(fd, PollFlags::IN)];
    retry_on_intr(|| poll(&mut ready, Some(&AT_ONCE))).is_ok() && ready[0].revents().contains(PollFlags::IN)
}

#[cfg(test)]
mod tests {
    use rustix::termios::{QueueSelector, tcflush};

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
        let (pty, slave) = Pty::open(Size::nearest(90, 33)).expect("opens");
        let mode = pty.input_mode().expect("mode");
        assert!(mode.echo && mode.canonical && mode.signals);
        assert_eq!((mode.eof, mode.intr), (Some(4), Some(3)));
        assert_eq!(pty.size().expect("size"), Size::nearest(90, 33));
        assert!(tcgetattr(&slave).expect("modes").input_modes.contains(InputModes::IUTF8));
    }

    #[test]
    fn a_terminal_beside_a_command_survives_every_other_opening_of_it() {
        let (pty, slave) = Pty::open_aside(Size::nearest(90, 33)).expect("opens");
        assert_eq!(pty.size().expect("size"), Size::nearest(90, 33));
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
    fn a_look_tells_how_much_was_typed_and_whether_somebody_has_read_since_the_one_before() {
        let (pty, slave) = Pty::open(Size::default()).expect("opens");
        pty.write(b"one\ntwo\nthree").expect("typed");
        let look = || pty.look_at_input().expect("a look");
        assert_eq!(look(), InputLook { bytes: 8, was_read: true, has_lines: true });
        assert_eq!(look(), InputLook { bytes: 8, was_read: false, has_lines: true });
        assert_eq!(rustix::io::read(&slave, &mut [0; 16]), Ok(4), "one line");
        assert_eq!(look(), InputLook { bytes: 4, was_read: true, has_lines: true });
        let mut modes = tcgetattr(&slave).expect("modes");
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes).expect("raw");
        assert_eq!(look(), InputLook { bytes: 9, was_read: false, has_lines: false });
        drop(slave);
        assert_eq!(look().bytes, 9, "it is there when nobody has the terminal open");
    }

    #[test]
    fn a_terminal_that_reports_tells_that_input_was_thrown_away_and_gives_all_output() {
        let (pty, slave) = Pty::open(Size::default()).expect("opens");
        pty.report_flushes().expect("reports");
        pty.write(b"typed").expect("typed");
        take_in(&slave);
        let (reader, mut said) = (pty.duplicate().expect("a descriptor"), [0; 16]);
        let mut read = || read_terminal(&reader, &mut said).map(|read| (read, said));
        assert_eq!(
            read().map(|(read, said)| (read, said[..5].to_vec())),
            Ok((TerminalRead::Output(5), b"typed".to_vec()))
        );
        assert_eq!(read(), Err(Errno::AGAIN));
        tcflush(&slave, QueueSelector::IFlush).expect("flushed");
        rustix::io::write(&slave, b"more").expect("written");
        assert_eq!(read().map(|(read, _)| read), Ok(TerminalRead::Flush));
        assert_eq!(
            read().map(|(read, said)| (read, said[..4].to_vec())),
            Ok((TerminalRead::Output(4), b"more".to_vec()))
        );
        drop(slave);
        assert_eq!(read().map(|(read, _)| read), Ok(TerminalRead::Output(0)), "the end");
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
