//! What a console remembers from one time to the next: what was used last, and which hints were needed.
//! Nothing of it matters: a file that cannot be read is an empty one.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file, in the state folder.
const FILE: &str = "console.json";
/// The largest file read.
const MAX_BYTES: u64 = 64 << 10;

/// What is remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// What was chosen in the palette, last first.
    pub recent: Vec<String>,
    /// Hints whose keys have been used.
    pub learnt: BTreeSet<String>,
}

impl Memory {
    /// Reads what is remembered in a state folder.
    #[must_use]
    pub fn read(state: &Path) -> Self {
        let path = state.join(FILE);
        if !path.metadata().is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_BYTES) {
            return Self::default();
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Writes it to the state folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, state: &Path) -> io::Result<()> {
        // Whole or not at all: two consoles may write at once.
        let next = state.join(format!("{FILE}.{}", std::process::id()));
        fs::write(&next, serde_json::to_vec(self)?)?;
        fs::rename(next, state.join(FILE))
    }

    /// Puts what was just used first, and forgets what is beyond `most`.
    pub fn use_now(&mut self, name: &str, most: usize) {
        self.recent.retain(|other| other != name);
        self.recent.insert(0, name.to_owned());
        self.recent.truncate(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stands_first_the_next_time_too() {
        let home = tempfile::tempdir().expect("temp dir");
        let mut memory = Memory::read(home.path());
        for name in ["stop", "zoom", "stop", "help"] {
            memory.use_now(name, 2);
        }
        memory.write(home.path()).expect("written");
        assert_eq!(Memory::read(home.path()).recent, ["help", "stop"]);
        fs::write(home.path().join(FILE), "not json").expect("written");
        assert_eq!(Memory::read(home.path()), Memory::default());
    }
}
