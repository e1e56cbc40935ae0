//! Frames: when one is drawn, what is read for it, and how long the last ones took.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use super::driver::{Driver, KEYS_PACE, LoopEnd, Times};
use crate::console::ConsoleError;
use crate::console::effect::Effect;
use crate::console::msg::Msg;
use crate::envelope::TaskId;

/// After a key, the task's first response within this time is drawn at once; on another machine it takes a
/// round trip.
const ANSWERED: Duration = Duration::from_secs(1);
/// How long a frame that is not urgent waits after a key for the task's answer to it, which would otherwise wait for
/// that frame.
const ECHO: Duration = Duration::from_millis(5);
/// How many frame times are kept: two minutes at full pace.
const KEPT: usize = 8_192;

/// The time taken by the last frames, from the state to the terminal.
#[derive(Debug, Default)]
pub(in crate::console) struct Frames {
    count: u64,
    last: VecDeque<Duration>,
}

impl Frames {
    /// Records the time taken by a frame.
    pub(in crate::console) fn add(&mut self, took: Duration) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(took);
        self.count += 1;
    }

    /// Returns a percentile of the frame times.
    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted: Vec<Duration> = self.last.iter().copied().collect();
        sorted.sort_unstable();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default()
    }

    /// Writes the figures to the log.
    pub(in crate::console) fn log(&self) {
        let [p50, p99] = [50, 99].map(|percent| self.percentile(percent).as_micros());
        tracing::info!(frames = self.count, p50_us = p50, p99_us = p99, "frames drawn");
    }
}

impl Times {
    fn frame_due(&self, pace: Duration, is_typing: bool) -> Duration {
        let due = self.last_frame + pace;
        let key = self.last_key.filter(|_| is_typing && !self.is_due_now());
        key.map_or(due, |key| due.max(key + ECHO))
    }

    /// Tells whether the next frame waits for nothing.
    pub(super) fn is_due_now(&self) -> bool {
        self.is_urgent || self.echoes.is_some()
    }
}

impl Driver {
    /// Draws a frame if something is new and the last frame is old enough, or if it is urgent.
    pub(super) fn draw_if_due(&mut self) -> Result<Option<LoopEnd>, ConsoleError> {
        let is_new = self.app.state.is_dirty() || self.times.screens_changed;
        if !is_new || !self.display.is_taken() {
            return Ok(None);
        }
        let now = self.clock.now().mono;
        // Handle queued keys first: drawing a frame for each would delay the last one.
        let pace = match (self.keys.is_empty(), self.times.is_due_now()) {
            (false, _) => KEYS_PACE,
            (true, true) => Duration::ZERO,
            (true, false) => self.display.pace(),
        };
        if now < self.frame_due(pace) {
            return Ok(None);
        }
        let is_answer = !std::mem::take(&mut self.times.is_urgent) && self.times.echoes.is_some();
        if is_answer {
            let (is_drawn, effects) = self.draw_answer()?;
            let ending = self.carry_out(effects)?;
            if is_drawn || ending.is_some() {
                return Ok(ending);
            }
        }
        self.times.screens_changed = false;
        let effects = self.take_pictures();
        if let Some(ending) = self.carry_out(effects)? {
            return Ok(Some(ending));
        }
        if !self.app.state.is_dirty() {
            // If a screen could not be read, try again after a while, not immediately.
            self.times.last_frame = now;
            return Ok(None);
        }
        let drawn = self.display.draw(&self.app).map_err(ConsoleError::Terminal)?;
        self.app.mark_sent();
        if self.display.is_taken() {
            self.app.mark_taken();
        }
        let after = self.clock.now();
        self.frames.add(after.mono.saturating_sub(now));
        self.app.state.pace.frame.add(after.mono.saturating_sub(now));
        self.drawn_at(after.mono);
        self.times.wake = drawn.wake.map(|at| {
            let left = at.as_millisecond().saturating_sub(after.wall.as_millisecond()).max(1);
            after.mono + Duration::from_millis(left.unsigned_abs())
        });
        Ok(None)
    }

    fn drawn_at(&mut self, now: Duration) {
        if let Some(key) = self.times.echoes.take() {
            self.app.state.pace.echo.add(now.saturating_sub(key));
        }
        self.times.last_frame = now;
    }

