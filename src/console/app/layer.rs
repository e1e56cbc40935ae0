//! What lies over a screen and takes its keys: dialogs, lists, help.

use crate::envelope::TaskId;

use super::super::keys::keymap::Context;
use super::attention::Queue;
use super::chooser::Chooser;
use super::held::Card;
use super::inquiry::Inquiry;

/// What lies over the screen and takes the keys.
#[derive(Debug, Clone)]
pub enum Layer {
    /// Stop this task?
    Stop {
        /// The task.
        task: TaskId,
        /// Asked for with the kill key.
        kill: bool,
    },
    /// Which signal for this task?
    Signal(TaskId),
    /// Quit?
    Quit,
    /// What is known of this task.
    Why(TaskId),
    /// May this call run?
    Held(Card),
    /// A question of a program.
    Question(Box<Inquiry>),
    /// What waits for the person.
    Attention(Queue),
    /// Send this paste of several lines to this task?
    Paste(TaskId, String),
    /// A list to choose from.
    List(Box<Chooser>),
    /// The keys of a context.
    Help {
        /// The context asked about.
        about: Context,
        /// First row shown.
        top: usize,
    },
}
