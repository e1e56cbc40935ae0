//! What a console saves between runs: its arrangement and what it remembers. None of it is essential: an
//! unreadable file counts as empty.

use std::io;
use std::io::Write as _;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::console::state::history::KEPT;
use crate::files::{self, OWN};

/// The file with what is remembered, in the state folder.
pub(in crate::console) const MEMORY: &str = "console.json";
/// The largest file that is read: anything larger is not one of ours.
const MOST_BYTES: u64 = 64 << 10;
/// Maximum size of the saved commands, in bytes.
const MOST_COMMANDS_BYTES: usize = 60 << 10;

/// Reads a saved value; falls back to the default if there is nothing usable.
pub(in crate::console) fn read<T: DeserializeOwned + Default>(path: &Path) -> T {
    let text = files::read_text(path, OWN, MOST_BYTES).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Saves a value atomically, because two consoles may write at once.
///
/// # Errors
/// When the folder cannot be written.
pub(in crate::console) fn write(path: &Path, kept: &impl Serialize) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    files::create_folder(folder)?;
    let bytes = serde_json::to_vec(kept)?;
    files::replace(path, |file| file.write_all(&bytes))
}

/// Adds a command to the saved ones as the last entry, without duplicates. The oldest are dropped, also to
/// keep the file within the size limit for reading.
///
/// # Errors
/// When the folder cannot be written.
pub(in crate::console) fn add_command(path: &Path, cmd: &str) -> io::Result<()> {
    // Reread the file: another console may have added a command.
    let mut commands: Vec<String> = read(path);
    commands.retain(|other| other != cmd);
    commands.push(cmd.to_owned());
    let mut room = MOST_COMMANDS_BYTES;
    let kept = commands.iter().rev().take(KEPT).take_while(|cmd| {
        let bytes = serde_json::to_vec(cmd).map_or(MOST_COMMANDS_BYTES, |text| text.len() + 1);
        room = room.saturating_sub(bytes);
        room > 0
    });
    let first = commands.len() - kept.count();
    write(path, &commands.get(first..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::state::arrangement::Arrangement;
    use crate::console::state::focus::Screen;
    use crate::console::state::listing::rows::{Grouping, ListOrder, Sort};
    use crate::console::state::memory::ConsoleMemory;
    use crate::console::state::tiling::{ListPlace, Panes, Tiling};
    use crate::envelope::TaskId;
    use std::fs;

    #[test]
    fn a_kept_arrangement_reads_back_and_a_broken_file_gives_the_default() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("layouts").join("w.json");
        assert_eq!(read::<Arrangement>(&path), Arrangement::default());
        let pins = vec![TaskId::from_random([3; 8])];
        let list = ListOrder { sort: Sort::Idle, groups: Grouping::Session, ..ListOrder::default() };
        let tiling = Tiling { panes: Panes::TwoBeside, list: ListPlace::Left };
        let layout = Some(tiling);
        let kept = Arrangement {
            screen: Screen::Metrics,
            zoom: true,
            pins,
            split: -2,
            list,
            layout,
            saved_at: None,
        };
        write(&path, &kept).expect("written");
        assert_eq!(read::<Arrangement>(&path), kept);
        fs::write(&path, "{\"split\": \"wide\"}").expect("written");
        assert_eq!(read::<Arrangement>(&path), Arrangement::default());
    }

    #[test]
    fn commands_are_kept_once_the_last_ones_and_for_their_person_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().expect("temp dir");
        let path = home.path().join("history").join("w.json");
        for number in 0..150 {
            add_command(&path, &format!("make {number}")).expect("written");
        }
        add_command(&path, "make 120").expect("written");
        let kept: Vec<String> = read(&path);
        assert_eq!((kept.len(), kept.last().map(String::as_str)), (KEPT, Some("make 120")));
        assert_eq!(kept.iter().filter(|cmd| *cmd == "make 120").count(), 1);
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        for number in 0..40 {
            add_command(&path, &format!("{number}{}", "\u{1}".repeat(1_990))).expect("written");
        }
        let kept: Vec<String> = read(&path);
        assert!(kept.len() >= 4 && kept.last().is_some_and(|cmd| cmd.starts_with("39")), "{}", kept.len());
    }

    #[test]
    fn recent_actions_read_back_with_the_last_used_first() {
        let home = tempfile::tempdir().expect("temp dir");
        let path = home.path().join(MEMORY);
        let mut memory: ConsoleMemory = read(&path);
        for name in ["stop", "zoom", "stop", "help"] {
            memory.use_now(name, 2);
        }
        write(&path, &memory).expect("written");
        assert_eq!(read::<ConsoleMemory>(&path).recent, ["help", "stop"]);
        fs::write(&path, "not json").expect("written");
        assert_eq!(read::<ConsoleMemory>(&path), ConsoleMemory::default());
    }
}
