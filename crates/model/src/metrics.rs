//! Counters and the last minute, second by second (docs/contract.md#metrics), and the table of them: the name, the
//! description and the kind of each. The Prometheus page, `metrics show`, the console's screen and the sum over several
//! places are made from the table. Pure.

use std::collections::BTreeMap;

use MetricsPart::{Operator, Output, Tasks};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Gauge, Histogram};

pub const HISTORY_SECONDS: usize = 60;

/// Counters and short histories (docs/contract.md#metrics).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Metrics {
    /// Calls of agents by tool, then by status `success`, `error` or `abandoned`.
    pub tool_calls: BTreeMap<String, BTreeMap<String, u64>>,
    /// Commands that agents ran one at a time.
    pub exec_command_items: u64,
    /// Commands that agents ran in batches.
    pub batched_exec_command_items: u64,
    /// Calls and commands by caller: `agent`, `cli`, `operator` or `program`.
    #[serde(default)]
    pub by: BTreeMap<String, Activity>,
    /// Live tasks, by status.
    pub tasks_live: BTreeMap<String, u64>,
    /// Listening addresses of live tasks, by kind: `port`, `container` or `unix`.
    #[serde(default)]
    pub listening: BTreeMap<String, u64>,
    /// Commands that outlived their call.
    pub promotions: u64,
    /// Tasks started so far.
    pub tasks_started: u64,
    /// Tasks ended, by final status.
    pub tasks_ended: BTreeMap<String, u64>,
    /// Maximum number of tasks that were live at once.
    pub tasks_peak: u64,
    /// Bytes read from tasks.
    pub output_bytes_in: u64,
    /// Characters of receipts sent to models.
    pub output_chars_sent: u64,
    /// Bytes of receipts sent to models.
    pub output_bytes_sent: u64,
    /// Bytes not kept.
    pub output_bytes_dropped: u64,
    /// Operator actions on tasks, by their word in the timeline (`start`, `input`, `stop`, …).
    pub operator_actions: BTreeMap<String, u64>,
    /// Inputs refused, by reason.
    pub input_refused: BTreeMap<String, u64>,
    /// Panics of a terminal parser, each recovered from the log.
    pub screen_resets: u64,
    /// Durations from call to answer, by tool.
    pub tool_ms: BTreeMap<String, Histogram>,
    /// Durations from start to end of a task, by final status.
    pub task_ms: BTreeMap<String, Histogram>,
    /// Other waits: `first_byte` from the start of a command to its first byte of output, counted when it ends;
    /// `stop` from a stop to the end of the task.
    #[serde(default)]
    pub wait_ms: BTreeMap<String, Histogram>,
    /// The current use of each limit.
    #[serde(default)]
    pub gauges: Vec<Gauge>,
    /// Durations in ms of agents' calls, by tool, and of streams and programs: (count, p50, p95, p99) of the recent ones.
    pub call_ms: BTreeMap<String, (u64, u64, u64, u64)>,
    /// Calls in each of the last 60 seconds, oldest first; updated at most once a second.
    pub calls_per_second: Vec<u64>,
    /// Bytes in each of the last 60 seconds, oldest first; updated at most once a second.
    pub bytes_per_second: Vec<u64>,
    /// The end of the last of these seconds; seconds without activity are not published.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub history_at: Option<Timestamp>,
}

/// The activity of one kind of caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Activity {
    /// Tool calls.
    pub calls: u64,
    /// Commands run, in batches or not.
    pub commands: u64,
    /// Commands run in batches.
    #[serde(default)]
    pub batched: u64,
}

impl Metrics {
    /// Returns the number of commands that agents ran: one at a time and in batches.
    pub fn shell_commands(&self) -> u64 {
        self.exec_command_items.saturating_add(self.batched_exec_command_items)
    }

    /// Adds the metrics of one place to a total. Limits are specific to each place and are left out; for call durations
    /// the figures of the slowest place are kept, because percentiles cannot be added. The history of the total ends `now`.
    pub fn add(&mut self, one: &Self, now: Timestamp) {
        COUNTERS.iter().for_each(|counter| counter.add(self, one));
        for (tool, (count, p50, p95, p99)) in &one.call_ms {
            let known = self.call_ms.entry(tool.clone()).or_default();
            *known =
                (known.0.saturating_add(*count), known.1.max(*p50), known.2.max(*p95), known.3.max(*p99));
        }
        let [calls, bytes] = one.history(now);
        add_series(&mut self.calls_per_second, &calls);
        add_series(&mut self.bytes_per_second, &bytes);
        self.history_at = Some(now);
    }

