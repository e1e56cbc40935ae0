//! The task that keys act on. One that came to hand by itself takes no key until the user can have seen it: the key may be
//! meant for the task before.

use jiff::{SignedDuration, Timestamp};

use crate::console::keys::Action;
use crate::console::state::State;
use crate::envelope::TaskId;
use crate::terminal::{Key, KeyPress};

/// For this long after a task has come to hand by itself, keys that act on it do nothing.
pub(in crate::console) const UNSEEN: SignedDuration = SignedDuration::from_secs(1);

/// How long the user must have paused before a key counts as pressed in the knowledge of what the one before did.
pub(in crate::console) const RESTED: SignedDuration = SignedDuration::from_millis(700);

/// The task that keys act on, and whether the user knows it.
#[derive(Debug, Clone, Default)]
pub struct KeyTarget {
    task: Option<TaskId>,
    /// Whether any task has been at hand yet.
    has_begun: bool,
    /// Whether a change of the task by the current message is the user's doing.
    is_chosen: bool,
    /// How the task came to hand, if it did by itself and has taken no key since.
    arrival: Option<TargetArrival>,
    /// The task in the frame that the terminal is taking.
    sent: Option<TaskId>,
    /// The task in the last frame that the terminal has: the one that the user sees selected.
    seen: Option<TaskId>,
    refusal: Option<KeyRefusal>,
}

/// A task that came to hand by itself.
#[derive(Debug, Clone, Copy, Default)]
struct TargetArrival {
    /// When the terminal had the first frame that shows it.
    shown_at: Option<Timestamp>,
}

/// A key that was refused because its task had just come to hand.
#[derive(Debug, Clone)]
struct KeyRefusal {
    task: Option<TaskId>,
    /// What the key asked for; it acts when it is pressed again. None once other keys have followed it blindly.
    action: Option<Action>,
    /// When the last of these keys came.
    at: Timestamp,
}

impl KeyTarget {
    /// Records whose doing it would be if the current message changed the task at hand.
    pub(in crate::console) fn changes_by_user(&mut self, is_chosen: bool) {
        self.is_chosen = is_chosen;
    }

    /// Records that the user has chosen the task at hand.
    pub(in crate::console) fn choose(&mut self) {
        (self.is_chosen, self.arrival) = (true, None);
    }

    /// Records the task at hand after a message.
    fn note(&mut self, task: Option<TaskId>) {
        if self.task == task {
            return;
        }
        self.task = task;
        self.arrival = (self.has_begun && !self.is_chosen).then(TargetArrival::default);
        self.has_begun |= self.task.is_some();
    }

    /// Records that a frame has been drawn; the terminal may not have it yet.
    pub(in crate::console) fn mark_sent(&mut self) {
        self.sent.clone_from(&self.task);
    }

    /// Records that the terminal has the frame drawn last.
    pub(in crate::console) fn mark_taken(&mut self, now: Timestamp) {
        self.seen.clone_from(&self.sent);
        if let Some(arrival) = self.arrival.as_mut().filter(|_| self.seen == self.task) {
            arrival.shown_at.get_or_insert(now);
        }
    }

    /// Tells whether an action may reach the task at hand: the terminal must show it selected. One that came to hand by
    /// itself must have been on screen for a while, or the same key have been refused just before.
    fn admits(&mut self, task: Option<&TaskId>, action: Action, now: Timestamp) -> bool {
        let is_settled = self
            .arrival
            .is_none_or(|arrival| arrival.shown_at.is_some_and(|at| now.duration_since(at) >= UNSEEN));
        let is_again = |refusal: &KeyRefusal| refusal.action == Some(action) && refusal.task.as_ref() == task;
        let is_known = is_settled || self.refusal.as_ref().is_some_and(is_again);
        if is_known && self.seen.as_ref() == task {
            (self.arrival, self.refusal) = (None, None);
            return true;
        }
        self.refusal = Some(KeyRefusal { task: task.cloned(), action: Some(action), at: now });
        false
    }

    /// Tells whether a key is one of those typed blindly after a refused one, as an answer is after `Enter`: none of its
    /// letters may become a command.
    pub(in crate::console) fn swallows(
        &mut self,
        key: KeyPress,
        action: Option<Action>,
        now: Timestamp,
    ) -> bool {
        let Some(refusal) = &mut self.refusal else { return false };
        if action.is_some() && refusal.action == action {
            return false;
        }
        let is_typed = matches!(key.key, Key::Char(_) | Key::Enter) && !key.ctrl && !key.alt;
        if !is_typed || now.duration_since(refusal.at) >= RESTED {
            self.refusal = None;
            return false;
        }
        (refusal.action, refusal.at) = (None, now);
        true
    }
}

