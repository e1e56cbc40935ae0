//! Where a command's output goes besides the log: a descriptor of the program that started it, which receives the
//! bytes exactly as the command would have written them. That program shares the descriptor, so no flag is ever set
//! on it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use rustix::net::SendFlags;
use rustix::termios::isatty;

use crate::process::is_gone;

/// The largest write that a pipe accepts atomically.
const WHOLE: usize = 4096;

/// A descriptor that output is copied to, in order and without blocking.
#[derive(Debug)]
pub(crate) struct Outlet {
    way: OutletDescriptor,
    /// Whether it is a terminal, which refuses everything (EIO) once it is hung up.
    is_terminal: bool,
    /// Bytes that could not be written yet.
    pending: Vec<u8>,
    /// Since when it has had no reader.
    broken: Option<Duration>,
    /// The error of a write, if that was not the lack of a reader.
    failed: Option<Errno>,
}

/// How to write to a descriptor without blocking and without setting a flag on it.
#[derive(Debug)]
enum OutletDescriptor {
    /// A new open file description of the same pipe or device, which has the flag.
    Reopened(OwnedFd),
    /// A socket: each call passes a flag not to block.
    Socket(OwnedFd),
    /// A file: writes never block.
    File(OwnedFd),
    /// A pipe that could not be reopened: polled before each write.
    Asked(OwnedFd),
}

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyResult {
    /// Everything was written.
    All,
    /// The rest waits for the reader.
    Stuck,
    /// There is no reader any more.
    Broken,
}

impl Outlet {
    /// Takes ownership of a descriptor, leaving its flags alone.
    ///
    /// # Errors
    /// If its type cannot be determined.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        let is_terminal = isatty(&fd);
        let way = match FileType::from_raw_mode(fstat(&fd)?.st_mode) {
            FileType::Socket => OutletDescriptor::Socket(fd),
            FileType::Fifo | FileType::CharacterDevice => match reopen(&fd) {
                Ok(own) => OutletDescriptor::Reopened(own),
                Err(_) => OutletDescriptor::Asked(fd),
            },
            _ => OutletDescriptor::File(fd),
        };
        Ok(Self { way, is_terminal, pending: Vec::new(), broken: None, failed: None })
    }

    /// Tells whether bytes are waiting to be written.
    pub(super) fn is_stuck(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns why bytes could not be written, if that was not the lack of a reader.
    pub(super) fn failure(&self) -> Option<Errno> {
        self.failed
    }

    /// Returns since when it has had no reader.
    pub(super) fn broken_since(&self) -> Option<Duration> {
        self.broken
    }

    /// Writes bytes after those that are pending; `now` is noted if it turns out to have no reader.
    pub(super) fn copy(&mut self, bytes: &[u8], now: Duration) -> CopyResult {
        if self.broken.is_some() {
            return CopyResult::Broken;
        }
        if self.is_stuck() {
            self.pending.extend_from_slice(bytes);
            return self.flush(now);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.pending.extend_from_slice(rest);
                    return CopyResult::Stuck;
                }
                Err(errno) => {
                    let is_unread = is_gone(&errno.into()) || errno == Errno::IO && self.is_terminal;
                    self.failed = self.failed.or((!is_unread).then_some(errno));
                    return self.give_up(now);
                }
            }
        }
        CopyResult::All
    }

    /// Writes what is pending.
    pub(super) fn flush(&mut self, now: Duration) -> CopyResult {
        let waiting = std::mem::take(&mut self.pending);
        self.copy(&waiting, now)
    }

    fn give_up(&mut self, now: Duration) -> CopyResult {
        self.pending = Vec::new();
        self.broken = Some(now);
        CopyResult::Broken
    }

    fn write(&self, bytes: &[u8]) -> rustix::io::Result<usize> {
        match &self.way {
            OutletDescriptor::Reopened(fd) | OutletDescriptor::File(fd) => rustix::io::write(fd, bytes),
            OutletDescriptor::Socket(fd) => {
                rustix::net::send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
            }
            OutletDescriptor::Asked(fd) => {
                let mut asked = [PollFd::new(fd, PollFlags::OUT)];
                if poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? == 0 {
                    return Err(Errno::AGAIN);
                }
                rustix::io::write(fd, bytes.get(..WHOLE).unwrap_or(bytes))
            }
        }
    }
}

impl AsFd for Outlet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.way {
            OutletDescriptor::Reopened(fd)
            | OutletDescriptor::Socket(fd)
            | OutletDescriptor::File(fd)
            | OutletDescriptor::Asked(fd) => fd.as_fd(),
        }
    }
}

fn reopen(fd: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
}

/// Returns a copy of a descriptor to which nothing can be written, because the device is always full: a command writes to
/// it by itself, and sees the error.
///
/// # Errors
/// If it cannot be examined.
pub(crate) fn full_device(fd: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    const FULL: (u32, u32) = (1, 7);
    let facts = fstat(fd)?;
    let is_device = FileType::from_raw_mode(facts.st_mode) == FileType::CharacterDevice;
    let number = (rustix::fs::major(facts.st_rdev), rustix::fs::minor(facts.st_rdev));
    (is_device && number == FULL).then(|| fd.try_clone()).transpose()
}