    /// Returns the same with the history up to `now`.
    pub fn up_to(mut self, now: Timestamp) -> Self {
        [self.calls_per_second, self.bytes_per_second] = self.history(now);
        Self { history_at: Some(now), ..self }
    }

    /// Returns the calls and the bytes in each of the last seconds as of `now`: nothing has happened since they were
    /// published, except in the second that is still to be.
    pub fn history(&self, now: Timestamp) -> [Vec<u64>; 2] {
        let quiet = self.history_at.map_or(0, |at| now.duration_since(at).as_secs() - 1);
        let quiet = usize::try_from(quiet.max(0)).unwrap_or(HISTORY_SECONDS).min(HISTORY_SECONDS);
        [&self.calls_per_second, &self.bytes_per_second].map(|series| {
            let gone = (series.len() + quiet).saturating_sub(HISTORY_SECONDS);
            series.iter().copied().chain(std::iter::repeat_n(0, quiet)).skip(gone).collect()
        })
    }

    /// Returns how many more calls the model would have needed without batches. Negative if batches ran fewer items
    /// than there were batches.
    pub fn model_rounds_saved(&self) -> i64 {
        let batches = self.tool_calls.get("ExecCommandBatch").map_or(0, |by_status| by_status.values().sum());
        self.batched_exec_command_items.checked_signed_diff(batches).unwrap_or_default()
    }
}

/// The counters and the values derived from them, as given to a caller that requests all of them.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MetricsReport {
    /// Commands that agents ran: one at a time and in batches.
    pub shell_commands: u64,
    /// Model rounds saved by batches; negative if batches ran fewer commands than there were batches.
    pub model_rounds_saved: i64,
    /// The counters.
    #[serde(flatten)]
    pub metrics: Metrics,
}

impl From<Metrics> for MetricsReport {
    fn from(metrics: Metrics) -> Self {
        let (shell_commands, model_rounds_saved) = (metrics.shell_commands(), metrics.model_rounds_saved());
        Self { shell_commands, model_rounds_saved, metrics }
    }
}

/// Counts by name.
pub type Counts = BTreeMap<String, u64>;

pub struct Counter {
    /// The name of its field in [`Metrics`].
    pub name: &'static str,
    /// The name of its family on a Prometheus page, without prefix and suffix.
    pub family: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// The part of the console's screen of metrics that shows it, and its words there.
    pub on_screen: Option<(MetricsPart, &'static str)>,
    /// Where its value is, and of what kind.
    pub value: CounterValue,
}

/// A part of the console's screen of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsPart {
    /// Counts of commands and tasks.
    Tasks,
    /// Sums of bytes.
    Output,
    /// What the person did, and what went wrong.
    Operator,
}

