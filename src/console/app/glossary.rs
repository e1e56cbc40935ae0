//! Which terms are on screen, and when each is known.

use strum::VariantArray as _;

use crate::console::effect::Effect;
use crate::console::features::status::hints::HINTS;
use crate::console::keys::Action;
use crate::console::state::{Column, HINTED, Layout, Mode, Screen, State, Term};

/// What lies over the screen, and what it shows beside the state.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermSurroundings {
    /// A call's texts are laid out.
    pub(super) has_sheet: bool,
    /// Nothing lies over the screen.
    pub(super) is_bare: bool,
    /// The card of a held call lies on top.
    pub(super) is_card: bool,
    /// The question of a gate does.
    pub(super) is_gate: bool,
}

fn is_shown(state: &State, around: TermSurroundings, term: Term, layout: &Layout) -> bool {
    let is_plain = state.reader.is_none() && state.replay.is_none();
    match term {
        Term::Receipt | Term::Envelope => {
            let column = if term == Term::Receipt { Column::Receipt } else { Column::Envelope };
            is_plain && around.has_sheet && !layout.text(column).is_empty()
        }
        Term::Input => matches!(state.focus.mode, Mode::Input(_)) && around.is_bare,
        Term::Lease => !layout.timeline.is_empty() && state.has_lease_event(),
        Term::Held => around.is_card,
        Term::Trips => {
            state.focus.screen == Screen::Metrics && state.view.snapshot.metrics.model_rounds_saved() > 0
        }
        Term::Values => !layout.values.is_empty(),
        Term::Gate => around.is_gate,
    }
}

/// Tells whether performing this action implies knowing the term.
fn is_known_by(state: &State, term: Term, action: Action) -> bool {
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

impl State {
    /// Records the terms on screen; those visible for long enough count as known.
    pub(super) fn meet_terms(&mut self, around: TermSurroundings, layout: &Layout) {
        if !self.setup.ui.console.hints {
            return;
        }
        let open = Term::VARIANTS.iter().filter(|term| !self.memory.learnt.contains(term.name()));
        let shown: Vec<Term> = open.copied().filter(|term| is_shown(self, around, *term, layout)).collect();
        let now = self.clock.now;
        let met = &mut self.terms.met;
        let is_known = |term: &Term| now.duration_since(*met.entry(*term).or_insert(now)) >= HINTED;
        let known: Vec<Term> = shown.into_iter().filter(is_known).collect();
        self.know(&known);
    }

    /// Marks the terms that performing this action implies as known.
    pub(super) fn learn_terms(&mut self, action: Action) {
        let met = self.terms.met.keys().copied().filter(|term| is_known_by(self, *term, action));
        let known: Vec<Term> = met.collect();
        self.know(&known);
    }

    fn know(&mut self, terms: &[Term]) {
        for term in terms {
            self.terms.met.remove(term);
        }
        if !terms.is_empty() {
            self.remember(|memory| memory.learnt.extend(terms.iter().map(|term| term.name().to_owned())));
        }
    }

    /// Marks the hint about this key as learnt.
    pub(super) fn learn_hint(&mut self, action: Option<Action>) {
        let hinted = action.filter(|action| HINTS.iter().any(|(hint, _)| hint == action));
        if hinted.is_some_and(|action| {
            self.setup.ui.console.hints && self.memory.learnt.insert(action.name().to_owned())
        }) {
            self.effects.push(Effect::Remember(self.memory.clone()));
        }
    }
}
