//! What waits for the person: one list, oldest first, over tasks, questions, held calls, limits and
//! losses; and what of it is worth ringing for. Pure.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::envelope::TaskId;
use crate::runtime::{QuestionId, TaskStatus, TaskView};

use super::super::msg::Effect;
use super::super::text::visible;
use super::inquiry;
use super::{App, alias};

/// What an item is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A question waits for an answer.
    Question(QuestionId),
    /// A task waits for input.
    Input(TaskId),
    /// A task wrote more than is kept.
    Capped(TaskId),
    /// A task has ended and left processes that could not be ended.
    Orphans(TaskId),
    /// An agent has gone while a task of its still runs.
    Lost(TaskId),
}

/// Something that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is about.
    pub subject: Subject,
    /// Since when.
    pub since: Timestamp,
    /// Its short name: `q03`, `t07`.
    pub name: String,
    /// What is wanted, in a few words.
    pub what: String,
    /// The last thing it said: a prompt, the text of a question.
    pub said: String,
    /// What the key does.
    pub key: &'static str,
    /// It is worth ringing for.
    pub rings: bool,
}

/// The overlay's state.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// The item pointed at.
    pub at: usize,
}

/// What the person was told of while looking elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Bell {
    /// The terminal has the focus, as far as known.
    pub is_elsewhere: bool,
    /// Items that were seen or rung for.
    known: BTreeSet<String>,
}

/// Returns what waits, oldest first.
#[must_use]
pub fn items(app: &App) -> Vec<Item> {
    let mut items: Vec<Item> = app.snapshot.tasks.iter().filter_map(|task| of_task(app, task)).collect();
    items.extend(app.snapshot.questions.iter().map(|question| Item {
        subject: Subject::Question(question.id.clone()),
        since: question.asked_at,
        name: inquiry::alias(question),
        what: inquiry::title(question).split_once("  ").map_or_else(String::new, |(_, what)| what.to_owned()),
        said: visible::told(question.text.trim()),
        key: "answer",
        rings: true,
    }));
    items.sort_by(|a, b| a.since.cmp(&b.since).then_with(|| a.name.cmp(&b.name)));
    items
}

fn of_task(app: &App, task: &TaskView) -> Option<Item> {
    let id = || task.id.clone();
    let item = |subject, since, what: String, said, key, rings| {
        Some(Item { subject, since, name: alias(task), what, said, key, rings })
    };
    let command = || visible::told(&task.cmd);
    let strong = |waiting: &&crate::runtime::Waiting| waiting.evidence != "quiet";
    if let Some(waiting) = task.waiting.as_ref().filter(strong)
        && app.typing_into() != Some(&task.id)
    {
        let said = prompt(app, task).unwrap_or_else(command);
        let what = super::super::view::need(&waiting.kind).to_owned();
        return item(Subject::Input(id()), waiting.since, what, said, "type", true);
    }
    let survivors = task.ended.as_ref().map_or(0, |ended| ended.survivors.len());
    if survivors > 0 {
        let noun = if survivors == 1 { "process" } else { "processes" };
        let what = format!("left {survivors} {noun} alive");
        return item(Subject::Orphans(id()), task.updated_at, what, command(), "look", true);
    }
    if task.status != TaskStatus::Running {
        return None;
    }
    if task.output.dropped_bytes > 0 {
        let since = task.output.last_at.unwrap_or(task.updated_at);
        return item(
            Subject::Capped(id()),
            since,
            "writes more than is kept".into(),
            command(),
            "look",
            false,
        );
    }
    let agent = app.snapshot.agents.iter().find(|agent| task.started_by.is_agent(&agent.label));
    let gone = agent.filter(|agent| !agent.connected)?;
    let what = format!("{} has gone", visible::one_line(&gone.label));
    item(Subject::Lost(id()), gone.last_call.unwrap_or(task.created_at), what, command(), "look", false)
}

/// Returns the last line on a task's screen that says something.
fn prompt(app: &App, task: &TaskView) -> Option<String> {
    let picture = app.pictures.get(&task.id)?;
    let text = picture.last_line()?;
    Some(visible::told(text.trim()))
}

impl Item {
    fn id(&self) -> String {
        match &self.subject {
            Subject::Question(id) => id.to_string(),
            Subject::Input(id) => format!("{id} waits {}", self.since),
            Subject::Capped(id) => format!("{id} capped"),
            Subject::Orphans(id) => format!("{id} orphans"),
            Subject::Lost(id) => format!("{id} lost"),
        }
    }
}

impl Bell {
    /// Rings for what is new while the person looks elsewhere: once for each, however long it waits. What
    /// is settled is forgotten.
    pub(in crate::console) fn ring(&mut self, items: &[Item]) -> Option<Effect> {
        let ids: BTreeSet<String> = items.iter().map(Item::id).collect();
        let new = items.iter().filter(|item| item.rings && !self.known.contains(&item.id()));
        let new: Vec<&Item> = new.collect();
        let text = match &new[..] {
            [] => None,
            [one] => Some(format!("{} {}: {}", one.name, one.what, one.said)),
            many => Some(format!("{} things wait for you", many.len())),
        };
        self.known = ids;
        text.filter(|_| self.is_elsewhere).map(Effect::Ring)
    }
}
