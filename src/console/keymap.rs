//! Which key does what, and where. Read from assets/keymap.toml; never hard-wired in a view.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::terminal::{Key, KeyPress};

use super::action::Action;

const DEFAULT: &str = include_str!("../../assets/keymap.toml");

/// A place in which keys have their own meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Context {
    /// Everywhere outside of typing and dialogs.
    Observe,
    /// The task list and its panes.
    Tasks,
    /// One task, full size.
    Focus,
    /// The calls.
    Receipts,
    /// The counters.
    Metrics,
    /// A program.
    Program,
    /// What waits for the person.
    Attention,
    /// The dialog of a gate.
    Gate,
    /// The dialog of a yes or no.
    YesNo,
    /// The dialog of a choice.
    Choice,
    /// The dialog of a text.
    Answer,
    /// The dialog of a command in doubt.
    InFlight,
    /// The note to an answer.
    Reason,
    /// The dialog of a question that is no longer open.
    Settled,
    /// Typing into a task.
    Input,
    /// The one-line composer.
    Line,
    /// The prompt for a command.
    Start,
    /// The line to search for.
    Search,
    /// Selecting text to copy.
    Copy,
    /// The stop dialog.
    Stop,
    /// The signal dialog.
    Signal,
    /// The quit dialog.
    Quit,
    /// The question before a paste.
    Paste,
    /// The card of a call that waits for the operator.
    Held,
    /// The note of a denial.
    Note,
    /// Help.
    Help,
}

impl Context {
    /// Tells whether the keys of `observe` hold here too.
    fn adds_to_observe(self) -> bool {
        matches!(self, Self::Tasks | Self::Focus | Self::Receipts | Self::Metrics | Self::Program)
    }
}

/// A keymap that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not TOML, or an unknown context or action.
    #[error("read the keymap")]
    Parse(#[from] toml::de::Error),
    /// A key that has no such name.
    #[error("read the keymap: [{context:?}] {action:?}: `{key}` is no key")]
    UnknownKey {
        /// Where.
        context: Context,
        /// For what.
        action: Action,
        /// The key as written.
        key: String,
    },
    /// One key, two meanings.
    #[error("read the keymap: [{context:?}] `{key}` means both {first:?} and {second:?}")]
    Conflict {
        /// Where.
        context: Context,
        /// The key.
        key: String,
        /// One meaning.
        first: Action,
        /// The other.
        second: Action,
    },
}

/// The keys, by context and action.
#[derive(Debug, Clone)]
pub struct Keymap {
    bindings: BTreeMap<Context, BTreeMap<Action, Vec<KeyPress>>>,
}

impl Keymap {
    /// Returns the default keymap.
    #[must_use]
    pub fn built_in() -> Self {
        Self::parse(DEFAULT).expect("the embedded keymap parses: a test reads it")
    }

