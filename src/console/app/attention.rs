//! What needs the person: one list, oldest first, of tasks, questions, held calls, limits and lost agents; the bell
//! that rings for what is new; and the list over the screen. Pure.

use std::collections::{BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};

use crate::envelope::TaskId;
use crate::runtime::{HeldCall, HoldReason, QuestionId, TaskStatus, TaskView};

use super::approval::card::Card;
use super::layout::centred;
use super::{App, Layer, Painter, Screen, alias, cut_bottom, joined, moved, question};
use crate::console::keys::{Action, Context};
use crate::console::msg::{Effect, News};
use crate::console::text::{column, piece, visible};
use crate::console::theme::Role;

/// The person's program is run at most so often a minute: a flood of questions is one, not a flood of programs.
const MOST_A_MINUTE: usize = 6;
const MINUTE: SignedDuration = SignedDuration::from_secs(60);
const MOST_COLUMNS: u16 = 110;

/// What an item is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A question waits for an answer.
    Question(QuestionId),
    /// A task waits for input.
    Input(TaskId),
    /// A call is held, by its ticket.
    Held(u64),
    /// A task wrote more than is stored, or was ended for writing more than it may.
    Capped(TaskId),
    /// A task has ended and left processes that could not be ended.
    Orphans(TaskId),
    /// An agent has gone while a task of its still runs.
    Lost(TaskId),
    /// A watch rule has something to say of a task, by its name.
    Watched(String, TaskId),
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

/// What the person was notified of while away.
#[derive(Debug, Clone, Default)]
pub struct Bell {
    /// The terminal has the focus, as far as known.
    pub is_elsewhere: bool,
    /// Items that were seen or rung for.
    known: BTreeSet<String>,
    /// Of these, the ones that the person's program was run for.
    told: BTreeSet<String>,
    /// When the person's program was run in the last minute.
    ran: VecDeque<Timestamp>,
}

/// Returns what waits, oldest first.
pub fn items(app: &App) -> Vec<Item> {
    let mut items: Vec<Item> = app.view.snapshot.tasks.iter().filter_map(|task| of_task(app, task)).collect();
    items.extend(app.view.snapshot.questions.iter().map(|question| Item {
        subject: Subject::Question(question.id.clone()),
        since: question.asked_at,
        name: question::alias(question),
        what:
            question::title(question).split_once("  ").map_or_else(String::new, |(_, what)| what.to_owned()),
        said: visible::told(question.text.trim()),
        key: "answer",
        rings: true,
    }));
    items.extend(app.watching.items(app));
    items.extend(app.view.snapshot.gate.held.iter().map(|held| of_held(app, held)));
    items.sort_by(|a, b| a.since.cmp(&b.since).then_with(|| a.name.cmp(&b.name)));
    items
}

fn of_held(app: &App, held: &HeldCall) -> Item {
    let task = held.task.as_ref().and_then(|task| app.view.task(task));
    let what = match held.reason {
        HoldReason::Paused => "is held by the pause",
        HoldReason::Rule(_) => "needs your word",
    };
    let first = held.commands.first().map_or("", |command| &command.cmd);
    let more = match held.commands.len() {
        0 | 1 => String::new(),
        many => format!("  and {} more", many - 1),
    };
    Item {
        subject: Subject::Held(held.ticket),
        since: held.since,
        name: task.map_or_else(|| format!("#{}", held.call), |task| alias(task)),
        what: what.to_owned(),
        said: format!("{}{more}", visible::told(first)),
        key: "decide",
        rings: true,
    }
}

