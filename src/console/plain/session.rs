//! The conversation: what was asked last, which task is being followed, and when there is something to say
//! unprompted. Pure: events and the time go in, lines and effects come out.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::config::WatchRule;
use crate::consequence::rule_words::Prefix;
use crate::envelope::TaskId;
use crate::model::{Snapshot, TaskView};

use crate::console::features::attention::item::AttentionSubject;
use crate::console::features::attention::watch::TaskWatches;
use crate::console::features::question::QuestionDialog;
use crate::console::msg::{self, Msg};
use crate::console::plain::entered::EnteredLine;
use crate::console::plain::events::{events, program_runs};
use crate::console::plain::line::PlainLine;
use crate::console::plain::output::{OutputReading, Purpose};
use crate::console::plain::{places, tasks};
use crate::console::state::{Usages, call_name};
use crate::console::text::visible;

/// Maximum silence while anything is running.
const HEARTBEAT: SignedDuration = SignedDuration::from_secs(30);
/// How long nothing must have been running, once input has ended, before the console exits.
const IDLE: SignedDuration = SignedDuration::from_secs(3);

/// An event the conversation reacts to.
#[derive(Debug, Clone)]
pub enum PlainEvent {
    /// Something was entered, and was read at this time.
    Entered(EnteredLine, Timestamp),
    /// No more lines will come.
    InputEnded,
    /// Control-D at a terminal.
    EndKey,
    /// `serve --stop` asks to end the runtime in this process; by whom it was run.
    StopAsked(String),
    /// So many lines were not printed, because the terminal took none.
    LeftOut(usize),
    /// The runtime published a new snapshot.
    News(Arc<Snapshot>),
    /// A request was carried out, with its result.
    Done(Msg),
    /// A task's output was read.
    Read(TaskId, OutputReading),
    /// The screen of a task was read, or why it could not be.
    Screen(TaskId, Result<String, String>),
    /// Control-C.
    Interrupted,
    /// The connection to the runtime was lost.
    LinkLost,
    /// The next runtime of the workspace is attached.
    NextRuntime(Arc<Snapshot>),
    /// Time has passed.
    Time,
}

/// Something to print or to do.
#[derive(Debug, Clone)]
pub enum PlainEffect {
    /// Print a line.
    Say(PlainLine),
    /// Carry out an effect of the console.
    Do(msg::Effect),
    /// Read a task's output from this offset on.
    Read(TaskId, u64, Purpose),
    /// Read the screen of a task.
    Screen(TaskId),
    /// Turn the echo of typed text off or back on.
    Hide(bool),
    /// End the console.
    Leave,
}

/// The circumstances of the conversation.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// How this form of the console was requested.
    pub because: String,
    /// The time zone for local times.
    pub zone: TimeZone,
    /// Whether the runtime is another process and can outlive this console.
    pub is_remote: bool,
    /// Whether the runtime is in this process, which can continue without its terminal.
    pub can_detach: bool,
    /// The recording being shown, read-only.
    pub recording: Option<String>,
    /// Whether input comes from a terminal, with a person typing.
    pub is_person: bool,
    /// The watch rules from the settings.
    pub watch: Vec<WatchRule>,
}

/// What the next line is taken as.
#[derive(Debug, Clone)]
pub(super) enum DialogueStep {
    /// A choice from the menu.
    Menu,
    /// A line for a task.
    Line(TaskId),
    /// A command to start.
    Start,
    /// Whether to stop a task.
    Stop(TaskId),
    /// Which of the waiting items to open.
    Waits(Vec<AttentionSubject>),
    /// The answer to a question.
    Question(Box<QuestionDialog>),
    /// The decision on a held call.
    Held(PlainWord),
    /// Further lines of an answer, along with those entered so far; none once they are too long.
    Lines(Box<DialogueStep>, Option<String>),
    /// Which signal to send to a task.
    Signal(TaskId),
    /// The name for a task.
    Rename(TaskId),
    /// How to leave.
    Quit,
}

