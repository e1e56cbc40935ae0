//! `metrics show`: the counters of the workspace's runtime.

use serde::Deserialize;
use serde_json::Value;

use super::command::{Example, LocalCommand, NoInput};
use super::context::CommandContext;
use super::response::Failure;
use crate::model::metrics::{COUNTERS, Counter, CounterSample, SampleValue};
use crate::model::{Gauge, Histogram, Metrics, MetricsReport};
use crate::runtime::prometheus;

/// An output format that only this command has.
const PROMETHEUS: &str = "prometheus";

pub(super) struct MetricsShow;

impl LocalCommand for MetricsShow {
    const PATH: &'static str = "metrics.show";
    const ABOUT: &'static str = "Print the counters of the running runtime (also --output prometheus)";
    const EXITS: &'static [u8] = &[4, 12];
    const EXAMPLES: &'static [Example] = &[Example { about: "See all counters", input: "{}" }];

    const FORMS: &'static [&'static str] = &[PROMETHEUS];

    type Input = NoInput;
    type Output = MetricsReport;

    async fn run(cx: &mut CommandContext, _input: NoInput) -> Result<MetricsReport, Failure> {
        Ok(cx.metrics().await?.into())
    }

    fn form(name: &str, data: &Value) -> Option<String> {
        let output = MetricsReport::deserialize(data).ok()?;
        match name {
            PROMETHEUS => Some(prometheus(&output.metrics)),
            "table" => Some(table(&output)),
            _ => None,
        }
    }

    fn text(output: &MetricsReport) -> String {
        table(output)
    }
}

/// Formats the counters for a person, one per line.
fn table(output: &MetricsReport) -> String {
    let metrics = &output.metrics;
    let mut rows: Vec<(String, String)> =
        COUNTERS.iter().flat_map(|counter| rows_of(counter, metrics)).collect();
    rows.extend(metrics.gauges.iter().map(limit));
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().map(|(name, value)| format!("{name:<width$}  {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn limit(gauge: &Gauge) -> (String, String) {
    let task = gauge.task.as_ref().map(|task| format!("  {task}")).unwrap_or_default();
    (format!("limit {}", gauge.limit.as_str()), format!("{} of {}{task}", gauge.used, gauge.cap))
}

/// Returns the rows of a counter, each with a name and a value.
fn rows_of(counter: &Counter, metrics: &Metrics) -> Vec<(String, String)> {
    let row = |sample: CounterSample<'_>| {
        let labels: String = sample.labels.iter().map(|(_, value)| format!(" {value}")).collect();
        let value = match sample.value {
            SampleValue::Count(count) => count.to_string(),
            SampleValue::Signed(count) => count.to_string(),
            SampleValue::Durations(took) => shares(took),
        };
        (format!("{}{labels}", counter.name), value)
    };
    counter.samples(metrics).into_iter().map(row).collect()
}

fn shares(histogram: &Histogram) -> String {
    let share = |percent| histogram.at_most(percent).map_or("longer".to_owned(), |ms| format!("<={ms}"));
    format!("count {}  p50 {}  p95 {}  p99 {}", histogram.count, share(50), share(95), share(99))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn output() -> MetricsReport {
        let mut took = Histogram::default();
        took.add(7);
        let metrics = Metrics {
            exec_command_items: 3,
            tool_calls: BTreeMap::from([("ExecCommand".into(), BTreeMap::from([("success".into(), 3)]))]),
            tool_ms: BTreeMap::from([("ExecCommand".into(), took)]),
            ..Metrics::default()
        };
        metrics.into()
    }

    #[test]
    fn the_table_of_counters_has_one_counter_a_line() {
        let text = table(&output());
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).map(str::to_owned);
        assert_eq!(line("shell_commands").as_deref(), Some("shell_commands                  3"));
        assert_eq!(line("tool_calls").as_deref(), Some("tool_calls ExecCommand success  3"));
        assert_eq!(
            line("tool_ms").as_deref(),
            Some("tool_ms ExecCommand             count 1  p50 <=10  p95 <=10  p99 <=10")
        );
    }

    #[test]
    fn prometheus_reads_the_same_data() {
        let data = serde_json::to_value(output()).expect("JSON");
        let page = MetricsShow::form(PROMETHEUS, &data).expect("a page");
        assert!(page.contains("\npilothouse_shell_commands_total 3\n"), "{page}");
        assert_eq!(MetricsShow::form("plain", &data), None);
        assert_eq!(MetricsShow::form("table", &json!({})), None);
    }
}
