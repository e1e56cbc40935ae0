//! Finding text in the current reader or sheet, and going from match to match.

use crate::console::features::receipts::Receipts;
use crate::console::keys::KeyContext;
use crate::console::state::finding::TextId;
use crate::console::state::{Column, Screen, State, TextSearch};
use crate::console::text::reading::ReaderText;

impl Receipts {
    /// Tells whether there is a text to search.
    pub(in crate::console) fn can_find(&self, state: &State) -> bool {
        state.reader.is_some()
            || state.view_context() == KeyContext::Tasks && !state.view.snapshot.tasks.is_empty()
            || state.focus.screen == Screen::Receipts && state.calls.column == Column::Calls
            || state.focus.screen == Screen::Receipts
                && self.sheet.as_ref().is_some_and(|sheet| sheet.is_answered)
    }

    /// Finds the typed text, starting at the current row.
    pub(in crate::console) fn start_finding(&mut self, state: &mut State) {
        let text = state.take_written();
        self.unfold(state);
        state.calls.finding = (!text.is_empty()).then(|| TextSearch::new(&text));
        self.find_in_shown_text(state);
        if let Some((finding, text, _)) = self.shown_text(state) {
            finding.begin(text);
        }
    }

    /// Searches the current text, if it is not the one searched last.
    pub(in crate::console) fn find_in_shown_text(&mut self, state: &mut State) {
        if let Some((finding, text, id)) = self.shown_text(state) {
            finding.look(&text.document, id);
        }
    }

    /// Unfolds the current text: the search text may be in a folded part.
    fn unfold(&mut self, state: &State) {
        if let Some(sheet) = self.sheet.as_mut().filter(|_| state.reader.is_none()) {
            sheet.envelope.at = sheet.envelope.document.unfold(sheet.envelope.at);
        }
    }

    /// Returns the current search and the text on screen.
    fn shown_text<'a>(
        &'a mut self,
        state: &'a mut State,
    ) -> Option<(&'a mut TextSearch, &'a mut ReaderText, TextId)> {
        let (finding, column) = (state.calls.finding.as_mut()?, state.calls.column);
        if let Some(reader) = &mut state.reader {
            return Some((finding, &mut reader.text, None));
        }
        let sheet = self.sheet.as_mut()?;
        let id = Some((sheet.seq, column, sheet.budget));
        Some((finding, sheet.text_mut(column), id))
    }

    /// Goes to the next or previous match.
    pub(in crate::console) fn go_to_found(&mut self, state: &mut State, forward: bool) {
        if let Some((finding, text, _)) = self.shown_text(state) {
            finding.go_on(forward, text);
        }
    }
}
