//! Help: the keys of the panel at hand by what one wants, what the odd words mean, and the keys of everything else. A list,
//! so what is typed filters it at once, and a key that works here can be chosen by name.

use crate::console::keys::{Action, KeyContext, Wish};
use crate::console::state::{Availability, ListChoice, State, Term};
use crate::console::widgets::{Chooser, ListItem, ListKind};

/// The panels, in the order of their screens, and where else keys mean something.
const CONTEXTS: [(KeyContext, &str); 12] = [
    (KeyContext::Tasks, "tasks"),
    (KeyContext::Focus, "one task"),
    (KeyContext::Receipts, "receipts"),
    (KeyContext::Metrics, "metrics"),
    (KeyContext::Program, "a program"),
    (KeyContext::Input, "while typing into a task"),
    (KeyContext::Line, "while writing a line"),
    (KeyContext::Held, "on the card of a call"),
    (KeyContext::Search, "while searching"),
    (KeyContext::Copy, "while copying"),
    (KeyContext::Text, "in a text"),
    (KeyContext::Replay, "in a replay"),
];

/// Returns help for the panel at hand.
pub(in crate::console) fn help(state: &State, availability: Availability<'_>) -> Chooser {
    let here = state.view_context();
    let keys = state.setup.keymap.list(here);
    let mut items = Vec::new();
    for wish in Wish::ALL {
        let of_wish = keys.iter().filter(|(action, _)| action.wish() == *wish);
        let mut of_wish: Vec<ListItem> = of_wish
            .map(|(action, keys)| ListItem {
                obstacle: availability(*action).err().map(|why| why.to_string()),
                choice: ListChoice::Action(*action),
                ..item(wish.title(), *action, keys)
            })
            .collect();
        of_wish.sort_by_key(|item| item.obstacle.is_some());
        items.extend(of_wish);
    }
    let idea =
        |(word, text)| ListItem { group: Some("words"), ..ListItem::new(word, text, ListChoice::Nothing) };
    items.extend(ideas().map(idea));
    for (context, title) in CONTEXTS.into_iter().filter(|(context, _)| *context != here) {
        let keys = state.setup.keymap.own(context);
        items.extend(keys.iter().map(|(action, keys)| item(title, *action, keys)));
    }
    Chooser::new(ListKind::Help(name(here)), items)
}

fn item(group: &'static str, action: Action, keys: &[String]) -> ListItem {
    ListItem {
        group: Some(group),
        same: action.equivalent().to_owned(),
        also: action.synonyms(),
        aliases: keys.iter().cloned().chain([action.name().to_owned()]).collect(),
        ..ListItem::new(keys.join(" "), action.about(), ListChoice::Nothing)
    }
}

/// Returns each odd word of the screens with what it means, in one line.
fn ideas() -> [(&'static str, &'static str); 11] {
    // Beside the thing itself, some begin with the word.
    let told = |word: &'static str, term: Term| {
        (word, term.text().split_once(": ").map_or(term.text(), |(_, text)| text))
    };
    [
        told("receipt", Term::Receipt),
        told("envelope", Term::Envelope),
        told("lease", Term::Lease),
        ("at a prompt", "idle at an open line: it may wait for you (weak)"),
        ("turn", "whose keys a task takes: yours, or its agent's"),
        told("INPUT", Term::Input),
        told("held", Term::Held),
        told("gate", Term::Gate),
        told("trips saved", Term::Trips),
        ("batch", "several commands in order, run by one call"),
        ("budget", "how many characters a receipt may have"),
    ]
}

/// Returns what the panel with this context is called.
pub(in crate::console) fn name(context: KeyContext) -> &'static str {
    CONTEXTS.iter().find(|(known, _)| *known == context).map_or("tasks", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_words_are_explained_in_one_line_each() {
        let words: Vec<&str> = ideas().into_iter().map(|(word, _)| word).collect();
        assert_eq!(words[..4], ["receipt", "envelope", "lease", "at a prompt"]);
        for (word, text) in ideas() {
            assert!(text.chars().count() <= 50 && !text.starts_with(word), "{word}: {text}");
        }
    }

    #[test]
    fn every_group_of_help_has_a_key_of_the_task_list() {
        let keymap = crate::console::keys::Keymap::built_in();
        let keys = keymap.list(KeyContext::Tasks);
        for wish in Wish::ALL {
            assert!(keys.iter().any(|(action, _)| action.wish() == *wish), "{}", wish.title());
        }
    }
}
