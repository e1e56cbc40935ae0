//! What a person is told who is new here: a hint until its key has been used. And what is remembered.

use super::super::app::App;
use super::super::app::memory::Memory;
use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::looks::theme::Role;
use super::super::msg::Effect;
use super::super::text::document::{Piece, piece};

/// What is worth knowing first: the key, and what it is good for.
const HINTS: [(Action, &str); 4] = [
    (Action::Help, "lists the keys that work here"),
    (Action::Type, "types into the task"),
    (Action::ShowReceipts, "shows what the agent was told"),
    (Action::Palette, "finds everything by name"),
];

impl App {
    /// Returns the hint for whoever is new here; nothing once its key has been used.
    #[must_use]
    pub fn hint(&self) -> Vec<Piece> {
        if !self.setup.taste.hints || self.setup.recording.is_some() {
            return Vec::new();
        }
        let next = HINTS.iter().filter(|(action, _)| !self.memory.learnt.contains(&action.name()));
        let context = self.view_context();
        let key = |action: Action| self.setup.keymap.key(context, action).filter(|_| self.can(action));
        let Some((key, use_of)) = next.filter_map(|(action, use_of)| Some((key(*action)?, use_of))).next()
        else {
            return Vec::new();
        };
        let chord = self.setup.keymap.key(Context::Input, Action::Leave).unwrap_or_default();
        let back = if use_of.starts_with("types") { format!(", {chord} comes back") } else { String::new() };
        vec![
            piece(" new here?  ", Role::Faint),
            piece(key, Role::Key),
            piece(format!(" {use_of}{back}"), Role::Text),
        ]
    }

    /// Takes note of a key that a hint was about.
    pub(super) fn learn(&mut self, action: Option<Action>) -> Vec<Effect> {
        let Some(action) = action.filter(|action| HINTS.iter().any(|(hint, _)| hint == action)) else {
            return Vec::new();
        };
        if !self.setup.taste.hints || !self.memory.learnt.insert(action.name()) {
            return Vec::new();
        }
        vec![Effect::Remember(self.memory.clone())]
    }

    /// Changes what is remembered, and has it written down.
    pub(super) fn remember(&mut self, change: impl FnOnce(&mut Memory)) -> Vec<Effect> {
        change(&mut self.memory);
        vec![Effect::Remember(self.memory.clone())]
    }
}
