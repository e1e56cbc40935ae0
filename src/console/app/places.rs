//! The places: a command that is written for one, and what is not asked of one that is not attached.

use std::sync::Arc;

use jiff::SignedDuration;

use crate::console::effect::Effect;
use crate::console::features::places::{held_back, is_of_a_person};
use crate::console::state::{Prompt, State};
use crate::model::{PlaceLink, TakenPort, TaskView};

/// How long after its failure a command's port is asked for.
const RECENT: SignedDuration = SignedDuration::from_mins(1);

impl State {
    /// Drops effects on tasks whose place is not attached, and says why.
    pub(super) fn refuse_lost(&mut self) {
        if self.view.snapshot.places.iter().all(|place| place.link == PlaceLink::Live) {
            return;
        }
        let mut refused: Vec<String> = Vec::new();
        for effect in std::mem::take(&mut self.effects) {
            match held_back(self, &effect) {
                None => self.effects.push(effect),
                Some(told) if is_of_a_person(&effect) && !refused.contains(&told) => refused.push(told),
                Some(_) => {}
            }
        }
        for told in refused {
            self.toasts.fail(told, None);
            self.touch();
        }
    }

    /// Opens the input line for a command to run in the current place, which stays fixed while the command is
    /// typed; the line starts out as `initial`.
    pub(super) fn write_command(&mut self, initial: Option<String>) {
        self.composer.start_at = self.place_at_hand();
        if self.is_fleet() && self.composer.start_at.is_none() {
            return self.say("choose a place first");
        }
        self.write(Prompt::Start);
        if let (Some(initial), Some(editor)) = (initial, self.editor()) {
            *editor = initial.into();
        }
    }

    /// Finds out who of this user's other workspaces holds a port that a task could not have, once for each task that has
    /// just failed: who holds it later says nothing about then.
    pub(super) fn find_holders(&mut self) {
        if self.is_fleet() || self.setup.recording.is_some() {
            return;
        }
        let is_foreign = |taken: &&TakenPort| taken.holders.is_empty();
        let port = |task: &TaskView| task.ended.as_ref()?.taken_port.as_ref().filter(is_foreign)?.port;
        let is_new = |task: &TaskView| {
            task.ended.as_ref().is_some_and(|ended| self.clock.now.duration_since(ended.at) < RECENT)
        };
        let found = |task: &Arc<TaskView>| Some((task.id.clone(), port(task)?, is_new(task)));
        let found: Vec<_> = self.view.snapshot.tasks.iter().filter_map(found).collect();
        self.view.holders.retain(|task, _| found.iter().any(|(id, ..)| id == task));
        for (task, port, _) in found.into_iter().filter(|(.., is_new)| *is_new) {
            if !self.view.holders.contains_key(&task) {
                self.view.holders.insert(task.clone(), None);
                self.effects.push(Effect::FindHolder { task, port });
            }
        }
    }
}
