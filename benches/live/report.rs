//! Figures on their way to the reader: medians, percentiles, and one line each with its target.

use std::time::Duration;

/// What a figure should be.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Shown to understand the others.
    None,
}

pub(crate) fn head(title: &str) {
    println!("\n{title}");
}

/// Prints a figure beside its target.
pub(crate) fn line(what: &str, value: f64, unit: &str, target: Target) {
    let (limit, is_met) = match target {
        Target::AtMost(limit) => (format!("<= {limit}"), value <= limit),
        Target::AtLeast(limit) => (format!(">= {limit}"), value >= limit),
        Target::None => (String::new(), true),
    };
    let verdict = match (target, is_met) {
        (Target::None, _) => "",
        (_, true) => "met",
        (_, false) => "MISSED",
    };
    let row = format!("  {what:<52} {value:>9.2} {unit:<4} {limit:>9}  {verdict}");
    println!("{}", row.trim_end());
}

pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 50)
}

/// Returns the smallest value that so many percent of the values do not exceed.
pub(crate) fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() * percent).div_ceil(100).clamp(1, sorted.len().max(1)) - 1;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
