//! What the console remembers between runs; none of it is essential: an unreadable file counts as empty.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What the console remembers between runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsoleMemory {
    /// Choices made in the palette, most recent first.
    pub recent: Vec<String>,
    /// Hints whose keys have been used.
    pub learnt: BTreeSet<String>,
}

impl ConsoleMemory {
    /// Moves an entry to the front, and drops those beyond `most`.
    pub fn use_now(&mut self, name: &str, most: usize) {
        self.recent.retain(|other| other != name);
        self.recent.insert(0, name.to_owned());
        self.recent.truncate(most);
    }
}
