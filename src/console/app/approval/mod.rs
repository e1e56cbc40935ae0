//! Approving held calls: what keys do on a card, and what a broader approval would allow. Only a key press
//! can approve, and only one made after the card was seen.

pub mod card;

use std::fmt;

use card::{Card, Writing};
use tui_input::Input as Editor;

use crate::config::{NoPrefix, Prefix};
use crate::envelope::Actor;
use crate::link::Request;
use crate::model::{Decision, HeldCall, HoldReason, Slot, Snapshot};
use crate::terminal::KeyPress;

use super::dialog::scrolled;
use super::tell::owner;
use super::{App, Layer};
use crate::console::keys::Action;
use crate::console::msg::Effect;
use crate::console::text::{self, Piece, piece, visible};
use crate::console::theme::Role;

impl App {
    /// Returns the call shown on the topmost card.
    pub fn held_call(&self) -> Option<&HeldCall> {
        let Some(Layer::Approval(card)) = self.layers.last() else { return None };
        self.view.snapshot.gate.held.iter().find(|held| held.ticket == card.ticket)
    }

    /// Pauses agent calls, or resumes them if they are paused at every place; before resuming, shows the calls that are
    /// only waiting for that.
    pub(super) fn toggle_pause(&mut self) {
        if !self.view.snapshot.is_paused() {
            let key = self.setup.keymap.key(self.view_context(), Action::TellAgent);
            let why = key.filter(|_| self.has_agent()).map(|key| format!("; {key} tells why"));
            self.say(format!("agent calls are paused: new commands wait for you{}", why.unwrap_or_default()));
            self.effects.push(Effect::Ask(Request::Pause { paused: true, nonce: None }));
            return;
        }
        let waits = |held: &&HeldCall| {
            held.reason == HoldReason::Paused && self.refusal_of_number(held.ticket).is_none()
        };
        match self.view.snapshot.gate.held.iter().find(waits).map(|held| held.ticket) {
            Some(ticket) => self.open(Layer::Approval(Card::of(ticket))),
            None => self.effects.push(Effect::Ask(Request::Pause { paused: false, nonce: None })),
        }
    }

    /// Shows the call that has waited longest.
    pub(super) fn show_held(&mut self) {
        match self.view.snapshot.gate.held.first().map(|held| held.ticket) {
            Some(ticket) => self.open(Layer::Approval(Card::of(ticket))),
            None => self.say("no call needs approval"),
        }
    }

    pub(super) fn act_on_card(&mut self, card: Card, action: Action) {
        let (now, mut card) = (self.now, card);
        let call = self.view.snapshot.gate.held.iter().find(|held| held.ticket == card.ticket).cloned();
        let Some(call) = call else { return self.layers.push(Layer::Approval(card)) };
        let has_settled = card.has_settled(now);
        use Action::{Approve, ApproveExact, ApproveWider, Deny};
        if matches!(action, Approve | ApproveExact | ApproveWider | Deny | Action::Pause)
            && let Some(told) = self.refusal_of_number(call.ticket)
        {
            self.say(told);
            return self.layers.push(Layer::Approval(card));
        }
        match action {
            Action::Approve | Action::ApproveExact | Action::ApproveWider if has_settled && !card.is_read => {
                self.say("read it to its end first");
            }
            Action::Approve if has_settled => self.decided(&mut card, &call, Decision::Once),
            Action::ApproveExact if has_settled && matches!(call.reason, HoldReason::Rule(_)) => {
                self.decided(&mut card, &call, Decision::Exact)
            }
            Action::ApproveWider if has_settled => {
                let rule = wider_for(&call).map(|prefix| Writing::Rule(prefix.text().to_owned().into()));
                card = Card { top: 0, shown_at: None, writing: rule, ..card };
            }
            Action::Deny if has_settled => card.writing = Some(Writing::Note(Editor::default())),
            Action::Pause if has_settled && self.view.snapshot.gate.paused.is_some() => {
                card.is_answered = call.reason == HoldReason::Paused;
                self.resume_place_of(&call);
            }
            Action::TellAgent => {
                self.layers.push(Layer::Approval(card));
                return self
                    .open_tell(owner(&call.actor).or_else(|| call.behind.as_ref().and_then(owner)), None);
            }
            Action::NextHeld => {
                let next = self.next_held(card.ticket, |_| true);
                card = Card::of(next.unwrap_or(card.ticket));
            }
            Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::First | Action::Last => {
                card.top = scrolled(card.top, action, self.card_rows(&call, &card));
            }
            _ => {}
        }
        self.layers.push(Layer::Approval(card));
    }

    /// Handles a key while text is being typed on a card; returns false when keys mean actions.
    pub(super) fn card_key(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        let Some(Layer::Approval(Card { writing: Some(_), .. })) = self.layers.last() else { return false };
        match action {
            Some(Action::Send) => self.send_card(),
            Some(Action::Leave) => {
                if let Some(Layer::Approval(card)) = self.layers.last_mut() {
                    (card.writing, card.shown_at) = (None, None);
                }
            }
            _ => self.edit_key(key),
        }
        true
    }