/// The held call that a decision is for.
#[derive(Debug, Clone)]
pub(super) struct PlainWord {
    pub(super) ticket: u64,
    /// The hash of the request that was shown.
    pub(super) hash: String,
    /// The revision of what it was said to cost.
    pub(super) cost: u32,
    /// Since when it has been possible to have read all of it.
    pub(super) shown: Option<Timestamp>,
    /// The rule whose preview was shown last.
    pub(super) wider: Option<Prefix>,
}

/// The conversation.
#[derive(Debug, Clone)]
pub struct PlainSession {
    pub(super) about: Circumstances,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) step: DialogueStep,
    pub(super) now: Timestamp,
    /// How far each task's output has been read.
    pub(super) read: BTreeMap<TaskId, u64>,
    pub(super) follows: Option<TaskId>,
    pub(super) watching: TaskWatches,
    pub(super) usage: Usages,
    last_said: Timestamp,
    has_input: bool,
    idle_since: Option<Timestamp>,
    /// Whether the connection to the runtime was lost.
    pub is_lost: bool,
    /// Quitting: the tasks are being stopped first.
    pub is_leaving: bool,
    /// Whether `serve --stop` waits for an answer.
    pub(super) is_asked_to_stop: bool,
}

impl PlainSession {
    /// Starts the conversation, with the introductory lines.
    #[must_use]
    pub fn begin(about: Circumstances, snapshot: Arc<Snapshot>, now: Timestamp) -> (Self, Vec<PlainEffect>) {
        let mut said = vec![PlainLine::system(format!(
            "accessible console, because of {}: plain lines, no drawing",
            about.because
        ))];
        said.push(PlainLine::system(match snapshot.places.is_empty() {
            true => format!("workspace {}", snapshot.workspace.display()),
            false => places::names(&snapshot),
        }));
        said.push(match &about.recording {
            Some(name) => PlainLine::system(format!("the recording {name}; it is only looked at")),
            None if about.is_remote => {
                PlainLine::system("attached: the runtime goes on without this console")
            }
            None if about.can_detach => {
                PlainLine::system("the runtime is in this console and ends with it, unless you detach")
            }
            None => PlainLine::system("the runtime is in this console and ends with it"),
        });
        let session = Self {
            about,
            snapshot,
            step: DialogueStep::Menu,
            now,
            read: BTreeMap::new(),
            follows: None,
            watching: TaskWatches::since(now),
            usage: Usages::default(),
            last_said: now,
            has_input: true,
            idle_since: None,
            is_lost: false,
            is_leaving: false,
            is_asked_to_stop: false,
        };
        said.extend(session.state_lines());
        said.extend(session.menu());
        (session, said.into_iter().map(PlainEffect::Say).collect())
    }

    /// Returns what runs and what waits now.
    pub(super) fn state_lines(&self) -> Vec<PlainLine> {
        let programs = self.snapshot.programs.iter().filter(|program| !program.state.is_terminal());
        let mut said: Vec<PlainLine> = programs.map(|program| program_runs(program)).collect();
        said.extend(self.live().map(|task| PlainLine::system(tasks::state_line(task, self.now))));
        let waiting = if self.about.recording.is_some() { Vec::new() } else { self.waiting() };
        said.extend(
            waiting.into_iter().map(|(.., text)| PlainLine::system(format!("waits for you: {text}"))),
        );
        said
    }

