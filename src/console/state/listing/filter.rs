//! Filters for the task list: by state, by initiator, by text.

use serde::{Deserialize, Serialize};

use crate::console::state::agents::split_label;
use crate::console::state::names::alias;
use crate::console::state::words::actor_name;
use crate::console::text::finding::FilterWords;
use crate::envelope::Actor;
use crate::model::phrases::denial_phrase;
use crate::model::{HeldCall, PlaceId, TaskEnd, TaskStatus, TaskView};

/// A filter by state or kind of initiator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Filter {
    /// Everything.
    #[default]
    All,
    /// Tasks that wait for the user.
    Waiting,
    /// Tasks that have not ended.
    Live,
    /// Tasks that failed or were interrupted.
    Failed,
    /// Tasks started by the user.
    Yours,
    /// Tasks started by agents.
    #[strum(serialize = "by agents")]
    Agents,
    /// Tasks started by scripts and commands.
    #[strum(serialize = "by scripts")]
    Scripts,
}

impl Filter {
    /// Returns the word for the list's header.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the letter for choosing it.
    pub fn letter(self) -> char {
        match self {
            Self::Agents => 'g',
            Self::Scripts => 's',
            other => other.word().chars().next().unwrap_or(' '),
        }
    }

    /// Tells whether a task matches.
    pub fn holds(self, task: &TaskView) -> bool {
        match self {
            Self::All => true,
            Self::Waiting => !task.status.is_terminal() && (task.waiting.is_some() || task.held.is_some()),
            Self::Live => !task.status.is_terminal(),
            Self::Failed => matches!(task.status, TaskStatus::Failed | TaskStatus::Interrupted),
            Self::Yours => task.started_by == Actor::Operator,
            Self::Agents => matches!(task.started_by, Actor::Agent(_)),
            Self::Scripts => task.started_by == Actor::Cli,
        }
    }
}

/// A filter by agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AgentFilter {
    /// The tasks of all connections of an agent.
    Agent(String),
    /// The tasks of one connection, by its label.
    Session(String),
}

impl AgentFilter {
    /// Tells whether a task matches.
    pub fn holds(&self, task: &TaskView) -> bool {
        self.is_of(&task.started_by)
    }

    /// Tells whether what this actor did matches.
    pub(in crate::console) fn is_of(&self, actor: &Actor) -> bool {
        let Actor::Agent(label) = actor else { return false };
        match self {
            Self::Agent(own) => split_label(label).0 == own,
            Self::Session(session) => label == session,
        }
    }

    /// Returns the name for the list's header.
    pub fn name(&self) -> &str {
        match self {
            Self::Agent(name) | Self::Session(name) => name,
        }
    }
}

/// All active filters of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// By state or kind of actor.
    pub state: Filter,
    pub whose: Option<AgentFilter>,
    /// Words that a task must contain.
    pub text: String,
    /// By place, where there are several.
    pub place: Option<PlaceId>,
}

impl Filters {
    /// Tells whether there is no filter.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether a batch that waits for approval matches.
    pub(in crate::console) fn holds_batch(&self, held: &HeldCall) -> bool {
        let is_of_state = match self.state {
            Filter::All | Filter::Waiting | Filter::Live => true,
            Filter::Agents => matches!(held.actor, Actor::Agent(_)),
            Filter::Scripts => held.actor == Actor::Cli,
            Filter::Failed | Filter::Yours => false,
        };
        let words = FilterWords::smart(&self.text);
        let told = || {
            let cmds = held.commands.iter().map(|command| command.cmd.clone());
            ["batch to approve".to_owned(), actor_name(&held.actor)]
                .into_iter()
                .chain(cmds)
                .collect::<Vec<_>>()
        };
        is_of_state
            && self.place.is_none()
            && self.whose.as_ref().is_none_or(|whose| whose.is_of(&held.actor))
            && (words.is_empty() || words.are_in(&told().join("\n")))
    }

    /// Returns a predicate for whether a task matches.
    pub(in crate::console) fn holding(&self) -> impl Fn(&TaskView) -> bool + use<> {
        let words = FilterWords::smart(&self.text);
        let (state, whose, place) = (self.state, self.whose.clone(), self.place.clone());
        move |task: &TaskView| {
            let is_there = |id: &PlaceId| task.place.as_ref().is_some_and(|place| place.id == *id);
            state.holds(task)
                && place.as_ref().is_none_or(is_there)
                && whose.as_ref().is_none_or(|whose| whose.holds(task))
                && (words.is_empty() || words.are_in(&told_of(task)))
        }
    }
}

/// Returns the text a task is matched by: its short name, command, name and purpose, its initiator, directory
/// and state.
fn told_of(task: &TaskView) -> String {
    let ended = task.ended.as_ref().map(TaskEnd::word).unwrap_or_default();
    let denial = task.denial().map(denial_phrase).unwrap_or_default();
    [
        &alias(task),
        &task.cmd,
        task.name.as_deref().unwrap_or_default(),
        task.description.as_deref().unwrap_or_default(),
        &actor_name(&task.started_by),
        &task.workdir.to_string_lossy(),
        task.status.as_str(),
        &task.word(),
        &ended,
        &denial,
    ]
    .join("\n")
}
