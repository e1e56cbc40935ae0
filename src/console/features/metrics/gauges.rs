//! The measurements on the metrics screen: latencies (including the console's own), limits, and the usage of
//! each task.

use ratatui::layout::Rect;

use crate::console::features::metrics::{time, timed};
use crate::console::state::usage::UsageSamples;
use crate::console::state::{alias, command, cut_top};
use crate::console::text::{StyledPiece, apart, bytes, column, count, millis, piece, right};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::model::{Gauge, Histogram, LimitKind, TaskView};

/// Width of a limit's bar, in cells.
const BAR: usize = 8;

/// From this percentage on, a limit is highlighted.
const NEAR: u64 = 90;

/// Minimum width at which a task's row shows all of its facts, in columns.
const ROOMY: u16 = 110;

/// Width of a task's state, in columns.
const STATE: usize = 13;

const LONG_HISTORY: usize = 10;

/// Returns rows for the waits that do not belong to a tool: as buckets where they are counted that way,
/// otherwise exact.
pub(crate) fn waits(painter: &Painter<'_>, wide: usize) -> Vec<Vec<StyledPiece>> {
    let state = painter.state;
    let row = |name, many, shares| timed(painter, name, wide, [many, None], shares);
    let counted = [
        (if wide < 18 { "1st output" } else { "time to 1st output" }, "first_byte"),
        ("time to stop", "stop"),
    ]
    .map(|(name, key)| {
        let histogram = state.metrics().wait_ms.get(key).filter(|histogram| histogram.count > 0)?;
        Some(row(name, Some(histogram.count), shares(histogram)))
    });
    let own = [("key to echo", &state.pace.echo), ("frame", &state.pace.frame)].map(|(name, lately)| {
        let shares = lately.shares()?;
        Some(row(name, None, shares.map(tenths)))
    });
    counted.into_iter().chain(own).flatten().collect()
}

/// Returns the 50th, 95th and 99th percentile, as precisely as the buckets allow.
pub(crate) fn shares(histogram: &Histogram) -> [String; 3] {
    let within = |percent| histogram.at_most(percent);
    [50, 95, 99].map(|percent| within(percent).map_or("longer".to_owned(), |ms| format!("<{}", time(ms))))
}

/// Formats microseconds as milliseconds with one decimal.
fn tenths(us: u64) -> String {
    format!("{}.{}", us / 1_000, us % 1_000 / 100)
}

/// Returns the limits and how much of each is used.
pub(crate) fn limits(painter: &mut Painter<'_>) -> Vec<Vec<StyledPiece>> {
    let state = painter.state;
    if state.metrics().gauges.is_empty() {
        return Vec::new();
    }
    let head = format!(" {}{}", column("LIMITS", 13 + BAR, ""), "     used       cap");
    let mut rows = vec![vec![piece(head, Role::Title)]];
    let gauges = state.metrics().gauges.clone();
    rows.extend(gauges.iter().map(|gauge| limit(painter, gauge)));
    rows
}

fn limit(painter: &mut Painter<'_>, gauge: &Gauge) -> Vec<StyledPiece> {
    let used = gauge.used_at(painter.state.clock.now);
    if gauge.since.is_some() {
        // Elapsed time grows even without new data.
        let next = painter.state.clock.now.checked_add(jiff::SignedDuration::from_secs(1));
        next.into_iter().for_each(|at| painter.wake_at(at));
    }
    let (name, told): (&str, fn(u64) -> String) = match gauge.limit {
        LimitKind::Tasks => ("live tasks", count),
        LimitKind::Output => ("output/task", bytes),
        LimitKind::Kept => ("kept/stream", bytes),
        LimitKind::Wall => ("time/task", |ms| millis(ms / 1_000 * 1_000)),
        LimitKind::Disk => ("disk", bytes),
    };
    let percent = u128::from(used) * 100 / u128::from(gauge.cap.max(1));
    let percent = u64::try_from(percent).unwrap_or(u64::MAX);
    let full = usize::try_from(percent).unwrap_or(usize::MAX).saturating_mul(BAR).div_ceil(100).min(BAR);
    let glyphs = painter.glyphs();
    let bar = format!("{}{}", glyphs.levels[7].repeat(full), glyphs.dot.repeat(BAR - full));
    let role = if percent >= NEAR { Role::Capped } else { Role::Graph };
    let task = gauge.number.map_or_else(String::new, |number| format!("  t{number:02}"));
    let mark = if percent >= NEAR { format!(" {}", glyphs.states[7]) } else { String::new() };
    vec![
        piece(format!(" {}", column(name, 13, "")), Role::Text),
        piece(bar, role),
        piece(apart(&told(used), 10), Role::Strong),
        piece(apart(&told(gauge.cap), 10), Role::Faint),
        piece(task, Role::Faint),
        piece(mark, Role::Capped),
    ]
}