impl State {
    /// Records the task that keys act on after a message: the one at hand, or on the row of a list over the screen.
    pub(in crate::console) fn note_target(&mut self, listed: Option<TaskId>) {
        let task = listed.or_else(|| self.at_hand().map(|task| task.id.clone()));
        self.key_target.note(task);
    }

    /// Tells whether an action may reach the task at hand; if not, says so.
    pub(in crate::console) fn reaches_target(&mut self, action: Action) -> bool {
        let acts = action == Action::Input || action.changes();
        let task = self.at_hand().map(|task| task.id.clone());
        if !acts || self.key_target.admits(task.as_ref(), action, self.clock.now) {
            return true;
        }
        let name = self.at_hand().map(|task| super::alias(task)).unwrap_or_default();
        self.decline(format!("{name} is another task than before: press again"));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).expect("a time")
    }

    fn id(number: u8) -> TaskId {
        TaskId::from_random([number; 8])
    }

    fn admits(target: &mut KeyTarget, action: Action, ms: i64) -> bool {
        let task = target.task.clone();
        target.admits(task.as_ref(), action, at(ms))
    }

    /// A target that has moved from the first task to the second, by itself or not, and is on screen since 0 ms.
    fn moved(is_chosen: bool) -> KeyTarget {
        let mut target = KeyTarget::default();
        target.note(Some(id(1)));
        target.changes_by_user(is_chosen);
        target.note(Some(id(2)));
        target.mark_sent();
        target.mark_taken(at(0));
        target
    }

    #[test]
    fn a_task_selected_by_itself_takes_no_key_for_a_second_unless_the_key_is_repeated() {
        assert!(admits(&mut moved(true), Action::Stop, 1), "the user's own move");
        let mut first = KeyTarget::default();
        first.note(Some(id(1)));
        first.mark_sent();
        first.mark_taken(at(0));
        assert!(admits(&mut first, Action::Stop, 1), "there was none before that could have been meant");
        let mut target = moved(false);
        assert!(!admits(&mut target, Action::Input, 999));
        assert!(!admits(&mut target, Action::Stop, 999), "another key is no second press");
        assert!(admits(&mut target, Action::Stop, 999));
        assert!(admits(&mut moved(false), Action::Input, 1_000));
        let mut chosen = moved(false);
        chosen.choose();
        assert!(admits(&mut chosen, Action::Input, 1));
    }

    #[test]
    fn no_key_reaches_a_task_before_the_terminal_shows_it() {
        let mut target = moved(true);
        target.changes_by_user(true);
        target.note(Some(id(3)));
        assert!(!admits(&mut target, Action::Stop, 1), "the user's own move, not shown yet");
        target.mark_taken(at(2));
        assert!(!admits(&mut target, Action::Stop, 3), "pressed again, but that frame was drawn before");
        target.mark_sent();
        target.mark_taken(at(4));
        assert!(admits(&mut target, Action::Stop, 5));
        assert!(!target.admits(Some(&id(2)), Action::Stop, at(6)), "the one before");
    }

    #[test]
    fn the_second_without_keys_begins_when_the_terminal_has_the_frame() {
        let mut target = moved(true);
        target.changes_by_user(false);
        target.note(Some(id(3)));
        target.mark_taken(at(100));
        assert!(!admits(&mut target.clone(), Action::Input, 9_000), "that frame was drawn before");
        target.mark_sent();
        target.mark_taken(at(5_000));
        target.mark_taken(at(5_900));
        assert!(!admits(&mut target.clone(), Action::Input, 5_999));
        assert!(admits(&mut target, Action::Input, 6_000));
    }

    #[test]
    fn keys_typed_blindly_after_a_refused_key_are_swallowed_until_they_rest() {
        let letter = |letter| KeyPress::from(Key::Char(letter));
        let mut target = moved(false);
        assert!(!target.swallows(letter('s'), Some(Action::Stop), at(0)), "nothing was refused");
        assert!(!admits(&mut target, Action::Input, 10));
        assert!(target.swallows(letter('s'), Some(Action::Stop), at(100)));
        assert!(target.swallows(KeyPress::from(Key::Enter), Some(Action::Input), at(799)), "its end");
        assert!(!target.swallows(KeyPress::from(Key::Up), Some(Action::Up), at(800)), "no text");
        assert!(!target.swallows(letter('s'), Some(Action::Stop), at(1_499)), "after a rest it is meant");

        let mut target = moved(false);
        assert!(!admits(&mut target, Action::Input, 10));
        assert!(!target.swallows(KeyPress::from(Key::Enter), Some(Action::Input), at(20)), "pressed again");
        assert!(admits(&mut target, Action::Input, 20));
        assert!(!target.swallows(letter('s'), Some(Action::Stop), at(30)));
    }
}
