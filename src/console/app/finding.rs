//! Finding text in the current reader or sheet, and going from match to match.

use crate::console::app::App;
use crate::console::keys::KeyContext;
use crate::console::state::finding::TextId;
use crate::console::state::{Column, Screen, TextSearch};
use crate::console::text::reading::ReaderText;

impl App {
    /// Tells whether there is a text to search.
    pub(super) fn can_find(&self) -> bool {
        let state = &self.state;
        state.reader.is_some()
            || state.view_context() == KeyContext::Tasks && !state.view.snapshot.tasks.is_empty()
            || state.focus.screen == Screen::Receipts && state.calls.column == Column::Calls
            || state.focus.screen == Screen::Receipts
                && self.receipts.sheet.as_ref().is_some_and(|sheet| sheet.is_answered)
    }

    /// Finds the typed text, starting at the current row.
    pub(super) fn start_finding(&mut self) {
        let text = self.state.take_written();
        self.unfold();
        self.state.calls.finding = (!text.is_empty()).then(|| TextSearch::new(&text));
        self.find_in_shown_text();
        if let Some((finding, text, _)) = self.shown_text() {
            finding.begin(text);
        }
    }

    /// Searches the current text, if it is not the one searched last.
    pub(super) fn find_in_shown_text(&mut self) {
        if let Some((finding, text, id)) = self.shown_text() {
            finding.look(&text.document, id);
        }
    }

    /// Unfolds the current text: the search text may be in a folded part.
    fn unfold(&mut self) {
        if let Some(sheet) = self.receipts.sheet.as_mut().filter(|_| self.state.reader.is_none()) {
            sheet.envelope.at = sheet.envelope.document.unfold(sheet.envelope.at);
        }
    }

    /// Returns the current search and the text on screen.
    fn shown_text(&mut self) -> Option<(&mut TextSearch, &mut ReaderText, TextId)> {
        let state = &mut self.state;
        let (finding, column) = (state.calls.finding.as_mut()?, state.calls.column);
        if let Some(reader) = &mut state.reader {
            return Some((finding, &mut reader.text, None));
        }
        let sheet = self.receipts.sheet.as_mut()?;
        let id = Some((sheet.seq, column, sheet.budget));
        Some((finding, sheet.text_mut(column), id))
    }

    /// Goes to the next or previous match.
    pub(super) fn go_to_found(&mut self, forward: bool) {
        if let Some((finding, text, _)) = self.shown_text() {
            finding.go_on(forward, text);
        }
    }
}
