//! The cards of one console: which items waiting for the operator's decision it was sent, and whether an answer
//! counts. It counts only with the nonce sent with its card on the same connection, and not before a person can have
//! read the card. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{HoldReason, READING, Snapshot, Subject};

/// The length of a nonce.
const NONCE: usize = 32;

/// A card as sent: the item it belongs to, and the nonce that an answer must carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::link) struct Card {
    pub(in crate::link) id: Subject,
    /// [`NONCE`] hexadecimal digits, random.
    pub(in crate::link) nonce: String,
}

impl Card {
    /// Tells whether it has a nonce of the usual length.
    pub(super) fn has_nonce(&self) -> bool {
        self.nonce.len() == NONCE
    }
}

/// Why an answer was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::link) enum CardRefusal {
    /// The nonce does not match the one that was sent.
    #[error("the answer lacks what was sent to this console with the question; nothing was decided")]
    Unknown,
    /// The card was sent only a moment ago.
    #[error("the answer came too soon for the question to have been read; nothing was decided")]
    Early,
}

/// The cards of one connection.
#[derive(Debug, Default)]
pub(super) struct Cards {
    sent: BTreeMap<Subject, SentCard>,
}

#[derive(Debug)]
struct SentCard {
    nonce: String,
    /// The revision of what it said its commands would cost.
    cost: u32,
    /// When it was sent, on the monotonic clock.
    at: Duration,
}

impl Cards {
    /// Prepares a snapshot to be sent: returns a card for each waiting item in it that has none yet, or of which another
    /// cost has been computed since, and drops the cards of items that no longer wait.
    pub(super) fn issue(
        &mut self,
        now: Duration,
        snapshot: &Snapshot,
        nonce: impl Fn() -> String,
    ) -> Vec<Card> {
        let waiting = waiting(snapshot);
        self.sent.retain(|id, _| waiting.contains(id));
        let mut issued = Vec::new();
        for id in waiting {
            let cost = cost(snapshot, &id);
            if self.sent.get(&id).is_none_or(|sent| sent.cost != cost) {
                let nonce = nonce();
                self.sent.insert(id.clone(), SentCard { nonce: nonce.clone(), cost, at: now });
                issued.push(Card { id, nonce });
            }
        }
        issued
    }

    /// Returns the nonce of a card that was sent.
    pub(super) fn nonce(&self, id: &Subject) -> Option<String> {
        self.sent.get(id).map(|sent| sent.nonce.clone())
    }

    /// Checks whether an answer to a card counts.
    pub(super) fn check(&self, now: Duration, id: &Subject, nonce: Option<&str>) -> Result<(), CardRefusal> {
        let sent = self.sent.get(id).ok_or(CardRefusal::Unknown)?;
        if nonce != Some(&*sent.nonce) {
            return Err(CardRefusal::Unknown);
        }
        has_been_read(now, sent)
    }

    /// Checks whether the pause may be ended: every call that this releases must have been sent long enough ago. If
    /// it releases none, no card is needed.
    pub(super) fn check_resume(
        &self,
        now: Duration,
        snapshot: &Snapshot,
        nonce: Option<&str>,
    ) -> Result<(), CardRefusal> {
        let mut held = snapshot.gate.held.iter().filter(|call| call.reason == HoldReason::Paused).peekable();
        if held.peek().is_none() {
            return Ok(());
        }
        self.check(now, &Subject::Gate, nonce)?;
        held.try_for_each(|call| {
            let sent = self.sent.get(&Subject::Held(call.ticket)).ok_or(CardRefusal::Early)?;
            has_been_read(now, sent)
        })
    }
}

fn has_been_read(now: Duration, sent: &SentCard) -> Result<(), CardRefusal> {
    if now.saturating_sub(sent.at) < READING { Err(CardRefusal::Early) } else { Ok(()) }
}

/// Returns the items that wait for the operator's decision.
pub(super) fn waiting(snapshot: &Snapshot) -> Vec<Subject> {
    let held = snapshot.gate.held.iter().map(|call| Subject::Held(call.ticket));
    let questions = snapshot.questions.iter().map(|question| Subject::Question(question.id.clone()));
    held.chain(questions).chain(snapshot.gate.paused.map(|_| Subject::Gate)).collect()
}

/// Returns the revision of what an item says its commands would cost.
fn cost(snapshot: &Snapshot, id: &Subject) -> u32 {
    let cost = match id {
        Subject::Held(ticket) => {
            let held = snapshot.gate.held.iter().find(|held| held.ticket == *ticket);
            held.map(|held| &held.cost)
        }
        Subject::Question(id) => {
            let question = snapshot.questions.iter().find(|question| question.id == *id);
            question.and_then(|question| question.kind.cost())
        }
        // Ending the pause releases every call that only the pause holds.
        _ => None,
    };
    cost.map(|cost| cost.revision).unwrap_or_default()
}

