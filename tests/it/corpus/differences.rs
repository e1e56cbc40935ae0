//! What may differ between a pane and tmux, and why: the list in tests/corpus, compared with the actual differences.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::picture::Found;

/// The differences found in one session, by checkpoint or by sample name.
pub(super) type Places = BTreeMap<String, Found>;

#[derive(Deserialize)]
struct List {
    /// The version of tmux that it was made with.
    tmux: String,
    sessions: BTreeMap<String, BTreeMap<String, Entry>>,
}

/// A difference with its reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    differs: BTreeSet<String>,
    why: String,
}

fn list() -> List {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/panes/differences.toml");
    let text = std::fs::read_to_string(path).expect("the list");
    toml::from_str(&text).expect("a list")
}

/// The version of tmux that the list was made with.
pub(super) fn listed_version() -> String {
    list().tmux
}

/// Asserts that a session differs exactly where the list says so.
pub(super) fn must_be_as_listed(session: &str, places: &Places) {
    let mut list = list();
    let listed = list.sessions.remove(session).unwrap_or_default();
    let mut wrong = Vec::new();
    for (place, found) in places {
        let expected = listed.get(place).map(|entry| entry.differs.clone()).unwrap_or_default();
        for (what, how) in found.iter().filter(|(what, _)| !expected.contains(*what)) {
            wrong.push(format!("{place}: {what}: {how}"));
        }
    }
    for (place, entry) in &listed {
        let found = places.get(place);
        for what in entry.differs.iter().filter(|what| !found.is_some_and(|found| found.contains_key(*what)))
        {
            wrong.push(format!("{place}: {what} is listed, but the same now ({})", entry.why));
        }
    }
    assert!(wrong.is_empty(), "{session} differs from tmux otherwise than listed:\n{}", wrong.join("\n"));
}
