//! The table of counters: the name, the description and the kind of each field of [`Metrics`] that is counted. The
//! Prometheus page, `metrics show`, the console's screen and the sum over several places are made from it. Pure.

use std::collections::BTreeMap;

use MetricsPart::{Operator, Output, Tasks};

use crate::model::metrics::Activity;
use crate::model::{Histogram, Metrics};

/// Counts by name.
pub(crate) type Counts = BTreeMap<String, u64>;

/// One counter.
pub(crate) struct Counter {
    /// The name of its field in [`Metrics`].
    pub(crate) name: &'static str,
    /// The name of its family on a Prometheus page, without prefix and suffix.
    pub(crate) family: &'static str,
    /// One sentence.
    pub(crate) help: &'static str,
    /// The part of the console's screen of metrics that shows it, and its words there.
    pub(crate) on_screen: Option<(MetricsPart, &'static str)>,
    /// Where its value is, and of what kind.
    pub(crate) value: CounterValue,
}

/// A part of the console's screen of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetricsPart {
    /// Counts of commands and tasks.
    Tasks,
    /// Sums of bytes.
    Output,
    /// What the person did, and what went wrong.
    Operator,
}

/// Where a counter's value is, and of what kind. The label of each is what its values are listed by.
pub(crate) enum CounterValue {
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

/// Access to a field of the metrics, or of a part of them.
pub(crate) struct MetricsField<T, Of = Metrics> {
    pub(crate) get: fn(&Of) -> &T,
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

const fn derived(name: &'static str, help: &'static str, value: CounterValue) -> Counter {
    Counter { name, family: name, help, on_screen: None, value }
}

/// All counters, in the order in which they are listed.
pub(crate) static COUNTERS: [Counter; 23] = [
    counter!(tool_calls, "Tool calls of agents.", ByTwo, ["tool", "status"]),
    derived("calls", "Tool calls of anybody.", CounterValue::ByActor(field!(calls))),
    derived("commands", "Commands that anybody ran.", CounterValue::ByActor(field!(commands)))
        .on(Tasks, "commands run"),
    derived("batched_commands", "Those run in batches.", CounterValue::ByActor(field!(batched))),
    counter!(exec_command_items, "Commands of agents, one at a time.", Total),
    counter!(batched_exec_command_items, "Commands of agents in batches.", Total).on(Tasks, "in batches"),
    derived("shell_commands", "Commands of agents.", CounterValue::DerivedTotal(Metrics::shell_commands)),
    derived(
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
    counter!(tasks_ended, "Tasks ended.", By, "status"),
    counter!(operator_actions, "What the operator did to tasks.", By, "action").on(Operator, "you did"),
    counter!(input_refused, "Inputs that were refused.", By, "reason").on(Operator, "input refused"),
    counter!(screen_resets, "Terminal parsers that were healed.", Total).on(Operator, "terminal resets"),
    counter!(tool_ms as "tool_duration_seconds", "From call to answer.", Durations, "tool"),
    counter!(task_ms as "task_duration_seconds", "From start to end of a task.", Durations, "status"),
    counter!(wait_ms as "wait_seconds", "To the first byte, and from a stop to the end.", Durations, "of"),
];

impl Counter {
    const fn on(self, part: MetricsPart, words: &'static str) -> Self {
        Self { on_screen: Some((part, words)), ..self }
    }

    /// Adds the value of one place to that of all. Numbers from a place are untrusted, so nothing overflows.
    pub(crate) fn add(&self, total: &mut Metrics, one: &Metrics) {
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
        let others = ["by", "gauges", "call_ms", "calls_per_second", "bytes_per_second"];
        assert_eq!(counters.chain(others).collect::<BTreeSet<_>>(), fields);
    }
}