    /// Answers with the typed text: the reason for a denial, or a rule for what else may run. A rule only
    /// counts once its preview has been seen.
    fn send_card(&mut self) {
        let call = self.held_call().cloned();
        let Some(Layer::Approval(mut card)) = self.layers.pop() else { return };
        match (card.writing.take(), call) {
            (Some(Writing::Note(note)), Some(call)) => {
                self.decided(&mut card, &call, Decision::Deny { note: note.value().trim().to_owned() })
            }
            (Some(Writing::Rule(rule)), Some(call)) => {
                let preview = preview(&self.view.snapshot, &call, rule.value());
                card.writing = Some(Writing::Rule(rule));
                let (rows, shown) = self.card_rows(&call, &card);
                let fits = rows <= shown;
                match preview {
                    Ok(preview) if fits && card.has_settled(self.now) => {
                        card.writing = None;
                        self.decided(&mut card, &call, Decision::Prefix(preview.prefix))
                    }
                    Ok(_) => {
                        let why =
                            if fits { "look at what would run first" } else { "too little room to show it" };
                        self.say(why);
                    }
                    Err(_) => {}
                }
            }
            (_, None) | (None, _) => {}
        }
        self.layers.push(Layer::Approval(card));
    }

    /// Resumes the agents in the place a call belongs to.
    fn resume_place_of(&mut self, call: &HeldCall) {
        let request = Request::Pause { paused: false, nonce: None };
        let place = self.place_of_number(call.ticket).map(|place| place.name.id.clone());
        self.effects.push(match place {
            Some(place) => Effect::AskAt(place, request),
            None => Effect::Ask(request),
        });
    }

    fn decided(&mut self, card: &mut Card, call: &HeldCall, decision: Decision) {
        card.is_answered = true;
        self.effects.push(Effect::Ask(Request::Decide {
            ticket: call.ticket,
            hash: call.hash.clone(),
            decision,
            nonce: None,
        }));
    }

    /// Returns the next held call of those, wrapping around. Tickets of several places are in no particular order.
    fn next_held(&self, ticket: u64, is_of_those: impl Fn(&HeldCall) -> bool) -> Option<u64> {
        let held =
            || self.view.snapshot.gate.held.iter().filter(|held| is_of_those(held)).map(|held| held.ticket);
        let is_there = held().any(|other| other == ticket);
        let next = match is_there {
            true => held().skip_while(|other| *other != ticket).nth(1),
            false => held().find(|other| *other > ticket),
        };
        next.or_else(|| held().next())
    }

    /// Returns how many rows a card's text has, and how many of them fit on screen.
    fn card_rows(&self, call: &HeldCall, card: &Card) -> (usize, usize) {
        let rows = card::rows(self, call, card).len();
        (rows, usize::from(card::place(self.size, rows).1.height))
    }

    /// Updates the topmost card. One whose call is no longer held stays and says so: no other card takes its place
    /// without a key, or a key meant for one call would answer another. Only after an answer does the next call of the
    /// same place follow, to be read first; another place must not be able to choose that moment.
    pub(super) fn refresh_card(&mut self) {
        let Some(Layer::Approval(card)) = self.layers.last() else { return };
        let (ticket, top) = (card.ticket, card.top);
        if let Some(call) = self.held_call().cloned() {
            let (rows, shown) = self.card_rows(&call, card);
            let top = top.min(rows.saturating_sub(shown));
            if let Some(Layer::Approval(card)) = self.layers.last_mut() {
                card.top = top;
                card.is_read |= card.rule().is_none() && top + shown >= rows;
            }
            return;
        }
        if let Some(Layer::Approval(card)) = self.layers.last_mut()
            && !card.is_answered
        {
            self.is_dirty |= !std::mem::replace(&mut card.is_over, true);
            return;
        }
        self.layers.pop();
        self.is_dirty = true;
        let place = Slot::of(ticket).0;
        let next = self.next_held(ticket, |held| Slot::of(held.ticket).0 == place);
        if let Some(next) = next.filter(|_| !self.view.is_lost) {
            self.layers.push(Layer::Approval(Card::of(next)));
            self.refresh_card();
        }
    }

    /// Restarts the reading time after the rule was edited: a different rule allows something else, and that
    /// has to be seen first.
    pub(super) fn rewrite_rule(&mut self) {
        if let Some(Layer::Approval(card)) = self.layers.last_mut()
            && card.rule().is_some()
        {
            card.shown_at = None;
        }
    }
}

/// How many commands that would run are shown.
const MATCHES: usize = 3;
const LABEL: usize = 15;

/// Why a rule cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is not a valid command prefix.
    NoPrefix(NoPrefix),
    /// It does not cover the held call.
    Misses,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrefix(why) => why.fmt(f),
            Self::Misses => f.write_str("the command that waits does not begin so"),
        }
    }
}