/// Returns an unguessable nonce.
pub(super) fn random_nonce() -> String {
    let mut bytes = [0_u8; 16];
    // Only an interrupted call early during boot leaves bytes unfilled.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Actor;
    use crate::model::{GateView, HeldCall};

    fn call(ticket: u64, reason: HoldReason) -> HeldCall {
        HeldCall {
            ticket,
            call: 1,
            actor: Actor::Agent("a".into()),
            behind: None,
            tool: "ExecCommand".into(),
            task: None,
            commands: Vec::new(),
            description: None,
            reason,
            since: jiff::Timestamp::UNIX_EPOCH,
            hash: String::new(),
            cost: crate::model::CallCost::default(),
        }
    }

    fn snapshot(tickets: &[u64], paused: bool) -> Snapshot {
        let held = tickets.iter().map(|ticket| call(*ticket, HoldReason::Paused)).collect();
        let paused = paused.then_some(jiff::Timestamp::UNIX_EPOCH);
        Snapshot { gate: GateView { paused, held, allowed: 0, turns: 0, rules: 0 }, ..Snapshot::default() }
    }

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn an_answer_counts_with_its_own_nonce_and_once_the_card_can_have_been_read() {
        let (mut one, mut other) = (Cards::default(), Cards::default());
        let issued = one.issue(ms(0), &snapshot(&[1], false), random_nonce);
        let [Card { id, nonce }] = &issued[..] else { panic!("one card: {issued:?}") };
        let foreign = &other.issue(ms(0), &snapshot(&[1], false), random_nonce)[0].nonce;
        assert_eq!((id, nonce.len()), (&Subject::Held(1), 32));
        let now = ms(1_000);
        for wrong in [None, Some(""), Some("0"), Some(&**foreign), Some(&nonce[1..])] {
            assert_eq!(one.check(now, id, wrong), Err(CardRefusal::Unknown), "{wrong:?}");
        }
        assert_eq!(one.check(now, &Subject::Held(2), Some(nonce)), Err(CardRefusal::Unknown));
        assert_eq!(one.check(ms(399), id, Some(nonce)), Err(CardRefusal::Early));
        assert_eq!(one.check(ms(400), id, Some(nonce)), Ok(()));
    }

    #[test]
    fn a_card_keeps_its_nonce_while_it_waits_and_has_another_when_it_comes_again() {
        let mut cards = Cards::default();
        let first = cards.issue(ms(0), &snapshot(&[1], false), random_nonce);
        assert_eq!(cards.issue(ms(300), &snapshot(&[1], false), random_nonce), []);
        assert_eq!(
            cards.check(ms(400), &first[0].id, Some(&first[0].nonce)),
            Ok(()),
            "counted from the first time"
        );
        cards.issue(ms(500), &snapshot(&[], false), random_nonce);
        let again = cards.issue(ms(600), &snapshot(&[1], false), random_nonce);
        assert_ne!(first[0].nonce, again[0].nonce);
        assert_eq!(cards.check(ms(2_000), &first[0].id, Some(&first[0].nonce)), Err(CardRefusal::Unknown));
    }

    #[test]
    fn a_card_that_tells_another_cost_has_to_be_read_again() {
        let mut cards = Cards::default();
        let mut told = snapshot(&[1], false);
        let first = cards.issue(ms(0), &told, random_nonce);
        told.gate.held[0].cost.revision = 1;
        let again = cards.issue(ms(900), &told, random_nonce);
        let [Card { id, nonce }] = &again[..] else { panic!("one card: {again:?}") };
        assert_eq!(cards.check(ms(2_000), id, Some(&first[0].nonce)), Err(CardRefusal::Unknown));
        assert_eq!(cards.check(ms(1_299), id, Some(nonce)), Err(CardRefusal::Early));
        assert_eq!(cards.check(ms(1_300), id, Some(nonce)), Ok(()));
    }

    #[test]
    fn resuming_agents_counts_only_after_every_released_call_could_be_read() {
        let mut cards = Cards::default();
        assert_eq!(cards.check_resume(ms(0), &snapshot(&[], true), None), Ok(()), "it lets nothing run");
        cards.issue(ms(0), &snapshot(&[], true), random_nonce);
        let nonce = cards.nonce(&Subject::Gate);
        let held = snapshot(&[1], true);
        assert_eq!(
            cards.check_resume(ms(900), &held, nonce.as_deref()),
            Err(CardRefusal::Early),
            "not sent yet"
        );
        cards.issue(ms(900), &held, random_nonce);
        assert_eq!(cards.check_resume(ms(1_299), &held, nonce.as_deref()), Err(CardRefusal::Early));
        assert_eq!(cards.check_resume(ms(1_300), &held, None), Err(CardRefusal::Unknown));
        assert_eq!(cards.check_resume(ms(1_300), &held, nonce.as_deref()), Ok(()));
    }
}
