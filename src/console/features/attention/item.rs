//! What needs the user's attention: one list, oldest first, of tasks, questions, held calls, limits and lost
//! agents. Pure.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;

use crate::config::OnAgentEnd;
use crate::console::effect::Notification;
use crate::console::features::attention::left::Departure;
use crate::console::state::titles::title;
use crate::console::state::waiting::{WaitingItem, waiting};
use crate::console::state::{State, alias, questions, words};
use crate::console::text::visible;
use crate::envelope::{Actor, TaskId};
use crate::model::phrases::unended_word;
use crate::model::{InputWait, QuestionId, TaskEnd, TaskStatus, TaskView};

/// What an attention item concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttentionSubject {
    /// A question waits for an answer.
    Question(QuestionId),
    /// An agent asks, in a prompt of its own as well.
    AgentPrompt(QuestionId),
    /// A task waits for input.
    Input(TaskId),
    /// A task is quiet at what looks like a prompt.
    Prompt(TaskId),
    /// A call is held, by its ticket.
    Held(u64),
    /// A task whose output exceeded what is stored, or that was ended for exceeding its output limit.
    Capped(TaskId),
    /// A task that has ended and left processes behind that could not be ended.
    Orphans(TaskId),
    /// An agent has gone and left tasks running.
    Left(Departure),
    /// A watch rule has something to report about a task; identified by a key.
    Watched(String, TaskId),
}

/// Something that waits for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionItem {
    /// What it concerns.
    pub subject: AttentionSubject,
    /// Since when it has been waiting.
    pub since: Timestamp,
    /// Its short name: `q03`, `t07`.
    pub name: String,
    /// What is needed, in a few words.
    pub what: String,
    /// Its last output: a prompt, or the text of a question.
    pub said: String,
    /// What choosing the item does.
    pub key: &'static str,
    /// Whether the bell rings for it.
    pub rings: bool,
}

/// How much an item needs the user: what waits for an answer comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::console) enum Need {
    Answer,
    Look,
    /// It may need nothing.
    Maybe,
}

/// Returns what the runtime's state says waits for the user.
pub(in crate::console) fn waiting_items(state: &State) -> Vec<AttentionItem> {
    let all = waiting(&state.view.snapshot, state.typing_into());
    all.into_iter().map(|(since, waits)| item(state, since, &waits)).collect()
}

/// Returns the tasks that are quiet at what looks like a prompt; that is weak evidence, so nothing else counts them as
/// waiting.
pub(in crate::console) fn prompts(state: &State) -> Vec<AttentionItem> {
    let weak = state.view.snapshot.tasks.iter().filter_map(|task| {
        let waiting = task.waiting.as_ref().filter(|_| task.certain_wait().is_none())?;
        let is_typed_into = state.typing_into() == Some(&task.id);
        (!is_typed_into && task.status == TaskStatus::Running).then_some((task, waiting))
    });
    let item = |(task, waiting): (&Arc<TaskView>, &InputWait)| AttentionItem {
        subject: AttentionSubject::Prompt(task.id.clone()),
        since: waiting.since,
        name: alias(task),
        what: InputWait::PROMPT.to_owned(),
        said: question_text(task, waiting),
        key: "look",
        rings: false,
    };
    weak.map(item).collect()
}

fn item(state: &State, since: Timestamp, waits: &WaitingItem<'_>) -> AttentionItem {
    let command = |task: &TaskView| visible::masked_line(title(task));
    let (name, what, said, key, rings) = match *waits {
        WaitingItem::Question(question) => {
            let title = questions::title(question);
            let what = title.split_once("  ").map_or_else(String::new, |(_, what)| what.to_owned());
            (questions::alias(question), what, questions::in_brief(question), "answer", true)
        }
        WaitingItem::Held(held) => {
            let task = held.task.as_ref().and_then(|task| state.view.task(task));
            let first = held.commands.first().map_or("", |command| &command.cmd);
            let more = match held.commands.len() {
                0 | 1 => String::new(),
                many => format!("  and {} more", many - 1),
            };
            let name = task.map_or_else(|| format!("#{}", state.call_name(held.call)), |task| alias(task));
            (
                name,
                held.reason.word().to_owned(),
                format!("{}{more}", visible::masked_line(first)),
                "decide",
                true,
            )
        }
        WaitingItem::Input(task, waiting) => {
            (alias(task), words::wants(task, waiting), question_text(task, waiting), "type", true)
        }
        WaitingItem::Orphans(task, survivors) => {
            (alias(task), unended_word(survivors), command(task), "look", true)
        }
        WaitingItem::Capped(task) => {
            let over = task.ended.as_ref().and_then(TaskEnd::error_word);
            let is_over = over.is_some();
            let what = over.map_or_else(|| "output dropped (limit)".to_owned(), Cow::into_owned);
            (alias(task), what, command(task), "look", is_over)
        }
        WaitingItem::Left(agent, first, count) => {
            let what = format!("left by {}", visible::one_line(&agent.label));
            let more = if count > 1 { format!("  and {} more", count - 1) } else { String::new() };
            let asks = state.setup.ui.on_agent_end == OnAgentEnd::Ask;
            (alias(first), what, format!("{}{more}", command(first)), "decide", asks)
        }
    };
    AttentionItem { subject: AttentionSubject::of(waits), since, name, what, said, key, rings }
}

