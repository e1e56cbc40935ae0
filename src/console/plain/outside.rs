//! What happens to the console from outside: its runtime goes and the next one comes, `serve --stop`, a terminal that
//! takes nothing.

use std::sync::Arc;

use super::session::{DialogueStep, PlainEffect, PlainSession, say};
use super::steps::KEEP;
use crate::console::features::attention::watch::TaskWatches;
use crate::console::state::Usages;
use crate::console::text::visible;
use crate::link::ASKED_FOR;
use crate::model::Snapshot;

impl PlainSession {
    /// Handles the loss of the runtime. A person can wait for the next one; a script has nothing to wait for.
    pub(super) fn link_lost(&mut self) -> Vec<PlainEffect> {
        self.is_lost = true;
        let gone = "the runtime went away, and its tasks with it";
        match self.about.is_person {
            true => vec![say(&format!("{gone}; this console waits for the next one, quit leaves"))],
            false => vec![say(gone), PlainEffect::Leave],
        }
    }

    /// Handles the next runtime. Nothing that was open for the last one may reach it.
    pub(super) fn next_runtime(&mut self, snapshot: Arc<Snapshot>) -> Vec<PlainEffect> {
        (self.snapshot, self.is_lost, self.step) = (snapshot, false, DialogueStep::Menu);
        (self.follows, self.usage, self.watching) = (None, Usages::default(), TaskWatches::since(self.now));
        self.read.clear();
        let mut effects =
            vec![PlainEffect::Hide(false), say("attached to the next runtime of this workspace")];
        effects.extend(self.state_lines().into_iter().map(PlainEffect::Say));
        effects
    }

    /// Handles lines that were not printed: what was asked in them cannot be answered.
    pub(super) fn left_out(&mut self, lines: usize) -> Vec<PlainEffect> {
        let mut effects = vec![say(&format!("{lines} lines were not printed: this terminal took none"))];
        let is_unseen = match &self.step {
            DialogueStep::Question(dialog) => dialog.reading.shown_at.is_none(),
            DialogueStep::Held(word) => word.shown.is_none(),
            _ => false,
        };
        if is_unseen {
            self.step = DialogueStep::Menu;
            effects.push(PlainEffect::Hide(false));
            effects.push(say("among them what you were asked; back at the menu"));
        }
        effects
    }

    /// Says what `serve --stop` asks. What was asked before stays open.
    pub(super) fn stop_asked(&mut self, by: &str) -> Vec<PlainEffect> {
        self.is_asked_to_stop = true;
        let (by, seconds) = (visible::one_line(by), ASKED_FOR.as_secs());
        let running = match self.live().count() {
            0 => String::new(),
            1 => " and its task".to_owned(),
            many => format!(" and its {many} tasks"),
        };
        vec![say(&format!(
            "serve --stop, run by {by}: the runtime{running} ends within {seconds} s; /{KEEP} keeps it"
        ))]
    }
}
