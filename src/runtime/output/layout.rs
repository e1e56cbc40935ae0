//! Where the bytes of a stream are in a task's log, and when they came. Pure.

use super::OutputStream;
use crate::terminal::{self, ByteOrigin, Mark, MarkKind, Size};

/// Where the bytes of a stream are in the log.
#[derive(Debug, Default)]
pub(super) struct StreamLayout {
    pub(super) segments: Vec<(u64, u64)>,
    /// When the bytes from an offset of the log on came, in milliseconds since the task started.
    pub(super) times: Vec<(u64, u32)>,
    /// Gaps of bytes that were not kept: the index of the segment each comes before, and its length.
    pub(super) gaps: Vec<(usize, u64)>,
    pub(super) dropped: u64,
    /// Whether other streams have bytes too.
    pub(super) shared: bool,
    pub(super) first_size: Size,
    pub(super) last_size: Size,
}

impl StreamLayout {
    pub(super) fn of(marks: &[Mark], wanted: (OutputStream, ByteOrigin), end: u64) -> Self {
        let times = marks.iter().map(|mark| (mark.offset, mark.at_ms)).collect();
        let mut layout = Self { times, ..Self::default() };
        let ends = marks.iter().skip(1).map(|mark| mark.offset.min(end)).chain(std::iter::once(end));
        let mut current = None;
        let mut gap = 0;
        for (at, (mark, next)) in marks.iter().zip(ends).enumerate() {
            match mark.kind {
                MarkKind::Chunk(stream) => {
                    current = Some(stream);
                    if belongs(stream, wanted) && gap > 0 {
                        layout.dropped += gap;
                        layout.gaps.push((layout.segments.len(), gap));
                    }
                    gap = 0;
                }
                MarkKind::Resize(size) => {
                    layout.last_size = size;
                    if at == 0 {
                        layout.first_size = size;
                    }
                }
                MarkKind::Gap { dropped } => gap = dropped,
                MarkKind::Input => {}
            }
            if next > mark.offset {
                match current {
                    Some(stream) if belongs(stream, wanted) => layout.push(mark.offset, next - mark.offset),
                    _ => layout.shared = true,
                }
            }
        }
        layout
    }

    /// Returns the length of the stream as far as it is stored.
    pub(super) fn total(&self) -> u64 {
        self.segments.iter().map(|(_, length)| length).sum()
    }

    /// Returns the stream from one of its own offsets on.
    pub(super) fn since(&self, from: u64) -> Self {
        let (mut skip, mut segments, mut first) = (from, Vec::new(), self.segments.len());
        for (at, &(start, length)) in self.segments.iter().enumerate() {
            let skipped = skip.min(length);
            skip -= skipped;
            if skipped < length {
                first = first.min(at);
                segments.push((start + skipped, length - skipped));
            }
        }
        let gaps = self
            .gaps
            .iter()
            .filter(|(before, _)| *before > first)
            .map(|(before, gap)| (before - first, *gap));
        let times = self.times.clone();
        Self { segments, times, gaps: gaps.collect(), first_size: self.last_size, ..*self }
    }

    /// Appends a gap of bytes that were not kept.
    pub(super) fn followed_by_gap(mut self, bytes: u64) -> Self {
        self.gaps.extend((bytes > 0).then_some((self.segments.len(), bytes)));
        self
    }

    /// Returns how many bytes of the stream come before an offset in the log.
    pub(super) fn before(&self, offset: u64) -> u64 {
        let parts = self.segments.iter().map(|&(start, length)| offset.saturating_sub(start).min(length));
        parts.sum()
    }

    fn push(&mut self, start: u64, length: u64) {
        let is_behind_gap = self.gaps.last().is_some_and(|(before, _)| *before == self.segments.len());
        match self.segments.last_mut() {
            Some((last, size)) if *last + *size == start && !is_behind_gap => *size += length,
            _ => self.segments.push((start, length)),
        }
    }

    /// Splits a part of the log where the time is known: yields where each piece begins and ends, and when it came.
    pub(super) fn timed_pieces(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, Option<u32>)> {
        let first = self.times.partition_point(|(offset, _)| *offset <= from);
        let known = first.checked_sub(1).map(|at| self.times[at].1);
        let inside = self.times[first..].iter().take_while(move |(offset, _)| *offset < to);
        let begins =
            std::iter::once((from, known)).chain(inside.map(|(offset, now_ms)| (*offset, Some(*now_ms))));
        let ends =
            self.times[first..].iter().map(|(offset, _)| *offset).take_while(move |offset| *offset < to);
        let ends = ends.chain(std::iter::once(to));
        begins
            .zip(ends)
            .map(|((begin, now_ms), end)| (begin, end, now_ms))
            .filter(|(begin, end, _)| begin < end)
    }
}

fn belongs(stream: terminal::ByteSource, (wanted, origin): (OutputStream, ByteOrigin)) -> bool {
    if stream == terminal::ByteSource::Tty && origin == ByteOrigin::Pipe {
        // From a terminal beside the streams: shown to the operator, and to nobody else.
        return false;
    }
    match wanted {
        OutputStream::Merged => true,
        OutputStream::Stdout => stream != terminal::ByteSource::Stderr,
        OutputStream::Stderr => stream == terminal::ByteSource::Stderr,
    }
}
