//! Whether a position in some output is inside a string (OSC, DCS, APC, SOS, PM), found by looking back.

use std::ops::Range;

use super::csi::Csi;
use super::scanner::{MAX_STRING, Scanner, SequenceSink};

/// How many bytes are read at once.
const BLOCK: u64 = 64 << 10;
/// The longest introducer and terminator.
const AROUND: u64 = 4;

/// Receives what nobody needs.
struct Nobody;

impl SequenceSink for Nobody {
    fn text(&mut self, _: &str) {}
    fn invalid(&mut self) {}
    fn control(&mut self, _: u8) {}
    fn escape(&mut self, _: u8, _: u8) {}
    fn csi(&mut self, _: Csi<'_>) {}
    fn osc(&mut self, _: &[u8], _: bool) {}
    fn picture(&mut self, _: usize) {}
}

/// Returns where the string begins that is open at an offset, if there is one. `read` reads a part of the output.
/// Looks back no further than a string can be long.
///
/// # Errors
/// When the output cannot be read.
pub fn open_string<E>(
    offset: u64,
    mut read: impl FnMut(Range<u64>) -> Result<Vec<u8>, E>,
) -> Result<Option<u64>, E> {
    let least = offset.saturating_sub(MAX_STRING as u64 + AROUND);
    let mut end = offset;
    while end > least {
        let begin = end.saturating_sub(BLOCK).max(least);
        // With a byte before and after, because an ESC beside another one is content of a string in a string.
        let from = begin.saturating_sub(1);
        let bytes = read(from..(end + 1).min(offset))?;
        let room = usize::try_from(end - from).unwrap_or(usize::MAX);
        for at in memchr::memrchr_iter(0x1b, &bytes[..room.min(bytes.len())]) {
            let is_doubled = bytes[..at].last() == Some(&0x1b)
                || bytes.get(at + 1) == Some(&0x1b)
                || from + (at as u64) < begin;
            match bytes.get(at + 1).filter(|_| !is_doubled) {
                // In a pair, or the last byte.
                None => {}
                Some(b']' | b'P' | b'X' | b'^' | b'_') => {
                    let opener = from + at as u64;
                    let mut scanner = Scanner::for_screen();
                    scanner.scan(&read(opener..offset)?, &mut Nobody);
                    return Ok(scanner.open_string().map(|_| opener));
                }
                Some(_) => return Ok(None),
            }
        }
        end = begin;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(output: &[u8], offset: usize) -> Option<u64> {
        let at = |offset: u64| usize::try_from(offset).expect("in memory");
        let read = |range: Range<u64>| Ok::<_, ()>(output[at(range.start)..at(range.end)].to_vec());
        open_string(offset as u64, read).expect("reads")
    }

    #[test]
    fn f58_a_string_is_found_however_far_back_it_began() {
        let far = [b"a\x1b_G;".as_slice(), &vec![b'A'; 3 << 20]].concat();
        assert_eq!(found(&far, far.len()), Some(1));
        for block in [BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK] {
            let near = [b"\x1bP".as_slice(), &vec![b'A'; usize::try_from(block).expect("fits") - 2]].concat();
            assert_eq!(found(&near, near.len()), Some(0), "{block}");
        }
    }

    proptest! {
        #[test]
        fn f58_looking_back_finds_an_open_string_exactly_where_scanning_from_the_beginning_does(
            parts in prop::collection::vec(prop::sample::select(vec![
                "text", "\n", "\x1b]0;t", "\x07", "\x1b\\", "\x1bPq#1", "\x1b_G;A", "\x1b[31m", "\x18", "\x1b7",
                "\x1bPtmux;\x1b\x1b]52;c;", "\x1b\x1b\\",
            ]), 0..12),
        ) {
            let output = parts.concat();
            for offset in 0..=output.len() {
                let mut scanner = Scanner::default();
                scanner.scan(&output.as_bytes()[..offset], &mut Nobody);
                prop_assert_eq!(found(output.as_bytes(), offset).is_some(), scanner.open_string().is_some(), "{} of {:?}", offset, output);
            }
        }
    }
}
