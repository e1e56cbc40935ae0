//! Paths in `file:` URLs. Pure.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// Returns the absolute path that a URL names on this machine.
pub(super) fn file_path(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = PathBuf::from(OsString::from_vec(unescape(path.as_bytes())?));
    path.is_absolute().then_some(path)
}

/// Decodes the percent escapes of a URL.
fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => (u8::try_from(digit(high)? * 16 + digit(low)?).ok()?, after),
            (b'%', _) | (0, _) => return None,
            _ => (*first, after),
        };
        (byte != 0).then(|| bytes.push(byte))?;
        rest = after;
    }
    Some(bytes)
}
