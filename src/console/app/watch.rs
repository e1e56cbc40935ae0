//! Watch rules: what to ring for beside what waits for the person. A task that failed, has gone silent, or printed a
//! line somebody looks for stands in the attention list until it was looked at. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::config::WatchRule;
use crate::envelope::TaskId;
use crate::runtime::{TaskStatus, TaskView};

use super::attention::{Item, Subject};
use super::task_words::{how, last_sign};
use super::{App, Screen, alias};
use crate::console::msg::Effect;
use crate::console::text::visible;

/// Characters of a line that matched.
const MOST_CHARS: usize = 200;

/// The rules of tasks and what came of them.
#[derive(Debug, Clone, Default)]
pub struct Watching {
    /// When the console was opened: what happened before is not rung for.
    began: Timestamp,
    /// The rules that were typed for a task.
    own: BTreeMap<TaskId, Vec<WatchRule>>,
    /// How far the output of a task was read.
    read: BTreeMap<TaskId, Read>,
    /// What was seen and not yet looked at, by its name.
    seen: BTreeMap<String, Seen>,
    /// What was looked at and is not to come back.
    over: BTreeSet<String>,
    /// When a task will have been silent for long enough.
    pub(in crate::console) next: Option<Timestamp>,
}

/// How far the output of a task was read.
#[derive(Debug, Clone, Copy, Default)]
struct Read {
    /// Where to read on.
    next: u64,
    /// The bytes there were when it was last read, and whether the task had ended.
    at: (u64, bool),
    /// It is being read.
    is_under_way: bool,
}

impl Read {
    fn from(next: u64) -> Self {
        Self { next, at: (next, false), is_under_way: false }
    }
}

/// What was seen of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    task: TaskId,
    since: Timestamp,
    what: String,
    /// The line that matched.
    line: Option<String>,
}

impl Watching {
    /// Begins with what happens from now on.
    pub(super) fn since(began: Timestamp) -> Self {
        Self { began, ..Self::default() }
    }

    /// Returns what was seen, for the attention list.
    pub(super) fn items(&self, app: &App) -> Vec<Item> {
        let item = |(id, seen): (&String, &Seen)| {
            let task = app.view.task(&seen.task)?;
            Some(Item {
                subject: Subject::Watched(id.clone(), seen.task.clone()),
                since: seen.since,
                name: alias(task),
                what: seen.what.clone(),
                said: seen.line.clone().unwrap_or_else(|| visible::told(&task.cmd)),
                key: "look",
                rings: true,
            })
        };
        self.seen.iter().filter_map(item).collect()
    }

    /// Records that something was looked at.
    pub(super) fn settle(&mut self, id: &str) {
        if self.seen.remove(id).is_some_and(|seen| seen.line.is_none()) {
            self.over.insert(id.to_owned());
        }
    }

    fn see(&mut self, id: String, seen: Seen) {
        if !self.over.contains(&id) {
            self.seen.entry(id).or_insert(seen);
        }
    }
}

impl App {
    /// Sets what is typed as a rule for a task; nothing takes its rules away.
    pub(super) fn watch_for(&mut self, task: &TaskId, text: &str) {
        let Some(view) = self.view.task(task).cloned() else { return };
        let name = alias(&view);
        if text.trim().is_empty() {
            self.watching.own.remove(task);
            return self.say(format!("{name}: no rule of its own"));
        }
        match WatchRule::typed(text) {
            Ok(rule) => {
                self.say(format!("rings when {name}: {}", visible::one_line(&rule.says())));
                self.watching.own.entry(task.clone()).or_default().push(rule);
                self.watching.read.entry(task.clone()).or_insert(Read::from(view.output.bytes));
                self.ring();
            }
            Err(why) => self.toasts.fail(format!("no pattern: {}", visible::one_line(&why)), None),
        }
    }

