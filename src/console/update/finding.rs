//! Finding a text in what is read: written once, then from place to place.

use tui_input::Input as Editor;

use super::super::app::calls::{Column, Place};
use super::super::app::finding::{Finding, TextId};
use super::super::app::{App, Mode, View};
use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::msg::Effect;

impl App {
    /// Tells whether there is a text to find something in.
    pub(super) fn can_find(&self) -> bool {
        self.reader.is_some()
            || self.view == View::Receipts && self.calls.sheet.as_ref().is_some_and(|sheet| sheet.is_answered)
    }

    /// Tells whether something was looked for, and the keys of its text hold.
    pub(in super::super) fn is_finding(&self) -> bool {
        self.calls.finding.is_some() && matches!(self.context(), Context::Receipts | Context::Text)
    }

    pub(super) fn find_in_text(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::FindText => {
                if self.reader.is_none() && self.calls.column == Column::Calls {
                    self.calls.column = Column::Receipt;
                }
                self.mode = Mode::Find(Editor::default());
            }
            _ => {
                let mut place = self.place();
                if let Some(finding) = &mut self.calls.finding {
                    finding.go_on(action == Action::NextFound, &mut place);
                    self.put(place);
                }
            }
        }
        Vec::new()
    }

    /// Finds what is written, from the row that is read on.
    pub(super) fn found_text(&mut self) {
        let Mode::Find(editor) = &self.mode else { return };
        let text = editor.value().to_owned();
        self.observe();
        self.unfold();
        self.calls.finding = (!text.is_empty()).then(|| Finding::new(&text));
        self.look_through();
        let mut place = self.place();
        if let Some(finding) = &mut self.calls.finding {
            finding.begin(&mut place);
            self.put(place);
        }
    }

    /// Looks through the text that is read now, if it is another one than before.
    pub(super) fn look_through(&mut self) {
        let Some(finding) = self.calls.finding.as_mut() else { return };
        match (&self.reader, &self.calls.sheet) {
            (Some(reader), _) => finding.look(&reader.document, TextId::over(&reader.document)),
            (None, Some(sheet)) => {
                let column = self.calls.column;
                finding.look(sheet.document(column), TextId::of(sheet, column));
            }
            (None, None) => {}
        }
    }

    /// Opens what is folded of the text that is read: what is looked for may stand in it.
    fn unfold(&mut self) {
        if let Some(sheet) = self.calls.sheet.as_mut().filter(|_| self.reader.is_none()) {
            let at = sheet.envelope.unfold(self.calls.envelope.at);
            self.calls.envelope.at = at;
        }
    }

    /// Returns where the text is read that keys act on.
    fn place(&self) -> Place {
        self.reader.as_ref().map_or_else(|| self.calls.place(), |reader| reader.place)
    }

    fn put(&mut self, place: Place) {
        match &mut self.reader {
            Some(reader) => reader.place = place,
            None => self.calls.put(place),
        }
    }
}
