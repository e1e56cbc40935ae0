//! A term, explained until it is known.

use crate::console::state::{HINTED, Term};
use crate::console::text::{StyledPiece, piece};
use crate::console::theme::Role;
use crate::console::widgets::Painter;

impl Painter<'_> {
    /// Returns the explanation of a term, unless it is known.
    pub(in crate::console) fn explanation(&mut self, term: Term) -> Option<StyledPiece> {
        let met = *self.state.terms.met.get(&term)?;
        let until = met.checked_add(HINTED).ok()?;
        self.wake_at(until);
        Some(piece(term.text(), Role::Faint))
    }
}
