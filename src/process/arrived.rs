//! A blocked signal as it arrived: which one, and from whom.

use std::os::fd::OwnedFd;

/// The size of what the kernel tells of one signal.
const RECORD: usize = 128;

/// A signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) number: i32,
    /// The process that sent it; 0 when nobody did.
    pub(super) sender: i32,
    /// The kernel made it: a key, a hang-up, the end of a child. Everyone it concerns got it.
    pub(super) is_from_kernel: bool,
}

/// Takes the next signal out of a non-blocking descriptor; `None` when there is none.
pub(super) fn next(signals: &OwnedFd) -> Option<Arrived> {
    let mut record = [0; RECORD];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(signals, &mut record)).ok()?;
    parse(record.get(..read)?)
}

/// Reads the first members of `signalfd_siginfo`: number, errno, code, sender.
fn parse(record: &[u8]) -> Option<Arrived> {
    let member = |at: usize| Some(i32::from_ne_bytes(record.get(at..at + 4)?.try_into().ok()?));
    Some(Arrived { number: member(0)?, sender: member(12)?, is_from_kernel: member(8)? > 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_record_is_read() {
        let mut record = [0; RECORD];
        record[0] = 15;
        record[12..16].copy_from_slice(&4242_i32.to_ne_bytes());
        let expected = Arrived { number: 15, sender: 4242, is_from_kernel: false };
        assert_eq!(parse(&record), Some(expected));
        record[8] = 0x80;
        assert_eq!(parse(&record), Some(Arrived { is_from_kernel: true, ..expected }));
        assert_eq!(parse(&record[..10]), None);
    }
}
