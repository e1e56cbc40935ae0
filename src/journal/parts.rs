//! Rows too large for a line: their largest members are moved to separate files.

use std::fs::File;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain::Hash;
use super::disk::{Disk, write_once};
use crate::files::{self, Links};

/// The folder of a recording that holds these files.
pub(super) const FOLDER: &str = "parts";
/// The size limit for reading a part back.
const READ_BYTES: u64 = 64 << 20;

/// A member of a row's `data` that is stored in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPart {
    /// The member's place in `data`, as a JSON pointer; empty for all of `data`.
    pub at: String,
    /// The file's name in `parts`.
    pub path: String,
    /// SHA-256 of the file.
    pub sha256: Hash,
    /// The file's length.
    pub bytes: u64,
}

/// Moves the largest members of a body to files until the body is no longer than `limit`; returns the new body and
/// the files, which are not yet synced.
pub(super) fn spill(
    disk: &dyn Disk,
    recording: &Path,
    (body, limit): (&[u8], usize),
    mut name: impl FnMut() -> String,
) -> io::Result<(Vec<u8>, Vec<File>)> {
    #[derive(Deserialize)]
    struct PartBody {
        kind: String,
        data: Value,
    }
    let whole = [b"{", body, b"}"].concat();
    let PartBody { kind, mut data } = serde_json::from_slice(&whole)?;
    let (mut parts, mut files): (Vec<StoredPart>, Vec<File>) = (Vec::new(), Vec::new());
    let folder = recording.join(FOLDER);
    loop {
        let body = body_of(&kind, &data, &parts)?;
        if body.len() <= limit || data.is_null() {
            return Ok((body, files));
        }
        let (at, bytes) = take_largest(&mut data, limit)?;
        let path = name();
        let file = match disk.create(&folder.join(&path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::create_folder(&folder)?;
                disk.create(&folder.join(&path))?
            }
            other => other?,
        };
        write_once(disk, &file, &bytes)?;
        files.push(file);
        parts.push(StoredPart { at, path, sha256: Hash::of(&bytes), bytes: bytes.len() as u64 });
    }
}

fn body_of(kind: &str, data: &Value, parts: &[StoredPart]) -> io::Result<Vec<u8>> {
    let kind = serde_json::to_string(kind)?;
    let (data, parts) = (serde_json::to_string(data)?, serde_json::to_string(parts)?);
    Ok(format!("\"kind\":{kind},\"data\":{data},\"parts\":{parts}").into_bytes())
}

/// Takes the largest member out of `data`, or all of `data` if no member is large enough to be worth a file.
fn take_largest(data: &mut Value, limit: usize) -> io::Result<(String, Vec<u8>)> {
    let mut largest: Option<(String, usize)> = None;
    for (name, value) in data.as_object().into_iter().flatten() {
        let length = serde_json::to_vec(value)?.len();
        if largest.as_ref().is_none_or(|(_, most)| length > *most) {
            largest = Some((name.clone(), length));
        }
    }
    let member = largest.filter(|(_, length)| *length > limit / 16);
    let (at, taken) = match member.and_then(|(name, _)| Some((name.clone(), data.get_mut(&name)?.take()))) {
        Some((name, value)) => (format!("/{}", name.replace('~', "~0").replace('/', "~1")), value),
        None => (String::new(), data.take()),
    };
    Ok((at, serde_json::to_vec(&taken)?))
}

/// Puts the parts of a line back into its data. Fails with the name of the first part whose file does not match.
pub(super) fn restore(recording: &Path, data: &mut Value, parts: &[StoredPart]) -> Result<(), String> {
    // If all of `data` was moved, that was the last part, so it is restored first.
    for part in parts.iter().rev() {
        let broken = || part.path.clone();
        let is_plain = !part.path.is_empty() && !part.path.contains('/') && !part.path.starts_with('.');
        let path = recording.join(FOLDER).join(if is_plain { &part.path } else { "?" });
        let bytes = files::read(&path, Links::NoneIn(2), READ_BYTES).map_err(|_| broken())?;
        if bytes.len() as u64 != part.bytes || Hash::of(&bytes) != part.sha256 {
            return Err(broken());
        }
        let value = serde_json::from_slice(&bytes).map_err(|_| broken())?;
        *data.pointer_mut(&part.at).ok_or_else(broken)? = value;
    }
    Ok(())
}