    /// Reads a keymap.
    ///
    /// # Errors
    /// When the text is no keymap, names an unknown key or binds a key twice.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let file: BTreeMap<Context, BTreeMap<Action, Vec<String>>> = toml::from_str(text)?;
        let mut bindings = BTreeMap::new();
        for (context, actions) in file {
            let mut parsed = BTreeMap::new();
            for (action, names) in actions {
                let keys: Result<Vec<_>, _> = names
                    .into_iter()
                    .map(|key| KeyPress::parse(&key).map_err(|_| Error::UnknownKey { context, action, key }))
                    .collect();
                parsed.insert(action, keys?);
            }
            bindings.insert(context, parsed);
        }
        let keymap = Self { bindings };
        keymap.check()?;
        Ok(keymap)
    }

    fn check(&self) -> Result<(), Error> {
        for &context in self.bindings.keys() {
            let mut seen: Vec<(KeyPress, Action)> = Vec::new();
            for (action, key) in self.chain(context) {
                if let Some((_, first)) = seen.iter().find(|(other, _)| *other == key) {
                    return Err(Error::Conflict { context, key: name(key), first: *first, second: action });
                }
                seen.push((key, action));
            }
        }
        Ok(())
    }

    fn chain(&self, context: Context) -> impl Iterator<Item = (Action, KeyPress)> {
        let shared = context.adds_to_observe().then_some(Context::Observe);
        [Some(context), shared]
            .into_iter()
            .flatten()
            .filter_map(|context| self.bindings.get(&context))
            .flat_map(|actions| actions.iter())
            .flat_map(|(action, keys)| keys.iter().map(|key| (*action, *key)))
    }

    /// Returns what `key` does in `context`.
    #[must_use]
    pub fn action(&self, context: Context, key: KeyPress) -> Option<Action> {
        self.chain(context).find(|(_, bound)| *bound == key).map(|(action, _)| action)
    }

    /// Returns the name of the first key bound to `action` in `context`.
    #[must_use]
    pub fn key(&self, context: Context, action: Action) -> Option<String> {
        self.chain(context).find(|(bound, _)| *bound == action).map(|(_, key)| name(key))
    }

    /// Returns every action of `context` with the names of its keys, in the order of help.
    #[must_use]
    pub fn list(&self, context: Context) -> Vec<(Action, Vec<String>)> {
        let mut found: BTreeMap<Action, Vec<String>> = BTreeMap::new();
        for (action, key) in self.chain(context) {
            found.entry(action).or_default().push(name(key));
        }
        found.into_iter().collect()
    }
}

/// Returns a key as people write it: `Ctrl-]`, `PgUp`, `G`.
#[must_use]
pub fn name(press: KeyPress) -> String {
    let mut text = String::new();
    for (on, prefix) in [(press.ctrl, "Ctrl-"), (press.alt, "Alt-"), (press.shift, "Shift-")] {
        if on {
            text.push_str(prefix);
        }
    }
    match press.key {
        Key::Char(' ') => text.push_str("Space"),
        Key::Char(c) => text.push(c),
        Key::PageUp => text.push_str("PgUp"),
        Key::PageDown => text.push_str("PgDn"),
        Key::BackTab => text.push_str("Shift-Tab"),
        Key::Up => text.push('↑'),
        Key::Down => text.push('↓'),
        Key::Left => text.push('←'),
        Key::Right => text.push('→'),
        Key::F(number) => text.push_str(&format!("F{number}")),
        other => text.push_str(&format!("{other:?}")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_keymap_parses_and_has_no_conflict() {
        let keymap = Keymap::built_in();
        let leave = KeyPress::parse("C-]").expect("a key");
        assert_eq!(keymap.action(Context::Input, leave), Some(Action::Leave));
        assert_eq!(keymap.key(Context::Input, Action::Leave).as_deref(), Some("Ctrl-]"));
    }

    #[test]
    fn a_key_with_two_meanings_is_refused_also_across_observe() {
        let twice = "[tasks]\nstop = [\"s\"]\nkill = [\"s\"]\n";
        assert!(matches!(Keymap::parse(twice), Err(Error::Conflict { .. })));
        let shadow = "[observe]\nquit = [\"q\"]\n[tasks]\nstop = [\"q\"]\n";
        assert!(matches!(Keymap::parse(shadow), Err(Error::Conflict { .. })));
        let apart = "[observe]\nquit = [\"q\"]\n[help]\nback = [\"q\"]\n";
        assert!(Keymap::parse(apart).is_ok());
    }

    #[test]
    fn an_unknown_key_action_or_context_is_refused() {
        for bad in ["[tasks]\nstop = [\"Hyper-s\"]\n", "[tasks]\nfly = [\"s\"]\n", "[moon]\nstop = [\"s\"]\n"]
        {
            assert!(Keymap::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_action_has_a_key_somewhere() {
        let keymap = Keymap::built_in();
        for action in Action::ALL {
            let bound = keymap.bindings.values().any(|actions| actions.contains_key(action));
            assert!(bound, "{action:?} has no key");
        }
    }
}
