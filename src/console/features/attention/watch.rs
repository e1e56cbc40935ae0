//! Watch rules: what to ring for in addition to what waits for the user. A task that failed, has gone silent,
//! has been busy for long, or has printed a matching line stays in the attention list until the user has
//! looked at it. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::config::WatchRule;
use crate::console::features::attention::item::{AttentionItem, AttentionSubject};
use crate::console::state::{View, alias, last_sign};
use crate::console::text::visible;
use crate::envelope::TaskId;
use crate::model::{TaskStatus, TaskView};

/// Maximum length of a matched line, in characters.
const MOST_CHARS: usize = 200;

/// Maximum number of tasks measured because of CPU rules, in addition to those on screen.
const MOST_MEASURED: usize = 50;

/// The watch rules of tasks and what they have found.
#[derive(Debug, Clone, Default)]
pub struct TaskWatches {
    /// When the console was opened; earlier events do not ring.
    began: Timestamp,
    /// Rules the user typed for individual tasks.
    own: BTreeMap<TaskId, Vec<WatchRule>>,
    /// How far each task's output has been read.
    read: BTreeMap<TaskId, OutputPosition>,
    /// Since when tasks have used more than a given percentage of a CPU.
    pub(super) busy: BTreeMap<(TaskId, u32), Timestamp>,
    /// Findings that have not been looked at yet, by id.
    pub(super) seen: BTreeMap<String, WatchFinding>,
    /// Findings that were looked at and must not come back.
    over: BTreeSet<String>,
    /// When the next task will have been silent or busy for long enough.
    pub(in crate::console) next: Option<Timestamp>,
}

/// How far a task's output has been read.
#[derive(Debug, Clone, Copy, Default)]
struct OutputPosition {
    /// The offset at which to continue reading.
    next: u64,
    /// The number of bytes when it was last read, and whether the task had ended.
    at: (u64, bool),
    /// Whether a read is in progress.
    is_under_way: bool,
}

impl OutputPosition {
    fn from(next: u64) -> Self {
        Self { next, at: (next, false), is_under_way: false }
    }
}

/// Something a watch rule has found about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::console) struct WatchFinding {
    pub(in crate::console) task: TaskId,
    since: Timestamp,
    pub(in crate::console) what: String,
    /// The line that matched.
    pub(in crate::console) line: Option<String>,
}

/// What the rules are applied to: the rules from the settings, the tasks and the current time.
#[derive(Debug, Clone, Copy)]
pub(in crate::console) struct WatchInput<'a> {
    pub(in crate::console) rules: &'a [WatchRule],
    pub(in crate::console) tasks: &'a [Arc<TaskView>],
    pub(in crate::console) now: Timestamp,
}

impl TaskWatches {
    /// Starts with events from now on.
    pub(in crate::console) fn since(began: Timestamp) -> Self {
        Self { began, ..Self::default() }
    }

    /// Adds a rule for one task.
    pub(in crate::console) fn add(&mut self, task: &TaskView, rule: WatchRule) {
        self.own.entry(task.id.clone()).or_default().push(rule);
        self.read.entry(task.id.clone()).or_insert(OutputPosition::from(task.output.bytes));
    }

    /// Tells whether the user has a rule for this task alone.
    pub(in crate::console) fn has_rule(&self, task: &TaskId) -> bool {
        self.own.contains_key(task)
    }

    /// Removes a task's own rules.
    pub(in crate::console) fn clear(&mut self, task: &TaskId) {
        self.own.remove(task);
    }

