//! One line of the journal: what the chain adds to a row, and how a line is validated. Pure.

use std::fmt;
use std::io::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of the lines this program writes.
pub(super) const VERSION: u64 = 1;
/// The start of every line; the version follows.
const START: &[u8] = b"{\"v\":";
/// The separator between the hashed bytes and their hash.
const BEFORE_HASH: &[u8] = b",\"hash\":\"";
const AFTER_HASH: &[u8] = b"\"}";
const HEX: usize = 64;

/// SHA-256 of a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hash([u8; 32]);

impl Hash {
    /// The previous hash named by the first line of a recording.
    pub const NONE: Self = Self([0; 32]);

    /// Returns the hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the first 8 hex digits, for display.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(8);
        text
    }

    fn hex(self) -> [u8; HEX] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; HEX];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        hex
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let mut bytes = [0; 32];
        let pairs = text.as_bytes().chunks_exact(2);
        if text.len() != HEX || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("a hash is 64 hex digits");
        }
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let digits = std::str::from_utf8(pair).map_err(|_| "a hash is 64 hex digits")?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| "a hash is 64 hex digits")?;
        }
        Ok(Self(bytes))
    }
}

/// The part of a line that precedes the row's own data.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LineHeader {
    /// Version of the line.
    pub v: u64,
    /// The line's number in the recording, starting at 1.
    pub seq: u64,
    /// When the row was created, by the wall clock.
    pub ts: Timestamp,
    /// When the row was created, in microseconds since the runtime started.
    pub mono: u64,
    /// The recording's name.
    pub session: String,
    /// The kind of row.
    pub kind: String,
    /// The hash of the line before.
    pub prev: Hash,
}

/// The content of a future line: everything known before its place in the chain.
#[derive(Debug, Clone)]
pub(super) struct ChainEntry {
    pub(super) ts: Timestamp,
    pub(super) mono: u64,
    /// `"kind":…,"data":…`, optionally followed by `,"parts":…`.
    pub(super) body: Vec<u8>,
}

/// Writes a line into `line`, including its line feed, and returns its hash.
pub(super) fn write(line: &mut Vec<u8>, entry: &ChainEntry, session: &str, seq: u64, prev: Hash) -> Hash {
    line.clear();
    line.extend_from_slice(START);
    // Writing into a vector cannot fail.
    let _ = write!(
        line,
        "{VERSION},\"seq\":{seq},\"ts\":\"{}\",\"mono\":{},\"session\":\"{session}\",",
        entry.ts, entry.mono
    );
    line.extend_from_slice(&entry.body);
    line.extend_from_slice(b",\"prev\":\"");
    line.extend_from_slice(&prev.hex());
    line.push(b'"');
    let hash = Hash::of(line);
    line.extend_from_slice(BEFORE_HASH);
    line.extend_from_slice(&hash.hex());
    line.extend_from_slice(AFTER_HASH);
    line.push(b'\n');
    hash
}

/// The result of reading a line.
#[derive(Debug)]
pub(super) enum ChainLine {
    /// Complete and unchanged.
    Valid(LineHeader, Hash),
    /// Written by a version of the program that this one does not know.
    Version(u64),
    /// Anything else.
    Invalid,
}

/// Parses a line given without its line feed.
pub(super) fn read(line: &[u8]) -> ChainLine {
    match version(line) {
        Some(VERSION) => match valid(line) {
            Some((header, hash)) => ChainLine::Valid(header, hash),
            None => ChainLine::Invalid,
        },
        // A flipped digit is damage: another version is only believed if the line's hash is valid.
        Some(other) if split_hash(line).is_some() => ChainLine::Version(other),
        _ => ChainLine::Invalid,
    }
}

fn version(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(START)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

/// Returns the hashed part and its hash, if they match.
fn split_hash(line: &[u8]) -> Option<(&[u8], Hash)> {
    let end = line.len().checked_sub(BEFORE_HASH.len() + HEX + AFTER_HASH.len())?;
    let (body, rest) = line.split_at(end);
    let hex = rest.strip_prefix(BEFORE_HASH)?.strip_suffix(AFTER_HASH)?;
    let hash = Hash::of(body);
    (hash.hex() == hex).then_some((body, hash))
}

fn valid(line: &[u8]) -> Option<(LineHeader, Hash)> {
    let (_, hash) = split_hash(line)?;
    Some((serde_json::from_slice(line).ok()?, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64, prev: Hash) -> (Vec<u8>, Hash) {
        let entry = ChainEntry {
            ts: Timestamp::UNIX_EPOCH,
            mono: 5,
            body: b"\"kind\":\"call\",\"data\":{\"hash\":\"\\\"}\"}".to_vec(),
        };
        let mut line = Vec::new();
        let hash = write(&mut line, &entry, "s", seq, prev);
        (line, hash)
    }

    #[test]
    fn a_line_reads_back_and_any_flipped_bit_makes_it_no_line() {
        let (written, hash) = line(7, Hash::of(b"before"));
        let whole = written.strip_suffix(b"\n").expect("a line feed");
        let ChainLine::Valid(header, read_hash) = read(whole) else {
            panic!("{}", String::from_utf8_lossy(whole))
        };
        assert_eq!((header.seq, header.kind.as_str(), header.prev), (7, "call", Hash::of(b"before")));
        assert_eq!(read_hash, hash);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.to_vec();
                flipped[at] ^= 1 << bit;
                assert!(matches!(read(&flipped), ChainLine::Invalid), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn a_hash_reads_back_and_nothing_else_does() {
        let hash = Hash::of(b"x");
        assert_eq!(Hash::try_from(hash.to_string()), Ok(hash));
        assert_eq!(hash.to_string().as_bytes(), hash.hex());
        for bad in ["", "00", &"g".repeat(64), &"0".repeat(63), &"é".repeat(32)] {
            assert!(Hash::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_line_of_another_version_is_known_as_one() {
        let body = b"{\"v\":2,\"anything\":true".to_vec();
        let hash = Hash::of(&body);
        let line = [&body[..], BEFORE_HASH, &hash.hex(), AFTER_HASH].concat();
        assert!(matches!(read(&line), ChainLine::Version(2)));
    }
}