/// Tells whether writes to two descriptors go to the same place: only then must both streams use one pipe to stay in
/// order.
///
/// # Errors
/// If either descriptor cannot be examined.
pub(crate) fn are_one(one: &OwnedFd, other: &OwnedFd) -> io::Result<bool> {
    let (left, right) = (fstat(one)?, fstat(other)?);
    if (left.st_dev, left.st_ino) != (right.st_dev, right.st_ino) {
        return Ok(false);
    }
    if FileType::from_raw_mode(left.st_mode) != FileType::RegularFile {
        return Ok(true);
    }
    // Two open file descriptions of one file have separate positions, unless both append.
    let opening = |fd: &OwnedFd| -> io::Result<(bool, u64)> {
        let appends = rustix::fs::fcntl_getfl(fd)?.contains(OFlags::APPEND);
        Ok((appends, rustix::fs::tell(File::from(fd.try_clone()?))?))
    };
    Ok(opening(one)? == opening(other)?)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    use rustix::fs::fcntl_getfl;
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::*;

    const NOW: Duration = Duration::from_secs(1);

    fn flags(fd: &OwnedFd) -> OFlags {
        fcntl_getfl(fd).expect("flags")
    }

    #[test]
    fn a_pipe_that_is_full_keeps_the_rest_and_its_writer_keeps_its_flags() {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let theirs = write.try_clone().expect("a copy");
        let before = flags(&theirs);
        let mut outlet = Outlet::new(write).expect("an outlet");
        let sent: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
        assert_eq!(outlet.copy(&sent[..150_000], NOW), CopyResult::Stuck);
        assert_eq!(outlet.copy(&sent[150_000..], NOW), CopyResult::Stuck);
        assert_eq!(flags(&theirs), before);
        drop(theirs);
        let mut read = File::from(read);
        let mut got = vec![0; 200_000];
        let mut at = 0;
        while at < got.len() {
            let end = (at + 10_000).min(got.len());
            at += read.read(&mut got[at..end]).expect("reads");
            outlet.flush(NOW);
        }
        assert!(got == sent && !outlet.is_stuck());
        drop(outlet);
        assert_eq!(read.read(&mut [0]).expect("reads"), 0, "the end is seen when the outlet is dropped");
    }

    #[test]
    fn a_socket_that_is_full_keeps_the_rest_and_stays_as_it_was() {
        let (mut ours, theirs) = UnixStream::pair().expect("a pair");
        let theirs = OwnedFd::from(theirs);
        let kept = theirs.try_clone().expect("a copy");
        let before = flags(&kept);
        let mut outlet = Outlet::new(theirs).expect("an outlet");
        assert_eq!(outlet.copy(&vec![b'x'; 4 << 20], NOW), CopyResult::Stuck);
        assert_eq!(flags(&kept), before);
        drop(kept);
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            ours.read_to_end(&mut all).expect("reads");
            all.len()
        });
        while outlet.flush(NOW) == CopyResult::Stuck {
            let mut fds = [PollFd::new(&outlet, PollFlags::OUT)];
            poll(&mut fds, None).expect("polls");
        }
        drop(outlet);
        assert_eq!(reader.join().expect("reads"), 4 << 20);
    }

    #[test]
    fn a_file_is_written_at_its_own_position_and_at_its_end_where_it_appends() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("out");
        std::fs::write(&path, "0123456789").expect("writes");
        let file = OwnedFd::from(File::options().write(true).open(&path).expect("opens"));
        rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(2)).expect("seeks");
        let mut outlet = Outlet::new(file.try_clone().expect("a copy")).expect("an outlet");
        assert_eq!(outlet.copy(b"ab", NOW), CopyResult::All);
        assert_eq!(rustix::io::write(&file, b"c").expect("the position is shared"), 1);
        let end = OwnedFd::from(File::options().append(true).open(&path).expect("opens"));
        assert_eq!(Outlet::new(end).expect("an outlet").copy(b"!", NOW), CopyResult::All);
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), "01abc56789!");
    }

    #[test]
    fn copying_into_a_pipe_without_a_reader_breaks_the_outlet() {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let mut outlet = Outlet::new(write).expect("an outlet");
        drop(read);
        assert_eq!((outlet.copy(b"x", NOW), outlet.broken_since()), (CopyResult::Broken, Some(NOW)));
        assert!(!outlet.is_stuck());
    }

    #[test]
    fn two_openings_of_a_file_are_one_only_where_both_append() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("out");
        std::fs::write(&path, "").expect("writes");
        let open = |append: bool| {
            OwnedFd::from(File::options().write(true).append(append).open(&path).expect("opens"))
        };
        let (first, second) = (open(false), open(false));
        assert!(are_one(&first, &first.try_clone().expect("a copy")).expect("looks"));
        rustix::io::write(&first, b"x").expect("writes");
        assert!(!are_one(&first, &second).expect("looks"));
        assert!(are_one(&open(true), &open(true)).expect("looks"));
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        assert!(are_one(&write, &write.try_clone().expect("a copy")).expect("looks"));
        assert!(!are_one(&write, &first).expect("looks"));
        drop(read);
    }
}
