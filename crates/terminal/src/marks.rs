//! Marks: the log's sidecar of fixed-size records that say where the stream or the size changes and where
//! bytes were left out.

use super::size::Size;

/// One record of the sidecar, for a position in the raw log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Offset in the log file.
    pub offset: u64,
    /// Number of line feeds before it.
    pub line: u64,
    /// Milliseconds since the task started.
    pub at_ms: u32,
    /// What happens at this position.
    pub kind: MarkKind,
}

/// What happens at a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// Bytes of this stream follow.
    Chunk(ByteSource),
    /// The terminal has this size from here on.
    Resize(Size),
    /// Bytes were left out here.
    Gap {
        /// The number of bytes left out.
        dropped: u64,
    },
    /// Input was sent: what it causes follows.
    Input,
}

/// The source of bytes in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteSource {
    /// The PTY.
    Tty,
    /// The standard output pipe.
    Stdout,
    /// The standard error pipe.
    Stderr,
}

impl Mark {
    /// Size of a record in bytes.
    pub const SIZE: usize = 24;

    /// Returns the record: little-endian, 6 bytes of offset, 6 of line, 4 of time, 1 of kind, 7 of its value.
    /// Values that do not fit are saturated.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let (tag, value) = match self.kind {
            MarkKind::Chunk(ByteSource::Tty) => (0, 0),
            MarkKind::Chunk(ByteSource::Stdout) => (1, 0),
            MarkKind::Chunk(ByteSource::Stderr) => (2, 0),
            MarkKind::Resize(size) => (3, u64::from(size.cols()) << 16 | u64::from(size.rows())),
            MarkKind::Gap { dropped } => (4, dropped),
            MarkKind::Input => (5, 0),
        };
        let mut record = [0; Self::SIZE];
        put(&mut record[0..6], self.offset);
        put(&mut record[6..12], self.line);
        put(&mut record[12..16], u64::from(self.at_ms));
        record[16] = tag;
        put(&mut record[17..24], value);
        record
    }

    /// Parses a record; `None` if it is invalid.
    pub fn decode(record: &[u8; Self::SIZE]) -> Option<Self> {
        let value = get(&record[17..24]);
        let kind = match record[16] {
            0 => MarkKind::Chunk(ByteSource::Tty),
            1 => MarkKind::Chunk(ByteSource::Stdout),
            2 => MarkKind::Chunk(ByteSource::Stderr),
            3 => MarkKind::Resize(Size::nearest(low_u16(value >> 16), low_u16(value))),
            4 => MarkKind::Gap { dropped: value },
            5 => MarkKind::Input,
            _ => return None,
        };
        let at_ms = u32::try_from(get(&record[12..16])).ok()?;
        Some(Self { offset: get(&record[0..6]), line: get(&record[6..12]), at_ms, kind })
    }
}

/// Returns the size of the terminal before the first byte, if the marks contain it.
pub fn initial_size(marks: &[Mark]) -> Option<Size> {
    marks.iter().find_map(|mark| match mark.kind {
        MarkKind::Resize(size) => Some(size),
        _ => None,
    })
}

fn put(place: &mut [u8], value: u64) {
    let largest = (1_u64 << (8 * place.len())) - 1;
    let bytes = value.min(largest).to_le_bytes();
    place.copy_from_slice(&bytes[..place.len()]);
}

fn get(place: &[u8]) -> u64 {
    place.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn low_u16(value: u64) -> u16 {
    u16::try_from(value & 0xffff).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_record_reads_back(offset in 0_u64..1 << 48, line in 0_u64..1 << 48, at_ms: u32, dropped in 0_u64..1 << 56,
            cols in 2_u16..=1000, rows in 2_u16..=1000, which in 0..5) {
            let kind = match which {
                0 => MarkKind::Chunk(ByteSource::Tty),
                1 => MarkKind::Chunk(ByteSource::Stdout),
                2 => MarkKind::Chunk(ByteSource::Stderr),
                3 => MarkKind::Resize(Size::nearest(cols, rows)),
                _ => MarkKind::Gap { dropped },
            };
            let mark = Mark { offset, line, at_ms, kind };
            prop_assert_eq!(Mark::decode(&mark.encode()), Some(mark));
        }

        #[test]
        fn any_record_is_read_or_refused(record: [u8; 24]) {
            let _ = Mark::decode(&record);
        }
    }
}
