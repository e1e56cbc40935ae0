//! On-screen terms that newcomers cannot know, each explained in a line next to it until it has been used or
//! has been visible for two minutes; that it is known is remembered.

use std::collections::BTreeMap;

use jiff::Timestamp;
use strum::VariantArray as _;

use super::hints::HINTED;
use super::{App, Column, Layer, Layout, Mode, Painter, Screen};
use crate::console::keys::Action;
use crate::console::text::{Piece, piece};
use crate::console::theme::Role;
use crate::model::{QuestionKind, TaskFact};

/// A term that is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Term {
    /// Above the text of a call.
    Receipt,
    /// Beside the receipt.
    Envelope,
    /// On the status line, in input mode.
    Input,
    /// In the timeline.
    Lease,
    /// On the card of a call.
    Held,
    /// On the metrics screen.
    Trips,
    /// Beside the source of a program.
    Values,
    /// On the card of a gate.
    Gate,
}

/// Terms on screen that are not known yet, and since when they have been visible.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    met: BTreeMap<Term, Timestamp>,
}

impl Term {
    fn text(self) -> &'static str {
        match self {
            Self::Receipt => "what the model read",
            Self::Envelope => "the whole answer",
            Self::Input => "while you type, agents only read; they type again when you pause (limits.lease)",
            Self::Lease => "only who has it types",
            Self::Held => "held: nothing of it runs until you approve; the agent waits",
            Self::Trips => "trips saved: answers an agent need not wait for, since a batch is one call",
            Self::Values => "what its steps gave",
            Self::Gate => "gate: the program waits here until a person decides",
        }
    }

    /// Returns the name it is remembered by, distinct from all action names.
    fn name(self) -> &'static str {
        match self {
            Self::Receipt => "word receipt",
            Self::Envelope => "word envelope",
            Self::Input => "word input",
            Self::Lease => "word lease",
            Self::Held => "word held",
            Self::Trips => "word trips",
            Self::Values => "word values",
            Self::Gate => "word gate",
        }
    }

    /// Tells whether it is on screen.
    pub(super) fn is_shown(self, app: &App, layout: &Layout) -> bool {
        let is_plain = app.reader.is_none() && app.replay.is_none();
        match self {
            Self::Receipt | Self::Envelope => {
                let column = if self == Self::Receipt { Column::Receipt } else { Column::Envelope };
                is_plain && app.calls.sheet.is_some() && !layout.text(column).is_empty()
            }
            Self::Input => matches!(app.mode, Mode::Input(_)) && app.layers.is_empty(),
            Self::Lease => {
                let is_lease = |fact: &TaskFact| matches!(fact, TaskFact::Lease);
                !layout.timeline.is_empty()
                    && app
                        .selected()
                        .is_some_and(|task| task.events.iter().any(|event| is_lease(&event.fact)))
            }
            Self::Held => matches!(app.layers.last(), Some(Layer::Approval(_))),
            Self::Trips => {
                app.screen == Screen::Metrics && app.view.snapshot.metrics.model_rounds_saved() > 0
            }
            Self::Values => !layout.values.is_empty(),
            Self::Gate => {
                let is_gate = |kind: &QuestionKind| matches!(kind, QuestionKind::Gate { .. });
                matches!(app.layers.last(), Some(Layer::Question(dialog)) if is_gate(&dialog.question.kind))
            }
        }
    }

    /// Tells whether performing this action implies knowing the term.
    fn is_known_by(self, app: &App, action: Action) -> bool {
        let reads = |column| app.screen == Screen::Receipts && app.calls.column == column;
        let works =
            matches!(action, Action::CopyText | Action::Compare | Action::LessRoom | Action::FindText);
        match self {
            Self::Receipt => action == Action::Seen || works && reads(Column::Receipt),
            Self::Envelope => (works || action == Action::Fold) && reads(Column::Envelope),
            Self::Input => action == Action::Leave && matches!(app.mode, Mode::Input(_)),
            Self::Lease => action == Action::Release,
            Self::Held => {
                matches!(action, Action::Approve | Action::Deny | Action::ApproveExact | Action::ApproveWider)
            }
            Self::Gate => matches!(action, Action::ApproveGate | Action::RejectGate),
            Self::Trips | Self::Values => false,
        }
    }
}

impl App {
    /// Records the terms on screen; those visible for long enough count as known.
    pub(super) fn meet_terms(&mut self, layout: &Layout) {
        if !self.setup.ui.hints {
            return;
        }
        let open = Term::VARIANTS.iter().filter(|term| !self.memory.learnt.contains(term.name()));
        let shown: Vec<Term> = open.copied().filter(|term| term.is_shown(self, layout)).collect();
        let now = self.now;
        let met = &mut self.terms.met;
        let is_known = |term: &Term| now.duration_since(*met.entry(*term).or_insert(now)) >= HINTED;
        let known: Vec<Term> = shown.into_iter().filter(is_known).collect();
        self.know(&known);
    }

    /// Marks the terms that performing this action implies as known.
    pub(super) fn learn_terms(&mut self, action: Action) {
        let met = self.terms.met.keys().copied().filter(|term| term.is_known_by(self, action));
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
}

impl Painter<'_> {
    /// Returns the explanation of a term, unless it is known.
    pub(super) fn explained(&mut self, term: Term) -> Option<Piece> {
        let met = *self.app.terms.met.get(&term)?;
        let until = met.checked_add(HINTED).ok()?;
        self.wake_at(until);
        Some(piece(term.text(), Role::Faint))
    }
}
