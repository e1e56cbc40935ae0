//! `metrics show`: the counters of the workspace's runtime.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::command::{Example, Local, Nothing};
use super::context::Context;
use super::response::Failure;
use crate::model::{Gauge, Histogram, MetricsReport};
use crate::runtime::prometheus;

/// An output format that only this command has.
const PROMETHEUS: &str = "prometheus";

pub(super) struct MetricsShow;

impl Local for MetricsShow {
    const PATH: &'static str = "metrics.show";
    const ABOUT: &'static str = "Print the counters of the running runtime (also --output prometheus)";
    const EXITS: &'static [u8] = &[4, 12];
    const EXAMPLES: &'static [Example] = &[Example { about: "See what has been counted", input: "{}" }];

    const FORMS: &'static [&'static str] = &[PROMETHEUS];

    type Input = Nothing;
    type Output = MetricsReport;

    async fn run(cx: &mut Context, _input: Nothing) -> Result<MetricsReport, Failure> {
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
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: &str, value: &dyn ToString| rows.push((name.to_owned(), value.to_string()));
    row("exec_command_items", &metrics.exec_command_items);
    row("batched_exec_command_items", &metrics.batched_exec_command_items);
    row("shell_commands", &output.shell_commands);
    row("model_rounds_saved", &output.model_rounds_saved);
    row("promotions", &metrics.promotions);
    row("tasks_started", &metrics.tasks_started);
    row("tasks_peak", &metrics.tasks_peak);
    row("output_bytes_in", &metrics.output_bytes_in);
    row("output_bytes_sent", &metrics.output_bytes_sent);
    row("output_chars_sent", &metrics.output_chars_sent);
    row("output_bytes_dropped", &metrics.output_bytes_dropped);
    row("screen_resets", &metrics.screen_resets);
    for (name, activity) in &metrics.by {
        row(&format!("calls {name}"), &activity.calls);
        row(&format!("commands {name}"), &activity.commands);
        row(&format!("batched {name}"), &activity.batched);
    }
    for (tool, statuses) in &metrics.tool_calls {
        statuses.iter().for_each(|(status, count)| row(&format!("tool_calls {tool} {status}"), count));
    }
    let families = [
        ("tasks", &metrics.tasks_live),
        ("tasks_ended", &metrics.tasks_ended),
        ("operator_actions", &metrics.operator_actions),
        ("input_refused", &metrics.input_refused),
    ];
    for (name, counts) in families {
        counts.iter().for_each(|(what, count)| row(&format!("{name} {what}"), count));
    }
    rows.extend(durations("tool_ms", &metrics.tool_ms));
    rows.extend(durations("task_ms", &metrics.task_ms));
    rows.extend(durations("wait_ms", &metrics.wait_ms));
    rows.extend(metrics.gauges.iter().map(limit));
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().map(|(name, value)| format!("{name:<width$}  {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn limit(gauge: &Gauge) -> (String, String) {
    let task = gauge.task.as_ref().map(|task| format!("  {task}")).unwrap_or_default();
    (format!("limit {}", gauge.limit.as_str()), format!("{} of {}{task}", gauge.used, gauge.cap))
}

fn durations(name: &str, all: &BTreeMap<String, Histogram>) -> impl Iterator<Item = (String, String)> {
    all.iter().map(move |(what, histogram)| {
        let share = |percent| histogram.at_most(percent).map_or("longer".to_owned(), |ms| format!("<={ms}"));
        let value =
            format!("count {}  p50 {}  p95 {}  p99 {}", histogram.count, share(50), share(95), share(99));
        (format!("{name} {what}"), value)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Metrics;

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
    fn a_person_reads_one_counter_a_line() {
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
