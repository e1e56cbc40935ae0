//! What keys do on the card of a held call. Only a key press can approve, and only one made after the card was seen.

use tui_input::Input as Editor;

use crate::console::effect::{Effect, FeatureReply};
use crate::console::features::approval::card::{Card, CardText, place, rows};
use crate::console::features::approval::{preview, wider_for};
use crate::console::keys::Action;
use crate::console::state::{State, owner};
use crate::console::widgets::CardReading;
use crate::envelope::TaskId;
use crate::link::Act;
use crate::model::{Decision, HeldCall, HoldReason, Slot, Subject};

/// Pauses agent calls, or resumes them if they are paused at every place; before resuming, returns the card of a call
/// that is only waiting for that.
pub(in crate::console) fn pause_or_resume(state: &State) -> Result<Card, Vec<FeatureReply>> {
    let ask = |paused| FeatureReply::Do(Effect::Ask(Act::Pause(paused).on(Subject::Gate)));
    if !state.view.snapshot.is_paused() {
        let key = state.setup.keymap.key(state.view_context(), Action::TellAgent);
        let why = key.filter(|_| state.has_agent()).map(|key| format!("; {key} tells why"));
        let told = format!("agent calls are paused: new commands wait for you{}", why.unwrap_or_default());
        return Err(vec![FeatureReply::Say(told), ask(true)]);
    }
    let waits = |held: &&HeldCall| {
        held.reason == HoldReason::Paused && state.refusal_of_number(held.ticket).is_none()
    };
    let held = state.view.snapshot.gate.held.iter().find(waits);
    held.map(|held| Card::of(held.ticket)).ok_or_else(|| vec![ask(false)])
}

/// Returns the card of the call that a task waits for.
pub(in crate::console) fn card_of(state: &State, task: &TaskId) -> Option<Card> {
    let held = state.view.snapshot.gate.held.iter().find(|held| held.task.as_ref() == Some(task));
    held.map(|held| Card::of(held.ticket))
}

/// Returns the agent that a message about a held call is for.
pub(in crate::console) fn told_of(call: &HeldCall) -> Option<String> {
    owner(&call.actor).or_else(|| call.behind.as_ref().and_then(owner))
}

impl Card {
    /// Handles a key that is an action.
    pub(in crate::console) fn act(&mut self, state: &State, action: Action) -> Option<FeatureReply> {
        let call = self.call(state)?.clone();
        let has_settled = self.has_settled(state.clock.now);
        use Action::{Approve, ApproveExact, ApproveWider, Deny};
        if matches!(action, Approve | ApproveExact | ApproveWider | Deny | Action::Pause)
            && let Some(told) = state.refusal_of_number(call.ticket)
        {
            return Some(FeatureReply::Say(told));
        }
        match action {
            Approve | ApproveExact | ApproveWider
                if !self.is_answered && self.reading.is_too_early(state.clock.now) => {}
            Action::Approve if has_settled => return Some(self.decide(&call, Decision::Once)),
            Action::ApproveExact if has_settled && matches!(call.reason, HoldReason::Rule(_)) => {
                return Some(self.decide(&call, Decision::Exact));
            }
            Action::ApproveWider if has_settled => {
                let rule = wider_for(&call).map(|prefix| CardText::Rule(prefix.text().to_owned().into()));
                (self.reading.top, self.reading.shown_at, self.writing) = (0, None, rule);
            }
            Action::Deny if has_settled => self.writing = Some(CardText::Note(Editor::default())),
            Action::Pause if has_settled && state.view.snapshot.gate.paused.is_some() => {
                self.is_answered = call.reason == HoldReason::Paused;
                return Some(resume_place_of(state, &call));
            }
            Action::NextHeld => {
                let next = next_held(state, self.ticket, |_| true);
                *self = Self::of(next.unwrap_or(self.ticket));
            }
            action => {
                let rows = self.rows(state, &call);
                action.motion().into_iter().for_each(|motion| self.reading.scroll(motion, rows));
            }
        }
        None
    }

