//! What needs the user's attention: one list, oldest first, of tasks, questions, held calls, limits and lost
//! agents, and the attention list over the screen. Pure.

use jiff::Timestamp;

use crate::envelope::TaskId;
use crate::model::{
    AgentView, HeldCall, HoldReason, Question, QuestionId, Snapshot, TaskStatus, TaskView, Waiting,
};

use super::approval::card::Card;
use super::layout::centred;
use super::{App, Layer, Painter, Screen, alias, cut_bottom, joined, moved, question, task_words};
use crate::console::keys::{Action, Context};
use crate::console::msg::News;
use crate::console::text::{column, piece, visible, width};
use crate::console::theme::Role;
use crate::terminal::Dialogue;

const MOST_COLUMNS: u16 = 110;
/// The width of the column that says what is needed.
const WHAT_COLUMNS: std::ops::RangeInclusive<usize> = 21..=38;

/// What an attention item concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A question waits for an answer.
    Question(QuestionId),
    /// A task waits for input.
    Input(TaskId),
    /// A call is held, by its ticket.
    Held(u64),
    /// A task whose output exceeded what is stored, or that was ended for exceeding its output limit.
    Capped(TaskId),
    /// A task that has ended and left processes behind that could not be ended.
    Orphans(TaskId),
    /// An agent has disconnected while one of its tasks is still running.
    Lost(TaskId),
    /// A watch rule has something to report about a task; identified by a key.
    Watched(String, TaskId),
}

