//! Names as text: bytes of files' names that are no UTF-8 are kept as characters that nothing else uses; and a command's
//! words, short enough for a sentence.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// The character for byte 0.
const BYTES: u32 = 0x0010_F700;

/// Returns a name as text.
pub(crate) fn text_of(name: impl AsRef<OsStr>) -> String {
    let mut text = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(BYTES + u32::from(*byte))));
    }
    text
}

/// Returns the path that a text of [`text_of`] stands for.
pub(crate) fn path_of(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    for c in text.chars() {
        match u8::try_from(u32::from(c).wrapping_sub(BYTES)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Returns a text that is kept only to be said, without what nobody would read.
pub(crate) fn cut(mut text: String) -> String {
    const MOST: usize = 1_000;
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// Returns a text short enough for a sentence, on one line.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 48;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// A path in JSON, whatever its bytes are.
pub(crate) mod path {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&crate::names::text_of(path))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(crate::names::path_of(&String::deserialize(from)?))
    }
}

/// Paths in JSON, whatever their bytes are.
pub(crate) mod paths {
    use std::path::PathBuf;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(crate::names::text_of))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<String>::deserialize(from)?.iter().map(|text| crate::names::path_of(text)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_survives_the_conversion_to_text_and_back() {
        for name in [&b"a"[..], b"\xff\xfe x", "ä\u{fffd}".as_bytes(), b"\xe2\x82"] {
            assert_eq!(path_of(&text_of(OsStr::from_bytes(name))).as_os_str().as_bytes(), name);
        }
    }
}
