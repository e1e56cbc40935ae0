//! Playing a task again from its log: its keys, and the pictures that are asked for.

use std::sync::Arc;

use crate::console::effect::Effect;
use crate::console::keys::{Action, ReplayAction};
use crate::console::state::{Picture, Reel, Replay, State};
use crate::envelope::TaskId;

impl State {
    /// Starts the replay of a task.
    pub(super) fn open_replay(&mut self, task: TaskId) {
        self.thaw();
        self.toasts.pass();
        self.replay = Some(Replay::new(task.clone(), self.clock.now));
        self.effects.push(Effect::Replay(task));
    }

    /// Handles a key of the replay; tells whether it was one.
    pub(super) fn act_on_replay(&mut self, action: Action) -> bool {
        let now = self.clock.now;
        let Some((replay, action)) = self.replay.as_mut().zip(ReplayAction::of(action)) else { return false };
        replay.advance(now);
        match action {
            ReplayAction::Play => replay.turn(now),
            ReplayAction::Faster => replay.change_speed(true),
            ReplayAction::Slower => replay.change_speed(false),
            ReplayAction::StepForward => replay.step(true, false),
            ReplayAction::StepBack => replay.step(false, false),
            ReplayAction::NextPart => replay.step(true, true),
            ReplayAction::PreviousPart => replay.step(false, true),
            ReplayAction::Top => replay.go_to_end(false),
            ReplayAction::Bottom => replay.go_to_end(true),
        }
        true
    }

    /// Receives the moments of the task to replay.
    pub(super) fn take_reel(&mut self, task: &TaskId, reel: Arc<Reel>) {
        let now = self.clock.now;
        if let Some(replay) = self.replay.as_mut().filter(|replay| replay.task == *task) {
            replay.load(reel, now);
        }
    }

    /// Takes the screen of a moment, if it is the one requested.
    pub(super) fn take_played(&mut self, task: &TaskId, place: usize, picture: Picture) {
        let replay =
            self.replay.as_mut().filter(|replay| replay.task == *task && replay.asked == Some(place));
        if let Some(replay) = replay {
            replay.asked = None;
            replay.screen = Some((place, picture));
        }
    }

    /// Advances the replay and requests the screen of the current moment, one at a time so that a slow one is
    /// not requested twice.
    pub(super) fn play_on(&mut self) -> Option<Effect> {
        let now = self.clock.now;
        if self.replay.as_ref().is_some_and(|replay| self.view.task(&replay.task).is_none()) {
            self.replay = None;
        }
        let replay = self.replay.as_mut()?;
        replay.advance(now);
        let place = replay.place();
        let marks = replay.reel.as_ref()?.moments.get(place)?.marks;
        let is_there = replay.screen.as_ref().is_some_and(|(shown, _)| *shown == place);
        if is_there || replay.asked.is_some() {
            return None;
        }
        replay.asked = Some(place);
        Some(Effect::Play { task: replay.task.clone(), place, marks })
    }
}
