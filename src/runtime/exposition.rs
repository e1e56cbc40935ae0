//! The metrics in Prometheus text format.

use std::fmt::{self, Write as _};

use crate::model::metrics::{COUNTERS, Counter, CounterSample, CounterValue, SampleValue};
use crate::model::{BOUNDS_MS, Histogram, Metrics};

/// Writes the metrics, one family after the other.
pub fn prometheus(metrics: &Metrics) -> String {
    let mut page = MetricsPage(String::new());
    for counter in &COUNTERS {
        page.counter(counter, metrics);
    }
    page.family("limit", "Limits, in tasks, bytes or milliseconds.", "gauge");
    for gauge in &metrics.gauges {
        page.sample("limit", &[("of", gauge.limit.as_str())], gauge.cap);
    }
    page.family("limit_used", "How much of them is used.", "gauge");
    for gauge in &metrics.gauges {
        page.sample("limit_used", &[("of", gauge.limit.as_str())], gauge.used);
    }
    page.0
}

struct MetricsPage(String);

impl MetricsPage {
    fn family(&mut self, name: &str, help: &str, kind: &str) {
        self.line(format_args!("# HELP pilothouse_{name} {help}"));
        self.line(format_args!("# TYPE pilothouse_{name} {kind}"));
    }

    fn counter(&mut self, counter: &Counter, metrics: &Metrics) {
        let (suffix, kind) = match counter.value {
            CounterValue::Peak(_) | CounterValue::LiveBy(..) | CounterValue::Derived(_) => ("", "gauge"),
            CounterValue::Durations(..) => ("", "histogram"),
            _ => ("_total", "counter"),
        };
        let name = &format!("{}{suffix}", counter.family);
        self.family(name, counter.help, kind);
        for CounterSample { labels, value } in counter.samples(metrics) {
            match value {
                SampleValue::Count(count) => self.sample(name, &labels, count),
                SampleValue::Signed(count) => self.sample(name, &labels, count),
                SampleValue::Durations(took) => self.durations(name, &labels, took),
            }
        }
    }

    fn durations(&mut self, name: &str, labels: &[(&str, &str)], histogram: &Histogram) {
        let mut upto = 0;
        for (bound, count) in BOUNDS_MS.iter().zip(histogram.buckets) {
            upto += count;
            self.sample(&format!("{name}_bucket"), &[labels, &[("le", &seconds(*bound))]].concat(), upto);
        }
        self.sample(&format!("{name}_bucket"), &[labels, &[("le", "+Inf")]].concat(), histogram.count);
        self.sample(&format!("{name}_sum"), labels, seconds(histogram.sum_ms));
        self.sample(&format!("{name}_count"), labels, histogram.count);
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl fmt::Display) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.line(format_args!("pilothouse_{name}{labels} {value}"));
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

/// Formats milliseconds as seconds, exactly.
fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1_000, ms % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn metrics() -> Metrics {
        let counts = |pairs: &[(&str, u64)]| pairs.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        let mut took = Histogram::default();
        [3, 400, 9_000_000].into_iter().for_each(|ms| took.add(ms));
        Metrics {
            tool_calls: BTreeMap::from([("ExecCommandBatch".to_owned(), counts(&[("success", 2)]))]),
            exec_command_items: 4,
            batched_exec_command_items: 9,
            tasks_live: counts(&[("running", 1)]),
            input_refused: counts(&[("a \"quoted\" \\ \n reason", 1)]),
            tool_ms: BTreeMap::from([("ExecCommand".to_owned(), took)]),
            ..Metrics::default()
        }
    }

    #[test]
    fn derived_counters_are_written_too() {
        let page = prometheus(&metrics());
        for line in [
            "pilothouse_tool_calls_total{tool=\"ExecCommandBatch\",status=\"success\"} 2",
            "pilothouse_shell_commands_total 13",
            "pilothouse_model_rounds_saved 7",
            "pilothouse_tasks{status=\"running\"} 1",
            "pilothouse_input_refused_total{reason=\"a \\\"quoted\\\" \\\\ \\n reason\"} 1",
            "pilothouse_tool_duration_seconds_bucket{tool=\"ExecCommand\",le=\"0.005\"} 1",
            "pilothouse_tool_duration_seconds_bucket{tool=\"ExecCommand\",le=\"0.5\"} 2",
            "pilothouse_tool_duration_seconds_bucket{tool=\"ExecCommand\",le=\"3600\"} 2",
            "pilothouse_tool_duration_seconds_bucket{tool=\"ExecCommand\",le=\"+Inf\"} 3",
            "pilothouse_tool_duration_seconds_sum{tool=\"ExecCommand\"} 9000.403",
        ] {
            assert!(page.lines().any(|own| own == line), "{line} is not in\n{page}");
        }
    }

    /// Parses a sample line as Prometheus does: name, labels, value.
    fn sample(line: &str) -> Option<(String, String, f64)> {
        let end = line.find(['{', ' '])?;
        let (name, rest) = line.split_at(end);
        let (labels, value) = match rest.strip_prefix('{') {
            None => ("", rest.strip_prefix(' ')?),
            Some(rest) => {
                let mut is_escaped = false;
                let mut is_quoted = false;
                let close = rest.char_indices().find_map(|(at, c)| {
                    let closes = c == '}' && !is_quoted;
                    is_quoted ^= c == '"' && !is_escaped;
                    is_escaped = c == '\\' && !is_escaped;
                    closes.then_some(at)
                })?;
                (&rest[..close], rest[close + 1..].strip_prefix(' ')?)
            }
        };
        let is_name = |name: &str| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        is_name(name).then_some((name.to_owned(), labels.to_owned(), value.parse().ok()?))
    }

    #[test]
    fn every_line_is_of_the_format_and_every_family_is_declared_once() {
        let page = prometheus(&metrics());
        assert!(page.ends_with('\n'));
        let mut families = std::collections::BTreeSet::new();
        let mut seen = std::collections::BTreeSet::new();
        for line in page.lines() {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                let (name, kind) = declared.split_once(' ').expect("a kind");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(families.insert(name.to_owned()), "{name} twice");
            } else if !line.starts_with("# HELP ") {
                let (name, labels, value) = sample(line).unwrap_or_else(|| panic!("{line}"));
                let base = ["_bucket", "_sum", "_count"]
                    .iter()
                    .find_map(|end| name.strip_suffix(end))
                    .unwrap_or(&name);
                assert!(families.contains(&name) || families.contains(base), "{name} is not declared");
                assert!(value >= 0.0 && seen.insert((name, labels)), "{line}");
            }
        }
    }
}