/// Example commands on both sides of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preview {
    /// The rule.
    pub(crate) prefix: Prefix,
    /// Commands that would run, the held one first, each with a label.
    matches: Vec<(&'static str, String)>,
    /// A command that would still need approval.
    miss: String,
}

/// Returns a preview of what a rule would allow, based on commands seen so far where there are enough.
pub(crate) fn preview(snapshot: &Snapshot, call: &HeldCall, rule: &str) -> Result<Preview, Unfit> {
    let prefix = Prefix::new(rule).map_err(Unfit::NoPrefix)?;
    let held = call.commands.first().map(|command| command.cmd.trim()).unwrap_or_default();
    if !prefix.covers(held) {
        return Err(Unfit::Misses);
    }
    let seen = snapshot.tasks.iter().rev().map(|task| task.cmd.trim());
    Ok(Preview::of(prefix, held, seen))
}

impl Preview {
    fn of<'a>(prefix: Prefix, held: &str, seen: impl Iterator<Item = &'a str>) -> Self {
        let words = prefix.text();
        let mut matches = vec![("this one", held.to_owned())];
        let mut miss = None;
        let is_near = |cmd: &str| cmd.split_whitespace().next() == Some(prefix.program());
        for cmd in seen {
            let is_new = matches.iter().all(|(_, known)| known != cmd);
            match prefix.covers(cmd) {
                true if is_new && matches.len() < MATCHES => matches.push(("run before", cmd.to_owned())),
                false if miss.is_none() && is_near(cmd) => miss = Some(cmd.to_owned()),
                _ => {}
            }
        }
        for made in [words.to_owned(), format!("{words} x && {words} y")] {
            if matches.len() < MATCHES && matches.iter().all(|(_, known)| *known != made) {
                matches.push(("and", made));
            }
        }
        let miss = miss.unwrap_or_else(|| format!("{words} && another"));
        Self { prefix, matches, miss }
    }

    /// Returns it as rows of a card.
    pub(crate) fn rows(&self, call: &HeldCall, room: usize, dots: &str) -> Vec<Vec<Piece>> {
        let row = |label: &str, role: Role, cmd: &str| {
            let cmd = text::cut(&visible::told(cmd), room.saturating_sub(LABEL), dots);
            vec![piece(text::column(label, LABEL, dots), Role::Faint), piece(cmd, role)]
        };
        let mut rows = vec![vec![piece("would run without a question:", Role::Faint)]];
        rows.extend(self.matches.iter().map(|(label, cmd)| row(label, Role::Strong, cmd)));
        rows.push(row("not without", Role::Faint, &self.miss));
        rows.push(Vec::new());
        let place =
            call.commands.first().map(|command| command.workdir.display().to_string()).unwrap_or_default();
        let scope = format!("for {} in {place}, until the runtime ends", who(call));
        rows.push(vec![piece(text::cut(&visible::one_line(&scope), room, dots), Role::Faint)]);
        rows
    }
}

/// Returns the suggested rule for a call held by a rule: only for a single command made of plain words.
pub(crate) fn wider_for(call: &HeldCall) -> Option<Prefix> {
    let [command] = &call.commands[..] else { return None };
    Prefix::of(&command.cmd).filter(|_| matches!(call.reason, HoldReason::Rule(_)))
}

/// Returns the name of the caller.
pub(crate) fn who(call: &HeldCall) -> String {
    match &call.actor {
        Actor::Agent(label) => visible::one_line(label).into_owned(),
        Actor::Cli => match &call.behind {
            Some(Actor::Agent(label)) => format!("a script of {}", visible::one_line(label)),
            _ => "a script".to_owned(),
        },
        other => other.to_string(),
    }
}

/// Returns the card's title: who wants to run how many commands.
pub(crate) fn title(call: &HeldCall, at: usize, of: usize, dots: &str) -> String {
    let who = who(call);
    let what = match call.commands.len() {
        1 => "wants to run a command".to_owned(),
        many => format!("wants to run {many} commands"),
    };
    let place = if of > 1 { format!("   {at}/{of}") } else { String::new() };
    format!("{} {what}{place}", text::cut(&who, 40, dots))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rule: &str, held: &str, seen: &[&str]) -> Vec<String> {
        let preview = Preview::of(Prefix::new(rule).expect("a prefix"), held, seen.iter().copied());
        let said = preview.matches.iter().map(|(label, cmd)| format!("{label}: {cmd}"));
        said.chain([format!("not: {}", preview.miss)]).collect()
    }

    #[test]
    fn commands_seen_before_come_before_invented_ones() {
        let seen = ["git push a", "git pull", "git push a", "git push b > log", "git push c", "git push d"];
        let expected =
            ["this one: git push", "run before: git push a", "run before: git push c", "not: git pull"];
        assert_eq!(told("git push", "git push", &seen), expected);
        let expected = [
            "this one: git push x",
            "and: git push",
            "and: git push x && git push y",
            "not: git push && another",
        ];
        assert_eq!(told("git push", "git push x", &["ls"]), expected);
    }
}
