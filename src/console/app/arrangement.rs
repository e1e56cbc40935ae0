//! How a person has arranged a console: the screen, the zoom, the pins, the split. Kept for each workspace.

use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::envelope::TaskId;

use super::{App, Screen};

/// Panes that can be pinned: as many as are on screen at once.
pub const MOST_PINS: usize = 4;
/// Steps by which the list may be made smaller or larger.
const MOST_SPLIT: i16 = 12;
/// What is read of the file: more is none of ours.
const MOST_BYTES: u64 = 16 << 10;

/// What is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// The screen: `tasks`, `focus`, `receipts`, `metrics`.
    pub screen: Screen,
    /// The selected task is shown alone.
    pub zoom: bool,
    /// Tasks that keep their pane, in order.
    pub pins: Vec<TaskId>,
    /// Steps by which the list is larger than usual.
    pub split: i16,
}

impl Arrangement {
    /// Reads what was kept; nothing usable there is the usual arrangement.
    pub fn read(path: &Path) -> Self {
        let is_small = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES);
        let text = if is_small { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Keeps it, whole or not at all.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = fs::File::options();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        io::Write::write_all(&mut file, serde_json::to_string(self)?.as_bytes())?;
        fs::rename(&beside, path)
    }
}

impl App {
    /// Returns how the console is arranged now.
    pub fn arrangement(&self) -> Arrangement {
        // A program is over sooner or later; the screen of one is not come back to.
        let screen = if self.screen == Screen::Program { Screen::Tasks } else { self.screen };
        Arrangement { screen, zoom: self.is_zoomed, pins: self.pins.clone(), split: self.split }
    }

    /// Arranges the console as it was.
    pub fn arrange(&mut self, kept: Arrangement) {
        self.screen = match kept.screen {
            Screen::Program => Screen::Tasks,
            Screen::Focus if self.selected().is_none() => Screen::Tasks,
            screen => screen,
        };
        self.is_zoomed = kept.zoom;
        self.pins.clear();
        for pin in kept.pins {
            if self.pins.len() < MOST_PINS && !self.pins.contains(&pin) {
                self.pins.push(pin);
            }
        }
        self.split = kept.split.clamp(-MOST_SPLIT, MOST_SPLIT);
        self.touch();
    }

    /// Lets the selected task keep its pane, or gives the pane free.
    pub(crate) fn turn_pin(&mut self) {
        let Some(id) = self.selected().map(|task| task.id.clone()) else { return };
        if self.pins.contains(&id) {
            self.pins.retain(|pin| *pin != id);
        } else if self.pins.len() < MOST_PINS {
            self.pins.push(id);
        } else {
            self.say("four panes are pinned already");
        }
    }

    /// Makes the list a step larger or smaller.
    pub(crate) fn turn_split(&mut self, by: i16) {
        self.split = (self.split + by).clamp(-MOST_SPLIT, MOST_SPLIT);
    }

    /// Forgets pins of tasks that are no longer there.
    pub(crate) fn keep_pins(&mut self) {
        let tasks = &self.view.snapshot.tasks;
        self.pins.retain(|pin| tasks.iter().any(|task| task.id == *pin));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_reads_back_and_nonsense_is_the_usual() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("layouts").join("w.json");
        assert_eq!(Arrangement::read(&path), Arrangement::default());
        let pins = vec![TaskId::from_random([3; 8])];
        let kept = Arrangement { screen: Screen::Metrics, zoom: true, pins, split: -2 };
        kept.write(&path).expect("written");
        assert_eq!(Arrangement::read(&path), kept);
        fs::write(&path, "{\"split\": \"wide\"}").expect("written");
        assert_eq!(Arrangement::read(&path), Arrangement::default());
    }
}