    /// Handles an event; returns the lines to print and the effects to carry out.
    pub fn update(&mut self, heard: PlainEvent, now: Timestamp) -> Vec<PlainEffect> {
        self.now = now;
        let mut effects = match heard {
            PlainEvent::Entered(entered, at) => self.handle_entry(entered, at),
            PlainEvent::InputEnded => {
                self.has_input = false;
                vec![say("no more input: the console leaves when nothing runs")]
            }
            PlainEvent::EndKey => {
                let mut effects = vec![PlainEffect::Hide(false)];
                effects.extend(self.quit());
                effects
            }
            PlainEvent::StopAsked(by) => self.stop_asked(&by),
            PlainEvent::LeftOut(lines) => self.left_out(lines),
            PlainEvent::News(snapshot) => self.news(snapshot),
            PlainEvent::Done(msg) => self.handle_result(msg),
            PlainEvent::Read(task, reading) => self.output(&task, reading),
            PlainEvent::Screen(task, screen) => self.screen(&task, screen),
            PlainEvent::Interrupted => self.handle_interrupt(),
            PlainEvent::LinkLost if self.is_leaving => vec![PlainEffect::Leave],
            PlainEvent::LinkLost => self.link_lost(),
            PlainEvent::NextRuntime(snapshot) => self.next_runtime(snapshot),
            PlainEvent::Time => self.look(),
        };
        effects.extend(self.by_itself());
        if effects.iter().any(|effect| matches!(effect, PlainEffect::Say(_))) {
            self.last_said = now;
        }
        effects
    }

    /// Records that everything to be printed has been printed, so it can have been read from now on.
    pub fn mark_printed(&mut self, now: Timestamp) {
        match &mut self.step {
            DialogueStep::Question(dialog) => drop(dialog.reading.shown_at.get_or_insert(now)),
            DialogueStep::Held(word) => drop(word.shown.get_or_insert(now)),
            _ => {}
        }
    }

    /// Returns when something is due without any event.
    pub fn next_time(&self) -> Option<Timestamp> {
        let after = |from: Timestamp, wait| from.checked_add(wait).ok();
        let heartbeat = after(self.last_said, HEARTBEAT).filter(|_| self.is_busy());
        let idle = self.idle_since.and_then(|since| after(since, IDLE));
        let watch = self.watching.next.into_iter().chain(self.usage.next());
        heartbeat.into_iter().chain(idle).chain(watch).min()
    }

    pub(super) fn live(&self) -> impl Iterator<Item = &Arc<TaskView>> {
        self.snapshot.tasks.iter().filter(|task| !task.status.is_terminal())
    }

    pub(super) fn task(&self, id: &TaskId) -> Option<&Arc<TaskView>> {
        self.snapshot.tasks.iter().find(|task| task.id == *id)
    }

    fn is_busy(&self) -> bool {
        if self.is_lost {
            return false;
        }
        let has_program = self.snapshot.programs.iter().any(|program| !program.state.is_terminal());
        self.about.recording.is_none() && (has_program || self.live().next().is_some())
    }

    /// Handles the passage of time: the heartbeat, and the exit once there is nothing left to wait for.
    fn by_itself(&mut self) -> Vec<PlainEffect> {
        let has_agent = self.snapshot.agents.iter().any(|agent| agent.connected);
        let is_idle = !self.has_input && !self.is_busy() && !has_agent;
        self.idle_since = is_idle.then(|| self.idle_since.unwrap_or(self.now));
        if self.idle_since.is_some_and(|since| self.now.duration_since(since) >= IDLE) {
            return vec![say("nothing runs any more"), PlainEffect::Leave];
        }
        if !self.is_busy() || self.now.duration_since(self.last_said) < HEARTBEAT {
            return Vec::new();
        }
        let live: Vec<String> = self.live().map(|task| tasks::state_line(task, self.now)).collect();
        let running = if live.is_empty() { "a program runs".to_owned() } else { live.join("; ") };
        let waits = match self.waiting().len() {
            0 => String::new(),
            1 => ". 1 thing waits for you: attention".to_owned(),
            many => format!(". {many} things wait for you: attention"),
        };
        vec![say(&format!("still running: {running}{waits}"))]
    }

