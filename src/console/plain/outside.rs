//! What happens to the console from outside: its runtime goes and the next one comes, `serve --stop`, a terminal that
//! takes nothing.

use std::sync::Arc;

use super::session::{Effect, Session, Step, say};
use super::steps::KEEP;
use crate::console::features::attention::watch::Watching;
use crate::console::state::Usages;
use crate::console::text::visible;
use crate::link::ASKED_FOR;
use crate::model::Snapshot;

impl Session {
    /// Handles the loss of the runtime. A person can wait for the next one; a script has nothing to wait for.
    pub(super) fn link_lost(&mut self) -> Vec<Effect> {
        self.is_lost = true;
        let gone = "the runtime went away, and its tasks with it";
        match self.about.is_person {
            true => vec![say(&format!("{gone}; this console waits for the next one, quit leaves"))],
            false => vec![say(gone), Effect::Leave],
        }
    }

    /// Handles the next runtime. Nothing that was open for the last one may reach it.
    pub(super) fn next_runtime(&mut self, snapshot: Arc<Snapshot>) -> Vec<Effect> {
        (self.snapshot, self.is_lost, self.step) = (snapshot, false, Step::Menu);
        (self.follows, self.usage, self.watching) = (None, Usages::default(), Watching::since(self.now));
        self.read.clear();
        let mut effects = vec![Effect::Hide(false), say("attached to the next runtime of this workspace")];
        effects.extend(self.standing().into_iter().map(Effect::Say));
        effects
    }

    /// Handles lines that were not printed: what was asked in them cannot be answered.
    pub(super) fn left_out(&mut self, lines: usize) -> Vec<Effect> {
        let mut effects = vec![say(&format!("{lines} lines were not printed: this terminal took none"))];
        let is_unseen = match &self.step {
            Step::Question(dialog) => dialog.shown_at.is_none(),
            Step::Held(word) => word.shown.is_none(),
            _ => false,
        };
        if is_unseen {
            self.step = Step::Menu;
            effects.push(Effect::Hide(false));
            effects.push(say("among them what you were asked; back at the menu"));
        }
        effects
    }

    /// Says what `serve --stop` asks. What was asked before stays open.
    pub(super) fn stop_asked(&mut self, by: &str) -> Vec<Effect> {
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
