//! The difference between the answers of two calls.

use crate::console::effect::FeatureReply;
use crate::console::features::receipts::Receipts;
use crate::console::state::{Column, State};
use crate::console::text::diff::Diff;
use crate::console::text::reading::{ReaderText, ReaderView};
use crate::console::text::{json, piece};
use crate::console::theme::Role;
use crate::model::CallRecord;

impl Receipts {
    /// Marks the current call for comparison; if another one is marked, shows how the newer differs from the older; if
    /// it is the marked one, removes the mark.
    pub(in crate::console) fn compare(&mut self, state: &State) -> Option<FeatureReply> {
        let shown = state.shown_record()?;
        match self.marked.clone() {
            Some(marked) if marked.seq == shown.seq => {
                self.marked = None;
                None
            }
            Some(marked) => {
                let mut records = [&*marked, &*shown];
                records.sort_by_key(|record| (record.at, record.seq));
                let names = records.map(|record| state.call_name(record.seq));
                let reader = difference(records[0], records[1], names, state.calls.column);
                Some(FeatureReply::Read(Box::new(reader)))
            }
            None => {
                let text =
                    format!("call {} is marked: go to another one and compare", state.call_name(shown.seq));
                self.marked = Some(shown);
                Some(FeatureReply::Say(text))
            }
        }
    }
}

/// Lays out the difference between two answers: between their receipts if those are on screen, or else their
/// envelopes.
pub(in crate::console) fn difference(
    before: &CallRecord,
    after: &CallRecord,
    names: [String; 2],
    column: Column,
) -> ReaderView {
    let texts = [before, after].map(|record| match column {
        Column::Receipt => record.receipt.clone().unwrap_or_default(),
        _ => record.envelope.as_ref().map(json::text).unwrap_or_default(),
    });
    let diff = Diff::of(&texts[0], &texts[1]);
    let what = if column == Column::Receipt { "receipts" } else { "envelopes" };
    let mut facts = vec![piece(format!("-{} +{}", diff.removed, diff.added), Role::Strong)];
    facts.extend(diff.changes.is_empty().then(|| piece("they are the same", Role::Faint)));
    facts.extend(diff.is_cut.then(|| piece("the first lines of long texts", Role::Faint)));
    ReaderView {
        title: format!("{what} of calls - {} and + {}", names[0], names[1]),
        facts,
        text: ReaderText::new(diff.document),
        parts: diff.changes,
        begin: 0,
        part: "change",
    }
}
