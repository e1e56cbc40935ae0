//! The terminal on which a caller would have run its command. While the command runs, on a terminal of its own with the
//! same modes and size, the caller's passes every byte on as it is: what is to be done to bytes, the other one does.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, Winsize, tcgetattr, tcgetwinsize,
    tcsetattr, tcsetwinsize,
};

use super::pty::take_in;
use crate::terminal::Size;

/// The most bytes that a terminal keeps until they are read.
const MOST_TYPED: usize = 4096;

/// A caller's terminal, opened anew: the caller shares the descriptor it handed over, whose flags are left alone.
#[derive(Debug)]
pub struct CallerTerminal {
    /// Non-blocking.
    fd: OwnedFd,
    /// The modes it had when it was opened here.
    modes: Termios,
}

impl CallerTerminal {
    /// Opens the terminal behind a descriptor, not as the controlling terminal of this process.
    ///
    /// # Errors
    /// If it is no terminal, or may not be opened.
    pub fn open(terminal: impl AsFd) -> io::Result<Self> {
        let terminal = terminal.as_fd();
        let modes = tcgetattr(terminal)?;
        let path = format!("/proc/self/fd/{}", terminal.as_raw_fd());
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(Self { fd: openat(CWD, path, flags, Mode::empty())?, modes })
    }

    /// Returns a second handle.
    ///
    /// # Errors
    /// If no descriptors are left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()?, modes: self.modes.clone() })
    }

    /// Returns the size of its screen; `None` if nobody has set one.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        let Winsize { ws_row, ws_col, .. } = tcgetwinsize(&self.fd).ok()?;
        (ws_row > 0 && ws_col > 0).then(|| Size::nearest(ws_col, ws_row))
    }

    /// Gives its size to the terminal of the command, whose processes receive SIGWINCH if it is another one.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(super) fn give_size(&self, master: &OwnedFd) -> io::Result<()> {
        Ok(tcsetwinsize(master, tcgetwinsize(&self.fd)?)?)
    }

    /// Gives its modes, its size and what was typed so far to the terminal of the command, of which these are the two
    /// sides, and from then on passes bytes on as they are.
    ///
    /// # Errors
    /// If the kernel refuses; it may be raw then.
    pub(super) fn give_way(&self, master: &OwnedFd, slave: &OwnedFd) -> io::Result<()> {
        let modes = tcgetattr(&self.fd)?;
        tcsetattr(&self.fd, OptionalActions::Now, &raw(modes.clone()))?;
        let mut typed = [0; MOST_TYPED];
        let length = rustix::io::read(&self.fd, &mut typed).unwrap_or(0);
        if length > 0 {
            // It was echoed when it was typed.
            let mut silent = modes.clone();
            silent.local_modes -= LocalModes::ECHO | LocalModes::ECHONL;
            tcsetattr(slave, OptionalActions::Now, &silent)?;
            rustix::io::write(master, &typed[..length])?;
            take_in(slave);
        }
        tcsetattr(slave, OptionalActions::Now, &modes)?;
        self.give_size(master)
    }

    /// Gives it back the modes that it had when it was opened here.
    pub fn restore(&self) {
        // It may have been hung up.
        let _ = tcsetattr(&self.fd, OptionalActions::Now, &self.modes);
    }
}

impl AsFd for CallerTerminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Returns modes in which every byte is passed on as it is, at once.
fn raw(mut modes: Termios) -> Termios {
    modes.make_raw();
    modes.input_modes -= InputModes::IXOFF | InputModes::IXANY | InputModes::IMAXBEL;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

#[cfg(test)]
mod tests {
    use rustix::termios::OutputModes;

    use super::*;
    use crate::process::Pty;

    #[test]
    fn the_commands_terminal_has_the_callers_modes_and_size_and_what_was_typed_before() {
        let (theirs, their_end) = Pty::open(Size::nearest(101, 31)).expect("opens");
        let mut modes = tcgetattr(&their_end).expect("modes");
        modes.output_modes -= OutputModes::ONLCR;
        modes.special_codes[SpecialCodeIndex::VINTR] = 7;
        tcsetattr(&their_end, OptionalActions::Now, &modes).expect("set");
        let typing = theirs.duplicate().expect("a descriptor");
        rustix::io::write(&typing, b"typed early\n").expect("typed");
        take_in(&their_end);
        let read = |from: &OwnedFd| {
            let mut bytes = [0; 64];
            let length = rustix::io::read(from, &mut bytes).expect("bytes");
            String::from_utf8_lossy(&bytes[..length]).into_owned()
        };
        assert_eq!(read(&typing), "typed early\n", "echoed once");

        let caller = CallerTerminal::open(&their_end).expect("a terminal");
        assert_eq!(caller.size(), Some(Size::nearest(101, 31)));
        let (own, own_end) = Pty::open(Size::default()).expect("opens");
        let master = own.duplicate().expect("a descriptor");
        caller.give_way(&master, &own_end).expect("taken over");
        let taken = tcgetattr(&own_end).expect("modes");
        assert_eq!(taken.local_modes, modes.local_modes);
        assert_eq!((taken.input_modes, taken.output_modes), (modes.input_modes, modes.output_modes));
        assert_eq!(taken.special_codes[SpecialCodeIndex::VINTR], 7);
        assert_eq!(own.size().expect("a size"), Size::nearest(101, 31));
        assert_eq!(read(&own_end), "typed early\n");
        let mut echoed = [0; 64];
        assert!(rustix::io::read(&master, &mut echoed).is_err(), "and not echoed again");

        let between = tcgetattr(&their_end).expect("modes");
        assert!(!between.local_modes.intersects(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG));
        caller.restore();
        let after = tcgetattr(&their_end).expect("modes");
        assert_eq!((after.local_modes, after.output_modes), (modes.local_modes, modes.output_modes));
    }

    #[test]
    fn a_file_that_is_no_terminal_is_refused() {
        let file = tempfile::tempfile().expect("a file");
        assert!(CallerTerminal::open(&file).is_err());
    }
}
