//! A lease on a file, by which the kernel says whether anybody writes to it.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// The command of fcntl(2) that chooses the signal of a broken lease.
const F_SETSIG: libc::c_int = 10;

/// Tells whether any process of this machine has a file, which is open here for reading, open for writing or mapped for
/// it. `None` if the kernel does not say: the file is another user's, or its file system has no leases.
pub(crate) fn is_written(file: BorrowedFd<'_>) -> Option<bool> {
    let file = file.as_raw_fd();
    // SAFETY: the calls take plain numbers. The lease is given back at once; should somebody want the file in between, the
    // signal is one that does nothing by default, unlike SIGIO.
    unsafe {
        if libc::fcntl(file, F_SETSIG, libc::SIGURG) < 0 {
            return None;
        }
        if libc::fcntl(file, libc::F_SETLEASE, libc::F_RDLCK) < 0 {
            return (io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)).then_some(true);
        }
        libc::fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
    }
    Some(false)
}
