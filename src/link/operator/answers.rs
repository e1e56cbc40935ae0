//! Checks which answers from a console count: only those to a card it was sent.

use std::sync::{Arc, MutexGuard};

use tokio_util::sync::CancellationToken;

use super::cards::{self, Card, CardId, Cards};
use super::local::{LocalRuntime, lock};
use crate::link::Error;
use crate::link::protocol::Request;
use crate::model::Snapshot;

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
    pub(super) fn check(&self, request: &Request) -> Result<(), Error> {
        let now = self.runtime.clock().now().mono;
        let checked = match request {
            Request::Decide { ticket, nonce, .. } => {
                self.cards().check(now, &CardId::Held(*ticket), nonce.as_deref())
            }
            Request::Answer { question, nonce, .. } | Request::LetAgents { question, nonce, .. } => {
                self.cards().check(now, &CardId::Question(question.clone()), nonce.as_deref())
            }
            Request::Pause { paused: false, nonce } => {
                let snapshot = Arc::clone(&self.runtime.snapshot().borrow());
                self.cards().check_resume(now, &snapshot, nonce.as_deref())
            }
            // The tool answers in the name of its caller, while the operator answers only by cards.
            Request::Call { tool, .. } if tool.starts_with("Question") && tool != "QuestionList" => {
                let message =
                    "the operator answers a question where it is shown, not with the tool".to_owned();
                return Err(Error::Declined { message });
            }
            _ => Ok(()),
        };
        checked.map_err(|refused| Error::Declined { message: refused.to_string() })
    }
}
