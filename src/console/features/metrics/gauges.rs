//! The measurements on the metrics screen: latencies (including the console's own) and limits.

use crate::console::features::metrics::{time, timing_row};
use crate::console::text::{StyledPiece, apart, column, count, millis, piece, size};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::model::{Gauge, Histogram, LimitKind};

/// Width of a limit's bar, in cells.
const BAR: usize = 8;

/// From this percentage on, a limit is highlighted.
const NEAR: u64 = 90;

/// Returns rows for the waits that do not belong to a tool: as buckets where they are counted that way,
/// otherwise exact.
pub(crate) fn waits(painter: &Painter<'_>, wide: usize) -> Vec<Vec<StyledPiece>> {
    let state = painter.state;
    let row = |name, many, shares| timing_row(painter, name, wide, [many, None], shares);
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
        LimitKind::Output => ("output/task", size),
        LimitKind::Kept => ("kept/stream", size),
        LimitKind::Wall => ("time/task", |ms| millis(ms / 1_000 * 1_000)),
        LimitKind::Disk => ("disk", size),
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
