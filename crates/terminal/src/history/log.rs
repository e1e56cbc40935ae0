//! Access to the bytes of a log, wherever they are stored.

use std::io;
use std::ops::Range;

/// Number of bytes read at once.
const BLOCK: u64 = 256 * 1024;

/// The bytes of a log, readable at any offset.
pub trait LogBytes {
    /// Returns the number of bytes.
    fn len(&self) -> u64;

    /// Reads bytes from `offset` on; returns how many, 0 at the end.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Tells whether the log is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the bytes of a range, fewer if the log ends before it does.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read_range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0)];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.read_at(range.start + filled as u64, &mut bytes[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Passes the bytes of a range to `take`, in blocks with their offsets, until it returns false.
    ///
    /// # Errors
    /// When they cannot be read.
    fn for_each_block(&self, range: Range<u64>, mut take: impl FnMut(u64, &[u8]) -> bool) -> io::Result<()> {
        let mut block = vec![0; usize::try_from(BLOCK).unwrap_or(0)];
        let mut offset = range.start;
        while offset < range.end {
            let wanted = usize::try_from((range.end - offset).min(BLOCK)).unwrap_or(0);
            let count = self.read_at(offset, &mut block[..wanted])?;
            if count == 0 || !take(offset, &block[..count]) {
                break;
            }
            offset += count as u64;
        }
        Ok(())
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
