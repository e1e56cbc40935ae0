//! Which items of a runtime's snapshots have changed since which of them, so that a console is sent only those. The
//! stores note what they change; nothing is compared.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

/// Keys remembered: more than a runtime lists, so that only a console that is far behind is sent everything.
const KEYS_KEPT: usize = 4_096;

/// Identifies an item of a snapshot's lists. The order is that in which items are sent: first what waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKey {
    /// By its ticket.
    Held(u64),
    /// By its number.
    Question(u32),
    /// By its number.
    Task(u32),
    /// By its number.
    Call(u64),
    /// By its label.
    Agent(String),
    /// By its number.
    Notice(u64),
    /// By its run.
    Program(String),
}

/// The last change of each item that was changed after it first appeared.
#[derive(Debug, Default)]
pub struct ItemChanges {
    /// The number of the last published snapshot.
    published: u64,
    /// The snapshot that first showed the last change of each key.
    changed: HashMap<ItemKey, u64>,
    /// Changes that this snapshot or an earlier one showed may be forgotten.
    forgotten: u64,
}

impl ItemChanges {
    /// Notes a change that the next snapshot shows.
    pub fn note(&mut self, key: ItemKey) {
        self.changed.insert(key, self.published + 1);
        if self.changed.len() > KEYS_KEPT {
            let mut shown: Vec<u64> = self.changed.values().copied().collect();
            self.forgotten = *shown.select_nth_unstable(KEYS_KEPT / 2).1;
            self.changed.retain(|_, shown| *shown > self.forgotten);
        }
    }

    /// Returns the number of a new snapshot, which shows everything noted before.
    pub fn publish(&mut self) -> u64 {
        self.published += 1;
        self.published
    }

    /// Returns the keys of the items that were changed after a snapshot, as far as the last published one and beyond;
    /// `None` if they are no longer known.
    pub fn since(&self, snapshot: u64) -> Option<HashSet<ItemKey>> {
        let later = self.changed.iter().filter(|(_, shown)| **shown > snapshot);
        (snapshot >= self.forgotten).then(|| later.map(|(key, _)| key.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_since_a_published_state_are_listed_unless_too_many_came_after_it() {
        let mut changes = ItemChanges::default();
        changes.note(ItemKey::Task(1));
        let first = changes.publish();
        changes.note(ItemKey::Call(1));
        changes.note(ItemKey::Task(2));
        changes.note(ItemKey::Call(1));
        assert_eq!(changes.since(first), Some([ItemKey::Call(1), ItemKey::Task(2)].into()));
        let second = changes.publish();
        assert_eq!(changes.since(second), Some([].into()));
        for seq in 0..=KEYS_KEPT as u64 {
            changes.note(ItemKey::Call(seq));
            changes.publish();
        }
        assert_eq!(changes.since(first), None);
        let last = changes.publish();
        changes.note(ItemKey::Notice(1));
        assert_eq!(changes.since(last), Some([ItemKey::Notice(1)].into()));
    }
}
