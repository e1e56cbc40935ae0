//! Reports figures: one line each beside its limit as soon as it is measured, and all of them at the end.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

/// What a figure should be.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// No limit: shown to explain the others.
    None,
}

impl Target {
    /// Tells whether a value meets the target; `None` if there is no limit.
    pub(crate) fn is_met(self, value: f64) -> Option<bool> {
        match self {
            Self::AtMost(limit) => Some(value <= limit),
            Self::AtLeast(limit) => Some(value >= limit),
            Self::None => None,
        }
    }

    /// Returns e.g. `<= 3`, or an empty string.
    pub(crate) fn in_words(self) -> String {
        match self {
            Self::AtMost(limit) => format!("<= {limit}"),
            Self::AtLeast(limit) => format!(">= {limit}"),
            Self::None => String::new(),
        }
    }
}

/// One figure over all runs.
#[derive(Clone, Serialize)]
pub(crate) struct Figure {
    /// The part that measured it, by its name on the command line.
    pub(crate) part: String,
    /// The heading that it appears under.
    pub(crate) table: String,
    pub(crate) what: String,
    pub(crate) unit: String,
    pub(crate) target: Target,
    /// Its value in each run.
    pub(crate) runs: Vec<f64>,
    /// The samples behind each run's value, if the part provides them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) samples: Vec<Vec<f64>>,
}

/// Everything measured so far, and what is being measured.
struct Report {
    part: String,
    table: String,
    figures: Vec<Figure>,
}

static REPORT: Mutex<Report> =
    Mutex::new(Report { part: String::new(), table: String::new(), figures: Vec::new() });

fn report() -> MutexGuard<'static, Report> {
    REPORT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns everything measured so far, in the order of the first run.
pub(crate) fn figures() -> Vec<Figure> {
    report().figures.clone()
}

/// Begins a part.
pub(crate) fn part(name: &str) {
    name.clone_into(&mut report().part);
}

/// Begins a table.
pub(crate) fn head(title: &str) {
    println!("\n{title}");
    title.clone_into(&mut report().table);
}

/// Prints a figure beside its target, and stores it.
pub(crate) fn line(what: &str, value: f64, unit: &str, target: Target) {
    let verdict = match target.is_met(value) {
        None => "",
        Some(true) => "met",
        Some(false) => "MISSED",
    };
    let row = format!("  {what:<52} {value:>9.2} {unit:<4} {:>9}  {verdict}", target.in_words());
    println!("{}", row.trim_end());
    with(what, unit, target, |figure| figure.runs.push(value));
}

/// Prints the median and a percentile of some times, and stores the times. `percent` is the percentile.
pub(crate) fn spread(what: &str, values: &[f64], unit: &str, (percent, targets): (usize, [Target; 2])) {
    line(&format!("{what}, p50"), median(values), unit, targets[0]);
    line(&format!("{what}, p{percent}"), percentile(values, percent), unit, targets[1]);
    with(&format!("{what}, p50"), unit, targets[0], |figure| figure.samples.push(values.to_vec()));
}

fn with(what: &str, unit: &str, target: Target, change: impl FnOnce(&mut Figure)) {
    let Report { part, table, figures } = &mut *report();
    let at = figures
        .iter()
        .position(|figure| (&figure.part, &figure.table) == (part, table) && figure.what == what);
    let at = at.unwrap_or_else(|| {
        let (part, table) = (part.clone(), table.clone());
        let (what, unit) = (what.to_owned(), unit.to_owned());
        figures.push(Figure { part, table, what, unit, target, runs: Vec::new(), samples: Vec::new() });
        figures.len() - 1
    });
    change(&mut figures[at]);
}

pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 50)
}

/// Returns the smallest value that at least `percent` percent of the values do not exceed.
pub(crate) fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() * percent).div_ceil(100).clamp(1, sorted.len().max(1)) - 1;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