    /// Draws what a task has answered to a key, and nothing else: the frame with all the rest follows in its turn. Returns
    /// whether that could show it, and what follows from it.
    fn draw_answer(&mut self) -> Result<(bool, Vec<Effect>), ConsoleError> {
        let taken =
            self.app.state.typing_into().cloned().and_then(|task| Some((self.take_picture(&task)?, task)));
        let Some((rows, task)) = taken else { return Ok((false, Vec::new())) };
        let is_drawn = self.display.draw_answer(&self.app, &rows).map_err(ConsoleError::Terminal)?;
        if is_drawn {
            self.drawn_at(self.clock.now().mono);
        }
        Ok((is_drawn, self.picture_taken(task)))
    }

    /// Returns when the next frame is due, at this time after the last one at the earliest.
    pub(super) fn frame_due(&self, pace: Duration) -> Duration {
        self.times.frame_due(pace, self.is_typing())
    }

    /// Tells whether keys go to a task.
    pub(super) fn is_typing(&self) -> bool {
        self.app.state.typing_into().is_some()
    }

    /// Takes new pictures of the visible screens that have changed.
    fn take_pictures(&mut self) -> Vec<Effect> {
        let live = self.app.panes.live(&self.app.state);
        let taken: Vec<_> = live.into_iter().filter(|task| self.take_picture(task).is_some()).collect();
        taken.into_iter().flat_map(|task| self.picture_taken(task)).collect()
    }

    fn picture_taken(&mut self, task: TaskId) -> Vec<Effect> {
        let picture = self.app.state.view.pictures.remove(&task).unwrap_or_default();
        self.app.update(Msg::Picture(task, picture))
    }

    /// Takes a new picture of a screen, if it has changed; returns the rows that differ. If it is busy, its last picture is
    /// kept.
    fn take_picture(&mut self, task: &TaskId) -> Option<Range<u16>> {
        let generation = self.operator.screen_generation(task)?;
        let pictures = &mut self.app.state.view.pictures;
        if pictures.get(task).is_some_and(|picture| picture.generation == generation) {
            return None;
        }
        let Some(screen) = self.operator.screen(task) else {
            self.times.screens_changed = true;
            return None;
        };
        Some(pictures.entry(task.clone()).or_default().take(&screen, generation))
    }

    /// Tells whether the task being typed into has responded to a key: one frame per key is drawn
    /// immediately. A flood of output in the same pane gets no more than that.
    pub(super) fn is_echo(&mut self) -> bool {
        let now = self.clock.now().mono;
        self.times.last_key.take_if(|at| now.saturating_sub(*at) >= ANSWERED);
        let task = self.app.state.typing_into().filter(|_| self.times.last_key.is_some());
        task.is_some_and(|task| {
            let seen = self.app.state.view.pictures.get(task).map(|picture| picture.generation);
            self.operator.screen_generation(task) != seen
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_a_key_and_its_echo_only_an_urgent_frame_is_drawn() {
        let ms = Duration::from_millis;
        let mut times = Times::default();
        (times.last_frame, times.last_key) = (ms(100), Some(ms(117)));
        assert_eq!(times.frame_due(ms(16), true), ms(117) + ECHO);
        assert_eq!(times.frame_due(ms(66), true), ms(166), "a slow terminal gets no more frames");
        assert_eq!(times.frame_due(ms(16), false), ms(116), "the key was for the console");
        times.is_urgent = true;
        assert_eq!(times.frame_due(Duration::ZERO, true), ms(100));
    }

    #[test]
    fn percentiles_are_of_the_last_frames() {
        let mut frames = Frames::default();
        assert_eq!(frames.percentile(99), Duration::ZERO);
        (0..10).for_each(|_| frames.add(Duration::from_secs(9)));
        (0..KEPT).for_each(|n| frames.add(Duration::from_micros(n as u64)));
        assert_eq!(frames.percentile(50), Duration::from_micros(4_095));
        assert_eq!(frames.percentile(100), Duration::from_micros(8_191));
        assert_eq!((frames.count, frames.last.len()), (8_202, KEPT));
    }
}
