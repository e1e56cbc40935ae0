//! Which terms are on screen, and when each is known.

use strum::VariantArray as _;

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::keys::Action;
use crate::console::state::{Column, HINTED, Layout, Mode, Screen, Term};
use crate::model::QuestionKind;

impl App {
    /// Records the terms on screen; those visible for long enough count as known.
    pub(in crate::console) fn meet_terms(&mut self, layout: &Layout) {
        if !self.state.setup.ui.hints {
            return;
        }
        let open = Term::VARIANTS.iter().filter(|term| !self.state.memory.learnt.contains(term.name()));
        let shown: Vec<Term> = open.copied().filter(|term| self.shows_term(*term, layout)).collect();
        let now = self.state.clock.now;
        let met = &mut self.state.terms.met;
        let is_known = |term: &Term| now.duration_since(*met.entry(*term).or_insert(now)) >= HINTED;
        let known: Vec<Term> = shown.into_iter().filter(is_known).collect();
        self.know(&known);
    }

    /// Marks the terms that performing this action implies as known.
    pub(in crate::console) fn learn_terms(&mut self, action: Action) {
        let met = self.state.terms.met.keys().copied().filter(|term| self.is_known_by(*term, action));
        let known: Vec<Term> = met.collect();
        self.know(&known);
    }

    fn know(&mut self, terms: &[Term]) {
        for term in terms {
            self.state.terms.met.remove(term);
        }
        if !terms.is_empty() {
            self.state
                .remember(|memory| memory.learnt.extend(terms.iter().map(|term| term.name().to_owned())));
        }
    }

    /// Tells whether it is on screen.
    pub(in crate::console) fn shows_term(&self, term: Term, layout: &Layout) -> bool {
        let state = &self.state;
        let is_plain = state.reader.is_none() && state.replay.is_none();
        match term {
            Term::Receipt | Term::Envelope => {
                let column = if term == Term::Receipt { Column::Receipt } else { Column::Envelope };
                is_plain && self.receipts.sheet.is_some() && !layout.text(column).is_empty()
            }
            Term::Input => matches!(state.focus.mode, Mode::Input(_)) && self.layers.is_empty(),
            Term::Lease => !layout.timeline.is_empty() && state.has_lease_event(),
            Term::Held => matches!(self.layers.last(), Some(Layer::Approval(_))),
            Term::Trips => {
                state.focus.screen == Screen::Metrics && state.view.snapshot.metrics.model_rounds_saved() > 0
            }
            Term::Values => !layout.values.is_empty(),
            Term::Gate => {
                let is_gate = |kind: &QuestionKind| matches!(kind, QuestionKind::Gate { .. });
                matches!(self.layers.last(), Some(Layer::Question(dialog)) if is_gate(&dialog.question.kind))
            }
        }
    }

    /// Tells whether performing this action implies knowing the term.
    fn is_known_by(&self, term: Term, action: Action) -> bool {
        let state = &self.state;
        let reads = |column| state.focus.screen == Screen::Receipts && state.calls.column == column;
        let works =
            matches!(action, Action::CopyText | Action::Compare | Action::SmallerBudget | Action::FindText);
        match term {
            Term::Receipt => action == Action::ModelSaw || works && reads(Column::Receipt),
            Term::Envelope => (works || action == Action::Fold) && reads(Column::Envelope),
            Term::Input => action == Action::Leave && matches!(state.focus.mode, Mode::Input(_)),
            Term::Lease => action == Action::Release,
            Term::Held => {
                matches!(action, Action::Approve | Action::Deny | Action::ApproveExact | Action::ApproveWider)
            }
            Term::Gate => matches!(action, Action::ApproveGate | Action::RejectGate),
            Term::Trips | Term::Values => false,
        }
    }
}
