//! The budget for the sessions of a run: the run stops before a session that would exceed it, and can be resumed.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::envelope::units::{Period, timeout};

/// What sessions may take. A run that is resumed begins with a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionBudget {
    /// How many may begin.
    pub sessions: Option<u32>,
    /// How long after the start of the run one may still begin.
    pub time: Option<Duration>,
}

impl SessionBudget {
    /// Parses a budget as typed by a person: a number of sessions (`5`), or a time (`30m`); each of them at most
    /// once.
    ///
    /// # Errors
    /// When it is not valid; the text says why.
    pub fn read(typed: &[String]) -> Result<Self, String> {
        let mut budget = Self::default();
        for one in typed {
            let (sessions, time) = (one.parse::<u32>().ok(), timeout(one));
            match (sessions, time) {
                (Some(sessions), _) if budget.sessions.is_none() => budget.sessions = Some(sessions),
                (None, Some(time)) if budget.time.is_none() => budget.time = Some(time),
                _ => return Err(one.clone()),
            }
        }
        Ok(budget)
    }
}

/// The cost of a run's session commands, including those of earlier executions.
#[derive(Debug, Default)]
pub struct SessionSpending {
    /// The number of sessions that have ended.
    pub sessions: AtomicU32,
    /// Their reported cost, in millionths of a dollar.
    pub cost: AtomicU64,
    /// The number of sessions that this execution has begun.
    begun: AtomicU32,
}

impl SessionSpending {
    /// Accounts for the start of a session so many milliseconds after the start of the run.
    ///
    /// # Errors
    /// What is used up of the budget.
    pub(super) fn begin(&self, budget: SessionBudget, elapsed: i64) -> Result<(), String> {
        let SessionBudget { sessions, time } = budget;
        if let Some(time) =
            time.filter(|time| u128::try_from(elapsed).is_ok_and(|elapsed| elapsed >= time.as_millis()))
        {
            return Err(Period(time).to_string());
        }
        let begun = self.begun.fetch_add(1, Ordering::Relaxed);
        match sessions {
            Some(1) if begun >= 1 => Err("1 session".to_owned()),
            Some(most) if begun >= most => Err(format!("{most} sessions")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_sessions_and_time() {
        let read = |typed: &[&str]| {
            SessionBudget::read(&typed.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>())
        };
        let (sessions, time) = (Some(5), Some(Duration::from_secs(1800)));
        assert_eq!(read(&["5", "30m"]), Ok(SessionBudget { sessions, time }));
        assert_eq!(read(&[]), Ok(SessionBudget::default()));
        for bad in [&["5", "6"][..], &["1m", "2m"], &["-1"], &["x"], &[""]] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }
}
