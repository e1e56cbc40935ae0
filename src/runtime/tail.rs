//! Keeps the last bytes of a stream whose head is full, in a ring buffer in an unnamed file, so that a flood needs no
//! memory. When the task ends, its bytes are appended to the log and the ring is dropped.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::files;

/// The last bytes of a stream.
#[derive(Debug)]
pub(super) struct StreamTail {
    file: File,
    capacity: usize,
    /// Number of bytes held.
    length: usize,
    /// Where the oldest byte is, once the ring is full.
    start: usize,
    displaced: u64,
}

impl StreamTail {
    /// Creates an empty ring for the last `capacity` bytes, on the file system of `folder`.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub(super) fn create(folder: &Path, capacity: usize) -> io::Result<Self> {
        let path = folder.join("output.tail");
        let file = files::private().create_new(true).read(true).write(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(Self { file, capacity, length: 0, start: 0, displaced: 0 })
    }

    /// Returns how many bytes have been displaced so far.
    pub(super) fn displaced_bytes(&self) -> u64 {
        self.displaced
    }

    /// Appends bytes, keeping the last `capacity`; returns how many were displaced.
    ///
    /// # Errors
    /// If the file cannot be written; its contents are then undefined.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let skipped = bytes.len().saturating_sub(self.capacity);
        let rest = &bytes[skipped..];
        let (new, over) = rest.split_at(rest.len().min(self.capacity - self.length));
        self.file.write_all_at(new, self.length as u64)?;
        self.length += new.len();
        let displaced = (skipped + over.len()) as u64;
        self.displaced += displaced;
        let mut over = over;
        while !over.is_empty() {
            let (now, later) = over.split_at(over.len().min(self.capacity - self.start));
            self.file.write_all_at(now, self.start as u64)?;
            self.start = (self.start + now.len()) % self.capacity;
            over = later;
        }
        Ok(displaced)
    }

    /// Returns the bytes, oldest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.length];
        let (older, newer) = bytes.split_at_mut(self.length - self.start);
        self.file.read_exact_at(older, self.start as u64)?;
        self.file.read_exact_at(newer, 0)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_tail_keeps_the_end_of_what_was_pushed(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..20), capacity in 1usize..9) {
            let dir = tempfile::tempdir().expect("temp dir");
            let mut tail = StreamTail::create(dir.path(), capacity).expect("a file");
            let all = chunks.concat();
            let displaced: u64 = chunks.iter().map(|chunk| tail.push(chunk).expect("written")).sum();
            let kept = tail.read().expect("read");
            prop_assert_eq!(&kept[..], &all[all.len().saturating_sub(capacity)..]);
            prop_assert_eq!(displaced as usize + kept.len(), all.len());
            prop_assert_eq!(std::fs::read_dir(dir.path()).expect("the folder").count(), 0);
        }
    }
}
