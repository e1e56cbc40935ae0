//! Approving held calls: what a broader approval would allow, and the words on the card of a call.

pub mod card;
pub mod decide;

use std::fmt;

use crate::consequence::rule_words::{NoPrefix, Prefix};
use crate::console::text::{self, StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::envelope::Actor;
use crate::model::{HeldCall, HoldReason, Snapshot};

/// How many commands that would run are shown.
const MATCHES: usize = 3;

const LABEL: usize = 15;

/// Why a rule cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnfitRule {
    /// It is not a valid command prefix.
    NoPrefix(NoPrefix),
    /// It does not cover the held call.
    Misses,
}

impl fmt::Display for UnfitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrefix(why) => why.fmt(f),
            Self::Misses => f.write_str("the command that waits does not begin so"),
        }
    }
}

/// Example commands on both sides of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RulePreview {
    /// The rule.
    pub(crate) prefix: Prefix,
    /// Commands that would run, the held one first, each with a label.
    matches: Vec<(&'static str, String)>,
    /// A command that would still need approval.
    miss: String,
}

/// Returns a preview of what a rule would allow, based on commands seen so far where there are enough.
pub(crate) fn preview(snapshot: &Snapshot, call: &HeldCall, rule: &str) -> Result<RulePreview, UnfitRule> {
    let prefix = Prefix::new(rule).map_err(UnfitRule::NoPrefix)?;
    let held = call.commands.first().map(|command| command.cmd.trim()).unwrap_or_default();
    if !prefix.covers(held) {
        return Err(UnfitRule::Misses);
    }
    let seen = snapshot.tasks.iter().rev().map(|task| task.cmd.trim());
    Ok(RulePreview::of(prefix, held, seen))
}

impl RulePreview {
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
    pub(crate) fn rows(&self, call: &HeldCall, room: usize, dots: &str) -> Vec<Vec<StyledPiece>> {
        let row = |label: &str, role: Role, cmd: &str| {
            let cmd = text::cut(&visible::masked_line(cmd), room.saturating_sub(LABEL), dots);
            vec![piece(text::column(label, LABEL, dots), Role::Faint), piece(cmd, role)]
        };
        let mut rows = vec![vec![piece("would run without a question:", Role::Faint)]];
        rows.extend(self.matches.iter().map(|(label, cmd)| row(label, Role::Strong, cmd)));
        rows.push(row("not without", Role::Faint, &self.miss));
        rows.push(Vec::new());
        let place =
            call.commands.first().map(|command| command.workdir.display().to_string()).unwrap_or_default();
        let scope = format!("for {} in {place}, until the runtime ends", caller_name(call));
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
pub(crate) fn caller_name(call: &HeldCall) -> String {
    match &call.actor {
        Actor::Agent(label) => visible::one_line(label).into_owned(),
        Actor::Cli => match &call.behind {
            Some(Actor::Agent(label)) => format!("a script of {}", visible::one_line(label)),
            _ => "a script".to_owned(),
        },
        // What an operator starts is never held, but for what a program of theirs runs.
        Actor::Operator => "a program of yours".to_owned(),
        Actor::System => "pilothouse".to_owned(),
    }
}

/// Returns the card's title: who wants to run how many commands.
pub(crate) fn title(call: &HeldCall, at: usize, of: usize, dots: &str) -> String {
    let who = caller_name(call);
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
        let preview = RulePreview::of(Prefix::new(rule).expect("a prefix"), held, seen.iter().copied());
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