fn of_task(app: &App, task: &TaskView) -> Option<Item> {
    let id = || task.id.clone();
    let item = |subject, since, what: String, said, key, rings| {
        Some(Item { subject, since, name: alias(task), what, said, key, rings })
    };
    let command = || visible::told(&task.cmd);
    let strong = |waiting: &&crate::runtime::Waiting| waiting.is_certain();
    if let Some(waiting) = task.waiting.as_ref().filter(strong)
        && app.typing_into() != Some(&task.id)
    {
        let said = prompt(app, task).unwrap_or_else(command);
        let what = super::task_words::need(waiting.kind).to_owned();
        return item(Subject::Input(id()), waiting.since, what, said, "type", true);
    }
    let survivors = task.ended.as_ref().map_or(0, |ended| ended.survivors.len());
    if survivors > 0 {
        let noun = if survivors == 1 { "process" } else { "processes" };
        let what = format!("left {survivors} {noun} alive");
        return item(Subject::Orphans(id()), task.updated_at, what, command(), "look", true);
    }
    let is_over_limit = |ended: &crate::runtime::Ended| {
        ended.error.as_ref().is_some_and(|(kind, _)| kind == "output_limit_exceeded")
    };
    if let Some(ended) = task.ended.as_ref().filter(|ended| is_over_limit(ended)) {
        return item(Subject::Capped(id()), ended.at, "printed too much".into(), command(), "look", true);
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
    let agent = app.view.snapshot.agents.iter().find(|agent| task.started_by.is_agent(&agent.label));
    let gone = agent.filter(|agent| !agent.connected)?;
    let what = format!("{} has gone", visible::one_line(&gone.label));
    item(Subject::Lost(id()), gone.last_call.unwrap_or(task.created_at), what, command(), "look", false)
}

/// Returns the last line on a task's screen that says something.
fn prompt(app: &App, task: &TaskView) -> Option<String> {
    let picture = app.view.pictures.get(&task.id)?;
    let text = picture.last_line()?;
    Some(visible::told(text.trim()))
}

impl Subject {
    /// Returns the word for what it is.
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
    fn news(&self) -> News {
        News {
            id: self.id(),
            kind: self.subject.kind(),
            name: self.name.clone(),
            what: self.what.clone(),
            said: self.said.clone(),
        }
    }

    fn id(&self) -> String {
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

impl Bell {
    /// Rings for what is new while the person looks elsewhere: once for each, however long it waits. What
    /// is settled is forgotten. The person's program is run for each of them, within bounds, and withdrawn from
    /// what is settled, wherever they look.
    pub(crate) fn ring(&mut self, items: &[Item], now: Timestamp) -> Vec<Effect> {
        let new = items.iter().filter(|item| item.rings && !self.known.contains(&item.id()));
        let new: Vec<&Item> = new.collect();
        let text = match &new[..] {
            [] => None,
            [one] => Some(one.news().text()),
            many => Some(format!("{} things wait for you", many.len())),
        };
        self.known = items.iter().map(Item::id).collect();
        let settled: Vec<String> = self.told.difference(&self.known).cloned().collect();
        self.told.retain(|id| self.known.contains(id));
        let mut effects: Vec<Effect> = settled.into_iter().map(Effect::Withdraw).collect();
        let Some(text) = text.filter(|_| self.is_elsewhere) else { return effects };
        while self.ran.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
            self.ran.pop_front();
        }
        let runs = new.len().min(MOST_A_MINUTE.saturating_sub(self.ran.len()));
        self.ran.extend(std::iter::repeat_n(now, runs));
        effects.push(Effect::Ring(text));
        let told: Vec<News> = new.into_iter().take(runs).map(Item::news).collect();
        self.told.extend(told.iter().map(|news| news.id.clone()));
        effects.extend(told.into_iter().map(Effect::Notify));
        effects
    }
}

impl App {
    /// Opens what waits.
    pub(super) fn open_attention(&mut self) {
        self.open(Layer::Attention(0))
    }

    /// Handles a key in the attention list.
    pub(super) fn attend(&mut self, at: usize, action: Action) {
        let items = items(self);
        let last = items.len().saturating_sub(1);
        if action != Action::Choose {
            return self.open(Layer::Attention(moved(at, action, 10, last)));
        }
        if let Some(item) = items.get(at.min(last)) {
            self.resolve(item.subject.clone());
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

    /// Rings for what is new while the person looks elsewhere, and says in the window's title how much waits.
    pub(super) fn ring(&mut self) {
        self.watch();
        let items = items(self);
        self.effects.extend(self.bell.ring(&items, self.now));
        let title = self.setup.ui.title.then(|| self.window_title(items.len()));
        if title != self.title {
            self.effects.push(Effect::Title(title.clone()));
            self.title = title;
        }
    }

    fn window_title(&self, waiting: usize) -> String {
        let workspace = &self.view.snapshot.workspace;
        let name = workspace.file_name().unwrap_or(workspace.as_os_str()).to_string_lossy();
        let mark = self.setup.theme.glyphs.states[2];
        let count = if waiting > 0 { format!("{mark}{waiting} ") } else { String::new() };
        format!("{count}pilothouse {}", visible::one_line(&name))
    }
}

pub(super) fn draw(painter: &mut Painter<'_>, at: usize) {
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
    let at = at.min(items.len().saturating_sub(1));
    let top = (at + 1).saturating_sub(usize::from(list.height));
    painter.list(list, items.iter().enumerate().skip(top), |painter, (number, item)| {
        let age = painter.age(item.since);
        let row = vec![
            piece(format!("{} ", painter.marker(number == at)), Role::Accent),
            piece(column(&item.name, 5, dots), Role::Title),
            piece(column(&age, 7, dots), Role::Faint),
            piece(column(&item.what, 21, dots), Role::Waiting),
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
