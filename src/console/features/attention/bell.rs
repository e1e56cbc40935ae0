//! The bell: rings once for each new item of the attention list, and runs the user's notification program. Pure.

use std::collections::{BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};

use crate::console::effect::{Effect, Notification};
use crate::console::features::attention::item::AttentionItem;

/// How often the user's notification program may be run per minute, so that a flood of questions does not
/// become a flood of processes.
const MOST_A_MINUTE: usize = 6;

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// What the user has already been notified of.
#[derive(Debug, Clone, Default)]
pub struct Bell {
    /// Items that were already seen or rung for.
    known: BTreeSet<String>,
    /// Those of them for which the user's notification program was run.
    told: BTreeSet<String>,
    /// When the user's notification program was run within the last minute.
    ran: VecDeque<Timestamp>,
}

impl Bell {
    /// Rings for new items while the terminal does not have the focus, once per item however long it waits,
    /// and runs the user's notification program for each of them, within limits. Settled items are forgotten
    /// and their notifications withdrawn, regardless of focus.
    pub(crate) fn ring(
        &mut self,
        items: &[AttentionItem],
        is_elsewhere: bool,
        now: Timestamp,
    ) -> Vec<Effect> {
        let new = items.iter().filter(|item| item.rings && !self.known.contains(&item.id()));
        let new: Vec<&AttentionItem> = new.collect();
        let text = match &new[..] {
            [] => None,
            [one] => Some(one.news().text()),
            many => Some(format!("{} things wait for you", many.len())),
        };
        self.known = items.iter().map(AttentionItem::id).collect();
        let settled: Vec<String> = self.told.difference(&self.known).cloned().collect();
        self.told.retain(|id| self.known.contains(id));
        let mut effects: Vec<Effect> = settled.into_iter().map(Effect::Withdraw).collect();
        let Some(text) = text.filter(|_| is_elsewhere) else { return effects };
        while self.ran.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
            self.ran.pop_front();
        }
        let runs = new.len().min(MOST_A_MINUTE.saturating_sub(self.ran.len()));
        self.ran.extend(std::iter::repeat_n(now, runs));
        effects.push(Effect::Ring(text));
        let told: Vec<Notification> = new.into_iter().take(runs).map(AttentionItem::news).collect();
        self.told.extend(told.iter().map(|news| news.id.clone()));
        effects.extend(told.into_iter().map(Effect::Notify));
        effects
    }
}