    fn news(&mut self, snapshot: Arc<Snapshot>) -> Vec<PlainEffect> {
        let before = std::mem::replace(&mut self.snapshot, snapshot);
        let mut effects: Vec<PlainEffect> =
            events(&before, &self.snapshot).into_iter().map(PlainEffect::Say).collect();
        for task in &self.snapshot.tasks {
            let known = before.tasks.iter().find(|known| known.id == task.id);
            let wants = task.certain_wait();
            if wants.is_some() && known.and_then(|known| known.certain_wait()) != wants {
                effects.push(PlainEffect::Read(task.id.clone(), self.read_to(&task.id), Purpose::Prompt));
            }
            let bytes = known.map_or(0, |known| known.output.bytes);
            let is_over = task.status.is_terminal() && known.is_none_or(|known| !known.status.is_terminal());
            if self.follows.as_ref() == Some(&task.id) && (task.output.bytes > bytes || is_over) {
                let purpose = if is_over { Purpose::Asked } else { Purpose::Followed };
                effects.push(PlainEffect::Read(task.id.clone(), self.read_to(&task.id), purpose));
                self.follows.take_if(|_| is_over);
            }
        }
        effects.extend(self.overtaken());
        effects.extend(self.look());
        effects
    }

    /// Handles the case that what is being answered was settled by somebody else.
    fn overtaken(&mut self) -> Vec<PlainEffect> {
        let step = match &self.step {
            DialogueStep::Lines(step, _) => &**step,
            step => step,
        };
        let is_there = match step {
            DialogueStep::Question(dialog) => {
                dialog.is_sent || self.snapshot.questions.iter().any(|open| open.id == dialog.question.id)
            }
            DialogueStep::Held(word) => self.snapshot.gate.held.iter().any(|held| held.ticket == word.ticket),
            DialogueStep::Line(task) | DialogueStep::Stop(task) | DialogueStep::Signal(task) => {
                self.task(task).is_some_and(|task| !task.status.is_terminal())
            }
            DialogueStep::Rename(task) => self.task(task).is_some(),
            DialogueStep::Menu
            | DialogueStep::Start
            | DialogueStep::Waits(_)
            | DialogueStep::Quit
            | DialogueStep::Lines(..) => true,
        };
        if is_there {
            return Vec::new();
        }
        self.step = DialogueStep::Menu;
        vec![PlainEffect::Hide(false), say("what you were asked is over; back at the menu")]
    }

    pub(super) fn read_to(&self, task: &TaskId) -> u64 {
        self.read.get(task).copied().unwrap_or(0)
    }

    fn handle_result(&mut self, msg: Msg) -> Vec<PlainEffect> {
        let reply = |text: String| vec![PlainEffect::Say(PlainLine::reply(text))];
        match msg {
            Msg::Answered(answer) => match answer.summary() {
                (why, true) => reply(format!("not done: {why}")),
                // Its result is reported as news.
                (_, false) => Vec::new(),
            },
            Msg::Failed(why) | Msg::Refused(_, why) => reply(format!("not done: {why}")),
            Msg::AnswerTaken(_, Some(why)) => reply(format!("the answer was not taken: {why}")),
            Msg::AnswerTaken(_, None) => reply("the answer was taken".to_owned()),
            Msg::Record(record) => {
                let head = format!("call {}, {}", call_name(&self.snapshot.places, record.seq), record.tool);
                let receipt = record.receipt.clone().unwrap_or_else(|| "not answered yet".to_owned());
                let lines = std::iter::once(head).chain(receipt.lines().map(str::to_owned));
                lines.map(|line| PlainEffect::Say(PlainLine::reply(visible::in_text(&line)))).collect()
            }
            Msg::Stopped => vec![PlainEffect::Leave],
            Msg::Usage(seen) => self.take_usage(seen),
            _ => Vec::new(),
        }
    }

    /// Handles Control-C: the first asks for confirmation, as in the drawn console; a second one, or one that
    /// no person can confirm, exits.
    fn handle_interrupt(&mut self) -> Vec<PlainEffect> {
        if matches!(self.step, DialogueStep::Quit) || !self.has_input || !self.about.is_person {
            return vec![PlainEffect::Leave];
        }
        let mut effects = vec![PlainEffect::Hide(false)];
        effects.extend(self.quit());
        effects
    }
}

pub(super) fn say(text: &str) -> PlainEffect {
    PlainEffect::Say(PlainLine::system(text))
}
