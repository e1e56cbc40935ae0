//! Replaying a task: the keys, and what is read for it.

pub mod draw;

use std::sync::Arc;

use crate::console::effect::Effect;
use crate::console::keys::{Action, ReplayAction};
use crate::console::state::{Picture, Reel, Replay, State};
use crate::envelope::TaskId;

/// Starts the replay of a task.
pub(in crate::console) fn open_replay(state: &mut State, task: TaskId) {
    state.thaw();
    state.toasts.pass();
    state.replay = Some(Replay::new(task.clone(), state.clock.now));
    state.effects.push(Effect::Replay(task));
}

/// Handles a key of the replay; tells whether it was one.
pub(in crate::console) fn act_on_replay(state: &mut State, action: Action) -> bool {
    let now = state.clock.now;
    let Some((replay, action)) = state.replay.as_mut().zip(ReplayAction::of(action)) else { return false };
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
pub(in crate::console) fn reel(state: &mut State, task: &TaskId, reel: Arc<Reel>) {
    let now = state.clock.now;
    if let Some(replay) = state.replay.as_mut().filter(|replay| replay.task == *task) {
        replay.load(reel, now);
    }
}

/// Takes the screen of a moment, if it is the one requested.
pub(in crate::console) fn played(state: &mut State, task: &TaskId, place: usize, picture: Picture) {
    let replay = state.replay.as_mut().filter(|replay| replay.task == *task && replay.asked == Some(place));
    if let Some(replay) = replay {
        replay.asked = None;
        replay.screen = Some((place, picture));
    }
}

/// Advances the replay and requests the screen of the current moment, one at a time so that a slow one is
/// not requested twice.
pub(in crate::console) fn play_on(state: &mut State) -> Option<Effect> {
    let now = state.clock.now;
    if state.replay.as_ref().is_some_and(|replay| state.view.task(&replay.task).is_none()) {
        state.replay = None;
    }
    let replay = state.replay.as_mut()?;
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
