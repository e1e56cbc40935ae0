//! All figures of a run: as JSON for programs, and as Markdown tables for a document.

use serde_json::json;

use super::machine::Machine;
use super::report::Figure;

/// The markers around a document's tables.
const BEGIN: &str = "<!-- figures: written by `cargo bench -- --markdown` -->";
const END: &str = "<!-- end of the figures -->";

/// Returns everything, including the raw numbers.
pub(crate) fn json(machine: &Machine, runs: usize, figures: &[Figure]) -> String {
    let report = json!({ "format": 1, "machine": machine, "runs": runs, "figures": figures });
    format!("{report:#}\n")
}

/// Returns a table per heading: each figure with its limit and its value in each run.
pub(crate) fn markdown(machine: &Machine, runs: usize, figures: &[Figure]) -> String {
    let mut text = format!("{}\n", machine.in_words());
    let mut part = "";
    for figure in figures {
        if figure.part != part {
            part = &figure.part;
            text.push_str(&format!("\n**{part}**\n\n| | limit | {} | |\n|---|---|---|---|\n", heading(runs)));
        }
        let values: Vec<_> = figure.runs.iter().map(|value| short(*value)).collect();
        let unit = if figure.unit.is_empty() { String::new() } else { format!(" {}", figure.unit) };
        let limit = figure.target.in_words();
        let row =
            format!("| {} | {limit} | {}{unit} | {} |\n", figure.what, values.join(", "), verdict(figure));
        text.push_str(&row);
    }
    text
}

fn heading(runs: usize) -> String {
    if runs == 1 { "measured".to_owned() } else { format!("{runs} runs") }
}

/// Tells how many runs met the limit, if not all did.
fn verdict(figure: &Figure) -> String {
    let verdicts: Vec<bool> = figure.runs.iter().filter_map(|value| figure.target.is_met(*value)).collect();
    match verdicts.iter().filter(|met| **met).count() {
        _ if verdicts.is_empty() => String::new(),
        met if met == verdicts.len() => "met".to_owned(),
        0 => "missed".to_owned(),
        met => format!("met {met} of {}", verdicts.len()),
    }
}

/// Formats a value with three significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Returns a document with new tables between its markers.
///
/// # Errors
///
/// A message, if the document lacks the two markers.
pub(crate) fn placed(document: &str, tables: &str) -> Result<String, String> {
    let marks = document.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = marks.ok_or_else(|| format!("the document has no lines {BEGIN} and {END}"))?;
    Ok(format!("{before}{BEGIN}\n\n{tables}\n{END}{after}"))
}
