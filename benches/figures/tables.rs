//! All figures of a run: as JSON for programs, and as Markdown tables for a document.

use serde_json::json;

use super::machine::Machine;
use super::report::Figure;

/// Begins the place for a part's tables in a document; the name of the part and [`NAMED`] follow.
const PLACE: &str = "<!-- figures: ";
const NAMED: &str = " -->";
const END: &str = "<!-- end of figures -->";
/// The place for the description of the machine.
const MACHINE: &str = "machine";

/// The figures of one run of the program, and where they come from.
pub(crate) struct Tables<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) runs: usize,
    pub(crate) figures: &'a [Figure],
}

impl Tables<'_> {
    /// Returns everything, including the raw numbers.
    pub(crate) fn json(&self) -> String {
        let report =
            json!({ "format": 2, "machine": self.machine, "runs": self.runs, "figures": self.figures });
        format!("{report:#}\n")
    }

    /// Returns all tables, with the machine in front of them.
    pub(crate) fn markdown(&self) -> String {
        format!("{}\n{}", self.machine.in_words(), self.of(|_| true))
    }

    /// Returns a document with new tables in the places of the parts that were measured.
    ///
    /// # Errors
    ///
    /// A message, if a part has no place in the document or if a place does not end.
    pub(crate) fn placed(&self, document: &str) -> Result<String, String> {
        let (mut text, mut places, mut rest) = (String::new(), Vec::new(), document);
        while let Some((before, place)) = rest.split_once(PLACE) {
            let (name, old) = place.split_once(NAMED).ok_or("a place for figures has no name")?;
            let (old, after) =
                old.split_once(END).ok_or_else(|| format!("the place of {name} has no end"))?;
            let new = self.of_part(name).map_or_else(|| old.to_owned(), |tables| format!("\n\n{tables}\n\n"));
            text.push_str(&format!("{before}{PLACE}{name}{NAMED}{new}{END}"));
            places.push(name);
            rest = after;
        }
        match self.figures.iter().find(|figure| !places.contains(&figure.part.as_str())) {
            Some(figure) => Err(format!("the document has no line {PLACE}{}{NAMED}", figure.part)),
            None => Ok(text + rest),
        }
    }

    /// Returns the tables of a part and when they were measured; `None` if they were not.
    fn of_part(&self, part: &str) -> Option<String> {
        if part == MACHINE {
            return Some(self.machine.in_words());
        }
        let tables = self.of(|figure| figure.part == part);
        (!tables.is_empty()).then(|| format!("{}\n\n{}", tables.trim(), self.machine.in_short()))
    }

    /// Returns a table per heading: each figure with its limit and its value in each run.
    fn of(&self, wanted: impl Fn(&Figure) -> bool) -> String {
        let heading = if self.runs == 1 { "measured".to_owned() } else { format!("{} runs", self.runs) };
        let (mut text, mut table) = (String::new(), "");
        for figure in self.figures.iter().filter(|figure| wanted(figure)) {
            if figure.table != table {
                table = &figure.table;
                text.push_str(&format!("\n**{table}**\n\n| | limit | {heading} | |\n|---|---|---|---|\n"));
            }
            text.push_str(&row(figure));
        }
        text
    }
}

fn row(figure: &Figure) -> String {
    let values: Vec<_> = figure.runs.iter().map(|value| short(*value)).collect();
    let unit = if figure.unit.is_empty() { String::new() } else { format!(" {}", figure.unit) };
    let (limit, values) = (figure.target.in_words(), values.join(", "));
    format!("| {} | {limit} | {values}{unit} | {} |\n", figure.what, verdict(figure))
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
