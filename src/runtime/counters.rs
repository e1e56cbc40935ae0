//! Counts rows of the record, both as they are written and as they are read back. Pure.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use crate::envelope::{Actor, TaskId};
use crate::model::calls::{ABANDONED, is_stream};
use crate::model::millis_between;
use crate::model::{
    HISTORY_SECONDS, Metrics, PROGRAM_CALL, Principal, QuestionFact, RejectionReason, TaskEvent, TaskFact,
    TaskView,
};
use crate::runtime::record_row::{AnsweredCall, Fact};

/// Limits on individually counted tools: how many, and the length of a tool's name in bytes.
const TOOLS: usize = 64;
const TOOL_BYTES: usize = 64;
/// The name under which calls of all other tools are counted.
const OTHER: &str = "other";
/// Durations kept per tool for percentiles.
const DURATIONS_KEPT: usize = 512;

/// The counters of a recording.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    pub(super) metrics: Metrics,
    /// The durations of each tool's recent calls.
    durations: BTreeMap<String, VecDeque<u64>>,
    /// Tasks whose last row is still to come.
    open: BTreeMap<TaskId, OpenTask>,
    /// Calls not answered yet.
    calls_open: BTreeMap<u64, OpenCall>,
    /// Number of live tasks.
    live: u64,
    /// Bytes read from ended tasks, and how many of those were dropped.
    ended_bytes: (u64, u64),
    /// Calls begun that are in no second of the history yet.
    begun: u64,
    /// Bytes that are in the history, or were.
    bytes_seen: u64,
}

/// What has to be known of a call when it ends.
#[derive(Debug, Clone)]
struct OpenCall {
    /// A longer name is cut where it is still too long to be counted by itself.
    tool: String,
    actor: Actor,
}

/// What has to be known of a task when its command starts.
#[derive(Debug, Clone, Copy)]
struct OpenTask {
    is_batch_item: bool,
    by: &'static str,
}