    /// Looks what the rules say of the tasks as they are now.
    pub(super) fn watch(&mut self) {
        self.watching.next = None;
        if self.setup.ui.watch.is_empty() && self.watching.own.is_empty() || self.setup.recording.is_some() {
            return;
        }
        let tasks: Vec<Arc<TaskView>> = self.view.snapshot.tasks.clone();
        let known: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
        self.watching.own.retain(|task, _| known.contains(task));
        self.watching.read.retain(|task, _| known.contains(task));
        self.watching.over.retain(|id| known.iter().any(|task| id.starts_with(task.as_str())));
        for task in &tasks {
            // What ended before the console was opened has nothing new to say.
            if task.ended.as_ref().is_none_or(|ended| ended.at >= self.watching.began) {
                let rules = self.rules_of(task);
                rules.iter().for_each(|rule| self.apply(rule, task));
                if rules.iter().any(|rule| rule.pattern.is_some()) {
                    self.read_watched(task);
                }
            }
        }
        // A silence that has ended needs nobody.
        self.watching.seen.retain(|id, seen| {
            let task = tasks.iter().find(|task| task.id == seen.task);
            task.is_some_and(|task| !is_silence(id) || *id == silence_id(task))
        });
        if self.screen == Screen::Focus && !self.bell.is_elsewhere {
            let looked_at = self.at_hand().map(|task| task.id.clone());
            let is_looked_at = |seen: &&Seen| Some(&seen.task) == looked_at.as_ref();
            let seen = self.watching.seen.iter().filter(|(_, seen)| is_looked_at(seen));
            let seen: Vec<String> = seen.map(|(id, _)| id.clone()).collect();
            seen.iter().for_each(|id| self.watching.settle(id));
        }
    }

    fn rules_of(&self, task: &TaskView) -> Vec<WatchRule> {
        let own = self.watching.own.get(&task.id).into_iter().flatten();
        let all = self.setup.ui.watch.iter().filter(|rule| rule.is_about(&task.cmd));
        own.chain(all).cloned().collect()
    }

    fn apply(&mut self, rule: &WatchRule, task: &TaskView) {
        if rule.failed
            && task.status == TaskStatus::Failed
            && let Some(ended) = &task.ended
        {
            let what = format!("failed: {}", how(Some(ended)));
            let seen = Seen { task: task.id.clone(), since: ended.at, what, line: None };
            self.watching.see(format!("{} failed", task.id), seen);
        }
        let waits = task.waiting.as_ref().is_some_and(crate::facts::Waiting::is_certain);
        if rule.silence.is_zero() || task.status != TaskStatus::Running || waits {
            return;
        }
        let silence = SignedDuration::try_from(rule.silence).unwrap_or(SignedDuration::MAX);
        let Ok(due) = last_sign(task).checked_add(silence) else { return };
        if due > self.now {
            let next = self.watching.next.map_or(due, |next| next.min(due));
            self.watching.next = Some(next);
            return;
        }
        let what = format!("silent for {} s", rule.silence.as_secs());
        let seen = Seen { task: task.id.clone(), since: due, what, line: None };
        self.watching.see(silence_id(task), seen);
    }

    /// Has output read that came since the last time.
    fn read_watched(&mut self, task: &Arc<TaskView>) {
        let first = if task.created_at >= self.watching.began { 0 } else { task.output.bytes };
        let read = self.watching.read.entry(task.id.clone()).or_insert(Read::from(first));
        let at = (task.output.bytes, task.status.is_terminal());
        if !read.is_under_way && read.at != at {
            (read.at, read.is_under_way) = (at, true);
            self.effects.push(Effect::ReadWatched { task: task.clone(), from: read.next });
        }
    }

    /// Takes in output that was read, whole lines, and where to read on.
    pub(super) fn watched(&mut self, id: &TaskId, text: &str, next: u64) {
        let Some(task) = self.view.task(id).cloned() else { return };
        if let Some(read) = self.watching.read.get_mut(id) {
            // Where no whole line came yet, the next change reads it again.
            (read.next, read.is_under_way) = (next, false);
        }
        for (number, rule) in self.rules_of(&task).iter().enumerate() {
            let Some(pattern) = &rule.pattern else { continue };
            let Some(line) = text.lines().find(|line| pattern.is_in(line)) else { continue };
            let line = Some(visible::told(line.trim()).chars().take(MOST_CHARS).collect());
            let seen = Seen { task: id.clone(), since: self.now, what: "printed".to_owned(), line };
            self.watching.see(format!("{id} printed {number}"), seen);
        }
        self.ring();
    }
}

fn silence_id(task: &TaskView) -> String {
    format!("{} silent {}", task.id, last_sign(task))
}

fn is_silence(id: &str) -> bool {
    id.split(' ').nth(1) == Some("silent")
}