/// An item in a snapshot that waits, with its data.
#[derive(Debug, Clone, Copy)]
pub enum Waits<'a> {
    /// A question.
    Question(&'a Question),
    /// A held call.
    Held(&'a HeldCall),
    /// A task, and what it waits for.
    Input(&'a TaskView, &'a Waiting),
    /// A task that wrote too much output.
    Capped(&'a TaskView),
    /// A task, and the number of processes it left behind.
    Orphans(&'a TaskView, usize),
    /// A task, and the agent that has disconnected.
    Lost(&'a TaskView, &'a AgentView),
}

/// Something that waits for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it concerns.
    pub subject: Subject,
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

/// Returns what waits in a snapshot and since when, oldest first. A task that the user is typing into does
/// not count as waiting for input.
pub fn waiting<'a>(snapshot: &'a Snapshot, typing: Option<&TaskId>) -> Vec<(Timestamp, Waits<'a>)> {
    let questions = snapshot.questions.iter().filter(|question| question.needs_somebody());
    let questions = questions.map(|question| (question.asked_at, Waits::Question(question)));
    let held = snapshot.gate.held.iter().map(|held| (held.since, Waits::Held(held)));
    let tasks = snapshot.tasks.iter().filter_map(|task| task_waits(snapshot, task, typing));
    let mut all: Vec<_> = questions.chain(held).chain(tasks).collect();
    all.sort_by_key(|(since, _)| *since);
    all
}

fn task_waits<'a>(
    snapshot: &'a Snapshot,
    task: &'a TaskView,
    typing: Option<&TaskId>,
) -> Option<(Timestamp, Waits<'a>)> {
    if let Some(waiting) = task.certain_wait().filter(|_| typing != Some(&task.id)) {
        return Some((waiting.since, Waits::Input(task, waiting)));
    }
    if let Some(ended) = &task.ended {
        let is_over_limit = ended.error.as_ref().is_some_and(|(kind, _)| kind == "output_limit_exceeded");
        return match ended.survivors.len() {
            0 => is_over_limit.then_some((ended.at, Waits::Capped(task))),
            survivors => Some((task.updated_at, Waits::Orphans(task, survivors))),
        };
    }
    if task.status != TaskStatus::Running {
        return None;
    }
    if task.output.dropped_bytes > 0 {
        return Some((task.output.last_at.unwrap_or(task.updated_at), Waits::Capped(task)));
    }
    let agent = snapshot.agents.iter().find(|agent| task.started_by.is_agent(&agent.label));
    let gone = agent.filter(|agent| !agent.connected)?;
    Some((gone.last_call.unwrap_or(task.created_at), Waits::Lost(task, gone)))
}

/// Returns the attention items, oldest first.
pub fn items(app: &App) -> Vec<Item> {
    let all = waiting(&app.view.snapshot, app.typing_into());
    let mut items: Vec<Item> = all.into_iter().map(|(since, waits)| item(app, since, &waits)).collect();
    items.extend(app.watching.items(app));
    items.sort_by(|a, b| a.since.cmp(&b.since).then_with(|| a.name.cmp(&b.name)));
    items
}

fn item(app: &App, since: Timestamp, waits: &Waits<'_>) -> Item {
    let command = |task: &TaskView| visible::told(&task.cmd);
    let (name, what, said, key, rings) = match *waits {
        Waits::Question(question) => {
            let title = question::title(question);
            let what = title.split_once("  ").map_or_else(String::new, |(_, what)| what.to_owned());
            (question::alias(question), what, visible::told(question.text.trim()), "answer", true)
        }
        Waits::Held(held) => {
            let task = held.task.as_ref().and_then(|task| app.view.task(task));
            let what = match held.reason {
                HoldReason::Paused => "held: agents paused",
                HoldReason::Rule(_) => "needs approval",
            };
            let first = held.commands.first().map_or("", |command| &command.cmd);
            let more = match held.commands.len() {
                0 | 1 => String::new(),
                many => format!("  and {} more", many - 1),
            };
            let name = task.map_or_else(|| format!("#{}", app.call_name(held.call)), |task| alias(task));
            (name, what.to_owned(), format!("{}{more}", visible::told(first)), "decide", true)
        }
        Waits::Input(task, waiting) => {
            let said = prompt(app, task).unwrap_or_else(|| command(task));
            (alias(task), task_words::wants(task, waiting), said, "type", true)
        }
        Waits::Orphans(task, survivors) => {
            let noun = if survivors == 1 { "process" } else { "processes" };
            (alias(task), format!("left {survivors} {noun} alive"), command(task), "look", true)
        }
        Waits::Capped(task) => {
            let is_over = task.ended.is_some();
            let what = if is_over { "printed too much" } else { "output dropped (limit)" };
            (alias(task), what.to_owned(), command(task), "look", is_over)
        }
        Waits::Lost(task, agent) => {
            let what = format!("{} has gone", visible::one_line(&agent.label));
            (alias(task), what, command(task), "look", false)
        }
    };
    Item { subject: waits.subject(), since, name, what, said, key, rings }
}

/// Returns the last line of text on a task's screen.
fn prompt(app: &App, task: &TaskView) -> Option<String> {
    let picture = app.view.pictures.get(&task.id)?;
    let text = picture.last_line()?;
    Some(visible::told(Dialogue::unmarked(text.trim())))
}

impl Waits<'_> {
    /// Returns what the item concerns.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Question(question) => Subject::Question(question.id.clone()),
            Self::Held(held) => Subject::Held(held.ticket),
            Self::Input(task, _) => Subject::Input(task.id.clone()),
            Self::Capped(task) => Subject::Capped(task.id.clone()),
            Self::Orphans(task, _) => Subject::Orphans(task.id.clone()),
            Self::Lost(task, _) => Subject::Lost(task.id.clone()),
        }
    }
}

impl Subject {
    /// Returns the word for the kind of item.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Question(_) => "question",
            Self::Input(_) => "input",
            Self::Held(_) => "held",
            Self::Capped(_) => "limit",
            Self::Orphans(_) => "left",
            Self::Lost(_) => "lost",
            Self::Watched(..) => "watch",
        }
    }
}

impl Item {
    /// Returns the item as the user's notification program receives it.
    pub(super) fn news(&self) -> News {
        News {
            id: self.id(),
            kind: self.subject.kind(),
            name: self.name.clone(),
            what: self.what.clone(),
            said: self.said.clone(),
        }
    }

    /// Returns an id that is unique among all items, including others of the same task.
    pub(super) fn id(&self) -> String {
        match &self.subject {
            Subject::Question(id) => id.to_string(),
            Subject::Input(id) => format!("{id} waits {}", self.since),
            Subject::Held(ticket) => format!("held {ticket}"),
            Subject::Capped(id) => format!("{id} capped"),
            Subject::Orphans(id) => format!("{id} orphans"),
            Subject::Lost(id) => format!("{id} lost"),
            Subject::Watched(id, _) => id.clone(),
        }
    }
}