impl Counters {
    /// Counts a row.
    pub(super) fn count(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Call(record) => {
                let tool =
                    record.tool.get(..record.tool.floor_char_boundary(TOOL_BYTES + 4)).unwrap_or_default();
                let call = OpenCall { tool: tool.to_owned(), actor: record.actor.clone() };
                self.calls_open.insert(record.seq, call);
                self.begun += 1;
            }
            Fact::Answer(AnsweredCall { record, .. }) => {
                self.calls_open.remove(&record.seq);
                let (status, receipt) = (record.status().unwrap_or(ABANDONED), record.receipt.as_deref());
                self.call((&record.tool, &record.actor), status, record.duration_ms, receipt);
            }
            Fact::Abandoned(call) => {
                if let Some(OpenCall { tool, actor }) = self.calls_open.remove(&call.seq) {
                    self.call((&tool, &actor), ABANDONED, call.duration_ms, None);
                }
            }
            Fact::Queued { task } | Fact::Start { task, .. } => self.count_task(task),
            Fact::Task { task, event } => self.count_event(task, event),
            Fact::Ended { task, first_byte_ms } => self.count_end(task, *first_byte_ms),
            Fact::Refused { reason, .. } => self.count_refusal(*reason),
            // A decision about a task is also an event of the task, and counted there.
            Fact::Gate(event) if event.actor == Actor::Operator && event.task.is_none() => {
                self.operator(event.what.into());
            }
            Fact::Question(question) => match &**question {
                QuestionFact::Answered { answer, .. }
                    if answer.principal == Principal::Actor(Actor::Operator) =>
                {
                    self.operator("answer");
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// Counts a call that was answered or abandoned. Only an agent's counts as a tool call; the operator's actions are
    /// counted by their effect on tasks as well, a stream and a program by their duration and their commands.
    fn call(
        &mut self,
        (tool, actor): (&str, &Actor),
        status: &str,
        duration_ms: Option<u64>,
        receipt: Option<&str>,
    ) {
        let name = self.counted_as(tool).to_owned();
        let metrics = &mut self.metrics;
        let is_answered = status != ABANDONED;
        let is_agents = matches!(actor, Actor::Agent(_));
        if is_answered && (is_agents || is_stream(tool)) {
            let durations = self.durations.entry(name.clone()).or_default();
            if durations.len() == DURATIONS_KEPT {
                durations.pop_front();
            }
            durations.extend(duration_ms);
        }
        if is_stream(tool) {
            return;
        }
        metrics.by.entry(kind_of(actor).to_owned()).or_default().calls += 1;
        if !is_agents {
            return;
        }
        *metrics.tool_calls.entry(name.clone()).or_default().entry(status.to_owned()).or_default() += 1;
        metrics.tool_ms.entry(name).or_default().add(duration_ms.unwrap_or_default());
        if let Some(receipt) = receipt.filter(|_| is_answered) {
            metrics.output_chars_sent += receipt.chars().count() as u64;
            metrics.output_bytes_sent += receipt.len() as u64;
        }
    }

    /// Returns the name a call is counted under; bounded, because clients can make up any number of tool names.
    fn counted_as<'a>(&self, tool: &'a str) -> &'a str {
        let (answered, called) = (&self.durations, &self.metrics.tool_calls);
        let is_known = answered.contains_key(tool) || called.contains_key(tool);
        let has_room = tool.len() <= TOOL_BYTES && answered.len().max(called.len()) < TOOLS;
        if is_known || has_room { tool } else { OTHER }
    }

    /// Counts a task when its first row arrives.
    fn count_task(&mut self, task: &TaskView) {
        let is_programs = self.calls_open.get(&task.call).is_some_and(|call| call.tool == PROGRAM_CALL);
        let by = if is_programs { "program" } else { kind_of(&task.started_by) };
        let open = OpenTask { is_batch_item: task.item.is_some(), by };
        if self.open.insert(task.id.clone(), open).is_none() {
            self.live += 1;
            self.metrics.tasks_peak = self.metrics.tasks_peak.max(self.live);
        }
    }

    fn count_event(&mut self, task: &TaskId, event: &TaskEvent) {
        let metrics = &mut self.metrics;
        match &event.fact {
            TaskFact::Start { .. } => {
                metrics.tasks_started += 1;
                let open = self.open.get(task).copied();
                let by = open.map_or("agent", |open| open.by);
                let is_batched = open.is_some_and(|open| open.is_batch_item);
                let activity = metrics.by.entry(by.to_owned()).or_default();
                activity.commands += 1;
                activity.batched += u64::from(is_batched);
                match is_batched {
                    _ if by != "agent" => {}
                    true => metrics.batched_exec_command_items += 1,
                    false => metrics.exec_command_items += 1,
                }
            }
            TaskFact::Promoted { .. } => metrics.promotions += 1,
            TaskFact::ScreenReset => metrics.screen_resets += 1,
            TaskFact::Refused(reason) => self.count_refusal(*reason),
            TaskFact::End { .. } => self.live = self.live.saturating_sub(1),
            _ => {}
        }
        // A lease comes with the input that takes it, which is counted already.
        if event.actor == Actor::Operator && event.fact != TaskFact::Lease {
            self.operator(event.fact.word());
        }
    }

    /// Counts a task that has ended and whose log is complete.
    fn count_end(&mut self, task: &TaskView, first_byte_ms: Option<u64>) {
        self.open.remove(&task.id);
        self.ended_bytes.0 += task.output.bytes;
        self.ended_bytes.1 += task.output.dropped_bytes;
        let status = task.status.as_str().to_owned();
        *self.metrics.tasks_ended.entry(status.clone()).or_default() += 1;
        self.metrics.task_ms.entry(status).or_default().add(task.lived_ms());
        let stop = task.stop.as_ref().zip(task.ended.as_ref());
        let stop = stop.map(|(stop, ended)| millis_between(stop.at, ended.at));
        for (what, took) in [("first_byte", first_byte_ms), ("stop", stop)] {
            if let Some(ms) = took {
                self.metrics.wait_ms.entry(what.to_owned()).or_default().add(ms);
            }
        }
    }

    fn operator(&mut self, action: &str) {
        *self.metrics.operator_actions.entry(action.to_owned()).or_default() += 1;
    }

    fn count_refusal(&mut self, reason: RejectionReason) {
        *self.metrics.input_refused.entry(reason.as_str().to_owned()).or_default() += 1;
    }

    /// Sets the metrics derived from the live tasks: their number by status, and the byte totals.
    pub(super) fn live<'a>(&mut self, tasks: impl Iterator<Item = &'a TaskView>) {
        let (mut read, mut dropped) = self.ended_bytes;
        self.metrics.tasks_live.clear();
        self.metrics.listening.clear();
        for task in tasks {
            read += task.output.bytes;
            dropped += task.output.dropped_bytes;
            if !task.status.is_terminal() {
                *self.metrics.tasks_live.entry(task.status.as_str().to_owned()).or_default() += 1;
                for listener in &task.listening {
                    *self.metrics.listening.entry(listener.at.kind().to_owned()).or_default() += 1;
                }
            }
        }
        self.metrics.output_bytes_in = read;
        self.metrics.output_bytes_dropped = dropped;
    }

    /// Tells whether the last row of a task is still to come.
    pub(super) fn is_open(&self, id: &TaskId) -> bool {
        self.open.contains_key(id)
    }

