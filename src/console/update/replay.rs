//! Playing a task again: what its keys do, and which screen is wanted next.

use std::sync::Arc;

use crate::envelope::TaskId;

use super::super::app::App;
use super::super::app::picture::Picture;
use super::super::app::replay::{Reel, Replay};
use super::super::keys::action::Action;
use super::super::msg::Effect;

impl App {
    /// Begins to play a task again.
    pub(super) fn open_replay(&mut self, task: TaskId) -> Vec<Effect> {
        self.thaw();
        self.toasts.pass();
        self.replay = Some(Replay::new(task.clone(), self.now));
        vec![Effect::Replay(task)]
    }

    /// Does what a key says to what is played; tells whether it was one of its keys.
    pub(super) fn act_on_replay(&mut self, action: Action) -> bool {
        let now = self.now;
        let Some(replay) = &mut self.replay else { return false };
        replay.advance(now);
        match action {
            Action::Play => replay.turn(now),
            Action::Faster => replay.change_speed(true),
            Action::Slower => replay.change_speed(false),
            Action::StepForward => replay.step(true, false),
            Action::StepBack => replay.step(false, false),
            Action::NextPart => replay.step(true, true),
            Action::PreviousPart => replay.step(false, true),
            Action::First => replay.go_to_end(false),
            Action::Last => replay.go_to_end(true),
            _ => return false,
        }
        true
    }

    /// Takes the moments of the task that is to be played.
    pub(super) fn reel(&mut self, task: &TaskId, reel: Arc<Reel>) {
        let now = self.now;
        if let Some(replay) = self.replay.as_mut().filter(|replay| replay.task == *task) {
            replay.load(reel, now);
        }
    }

    /// Takes the screen of a moment, if it is the one asked for.
    pub(super) fn played(&mut self, task: &TaskId, place: usize, picture: Picture) {
        let replay =
            self.replay.as_mut().filter(|replay| replay.task == *task && replay.asked == Some(place));
        if let Some(replay) = replay {
            replay.asked = None;
            replay.screen = Some((place, picture));
        }
    }

    /// Plays on, and asks for the screen of the moment: one at a time, so that a slow one is not asked for twice.
    pub(super) fn play_on(&mut self) -> Option<Effect> {
        let now = self.now;
        if self.replay.as_ref().is_some_and(|replay| self.task(&replay.task).is_none()) {
            self.replay = None;
        }
        let replay = self.replay.as_mut()?;
        replay.advance(now);
        let place = replay.place();
        let marks = replay.reel.as_ref()?.moments().get(place)?.marks;
        let is_there = replay.screen.as_ref().is_some_and(|(shown, _)| *shown == place);
        if is_there || replay.asked.is_some() {
            return None;
        }
        replay.asked = Some(place);
        Some(Effect::Play { task: replay.task.clone(), place, marks })
    }
}
