//! Texts that take the whole screen: the difference of two answers; moving in them, and leaving.

use serde_json::Value;

use super::super::app::calls::{Column, Place};
use super::super::app::reader::Reader;
use super::super::app::seen::{self, Told};
use super::super::app::showing;
use super::super::app::{App, View, alias};
use super::super::keys::action::Action;
use super::super::looks::theme::Role;
use super::super::msg::Effect;
use super::super::plan::cut_top;
use super::super::text;
use super::super::text::diff::Diff;
use super::super::text::document::piece;
use super::scroll::moved;
use crate::runtime::CallRecord;

impl App {
    /// Marks the call shown; with another one marked, shows how the two differ. The marked one again: no mark.
    pub(super) fn compare(&mut self) -> Vec<Effect> {
        let Some(shown) = self.shown_record() else { return Vec::new() };
        match self.calls.marked.clone() {
            Some(marked) if marked.seq == shown.seq => self.calls.marked = None,
            Some(marked) => {
                self.calls.finding = None;
                self.toasts.pass();
                self.reader = Some(difference(&marked, &shown, self.calls.column));
            }
            None => {
                let text =
                    format!("call {} is marked: go to another one and compare", text::count(shown.seq));
                self.toasts.say(text, None, self.now);
                self.calls.marked = Some(shown);
            }
        }
        Vec::new()
    }

    /// Asks for what the answer shown has told of its task, or of the commands of its batch.
    pub(super) fn ask_seen(&mut self) -> Vec<Effect> {
        let Some(record) = self.shown_record() else { return Vec::new() };
        let task = self.shown_call().and_then(|call| call.task.clone());
        match showing::shown(&record, task.as_ref(), &self.snapshot.tasks) {
            Ok(shown) => vec![Effect::Seen { call: record.seq, shown }],
            Err(why) => {
                self.toasts.say(why, Some(record.seq), self.now);
                Vec::new()
            }
        }
    }

    /// Shows what an answer has told of its task, unless the person has gone on.
    pub(super) fn seen_read(&mut self, call: u64, commands: &[Told]) {
        let shown = self.shown_call().filter(|shown| shown.seq == call && self.view == View::Receipts);
        let Some(shown) = shown else { return };
        let name = shown.task.as_ref().and_then(|id| self.task(id)).map(|task| alias(task));
        let title = match name {
            Some(name) => format!("{name}: what call {} showed of it", text::count(call)),
            None => format!("what call {} showed of its commands", text::count(call)),
        };
        let at = self.calls.item_read().unwrap_or_default();
        self.calls.finding = None;
        let reader = seen::reader(title, commands, self.setup.theme.glyphs);
        self.reader = Some(Reader { begin: at, ..reader });
    }

    /// Moves in the text that is read over the screen.
    pub(super) fn go_in_reader(&mut self, action: Action) {
        let shown = usize::from(cut_top(self.plan().stage, 1).1.height);
        let Some(reader) = &mut self.reader else { return };
        let last = reader.document.rows().len().saturating_sub(1);
        match action {
            Action::NextPart => reader.jump(true),
            Action::PreviousPart => reader.jump(false),
            action => reader.place.at = moved(reader.place.at, action, shown.saturating_sub(1).max(1), last),
        }
    }
}

/// Lays out how two answers differ: their receipts when those are read, else their envelopes.
fn difference(before: &CallRecord, after: &CallRecord, column: Column) -> Reader {
    let texts = [before, after].map(|record| match column {
        Column::Receipt => record.receipt.clone().unwrap_or_default(),
        _ => pretty(record.envelope.as_ref()),
    });
    let diff = Diff::of(&texts[0], &texts[1]);
    let what = if column == Column::Receipt { "receipts" } else { "envelopes" };
    let (first, second) = (text::count(before.seq), text::count(after.seq));
    let mut facts = vec![piece(format!("-{} +{}", diff.removed, diff.added), Role::Strong)];
    facts.extend(diff.changes.is_empty().then(|| piece("they are the same", Role::Faint)));
    facts.extend(diff.is_cut.then(|| piece("the first lines of long texts", Role::Faint)));
    Reader {
        title: format!("{what} of calls - {first} and + {second}"),
        facts,
        document: diff.document,
        place: Place::default(),
        parts: diff.changes,
        begin: 0,
        part: "change",
    }
}

fn pretty(value: Option<&Value>) -> String {
    value.map(|value| format!("{value:#}")).unwrap_or_default()
}
