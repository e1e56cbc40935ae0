//! Checks which answers from a console count: only those to a card it was sent.

use std::sync::{Arc, MutexGuard};

use tokio_util::sync::CancellationToken;

use super::cards::{self, Card, Cards};
use super::local::{LocalRuntime, decline, lock};
use crate::link::Error;
use crate::link::protocol::{Act, Request};
use crate::model::{Snapshot, Subject};

impl LocalRuntime {
    /// Issues cards to an embedded console as its snapshots arrive. An attached console gets its cards with the
    /// snapshots it is sent.
    pub(super) fn issuing_cards(mut self) -> Self {
        let (cards, runtime) = (Arc::clone(&self.cards), self.runtime.clone());
        let open = CancellationToken::new();
        let closed = open.clone();
        let mut snapshots = runtime.snapshot();
        snapshots.mark_changed();
        // Ends with the last clone of this value, or with the runtime.
        tokio::spawn(async move {
            while let Some(Ok(())) = closed.run_until_cancelled(snapshots.changed()).await {
                let snapshot = Arc::clone(&snapshots.borrow_and_update());
                lock(&cards).issue(runtime.clock().now().mono, &snapshot, cards::random_nonce);
            }
        });
        self._open = Some(Arc::new(open.drop_guard()));
        self
    }

    pub(super) fn cards(&self) -> MutexGuard<'_, Cards> {
        lock(&self.cards)
    }

    /// Returns a card for each item that is new in a snapshot about to be sent and that waits for an answer.
    pub(super) fn issue_cards(&self, snapshot: &Snapshot) -> Vec<Card> {
        self.cards().issue(self.runtime.clock().now().mono, snapshot, cards::random_nonce)
    }

    /// Accepts an answer that carries its card's nonce, if there was enough time to read the card.
    pub(super) fn check(&self, Request { subject, act }: &Request, nonce: Option<&str>) -> Result<(), Error> {
        let now = self.runtime.clock().now().mono;
        let checked = match (subject, act) {
            // The tool answers in the name of its caller, while the operator answers only by cards.
            (_, Act::Call { tool, .. }) if tool.starts_with("Question") && tool != "QuestionList" => {
                return decline("the operator answers a question where it is shown, not with the tool");
            }
            (Subject::Held(_) | Subject::Question(_), _) => self.cards().check(now, subject, nonce),
            (Subject::Gate, Act::Pause(false)) => {
                let snapshot = Arc::clone(&self.runtime.snapshot().borrow());
                self.cards().check_resume(now, &snapshot, nonce)
            }
            _ => Ok(()),
        };
        checked.or_else(decline)
    }
}
