//! Whether a rule asks by what commands would cost, and the calls for which that is computed before the driver knows them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::config::ApprovalRule;
use crate::envelope::Actor;

/// Whether a rule asks by what commands would cost, and the calls for which that is being computed.
#[derive(Debug, Default)]
pub(super) struct CostRules {
    is_any: AtomicBool,
    // A lock, not a message: a call is noted and taken by who makes it, never across an await.
    calls: Mutex<HashMap<u64, Option<CutCall>>>,
}

/// Who wanted a call to end while its cost was computed, and why.
pub(super) type CutCall = (Actor, String);

impl CostRules {
    pub(super) fn of(rules: &[ApprovalRule]) -> Self {
        let new = Self::default();
        new.set(rules);
        new
    }

    /// Takes the rules that apply from now on.
    pub(super) fn set(&self, rules: &[ApprovalRule]) {
        self.is_any.store(rules.iter().any(|rule| rule.consequence.is_some()), Ordering::Relaxed);
    }

    /// Tells whether a call of this actor may be asked about by what it would cost.
    pub(super) fn concern(&self, actor: &Actor) -> bool {
        self.is_any.load(Ordering::Relaxed) && !matches!(actor, Actor::Operator | Actor::System)
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Option<CutCall>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call for which something is being computed: the driver does not know it yet.
    pub(super) fn begin(&self, call: u64) {
        self.calls().insert(call, None);
    }

    /// Forgets such a call; returns who wanted it to end meanwhile.
    pub(super) fn end(&self, call: u64) -> Option<CutCall> {
        self.calls().remove(&call).flatten()
    }

    /// Keeps the end of a call for which something is being computed.
    pub(super) fn cut(&self, call: u64, by: &Actor, why: &str) {
        if let Some(cut) = self.calls().get_mut(&call) {
            cut.get_or_insert_with(|| (by.clone(), why.to_owned()));
        }
    }
}
