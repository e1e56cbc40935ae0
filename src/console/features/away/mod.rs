//! What happened while nobody was at the console: one sheet, shown when the user comes back.

pub mod draw;
pub mod sheet;

use jiff::{SignedDuration, Timestamp};

use crate::console::features::away::sheet::AwaySheet;
use crate::console::state::State;

/// How long the terminal must have been without the focus for its user to have been away.
const AWAY: SignedDuration = SignedDuration::from_mins(5);

/// How long no console must have been open for that: who closes one and opens another has not left.
const CLOSED: SignedDuration = SignedDuration::from_mins(1);

/// When the user left, and what happened until they came back.
#[derive(Debug, Clone, Default)]
pub struct Absence {
    left_at: Option<Timestamp>,
    /// The sheet shown last.
    pub sheet: Option<AwaySheet>,
}

impl Absence {
    /// Notes that the terminal lost or got the focus; returns since when the user was away, if they come back now.
    pub(in crate::console) fn note_focus(&mut self, is_here: bool, now: Timestamp) -> Option<Timestamp> {
        if !is_here {
            self.left_at.get_or_insert(now);
            return None;
        }
        self.left_at.take().filter(|left| now.duration_since(*left) >= AWAY)
    }
}

/// Returns since when the user of a console opened just now was away from a runtime that went on without them: since the
/// last console of the workspace was closed, or else since the runtime began.
pub(in crate::console) fn away_before_opening(
    state: &State,
    left_at: Option<Timestamp>,
) -> Option<Timestamp> {
    let setup = &state.setup;
    // Each place of a fleet has a beginning of its own.
    if !setup.is_remote || state.is_fleet() || setup.shows_run || setup.recording.is_some() {
        return None;
    }
    let began = state.view.snapshot.started_at;
    let since = left_at.map_or(began, |left| left.max(began));
    (state.clock.now.duration_since(since) >= CLOSED).then_some(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_of_focus_below_five_minutes_is_no_absence() {
        let at = |seconds| Timestamp::from_second(seconds).expect("a time");
        let mut absence = Absence::default();
        assert_eq!(absence.note_focus(true, at(0)), None, "the focus was never lost");
        assert_eq!(absence.note_focus(false, at(0)), None);
        assert_eq!(absence.note_focus(true, at(299)), None);
        assert_eq!(absence.note_focus(false, at(1_000)), None);
        assert_eq!(absence.note_focus(false, at(1_200)), None, "some terminals say it again");
        assert_eq!(absence.note_focus(true, at(1_300)), Some(at(1_000)));
        assert_eq!(absence.note_focus(true, at(9_000)), None);
    }
}
