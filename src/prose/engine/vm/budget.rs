//! The budget for the sessions of a run: the run stops before a session that would exceed it, and can be resumed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Vm;
use super::control_flow::Halt;
use super::effects::Effects;
use crate::prose::syntax::parse_duration;

/// What sessions may take. A run that is resumed begins with a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// How many may begin.
    pub sessions: Option<u32>,
    /// How long after the start of the run one may still begin.
    pub time: Option<Duration>,
}

impl Budget {
    /// Parses a budget as typed by a person: a number of sessions (`5`), or a time (`30m`); each of them at most
    /// once.
    ///
    /// # Errors
    /// When it is not valid; the text says why.
    pub fn read(typed: &[String]) -> Result<Self, String> {
        let mut budget = Self::default();
        for one in typed {
            let (sessions, time) = (one.parse::<u32>().ok(), parse_duration(one));
            match (sessions, time) {
                (Some(sessions), _) if budget.sessions.is_none() => budget.sessions = Some(sessions),
                (None, Some(time)) if budget.time.is_none() => budget.time = Some(time),
                _ => return Err(one.clone()),
            }
        }
        Ok(budget)
    }
}

impl<E: Effects> Vm<E> {
    /// Accounts for the start of a session, unless the budget is used up.
    pub(super) fn afford(&self, line: u32) -> Result<(), Halt> {
        let Budget { sessions, time } = self.policy.budget;
        let used_up = |budget: String| Err(Halt::OverBudget { line, budget });
        let spent = self.effects.now().as_millisecond().saturating_sub(self.began.as_millisecond());
        if let Some(time) =
            time.filter(|time| u128::try_from(spent).is_ok_and(|spent| spent >= time.as_millis()))
        {
            let minutes = time.as_secs_f64() / 60.0;
            return used_up(format!("{minutes:.1} minutes"));
        }
        let begun = self.spent.begun.fetch_add(1, Ordering::Relaxed);
        match sessions {
            Some(most) if begun >= most => used_up(match most {
                1 => "1 session".to_owned(),
                most => format!("{most} sessions"),
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_sessions_and_time() {
        let read =
            |typed: &[&str]| Budget::read(&typed.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
        let (sessions, time) = (Some(5), Some(Duration::from_secs(1800)));
        assert_eq!(read(&["5", "30m"]), Ok(Budget { sessions, time }));
        assert_eq!(read(&[]), Ok(Budget::default()));
        for bad in [&["5", "6"][..], &["1m", "2m"], &["-1"], &["x"], &[""]] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }
}