/// Draws the table of tasks and their usage.
pub(crate) fn by_task(painter: &mut Painter<'_>, area: Rect) {
    if area.height < 2 {
        return;
    }
    let state = painter.state;
    let is_roomy = area.width >= ROOMY;
    let spark = if is_roomy { LONG_HISTORY } else { 0 };
    let output = if is_roomy { "     OUTPUT" } else { "" };
    let time = if painter.is_still() { "TIME" } else { " AGE" };
    let heading = format!(
        " {}{}{}       MEM{output}     OUT/s      IN  PROCS   {time}  COMMAND",
        column("BY TASK", 3 + state.alias_columns(6) + STATE, ""),
        column("CPU", spark, ""),
        right(if is_roomy { "%" } else { "CPU %" }, 5)
    );
    painter.row(area, 0, &[piece(heading, Role::Faint)]);
    let body = cut_top(area, 1).1;
    let shown = usize::from(body.height);
    let at = state.selected_at().unwrap_or(0);
    let top = (at + 1).saturating_sub(shown);
    painter.list(body, state.tasks().into_iter().skip(top), |painter, task| {
        let is_selected = state.list.selected.as_ref() == Some(&task.id);
        let row = task_row(painter, task, is_selected, (is_roomy, spark, STATE));
        (painter.cut(&row, body.width.saturating_sub(1)), is_selected)
    });
}

fn task_row(
    painter: &mut Painter<'_>,
    task: &TaskView,
    is_selected: bool,
    (is_roomy, spark, columns): (bool, usize, usize),
) -> Vec<StyledPiece> {
    let state = painter.state(task);
    let mark = painter.marker(is_selected);
    let word = format!("{} {}", state.glyph, state.word);
    let ran = painter.ran(task);
    let glyphs = painter.glyphs();
    let used = painter.state.view.usage.of(&task.id).filter(|_| !task.status.is_terminal());
    let known = |value: Option<String>| value.unwrap_or_else(|| glyphs.dot.to_owned());
    let fact = |value: fn(&UsageSamples) -> Option<String>| known(used.and_then(value));
    let mut row = vec![
        piece(format!(" {mark} "), Role::Accent),
        piece(column(&alias(task), painter.state.alias_columns(6), ""), Role::Text),
        piece(column(&word, columns, glyphs.cut), state.role),
        piece(format!(" {}", history(used, spark, glyphs.levels)), Role::Graph),
        piece(apart(&fact(|used| used.cpu.map(|cpu| cpu.to_string())), 5), Role::Strong),
        piece(apart(&fact(|used| used.memory.map(bytes)), 10), Role::Text),
    ];
    if is_roomy {
        row.push(piece(apart(&bytes(task.output.bytes), 11), Role::Text));
    }
    row.extend([
        piece(apart(&fact(|used| used.printed.map(bytes)), 10), Role::Text),
        piece(apart(&fact(|used| Some(count(used.typed))), 8), Role::Text),
        piece(apart(&fact(|used| used.processes.map(|many| many.to_string())), 7), Role::Text),
        piece(format!("{}  ", apart(&ran, 7)), Role::Faint),
    ]);
    row.extend(command(task));
    row
}

/// Draws the CPU usage per second as bars; 100 percent fills the cell.
fn history(used: Option<&UsageSamples>, seconds: usize, levels: [&str; 8]) -> String {
    let known: Vec<u64> = used.map(|used| used.history.iter().copied().collect()).unwrap_or_default();
    let shown = &known[known.len().saturating_sub(seconds)..];
    let bar = |cpu: &u64| levels[usize::try_from(cpu.saturating_mul(7).div_ceil(100)).unwrap_or(7).min(7)];
    let bars: String = shown.iter().map(bar).collect();
    format!("{}{bars}", " ".repeat(seconds - shown.len()))
}