    /// Returns the counters together with the metrics derived from them.
    pub(super) fn metrics(&self) -> Metrics {
        let quantiles = |(tool, spent): (&String, &VecDeque<u64>)| {
            (tool.clone(), quantiles(spent.iter().copied().collect()))
        };
        Metrics { call_ms: self.durations.iter().map(quantiles).collect(), ..self.metrics.clone() }
    }

    /// Closes one second of history, unless nothing has happened in it; returns whether anything has.
    pub(super) fn tick(&mut self, now: Timestamp) -> bool {
        let has_news = self.begun > 0 || self.metrics.output_bytes_in > self.bytes_seen;
        if has_news {
            let [mut calls, mut bytes] = self.metrics.history(now);
            push(&mut calls, std::mem::take(&mut self.begun));
            push(&mut bytes, self.metrics.output_bytes_in - self.bytes_seen);
            self.bytes_seen = self.metrics.output_bytes_in;
            (self.metrics.calls_per_second, self.metrics.bytes_per_second) = (calls, bytes);
            self.metrics.history_at = Some(now);
        }
        has_news
    }
}

/// Returns the kind of an actor, as counters name it.
fn kind_of(actor: &Actor) -> &'static str {
    match actor {
        Actor::Agent(_) => "agent",
        Actor::Cli => "cli",
        Actor::Operator | Actor::System => "operator",
    }
}

/// Returns the number of durations and their p50, p95 and p99.
fn quantiles(mut spent: Vec<u64>) -> (u64, u64, u64, u64) {
    spent.sort_unstable();
    let at = |percent: usize| spent.get((spent.len() * percent).div_ceil(100).max(1) - 1).copied();
    let quantile = |percent| at(percent).unwrap_or_default();
    (spent.len() as u64, quantile(50), quantile(95), quantile(99))
}

fn push(history: &mut Vec<u64>, value: u64) {
    history.drain(..(history.len() + 1).saturating_sub(HISTORY_SECONDS));
    history.push(value);
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;
    use crate::model::CallRecord;
    use crate::runtime::record_row::AbandonedCall;

    #[test]
    fn a_quiet_second_is_no_news_and_enters_the_history_with_the_next_busy_one() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let mut counters = Counters { begun: 4, ..Counters::default() };
        assert!(counters.tick(at(10)) && !counters.tick(at(11)) && !counters.tick(at(12)));
        counters.metrics.output_bytes_in = 5;
        assert!(counters.tick(at(13)) && !counters.tick(at(14)));
        let Metrics { calls_per_second, bytes_per_second, history_at, .. } = &counters.metrics;
        assert_eq!((&calls_per_second[..], &bytes_per_second[..]), (&[4, 0, 0, 0][..], &[0, 0, 0, 5][..]));
        assert_eq!(*history_at, Some(at(13)));
        counters.begun = 1;
        assert!(counters.tick(at(14)));
        assert_eq!(counters.metrics.calls_per_second, [4, 0, 0, 0, 1]);
        counters.begun = 2;
        assert!(counters.tick(at(500)));
        let calls = &counters.metrics.calls_per_second;
        assert_eq!((calls.len(), calls.last(), calls.iter().sum::<u64>()), (HISTORY_SECONDS, Some(&2), 2));
    }

    #[test]
    fn names_that_clients_make_up_take_a_bounded_part_of_memory() {
        let mut counters = Counters::default();
        let mut call = |tool: &str, status| {
            let record = json!({
                "seq": 1, "at": "2026-01-01T00:00:00Z", "actor": "agent:x", "tool": tool, "input": {},
                "envelope": null, "receipt": null, "duration_ms": 1,
            });
            let record: CallRecord = serde_json::from_value(record).expect("a call");
            counters.count(&Fact::Call(Cow::Borrowed(&record)));
            match status {
                ABANDONED => counters.count(&Fact::Abandoned(AbandonedCall::of(&record))),
                status => {
                    let record = CallRecord { envelope: Some(json!({ "status": status })), ..record };
                    let record = Cow::Owned(record);
                    counters.count(&Fact::Answer(AnsweredCall { record, latency_ms: None, task: None }));
                }
            }
        };
        call("TaskList", "success");
        for number in 0..1_000 {
            call(&format!("made-up-{number}"), "error");
            call(&format!("given-up-{number}"), ABANDONED);
        }
        call(&"x".repeat(1 << 20), "error");
        call("TaskList", "success");
        let metrics = counters.metrics();
        assert!(metrics.tool_calls.len() <= TOOLS + 1 && metrics.call_ms.len() <= TOOLS + 1, "{metrics:?}");
        assert_eq!(metrics.tool_calls["TaskList"]["success"], 2);
        let all: u64 = metrics.tool_calls.values().flat_map(BTreeMap::values).sum();
        assert_eq!(all, 2_003, "none is lost");
    }
}
