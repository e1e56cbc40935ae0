//! A fact that an agent cannot know from its own calls, and its sentence.

use std::time::Duration;

use crate::clock;
use crate::envelope::units::millis;
use crate::envelope::{Actor, SafeText, TaskId, mask};
use crate::model::phrases::operator_words;
use crate::model::{TaskEvent, TaskFact, TaskView};

/// Length limit of the command prefix or task name that identifies a task, in characters.
pub(super) const NAME_CHARS: usize = 40;
/// Length limit of a reason, in characters.
const WHY_CHARS: usize = 160;

/// Something that happened without the agent's involvement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoticeFact {
    /// A person's message.
    Words(String),
    /// The agent's call was cancelled; `outcome` is what became of the call's command, once known.
    Withdrawn { call: u64, what: String, after: Duration, outcome: Option<String> },
    /// This many bytes were typed into the agent's task.
    Typed { task: TaskId, name: String, by: Actor, bytes: u64 },
    /// The agent's task was changed; `text` describes how.
    Changed { task: TaskId, kind: TaskChange, text: String },
    /// The last console was closed.
    NoConsole,
}

/// The kind of a change to a task; a later change of the same kind replaces an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskChange {
    Name,
    Undo,
    Signal,
    Decision,
    Stop,
    End,
}

impl NoticeFact {
    pub(super) fn is_change(&self, of: &TaskId, what: TaskChange) -> bool {
        matches!(self, Self::Changed { task, kind, .. } if task == of && *kind == what)
    }

    /// Tells whether the fact is the end of a task or led to it.
    pub(super) fn is_about_the_end_of(&self, of: &TaskId) -> bool {
        [TaskChange::Decision, TaskChange::Stop, TaskChange::End].iter().any(|kind| self.is_change(of, *kind))
    }

    /// Tells whether one sentence covers both facts.
    pub(super) fn absorbs(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Typed { task, by, .. }, Self::Typed { task: other, by: who, .. }) => {
                task == other && by == who
            }
            (Self::Changed { task, kind, .. }, Self::Changed { task: other, kind: what, .. }) => {
                task == other && kind == what
            }
            (Self::NoConsole, Self::NoConsole) => true,
            _ => false,
        }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Typed { bytes, .. }, Self::Typed { bytes: more, .. }) => *bytes += more,
            (_, other) => *self = other,
        }
    }
}

impl std::fmt::Display for NoticeFact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Words(text) => f.write_str(&operator_words(format_args!("\"{text}\""))),
            Self::Withdrawn { what, after, outcome, .. } => {
                let outcome = outcome.as_deref().unwrap_or("its command is being stopped");
                write!(
                    f,
                    "your call `{what}` was withdrawn after {}: {outcome}",
                    millis(clock::millis(*after))
                )
            }
            Self::Typed { name, by, bytes, .. } => {
                let unit = if *bytes == 1 { "byte" } else { "bytes" };
                write!(f, "{} typed {bytes} {unit} into {name}", actor_name(by))
            }
            Self::Changed { text, .. } => f.write_str(text),
            Self::NoConsole => f.write_str("no console is open any more: nobody is watching"),
        }
    }
}

/// Returns the fact that an event means for an agent that did not cause it.
pub(super) fn fact_of(task: &TaskView, event: &TaskEvent) -> Option<NoticeFact> {
    let (id, by) = (task.id.clone(), actor_name(&event.actor));
    let changed = |kind, text: String| Some(NoticeFact::Changed { task: id.clone(), kind, text });
    let name = name(task);
    match &event.fact {
        TaskFact::Input(bytes) => {
            Some(NoticeFact::Typed { task: id, name, by: event.actor.clone(), bytes: *bytes })
        }
        TaskFact::Signal(signal) => {
            changed(TaskChange::Signal, format!("{by} sent SIG{} to {name}", <&str>::from(signal)))
        }
        // A caller that still waits for the task learns the rest from its own answer.
        TaskFact::Approved(_) if task.promoted => {
            changed(TaskChange::Decision, format!("{by} let {name} run"))
        }
        TaskFact::Stop { .. } if task.promoted => {
            let cause = task.cause()?;
            changed(TaskChange::Stop, format!("{name} is being {}", short(&cause, WHY_CHARS)))
        }
        TaskFact::End { .. } if task.promoted && (!is_own_stop(task) || task.unended_phrase().is_some()) => {
            changed(TaskChange::End, format!("{name} ended: {}", task.end_in_words()))
        }
        _ => None,
    }
}

/// Describes what became of the command of a cancelled call.
pub(super) fn end_of_withdrawn(task: &TaskView) -> String {
    let subject = task
        .item
        .map_or_else(|| "its command".to_owned(), |item| format!("item {} of {}", item.index, item.count));
    if is_own_stop(task) {
        format!("{subject} was stopped{}", task.unended_clause())
    } else {
        format!("{subject} ended: {}", task.end_in_words())
    }
}

/// Tells whether the task was stopped by the agent that started it.
pub(super) fn is_own_stop(task: &TaskView) -> bool {
    task.stop.as_ref().is_some_and(|stop| stop.by == task.started_by)
}

/// Names a task in a sentence: its id and the beginning of its command, or only the latter while it has no handle.
pub(super) fn name(task: &TaskView) -> String {
    let cmd = short(&mask(task.cmd.lines().next().unwrap_or_default()), NAME_CHARS);
    if task.promoted { format!("{} (`{cmd}`)", task.id) } else { format!("`{cmd}`") }
}

pub(super) fn actor_name(actor: &Actor) -> String {
    match actor {
        Actor::Operator => "the operator".to_owned(),
        other => other.to_string(),
    }
}

/// Makes one safe line of at most `chars` characters.
pub(super) fn short(text: &str, chars: usize) -> String {
    let line = SafeText::lines(text.trim()).replace("\r\n", " ").replace(['\n', '\t'], " ");
    let cut: String = line.chars().take(chars).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}