/// Where a counter's value is, and of what kind. The label of each is what its values are listed by.
pub enum CounterValue {
    /// A count.
    Total(MetricsField<u64>),
    /// The highest count so far; of several places, the highest of any: they had it at different times.
    Peak(MetricsField<u64>),
    /// A count, by label.
    By(&'static str, MetricsField<Counts>),
    /// How many there are now, by label.
    LiveBy(&'static str, MetricsField<Counts>),
    /// A count, by two labels.
    ByTwo([&'static str; 2], MetricsField<BTreeMap<String, Counts>>),
    /// A count, by who did it.
    ByActor(MetricsField<u64, Activity>),
    /// How long something took, by label.
    Durations(&'static str, MetricsField<BTreeMap<String, Histogram>>),
    /// A count made of others.
    DerivedTotal(fn(&Metrics) -> u64),
    /// A value made of others, which may fall.
    Derived(fn(&Metrics) -> i64),
}

/// A value of a counter.
pub struct CounterSample<'a> {
    /// The names of its labels, with their values.
    pub labels: Vec<(&'static str, &'a str)>,
    pub value: SampleValue<'a>,
}

/// What a sample holds.
pub enum SampleValue<'a> {
    Count(u64),
    Signed(i64),
    Durations(&'a Histogram),
}

/// Access to a field of the metrics, or of a part of them.
pub struct MetricsField<T, Of = Metrics> {
    pub get: fn(&Of) -> &T,
    get_mut: fn(&mut Of) -> &mut T,
}

macro_rules! field {
    ($name:ident) => {
        MetricsField { get: |of| &of.$name, get_mut: |of| &mut of.$name }
    };
}

macro_rules! counter {
    ($name:ident, $($rest:tt)*) => { counter!($name as stringify!($name), $($rest)*) };
    ($name:ident as $family:expr, $help:literal, $kind:ident $(, $label:expr)?) => {{
        let value = CounterValue::$kind($($label,)? field!($name));
        Counter { name: stringify!($name), family: $family, help: $help, on_screen: None, value }
    }};
}

const fn derived_counter(name: &'static str, help: &'static str, value: CounterValue) -> Counter {
    Counter { name, family: name, help, on_screen: None, value }
}

/// All counters, in the order in which they are listed.
pub static COUNTERS: [Counter; 24] = [
    counter!(tool_calls, "Tool calls of agents.", ByTwo, ["tool", "status"]),
    derived_counter("calls", "Tool calls of anybody.", CounterValue::ByActor(field!(calls))),
    derived_counter("commands", "Commands that anybody ran.", CounterValue::ByActor(field!(commands)))
        .on(Tasks, "commands run"),
    derived_counter("batched_commands", "Those run in batches.", CounterValue::ByActor(field!(batched)))
        .on(Tasks, "in batches"),
    counter!(exec_command_items, "Commands of agents, one at a time.", Total),
    counter!(batched_exec_command_items, "Commands of agents in batches.", Total),
    derived_counter(
        "shell_commands",
        "Commands of agents.",
        CounterValue::DerivedTotal(Metrics::shell_commands),
    ),
    derived_counter(
        "model_rounds_saved",
        "Rounds that batches saved the model.",
        CounterValue::Derived(Metrics::model_rounds_saved),
    )
    .on(Tasks, "trips saved"),
    counter!(promotions, "Commands that outlived their call.", Total).on(Tasks, "to background"),
    counter!(tasks_started, "Tasks ever started.", Total),
    counter!(tasks_peak, "Most tasks live at once.", Peak),
    counter!(output_bytes_in, "Bytes read from tasks.", Total).on(Output, "from tasks"),
    counter!(output_bytes_sent, "Bytes of receipts sent to models.", Total).on(Output, "to models"),
    counter!(output_chars_sent, "Characters of receipts sent to models.", Total),
    counter!(output_bytes_dropped, "Bytes of output not kept.", Total).on(Output, "dropped"),
    counter!(tasks_live as "tasks", "Live tasks.", LiveBy, "status"),
    counter!(listening, "Addresses that live tasks listen on.", LiveBy, "kind"),
    counter!(tasks_ended, "Tasks ended.", By, "status"),
    counter!(operator_actions, "What the operator did to tasks.", By, "action").on(Operator, "you did"),
    counter!(input_refused, "Inputs that were refused.", By, "reason").on(Operator, "input refused"),
    counter!(screen_resets, "Terminal parsers that were healed.", Total).on(Operator, "terminal resets"),
    counter!(tool_ms as "tool_duration_seconds", "From call to answer.", Durations, "tool"),
    counter!(task_ms as "task_duration_seconds", "From start to end of a task.", Durations, "status"),
    counter!(wait_ms as "wait_seconds", "To the first byte, and from a stop to the end.", Durations, "of"),
];

impl Counter {
    /// Returns its values, each with its labels.
    pub fn samples<'a>(&self, metrics: &'a Metrics) -> Vec<CounterSample<'a>> {
        use SampleValue::{Count, Durations, Signed};
        let sample =
            |labels: &[(&'static str, &'a str)], value| CounterSample { labels: labels.to_vec(), value };
        match &self.value {
            CounterValue::Total(field) | CounterValue::Peak(field) => {
                vec![sample(&[], Count(*(field.get)(metrics)))]
            }
            CounterValue::DerivedTotal(value) => vec![sample(&[], Count(value(metrics)))],
            CounterValue::Derived(value) => vec![sample(&[], Signed(value(metrics)))],
            CounterValue::By(label, field) | CounterValue::LiveBy(label, field) => {
                (field.get)(metrics).iter().map(|(name, n)| sample(&[(*label, name)], Count(*n))).collect()
            }
            CounterValue::ByTwo([one, two], field) => {
                let all = (field.get)(metrics).iter();
                let all =
                    all.flat_map(|(first, counts)| counts.iter().map(move |(name, n)| (first, name, n)));
                all.map(|(first, name, n)| sample(&[(*one, first), (*two, name)], Count(*n))).collect()
            }
            CounterValue::ByActor(field) => {
                let all = metrics.by.iter();
                all.map(|(by, activity)| sample(&[("by", by)], Count(*(field.get)(activity)))).collect()
            }
            CounterValue::Durations(label, field) => (field.get)(metrics)
                .iter()
                .map(|(name, took)| sample(&[(*label, name)], Durations(took)))
                .collect(),
        }
    }

    const fn on(self, part: MetricsPart, words: &'static str) -> Self {
        Self { on_screen: Some((part, words)), ..self }
    }

    /// Adds the value of one place to that of all. Numbers from a place are untrusted, so nothing overflows.
    pub fn add(&self, total: &mut Metrics, one: &Metrics) {
        let sum = |total: &mut u64, more: u64| *total = total.saturating_add(more);
        match &self.value {
            CounterValue::Total(field) => sum((field.get_mut)(total), *(field.get)(one)),
            CounterValue::Peak(field) => {
                let most = (field.get_mut)(total);
                *most = (*most).max(*(field.get)(one));
            }
            CounterValue::By(_, field) | CounterValue::LiveBy(_, field) => {
                add_counts((field.get_mut)(total), (field.get)(one));
            }
            CounterValue::ByTwo(_, field) => {
                for (name, counts) in (field.get)(one) {
                    add_counts((field.get_mut)(total).entry(name.clone()).or_default(), counts);
                }
            }
            CounterValue::ByActor(field) => {
                for (name, more) in &one.by {
                    sum((field.get_mut)(total.by.entry(name.clone()).or_default()), *(field.get)(more));
                }
            }
            CounterValue::Durations(_, field) => {
                for (name, more) in (field.get)(one) {
                    (field.get_mut)(total).entry(name.clone()).or_default().merge(more);
                }
            }
            CounterValue::DerivedTotal(_) | CounterValue::Derived(_) => {}
        }
    }
}

fn add_counts(total: &mut Counts, one: &Counts) {
    for (name, count) in one {
        let known = total.entry(name.clone()).or_default();
        *known = known.saturating_add(*count);
    }
}

/// Adds two series that end at the same second.
fn add_series(total: &mut Vec<u64>, one: &[u64]) {
    let missing = one.len().saturating_sub(total.len());
    total.splice(0..0, std::iter::repeat_n(0, missing));
    for (known, more) in total.iter_mut().rev().zip(one.iter().rev()) {
        *known = known.saturating_add(*more);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_field_of_the_metrics_is_in_the_table_or_has_a_rule_of_its_own() {
        let all = serde_json::to_value(Metrics::default()).expect("JSON");
        let fields: BTreeSet<&str> = all.as_object().expect("an object").keys().map(String::as_str).collect();
        let with_a_field = |counter: &&Counter| {
            !matches!(
                counter.value,
                CounterValue::ByActor(_) | CounterValue::DerivedTotal(_) | CounterValue::Derived(_)
            )
        };
        let counters = COUNTERS.iter().filter(with_a_field).map(|counter| counter.name);
        let others = ["by", "gauges", "call_ms", "calls_per_second", "bytes_per_second", "history_at"];
        assert_eq!(counters.chain(others).collect::<BTreeSet<_>>(), fields);
    }

    #[test]
    fn a_history_moves_on_by_the_seconds_in_which_nothing_happened() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let metrics = |history_at| Metrics {
            calls_per_second: vec![7; HISTORY_SECONDS],
            bytes_per_second: vec![1, 2],
            history_at,
            ..Metrics::default()
        };
        let after = |second| metrics(Some(at(100))).history(at(second));
        assert_eq!(after(101), after(100), "the next second is still to be published");
        let [calls, bytes] = after(104);
        assert_eq!((calls.len(), &calls[56..], &bytes[..]), (60, &[7, 0, 0, 0][..], &[1, 2, 0, 0, 0][..]));
        for second in [161, 1_000_000] {
            assert_eq!(after(second), [[0; HISTORY_SECONDS]; 2], "{second}");
        }
        assert_eq!(after(-1), after(100), "a clock that was set back");
        assert_eq!(metrics(None).history(at(500)), after(100), "published each second by an older runtime");
    }

    #[test]
    fn counters_add_up_and_seconds_stand_beside_each_other() {
        let now = Timestamp::from_second(100).expect("a time");
        let of = |started, calls: &[u64]| Metrics {
            tasks_started: started,
            tasks_peak: started.min(9),
            tasks_ended: [("failed".to_owned(), started)].into(),
            calls_per_second: calls.to_vec(),
            ..Metrics::default()
        };
        let mut total = Metrics::default();
        total.add(&of(2, &[1, 2, 3]), now);
        total.add(&of(u64::MAX, &[10]), now);
        total.add(&Metrics { history_at: Timestamp::from_second(98).ok(), ..of(0, &[500, 5]) }, now);
        assert_eq!(total.tasks_started, u64::MAX);
        assert_eq!(total.tasks_peak, 9, "the most at any place, not the sum");
        assert_eq!(total.tasks_ended["failed"], u64::MAX);
        assert_eq!((&total.calls_per_second[..], total.history_at), (&[501, 7, 13][..], Some(now)));
    }
}