    /// Answers with the typed text: the reason for a denial, or a rule for what else may run. A rule only
    /// counts once its preview has been seen.
    pub(in crate::console) fn send(&mut self, state: &State) -> Option<FeatureReply> {
        let call = self.call(state).cloned();
        match (self.writing.take(), call?) {
            (Some(CardText::Note(note)), call) => {
                Some(self.decide(&call, Decision::Deny { note: note.value().trim().to_owned() }))
            }
            (Some(CardText::Rule(rule)), call) => {
                let preview = preview(&state.view.snapshot, &call, rule.value());
                self.writing = Some(CardText::Rule(rule));
                let (rows, shown) = self.rows(state, &call);
                let fits = rows <= shown;
                match preview {
                    Ok(preview) if fits && self.has_settled(state.clock.now) => {
                        self.writing = None;
                        Some(self.decide(&call, Decision::Prefix(preview.prefix)))
                    }
                    Ok(_) => {
                        let why =
                            if fits { "look at what would run first" } else { "too little room to show it" };
                        Some(FeatureReply::Say(why.to_owned()))
                    }
                    Err(_) => None,
                }
            }
            (None, _) => None,
        }
    }

    fn decide(&mut self, call: &HeldCall, decision: Decision) -> FeatureReply {
        self.is_answered = true;
        let decide = Act::Decide { hash: call.hash.clone(), cost: self.cost, decision };
        FeatureReply::Do(Effect::Ask(decide.on(Subject::Held(call.ticket))))
    }

    /// Returns how many rows its text has, and how many of them fit on screen.
    fn rows(&self, state: &State, call: &HeldCall) -> (usize, usize) {
        let rows = rows(state, call, self).len();
        (rows, usize::from(place(state.outer.size, rows).1.height))
    }

    /// Tells whether the last row of what would run is on screen.
    pub(in crate::console) fn is_at_end(&self, state: &State) -> bool {
        let call = self.call(state).filter(|_| self.rule().is_none());
        call.is_some_and(|call| self.reading.is_at_end(self.rows(state, call)))
    }

    /// Tells whether it stays open. One whose call is no longer held stays and says so: no other card takes its place
    /// without a key, or a key meant for one call would answer another.
    pub(in crate::console) fn stays(&mut self, state: &State) -> bool {
        if let Some(call) = self.call(state).cloned() {
            if self.cost != call.cost.revision {
                // What was shown is not what would happen: it is read anew, and answered anew.
                (self.cost, self.is_answered, self.reading) =
                    (call.cost.revision, false, CardReading::default());
                self.writing.take_if(|text| matches!(text, CardText::Rule(_)));
            }
            let (rows, shown) = self.rows(state, &call);
            self.reading.top = self.reading.top.min(rows.saturating_sub(shown));
            return true;
        }
        self.is_over = true;
        !self.is_answered
    }

    /// Returns the card that follows an answer: of the next call of the same place, to be read first; another place
    /// must not be able to choose that moment.
    pub(in crate::console) fn next(&self, state: &State) -> Option<Self> {
        let place = Slot::of(self.ticket).0;
        let next = next_held(state, self.ticket, |held| Slot::of(held.ticket).0 == place);
        next.filter(|_| !state.view.is_lost).map(Self::of)
    }

    /// Restarts the reading time after the rule was edited: a different rule allows something else, and that
    /// has to be seen first.
    pub(in crate::console) fn rewritten(&mut self) {
        if self.rule().is_some() {
            self.reading.shown_at = None;
        }
    }
}

/// Resumes the agents in the place a call belongs to.
fn resume_place_of(state: &State, call: &HeldCall) -> FeatureReply {
    let request = Act::Pause(false).on(Subject::Gate);
    let place = state.place_of_number(call.ticket).map(|place| place.name.id.clone());
    FeatureReply::Do(match place {
        Some(place) => Effect::AskAt(place, request),
        None => Effect::Ask(request),
    })
}

/// Returns the next held call of those, wrapping around. Tickets of several places are in no particular order.
fn next_held(state: &State, ticket: u64, is_of_those: impl Fn(&HeldCall) -> bool) -> Option<u64> {
    let held =
        || state.view.snapshot.gate.held.iter().filter(|held| is_of_those(held)).map(|held| held.ticket);
    let is_there = held().any(|other| other == ticket);
    let next = match is_there {
        true => held().skip_while(|other| *other != ticket).nth(1),
        false => held().find(|other| *other > ticket),
    };
    next.or_else(|| held().next())
}
