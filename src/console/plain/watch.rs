//! Watch rules in plain lines: each finding is printed once, as a line of its own.

use crate::config::WatchRule;
use crate::envelope::TaskId;
use crate::model::TaskView;
use crate::runtime::TaskUsage;

use crate::console::features::attention::watch::WatchInput;
use crate::console::msg;
use crate::console::plain::line::PlainLine;
use crate::console::plain::output::{OutputReading, Purpose};
use crate::console::plain::session::{PlainEffect, PlainSession};
use crate::console::plain::steps::reply;
use crate::console::plain::tasks;
use crate::console::state::alias;
use crate::console::text::visible;

impl PlainSession {
    /// Sets a rule for a task: `watch t01 fail`; without a rule, removes the task's own rules.
    pub(super) fn watch_for(&mut self, rest: &str) -> Vec<PlainEffect> {
        let text = rest.split_once(char::is_whitespace).map_or("", |(_, text)| text.trim()).to_owned();
        let mut effects = self.with_task(
            rest,
            |task| !task.status.is_terminal(),
            |session, task| session.set_rule(task, &text),
        );
        effects.extend(self.look());
        effects
    }

    fn set_rule(&mut self, task: &TaskView, text: &str) -> Vec<PlainEffect> {
        let name = alias(task);
        if text.is_empty() {
            self.watching.clear(&task.id);
            return vec![reply(format!(
                "{name} has no rule of its own; watch {name} with fail, 30 s, 90 % or a pattern behind it sets one"
            ))];
        }
        match WatchRule::parse(text) {
            Ok(rule) => {
                let says = visible::one_line(&rule.says()).into_owned();
                self.watching.add(task, rule);
                vec![reply(format!("{name} is told of when {says}"))]
            }
            Err(why) => vec![reply(format!("no pattern: {}", visible::one_line(&why)))],
        }
    }

    /// Applies the rules; prints what is new, and requests the reads and measurements they need.
    pub(super) fn look(&mut self) -> Vec<PlainEffect> {
        if self.about.recording.is_some() {
            return Vec::new();
        }
        let snapshot = self.snapshot.clone();
        let watched = WatchInput { rules: &self.about.watch, tasks: &snapshot.tasks, now: self.now };
        let reads = self.watching.look(watched);
        let mut effects: Vec<PlainEffect> = reads
            .into_iter()
            .map(|(task, from)| PlainEffect::Read(task.id.clone(), from, Purpose::Watched))
            .collect();
        effects.extend(self.say_watched());
        self.usage.want(
            self.watching.measured_tasks(&self.about.watch, &snapshot.tasks).into_iter().map(|task| &**task),
        );
        if self.usage.next().is_some_and(|at| at <= self.now) {
            let due = self.usage.due(self.now);
            effects.extend(due.map(|request| PlainEffect::Do(msg::Effect::Ask(request))));
        }
        effects
    }

    /// Applies the rules to output that was read for them.
    pub(super) fn scan_output(&mut self, task: &TaskId, reading: &OutputReading) -> Vec<PlainEffect> {
        let Some(task) = self.task(task).cloned() else { return Vec::new() };
        let snapshot = self.snapshot.clone();
        let watched = WatchInput { rules: &self.about.watch, tasks: &snapshot.tasks, now: self.now };
        self.watching.scan_output(watched, &task, (&reading.text, reading.next));
        self.look()
    }

    /// Takes measurements of resource usage.
    pub(super) fn take_usage(&mut self, seen: Vec<TaskUsage>) -> Vec<PlainEffect> {
        let snapshot = self.snapshot.clone();
        let bytes = |usage: &TaskUsage| {
            snapshot.tasks.iter().find(|task| task.id == usage.task).map_or(0, |task| task.output.bytes)
        };
        let seen = seen.into_iter().map(|usage| (bytes(&usage), usage)).map(|(bytes, usage)| (usage, bytes));
        let _ = self.usage.take(self.now, seen.collect());
        self.usage.keep(|id| snapshot.tasks.iter().any(|task| task.id == *id));
        let watched = WatchInput { rules: &self.about.watch, tasks: &snapshot.tasks, now: self.now };
        self.watching.record_usage(watched, |task| self.usage.of(task).and_then(|used| used.cpu));
        self.look()
    }

    fn say_watched(&mut self) -> Vec<PlainEffect> {
        let news = self.watching.news().into_iter().filter_map(|seen| {
            let task = self.task(&seen.task)?;
            let said = seen.line.unwrap_or_else(|| tasks::command(task));
            Some(PlainEffect::Say(PlainLine::system(format!("watch: {} {}: {said}", alias(task), seen.what))))
        });
        news.collect()
    }
}
