//! The metrics screen: live counters of tasks, calls, output and people.

pub mod by_task;
pub mod gauges;
pub mod load;
pub mod places;

use ratatui::layout::Rect;

use crate::console::state::{View, cut_left, cut_top};
use crate::console::text::{StyledPiece, apart, column, count, millis, next_second, piece, size, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::model::metrics::{COUNTERS, CounterSample, CounterValue, MetricsPart, SampleValue};
use crate::model::{HISTORY_SECONDS, Histogram, Metrics};

const LEFT: u16 = 30;

/// Width of the table of calls, in columns.
const CALLS: u16 = 58;

/// Below this height, in rows, only what fits beside the tasks is shown.
const SHORT: u16 = 30;

/// Rows reserved for the usage of tasks.
const LEAST_BY_TASK: u16 = 5;

/// How many tools are listed where there is little room: the most frequently called.
const FEW_TOOLS: usize = 4;

type Rows = Vec<Vec<StyledPiece>>;

pub(in crate::console) fn draw(painter: &mut Painter<'_>, area: Rect) {
    let (view, is_short) = (&painter.state.view, area.height < SHORT);
    let (metrics, now) = (painter.state.metrics(), painter.state.clock.now);
    let [calls_per_second, bytes_per_second] = metrics.history(now);
    if calls_per_second.iter().chain(&bytes_per_second).any(|value| *value > 0) {
        painter.wake_at(next_second(now));
    }
    let left = [tasks(view, metrics, is_short), output(painter, &bytes_per_second, is_short)].concat();
    let mut right = calls(painter, &calls_per_second, area.width.saturating_sub(LEFT + 2), is_short);
    if !is_short {
        right.push(Vec::new());
    }
    right.extend(gauges::limits(painter));
    if !is_short {
        right.push(Vec::new());
        right.extend(operator(metrics));
    }
    // The task usage table always gets its rows, however many tools there are.
    let (above, _) = cut_top(area, area.height.saturating_sub(LEAST_BY_TASK));
    let (column, rest) = cut_left(above, LEFT.min(area.width));
    let other = cut_left(rest, 2).1;
    let used = write(painter, column, &left).max(write(painter, other, &right));
    if !is_short {
        load::draw(painter, cut_top(cut_left(other, CALLS).1, used).0);
    }
    let gap = u16::from(!is_short);
    let below = cut_top(area, used + gap).1;
    let table = places::table(painter, below);
    let gap = if table > 0 { table + gap } else { 0 };
    by_task::draw(painter, cut_top(below, gap).1);
}

fn write(painter: &mut Painter<'_>, area: Rect, rows: &Rows) -> u16 {
    painter.rows(area, rows);
    u16::try_from(rows.len()).unwrap_or(u16::MAX).min(area.height)
}

fn heading(name: &str) -> Vec<StyledPiece> {
    vec![piece(format!(" {name}"), Role::Title)]
}

fn fact(name: &str, value: impl Into<String>) -> Vec<StyledPiece> {
    vec![
        piece(format!(" {}", column(name, 13, "")), Role::Text),
        piece(apart(&value.into(), 15), Role::Strong),
    ]
}

fn tasks(view: &View, metrics: &Metrics, is_short: bool) -> Rows {
    let ended = |status: &str| count(metrics.tasks_ended.get(status).copied().unwrap_or(0));
    let live = |status: &str| count(metrics.tasks_live.get(status).copied().unwrap_or(0));
    let mut rows = vec![heading("TASKS")];
    rows.extend(counters(MetricsPart::Tasks, metrics).map(|(words, value)| fact(words, value)));
    rows.extend([
        fact("live", format!("{}  peak {}", view.live(), metrics.tasks_peak)),
        fact("queued", format!("{}  ending {}", live("queued"), live("cancelling"))),
        fact("completed", ended("completed")),
        fact("failed", ended("failed")),
        fact("cancelled", ended("cancelled")),
        fact("interrupted", ended("interrupted")),
    ]);
    if !is_short {
        rows.push(Vec::new());
    }
    rows
}

fn output(painter: &Painter<'_>, history: &[u64], is_short: bool) -> Rows {
    let mut rows = vec![heading("OUTPUT")];
    let metrics = painter.state.metrics();
    rows.extend(counters(MetricsPart::Output, metrics).map(|(words, value)| fact(words, value)));
    if !is_short {
        rows.push(graph(painter, history, LEFT));
    }
    rows
}

fn calls(painter: &Painter<'_>, history: &[u64], width: u16, is_short: bool) -> Rows {
    let metrics = painter.state.metrics();
    let now = history.iter().sum::<u64>();
    let wide = usize::from(width).saturating_sub(36).clamp(11, 18);
    let mut rows = vec![vec![
        piece(column(" CALLS", wide + 1, ""), Role::Title),
        piece("    ok  err  p50 ms     p95     p99", Role::Faint),
    ]];
    let mut tools: Vec<_> = metrics.tool_calls.iter().collect();
    if is_short {
        tools.sort_by_key(|(_, statuses)| std::cmp::Reverse(statuses.values().sum::<u64>()));
        tools.truncate(FEW_TOOLS);
    }
    for (tool, statuses) in tools {
        let of = |status: &str| Some(statuses.get(status).copied().unwrap_or(0));
        let (_, p50, p95, p99) = metrics.call_ms.get(tool).copied().unwrap_or_default();
        let row = timing_row(painter, tool, wide, [of("success"), of("error")], [p50, p95, p99].map(time));
        rows.push(row);
    }
    if metrics.tool_calls.is_empty() {
        rows.push(vec![piece(" no agent has called yet", Role::Faint)]);
    }
    rows.extend(whole_tasks(painter, wide));
    rows.extend(gauges::waits(painter, wide));
    if is_short {
        return rows;
    }
    rows.push(graph(painter, history, width.min(CALLS)));
    let calls = if now == 1 { "call" } else { "calls" };
    rows.push(vec![piece(format!(" {now} {calls} in the last {HISTORY_SECONDS} s"), Role::Faint)]);
    rows
}

/// Returns a row for all ended tasks, with percentiles as precise as the buckets.
fn whole_tasks(painter: &Painter<'_>, wide: usize) -> Option<Vec<StyledPiece>> {
    let metrics = painter.state.metrics();
    let mut all = Histogram::default();
    metrics.task_ms.values().for_each(|histogram| all.merge(histogram));
    if all.count == 0 {
        return None;
    }
    let of = |status: &str| Some(metrics.tasks_ended.get(status).copied().unwrap_or(0));
    Some(timing_row(
        painter,
        if wide < 16 { "task time" } else { "task duration" },
        wide,
        [of("completed"), of("failed")],
        gauges::shares(&all),
    ))
}

/// Returns a row of timings: the number of successes and failures, and the 50th, 95th and 99th percentile.
fn timing_row(
    painter: &Painter<'_>,
    name: &str,
    wide: usize,
    [well, badly]: [Option<u64>; 2],
    shares: [String; 3],
) -> Vec<StyledPiece> {
    let [ok, err] = [well, badly].map(|many| many.map_or_else(String::new, count));
    let role = if badly > Some(0) { Role::Failed } else { Role::Faint };
    vec![
        piece(format!(" {}", column(&visible::one_line(name), wide, painter.glyphs().cut)), Role::Text),
        piece(apart(&ok, 6), Role::Strong),
        piece(apart(&err, 5), role),
        piece(shares.map(|share| apart(&share, 8)).concat(), Role::Text),
    ]
}

/// Formats milliseconds; from 100 s on with units, as the columns are narrow.
fn time(ms: u64) -> String {
    if ms < 100_000 { count(ms) } else { millis(ms) }
}

fn operator(metrics: &Metrics) -> Rows {
    let line = |(words, value): (&str, String)| {
        vec![piece(format!(" {}", column(words, 16, "")), Role::Text), piece(value, Role::Strong)]
    };
    let mut rows = vec![heading("OPERATOR")];
    rows.extend(counters(MetricsPart::Operator, metrics).map(line));
    rows
}

/// Returns the counters that a part of this screen shows: their words and their values.
fn counters(part: MetricsPart, metrics: &Metrics) -> impl Iterator<Item = (&'static str, String)> {
    let told = if part == MetricsPart::Output { size } else { count };
    COUNTERS.iter().filter_map(move |counter| {
        let (_, words) = counter.on_screen.filter(|(its, _)| *its == part)?;
        let (mut sum, mut each) = (0_u64, Vec::new());
        for CounterSample { labels, value } in counter.samples(metrics) {
            match value {
                SampleValue::Count(n) => {
                    sum = sum.saturating_add(n);
                    each.extend(labels.iter().map(|(_, name)| format!("{} {n}", visible::one_line(name))));
                }
                SampleValue::Signed(n) => each.push(n.to_string()),
                SampleValue::Durations(_) => {}
            }
        }
        let value = match counter.value {
            CounterValue::By(..) | CounterValue::Derived(_) if each.is_empty() => "none".to_owned(),
            CounterValue::By(..) | CounterValue::Derived(_) => each.join(", ").replace('_', " "),
            _ => told(sum),
        };
        Some((words, value))
    })
}

/// Draws the latest values as bars; the highest value fills its cell.
fn graph(painter: &Painter<'_>, values: &[u64], width: u16) -> Vec<StyledPiece> {
    let room = usize::from(width.saturating_sub(1)).min(HISTORY_SECONDS);
    let shown = &values[values.len().saturating_sub(room)..];
    let highest = shown.iter().copied().max().unwrap_or(0);
    let bars = bars(shown, highest, painter.glyphs().levels);
    vec![piece(" ", Role::Text), piece(bars, Role::Graph)]
}

/// Returns a bar of one cell for each value; `full` fills it.
fn bars(values: &[u64], full: u64, levels: [&str; 8]) -> String {
    let bar = |value: &u64| {
        let at = (u128::from(*value) * 7).div_ceil(u128::from(full.max(1)));
        levels[usize::try_from(at).unwrap_or(7).min(7)]
    };
    values.iter().map(bar).collect()
}