    /// Applies the rules to the current state of the tasks. Returns the tasks whose output is to be read,
    /// each with its offset.
    pub(in crate::console) fn look(&mut self, watched: WatchInput<'_>) -> Vec<(Arc<TaskView>, u64)> {
        self.next = None;
        if watched.rules.is_empty() && self.own.is_empty() {
            return Vec::new();
        }
        let tasks = watched.tasks;
        let known: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
        self.own.retain(|task, _| known.contains(task));
        self.read.retain(|task, _| known.contains(task));
        self.busy.retain(|(task, _), _| known.contains(task));
        self.over.retain(|id| known.iter().any(|task| id.starts_with(task.as_str())));
        let mut reads = Vec::new();
        for task in tasks {
            // Tasks that ended before the console was opened have nothing new to report.
            if task.ended.as_ref().is_none_or(|ended| ended.at >= self.began) {
                let rules = self.rules_of(watched.rules, task);
                rules.iter().for_each(|rule| self.apply(rule, task, watched.now));
                if rules.iter().any(|rule| rule.pattern.is_some()) {
                    reads.extend(self.read_on(task).map(|from| (Arc::clone(task), from)));
                }
            }
        }
        // A task that is no longer silent or busy needs no attention.
        let busy = &self.busy;
        self.seen.retain(|id, seen| {
            let task = tasks.iter().find(|task| task.id == seen.task);
            let is_busy =
                || busy.iter().any(|((task, percent), since)| *id == busy_id(task, *percent, *since));
            task.is_some_and(|task| match id.split(' ').nth(1) {
                Some("silent") => *id == silence_id(task),
                Some("busy") => is_busy() && !task.status.is_terminal(),
                _ => true,
            })
        });
        reads
    }

    fn rules_of(&self, rules: &[WatchRule], task: &TaskView) -> Vec<WatchRule> {
        let own = self.own.get(&task.id).into_iter().flatten();
        let all = rules.iter().filter(|rule| rule.is_about(&task.cmd));
        own.chain(all).cloned().collect()
    }

    fn apply(&mut self, rule: &WatchRule, task: &TaskView, now: Timestamp) {
        if rule.failed
            && task.status == TaskStatus::Failed
            && let Some(ended) = &task.ended
        {
            let what = format!("failed: {}", task.word());
            let seen = WatchFinding { task: task.id.clone(), since: ended.at, what, line: None };
            self.see(format!("{} failed", task.id), seen);
        }
        if task.status != TaskStatus::Running {
            return;
        }
        if let Some(since) = self.busy.get(&(task.id.clone(), rule.cpu)).copied() {
            let what = format!("CPU over {} % {} s", rule.cpu, rule.cpu_for.as_secs());
            self.lasts(task, (since, rule.cpu_for), now, (busy_id(&task.id, rule.cpu, since), what));
        }
        let waits = task.waiting.as_ref().is_some_and(crate::model::InputWait::is_certain);
        if !rule.silence.is_zero() && !waits {
            let what = format!("silent for {} s", rule.silence.as_secs());
            self.lasts(task, (last_sign(task), rule.silence), now, (silence_id(task), what));
        }
    }

    /// Records a condition that has lasted long enough, or otherwise when it will have.
    fn lasts(
        &mut self,
        task: &TaskView,
        (since, least): (Timestamp, std::time::Duration),
        now: Timestamp,
        (id, what): (String, String),
    ) {
        let least = SignedDuration::try_from(least).unwrap_or(SignedDuration::MAX);
        let Ok(due) = since.checked_add(least) else { return };
        if due > now {
            self.next = Some(self.next.map_or(due, |next| next.min(due)));
            return;
        }
        self.see(id, WatchFinding { task: task.id.clone(), since: due, what, line: None });
    }

    /// Returns the offset from which to read a task's output, if there is more of it.
    fn read_on(&mut self, task: &TaskView) -> Option<u64> {
        let first = if task.created_at >= self.began { 0 } else { task.output.bytes };
        let read = self.read.entry(task.id.clone()).or_insert(OutputPosition::from(first));
        let at = (task.output.bytes, task.status.is_terminal());
        if read.is_under_way || read.at == at {
            return None;
        }
        (read.at, read.is_under_way) = (at, true);
        Some(read.next)
    }

