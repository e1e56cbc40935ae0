//! The layers over the screen.

use crate::console::features::approval::card::Card;
use crate::console::features::attention::left::LeftDialog;
use crate::console::features::attention::list::AttentionSelection;
use crate::console::features::away::sheet::AwaySheet;
use crate::console::features::message::MessageDialog;
use crate::console::features::paste::UnsentPaste;
use crate::console::features::question::QuestionDialog;
use crate::console::features::undo::UndoCard;
use crate::console::widgets::Chooser;
use crate::envelope::TaskId;

/// A layer over the screen, which receives the keys.
#[derive(Debug, Clone)]
pub enum Layer {
    /// Confirms stopping this task.
    Stop {
        task: TaskId,
        /// It was requested with the kill key.
        kill: bool,
    },
    /// Chooses a signal for this task.
    Signal(TaskId),
    /// Confirms stopping this task and starting it again.
    Restart(TaskId),
    /// Confirms quitting.
    Quit,
    /// Shows what is known about this task.
    Why(TaskId),
    /// Decides whether this call may run.
    Approval(Card),
    /// Answers a program's question.
    Question(Box<QuestionDialog>),
    /// The attention list, with the selected item.
    Attention(AttentionSelection),
    /// What an agent left running.
    Left(LeftDialog),
    /// What happened while the user was away.
    Away(Box<AwaySheet>),
    /// Confirms sending this multi-line paste to its task.
    Paste(Box<UnsentPaste>),
    /// Confirms undoing what differs since a task began.
    Undo(Box<UndoCard>),
    /// Writes a message to an agent.
    Tell(Box<MessageDialog>),
    /// A list to choose from.
    List(Box<Chooser>),
}
