//! Draws the screens of a task that is played again, one after the other.

use std::sync::{Arc, Mutex, PoisonError};

use crate::envelope::TaskId;
use crate::runtime::{Playback, TaskView};

use super::super::app::picture::Picture;
use super::super::app::replay::Reel;
use super::super::msg::Msg;

/// The log that is played. Behind a lock because each screen is drawn on another thread; the console asks for one
/// at a time, so that none ever waits for long.
#[derive(Default)]
pub(in crate::console) struct Player(Mutex<Option<(TaskId, Playback)>>);

impl Player {
    /// Opens the log of a task. Blocking.
    pub(in crate::console) fn open(&self, task: &TaskView) -> Msg {
        match Playback::open(task) {
            Ok(playback) => {
                let reel = Reel::new(playback.marks(), &task.events, task.created_at);
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((task.id.clone(), playback));
                Msg::Reel(task.id.clone(), Arc::new(reel))
            }
            Err(error) => Msg::Failed(format!("play the task again: {error}")),
        }
    }

    /// Draws the screen at which so many marks are carried out. Blocking: going back reads the log from its beginning.
    pub(in crate::console) fn draw(&self, task: TaskId, place: usize, marks: usize) -> Option<Msg> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Another task may be played by now.
        let (_, playback) = open.as_mut().filter(|(other, _)| *other == task)?;
        Some(match playback.seek(marks) {
            Ok(terminal) => {
                let mut picture = Picture::default();
                picture.take(terminal, 1);
                Msg::Played(task, place, picture)
            }
            Err(error) => Msg::Failed(format!("play the task again: {error}")),
        })
    }
}