/// Returns what a task asks, or if that is not known, its command.
fn question_text(task: &TaskView, waiting: &InputWait) -> String {
    visible::masked_line(waiting.question.as_deref().unwrap_or_else(|| title(task)))
}

impl AttentionSubject {
    /// Returns what a waiting item concerns.
    pub fn of(waits: &WaitingItem<'_>) -> Self {
        match waits {
            WaitingItem::Question(question) if question.is_of_program() => {
                Self::Question(question.id.clone())
            }
            WaitingItem::Question(question) => Self::AgentPrompt(question.id.clone()),
            WaitingItem::Held(held) => Self::Held(held.ticket),
            WaitingItem::Input(task, _) => Self::Input(task.id.clone()),
            WaitingItem::Capped(task) => Self::Capped(task.id.clone()),
            WaitingItem::Orphans(task, _) => Self::Orphans(task.id.clone()),
            WaitingItem::Left(agent, ..) => Self::Left((agent.label.clone(), agent.turns)),
        }
    }

    /// Returns who it comes from: the starter of a task, who asks or calls, the agent that has gone.
    pub(in crate::console) fn actor(&self, state: &State) -> Option<Actor> {
        let of_task = |id: &TaskId| state.view.task(id).map(|task| task.started_by.clone());
        match self {
            Self::Question(id) | Self::AgentPrompt(id) => Some(state.view.question(id)?.asked_by.clone()),
            Self::Input(id)
            | Self::Prompt(id)
            | Self::Capped(id)
            | Self::Orphans(id)
            | Self::Watched(_, id) => of_task(id),
            Self::Held(ticket) => {
                let held = state.view.snapshot.gate.held.iter().find(|held| held.ticket == *ticket)?;
                Some(held.actor.clone())
            }
            Self::Left((label, _)) => Some(Actor::Agent(label.clone())),
        }
    }

    /// Returns the word for the kind of item.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Question(_) => "question",
            Self::AgentPrompt(_) => "agent's prompt",
            Self::Input(_) => "input",
            Self::Prompt(_) => "prompt",
            Self::Held(_) => "held",
            Self::Capped(_) => "limit",
            Self::Orphans(_) => "left",
            Self::Left(_) => "agent gone",
            Self::Watched(..) => "watch",
        }
    }
}

impl AttentionItem {
    /// Returns how much it needs the user.
    pub(in crate::console) fn need(&self) -> Need {
        match self.subject {
            AttentionSubject::Question(_)
            | AttentionSubject::AgentPrompt(_)
            | AttentionSubject::Input(_)
            | AttentionSubject::Held(_) => Need::Answer,
            AttentionSubject::Left(_) if self.rings => Need::Answer,
            AttentionSubject::Prompt(_) => Need::Maybe,
            _ => Need::Look,
        }
    }

    /// Returns the item as the user's notification program receives it.
    pub(in crate::console) fn news(&self) -> Notification {
        Notification {
            id: self.id(),
            kind: self.subject.kind(),
            name: self.name.clone(),
            what: self.what.clone(),
            said: self.said.clone(),
        }
    }

    /// Returns an id that is unique among all items, including others of the same task.
    pub(in crate::console) fn id(&self) -> String {
        match &self.subject {
            AttentionSubject::Question(id) | AttentionSubject::AgentPrompt(id) => id.to_string(),
            AttentionSubject::Input(id) => format!("{id} waits {}", self.since),
            AttentionSubject::Prompt(id) => format!("{id} prompts {}", self.since),
            AttentionSubject::Held(ticket) => format!("held {ticket}"),
            AttentionSubject::Capped(id) => format!("{id} capped"),
            AttentionSubject::Orphans(id) => format!("{id} orphans"),
            AttentionSubject::Left((agent, turns)) => format!("{agent} left {turns}"),
            AttentionSubject::Watched(id, _) => id.clone(),
        }
    }
}
