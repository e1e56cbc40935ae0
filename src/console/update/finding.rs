//! Finding a text in what is read: written once, then from place to place.

use tui_input::Input as Editor;

use super::super::app::calls::Column;
use super::super::app::finding::{Finding, TextId};
use super::super::app::{App, Mode, View};
use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::msg::Effect;

impl App {
    /// Tells whether there is a text to find something in.
    pub(super) fn can_find(&self) -> bool {
        self.view == View::Receipts && self.calls.sheet.as_ref().is_some_and(|sheet| sheet.is_answered)
    }

    /// Tells whether something was looked for, and the keys of its text hold.
    pub(in super::super) fn is_finding(&self) -> bool {
        self.calls.finding.is_some() && self.context() == Context::Receipts
    }

    pub(super) fn find_in_text(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::FindText => {
                if self.calls.column == Column::Calls {
                    self.calls.column = Column::Receipt;
                }
                self.mode = Mode::Find(Editor::default());
            }
            _ => {
                let mut place = self.calls.place();
                if let Some(finding) = &mut self.calls.finding {
                    finding.go_on(action == Action::NextFound, &mut place);
                    self.calls.put(place);
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
        self.calls.finding = (!text.is_empty()).then(|| Finding::new(&text));
        self.look_through();
        let mut place = self.calls.place();
        if let Some(finding) = &mut self.calls.finding {
            finding.begin(&mut place);
            self.calls.put(place);
        }
    }

    /// Looks through the text that is read now, if it is another one than before.
    pub(super) fn look_through(&mut self) {
        let column = self.calls.column;
        let Some((sheet, finding)) = self.calls.sheet.as_ref().zip(self.calls.finding.as_mut()) else {
            return;
        };
        finding.look(sheet.document(column), TextId::of(sheet, column));
    }
}
