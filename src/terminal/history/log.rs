//! Bytes of a log, wherever they are kept.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How much is read at once.
const BLOCK: usize = 64 * 1024;

/// Bytes of a log that can be read anywhere.
pub trait LogBytes {
    /// Returns how many there are.
    fn len(&self) -> u64;

    /// Reads some bytes from `offset` on; 0 at the end.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Tells whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl LogBytes for [u8] {
    fn len(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

impl LogBytes for File {
    fn len(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        FileExt::read_at(self, buf, offset)
    }
}

/// Hands blocks of the log to `take`, with their offsets, until it has enough.
pub(super) fn for_each_block(
    log: &(impl LogBytes + ?Sized),
    from: u64,
    mut take: impl FnMut(u64, &[u8]) -> bool,
) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    let mut offset = from;
    loop {
        let count = log.read_at(offset, &mut block)?;
        if count == 0 || !take(offset, &block[..count]) {
            return Ok(());
        }
        offset += count as u64;
    }
}

/// Reads the bytes from `from` to `to`, fewer when the log ends before.
pub(super) fn read_range(log: &(impl LogBytes + ?Sized), from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(0)];
    let mut filled = 0;
    while filled < bytes.len() {
        match log.read_at(from + filled as u64, &mut bytes[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
