//! Transient messages: at most three, newest last; errors stay until they are cleared.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use crate::envelope::mask;

const MOST: usize = 3;

/// Maximum number of messages kept in the message history.
const MOST_SAID: usize = 200;

const SHOWN: SignedDuration = SignedDuration::from_secs(4);

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    /// When it was shown, if known.
    pub at: Option<Timestamp>,
    /// The text: one line, already made visible.
    pub text: String,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// The call it concerns.
    pub call: Option<u64>,
    until: Option<Timestamp>,
    /// It stays until a key is pressed after that time: somebody has to have been there.
    waits_for_key: bool,
    /// It says why the key just pressed did nothing: the next key takes it away, and it is not kept in the history.
    pub is_about_key: bool,
}

/// The messages on screen, and the message history.
#[derive(Debug, Clone, Default)]
pub struct Toasts {
    shown: Vec<Toast>,
    said: VecDeque<Toast>,
    now: Option<Timestamp>,
    /// The last notice of the runtime that was cleared.
    pub(in crate::console) notices_seen: u64,
}

impl Toasts {
    /// Adds a message that disappears by itself.
    pub fn say(&mut self, text: impl Into<String>, call: Option<u64>, now: Timestamp) {
        self.push(Toast { call, until: now.checked_add(SHOWN).ok(), ..self.toast(text) });
    }

    /// Says why a key did nothing.
    pub fn decline(&mut self, text: impl Into<String>, now: Timestamp) {
        self.push(Toast { until: now.checked_add(SHOWN).ok(), is_about_key: true, ..self.toast(text) });
    }

    /// Adds a message that stays until a key is pressed after a while.
    pub fn keep(&mut self, text: impl Into<String>, now: Timestamp) {
        self.push(Toast { until: now.checked_add(SHOWN).ok(), waits_for_key: true, ..self.toast(text) });
    }

    /// Adds an error, which stays.
    pub fn fail(&mut self, text: impl Into<String>, call: Option<u64>) {
        self.push(Toast { is_error: true, call, ..self.toast(text) });
    }

    fn toast(&self, text: impl Into<String>) -> Toast {
        let text = mask(&text.into()).into_owned();
        let (is_error, waits_for_key, is_about_key) = (false, false, false);
        Toast { at: self.now, text, is_error, call: None, until: None, waits_for_key, is_about_key }
    }

    fn push(&mut self, toast: Toast) {
        self.said.extend((!toast.is_about_key).then(|| toast.clone()));
        if self.said.len() > MOST_SAID {
            self.said.pop_front();
        }
        self.shown.retain(|other| other.text != toast.text);
        self.shown.push(toast);
        if self.shown.len() > MOST {
            // Transient messages are dropped before errors.
            let at = self.shown.iter().position(|toast| !toast.is_error).unwrap_or(0);
            self.shown.remove(at);
        }
    }

    /// Updates the current time.
    pub fn tick(&mut self, now: Timestamp) {
        self.now = Some(now);
    }

    /// Removes messages that have been shown long enough; tells whether there were any.
    pub fn expire(&mut self, now: Timestamp) -> bool {
        let before = self.shown.len();
        self.shown.retain(|toast| toast.waits_for_key || toast.until.is_none_or(|until| until > now));
        before != self.shown.len()
    }

    /// Like [`Self::expire`], when a key was pressed.
    pub fn expire_on_key(&mut self, now: Timestamp) {
        self.shown.retain(|toast| !toast.is_about_key && toast.until.is_none_or(|until| until > now));
    }

    /// Removes all messages except errors.
    pub fn pass(&mut self) {
        self.shown.retain(|toast| toast.is_error);
    }

    /// Removes all messages; tells whether there were any.
    pub fn clear(&mut self) -> bool {
        !std::mem::take(&mut self.shown).is_empty()
    }

    /// Returns the message history, oldest first.
    pub fn history(&self) -> &VecDeque<Toast> {
        &self.said
    }

    /// Returns the messages on screen, oldest first.
    pub fn list(&self) -> &[Toast] {
        &self.shown
    }

    /// Returns when the next message disappears.
    pub fn next(&self) -> Option<Timestamp> {
        self.shown.iter().filter(|toast| !toast.waits_for_key).filter_map(|toast| toast.until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_and_the_rest_passes() {
        let mut toasts = Toasts::default();
        let start = Timestamp::UNIX_EPOCH;
        toasts.fail("refused", Some(7));
        for text in ["one", "two", "three"] {
            toasts.say(text, None, start);
        }
        let texts: Vec<_> = toasts.list().iter().map(|toast| toast.text.as_str()).collect();
        assert_eq!(texts, ["refused", "two", "three"]);
        assert!(toasts.expire(toasts.next().expect("two pass")));
        assert_eq!(toasts.list().len(), 1);
        assert!(toasts.clear() && !toasts.clear());
    }

    #[test]
    fn a_message_about_a_key_without_effect_stays_until_the_next_key() {
        let mut toasts = Toasts::default();
        let start = Timestamp::UNIX_EPOCH;
        toasts.fail("refused", Some(7));
        toasts.decline("J does nothing here", start);
        assert_eq!(toasts.list().len(), 2);
        toasts.expire_on_key(start);
        assert_eq!((toasts.list().len(), toasts.history().len()), (1, 1), "and it is no message to look up");
    }

    #[test]
    fn a_message_about_others_stays_until_a_later_key() {
        let mut toasts = Toasts::default();
        let start = Timestamp::UNIX_EPOCH;
        toasts.keep("another console", start);
        toasts.expire_on_key(start);
        let later = start.checked_add(SHOWN).expect("a time");
        assert!(!toasts.expire(later) && toasts.next().is_none());
        toasts.expire_on_key(later);
        assert_eq!(toasts.list(), []);
    }
}