    /// Applies the rules to newly read output, which consists of whole lines, and records where to continue.
    pub(in crate::console) fn scan_output(
        &mut self,
        watched: WatchInput<'_>,
        task: &TaskView,
        (text, next): (&str, u64),
    ) {
        if let Some(read) = self.read.get_mut(&task.id) {
            // If there is no complete line yet, the next change triggers another read.
            (read.next, read.is_under_way) = (next, false);
        }
        for (number, rule) in self.rules_of(watched.rules, task).iter().enumerate() {
            let Some(pattern) = &rule.pattern else { continue };
            let Some(line) = text.lines().find(|line| pattern.is_in(line)) else { continue };
            let line = Some(visible::masked_line(line.trim()).chars().take(MOST_CHARS).collect());
            let seen =
                WatchFinding { task: task.id.clone(), since: watched.now, what: "printed".to_owned(), line };
            self.see(format!("{} printed {number}", task.id), seen);
        }
    }

    /// Returns the tasks that are measured because of CPU rules.
    pub(in crate::console) fn measured_tasks<'a>(
        &self,
        rules: &[WatchRule],
        tasks: &'a [Arc<TaskView>],
    ) -> Vec<&'a Arc<TaskView>> {
        let has_rules = rules.iter().chain(self.own.values().flatten()).any(|rule| rule.cpu > 0);
        let is_meant = |task: &&Arc<TaskView>| {
            task.status == TaskStatus::Running && self.rules_of(rules, task).iter().any(|rule| rule.cpu > 0)
        };
        let running = tasks.iter().filter(|_| has_rules);
        running.filter(is_meant).take(MOST_MEASURED).collect()
    }

    /// Records the CPU usage of tasks in percent, where it is known.
    pub(in crate::console) fn record_usage(
        &mut self,
        watched: WatchInput<'_>,
        of: impl Fn(&TaskId) -> Option<u64>,
    ) {
        for task in self.measured_tasks(watched.rules, watched.tasks) {
            let used = of(&task.id);
            for rule in self.rules_of(watched.rules, task).iter().filter(|rule| rule.cpu > 0) {
                let key = (task.id.clone(), rule.cpu);
                if used.is_some_and(|used| used > u64::from(rule.cpu)) {
                    self.busy.entry(key).or_insert(watched.now);
                } else {
                    self.busy.remove(&key);
                }
            }
        }
    }

    /// Returns the findings as attention items.
    pub(in crate::console) fn items(&self, view: &View) -> Vec<AttentionItem> {
        let item = |(id, seen): (&String, &WatchFinding)| {
            let task = view.task(&seen.task)?;
            Some(AttentionItem {
                subject: AttentionSubject::Watched(id.clone(), seen.task.clone()),
                since: seen.since,
                name: alias(task),
                what: seen.what.clone(),
                said: seen.line.clone().unwrap_or_else(|| visible::masked_line(&task.cmd)),
                key: "look",
                rings: true,
            })
        };
        self.seen.iter().filter_map(item).collect()
    }

    /// Returns the findings since the last call, and marks them as looked at.
    pub(in crate::console) fn news(&mut self) -> Vec<WatchFinding> {
        let ids: Vec<String> = self.seen.keys().cloned().collect();
        ids.iter().filter_map(|id| self.settle(id)).collect()
    }

    /// Marks a finding as looked at.
    pub(in crate::console) fn settle(&mut self, id: &str) -> Option<WatchFinding> {
        let seen = self.seen.remove(id)?;
        if seen.line.is_none() {
            self.over.insert(id.to_owned());
        }
        Some(seen)
    }

    fn see(&mut self, id: String, seen: WatchFinding) {
        if !self.over.contains(&id) {
            self.seen.entry(id).or_insert(seen);
        }
    }
}

fn silence_id(task: &TaskView) -> String {
    format!("{} silent {}", task.id, last_sign(task))
}

fn busy_id(task: &TaskId, percent: u32, since: Timestamp) -> String {
    format!("{task} busy {percent} {since}")
}
