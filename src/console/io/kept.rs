//! What a console keeps for the next time: how it was arranged, what it remembers. Nothing depends on it: a file that
//! cannot be read is an empty one.

use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files;

/// What is remembered, in the state folder.
pub(in crate::console) const MEMORY: &str = "console.json";
/// The largest file read: more is none of ours.
const MOST_BYTES: u64 = 64 << 10;

/// Reads what was kept; nothing usable there is the default.
pub(in crate::console) fn read<T: DeserializeOwned + Default>(path: &Path) -> T {
    let is_small = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES);
    let text = if is_small { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    serde_json::from_str(&text).unwrap_or_default()
}

/// Keeps it, whole or not at all: two consoles may write at once.
///
/// # Errors
/// When the folder cannot be written.
pub(in crate::console) fn write(path: &Path, kept: &impl Serialize) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    files::create_folder(folder)?;
    let bytes = serde_json::to_vec(kept)?;
    files::replace(path, |file| file.write_all(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::app::Screen;
    use crate::console::app::hints::Memory;
    use crate::console::app::setup::Arrangement;
    use crate::envelope::TaskId;

    #[test]
    fn what_was_kept_reads_back_and_nonsense_is_the_usual() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("layouts").join("w.json");
        assert_eq!(read::<Arrangement>(&path), Arrangement::default());
        let pins = vec![TaskId::from_random([3; 8])];
        let kept = Arrangement { screen: Screen::Metrics, zoom: true, pins, split: -2 };
        write(&path, &kept).expect("written");
        assert_eq!(read::<Arrangement>(&path), kept);
        fs::write(&path, "{\"split\": \"wide\"}").expect("written");
        assert_eq!(read::<Arrangement>(&path), Arrangement::default());
    }

    #[test]
    fn what_was_used_last_stands_first_the_next_time_too() {
        let home = tempfile::tempdir().expect("temp dir");
        let path = home.path().join(MEMORY);
        let mut memory: Memory = read(&path);
        for name in ["stop", "zoom", "stop", "help"] {
            memory.use_now(name, 2);
        }
        write(&path, &memory).expect("written");
        assert_eq!(read::<Memory>(&path).recent, ["help", "stop"]);
        fs::write(&path, "not json").expect("written");
        assert_eq!(read::<Memory>(&path), Memory::default());
    }
}