/// The selection in the attention list, identified by subject because rows come and go.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// `None` if the list was empty.
    subject: Option<Subject>,
    /// The index it had.
    at: usize,
}

impl Chosen {
    fn of(items: &[Item], at: usize) -> Self {
        Self { subject: items.get(at).map(|item| item.subject.clone()), at }
    }

    /// Returns its current index; if it is gone, the index of the item that took its position.
    fn place(&self, items: &[Item]) -> usize {
        let is_it = |item: &Item| Some(&item.subject) == self.subject.as_ref();
        items.iter().position(is_it).unwrap_or(self.at).min(items.len().saturating_sub(1))
    }
}

impl App {
    /// Opens the attention list.
    pub(super) fn open_attention(&mut self) {
        let chosen = Chosen::of(&items(self), 0);
        self.open(Layer::Attention(chosen))
    }

    /// Handles a key in the attention list.
    pub(super) fn attend(&mut self, chosen: &Chosen, action: Action) {
        let items = items(self);
        let at = chosen.place(&items);
        match (action, &chosen.subject) {
            (Action::Choose, Some(subject)) if items.iter().any(|item| item.subject == *subject) => {
                self.resolve(subject.clone());
            }
            // The selected item has been settled: select the item that took its position, which needs another
            // key press.
            (Action::Choose, _) => self.open(Layer::Attention(Chosen::of(&items, at))),
            _ => {
                let to = moved(at, action, 10, items.len().saturating_sub(1));
                self.open(Layer::Attention(Chosen::of(&items, to)))
            }
        }
    }

    fn resolve(&mut self, subject: Subject) {
        match subject {
            Subject::Question(id) => {
                if let Some(question) = self.view.question(&id).cloned() {
                    self.open_question(question);
                }
            }
            Subject::Input(id) => {
                self.select(id);
                self.act(Action::Type)
            }
            Subject::Held(ticket) => self.open(Layer::Approval(Card::of(ticket))),
            Subject::Watched(id, task) => {
                self.watching.settle(&id);
                self.select(task);
                self.show(Screen::Focus);
                self.ring()
            }
            Subject::Capped(id) | Subject::Orphans(id) | Subject::Lost(id) => {
                self.select(id);
                self.show(Screen::Focus)
            }
        }
    }
}

pub(super) fn draw(painter: &mut Painter<'_>, chosen: &Chosen) {
    let app = painter.app;
    let items = items(app);
    let area = centred(painter.size(), MOST_COLUMNS, items.len().max(1) + 2, 2);
    let title = match items.len() {
        0 => "nothing waits for you".to_owned(),
        1 => "1 thing waits for you".to_owned(),
        many => format!("{many} things wait for you"),
    };
    let inside = painter.boxed(area, &title);
    let dots = painter.glyphs().cut;
    let (list, foot) = cut_bottom(inside, 2);
    let longest = items.iter().map(|item| width(&item.what) + 1).max().unwrap_or_default();
    let what = longest.clamp(*WHAT_COLUMNS.start(), *WHAT_COLUMNS.end());
    let names = app.alias_columns(5);
    let at = chosen.place(&items);
    let top = (at + 1).saturating_sub(usize::from(list.height));
    painter.list(list, items.iter().enumerate().skip(top), |painter, (number, item)| {
        let age = painter.age(item.since);
        let row = vec![
            piece(format!("{} ", painter.marker(number == at)), Role::Accent),
            piece(column(&item.name, names, dots), Role::Title),
            piece(column(&age, 7, dots), Role::Faint),
            piece(column(&item.what, what, dots), Role::Waiting),
            piece(column(item.key, 8, dots), Role::Key),
            piece(item.said.clone(), Role::Text),
        ];
        (row, number == at)
    });
    let choose = items.get(at).map(|item| painter.key(Context::Attention, Action::Choose, item.key));
    let close = painter.key(Context::Attention, Action::Back, "close");
    let keys = joined(vec![choose.unwrap_or_default(), close], &piece("   ", Role::Text));
    painter.row(foot, 1, &keys);
}
