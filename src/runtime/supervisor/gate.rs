//! What requires the operator's approval: the pause, the rules, and what was allowed of them. Waiting batches are kept here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::holding::OperatorHold;
use super::message::{CallOrigin, NewTask, PromptedCommand};
use super::request_hash::{hash_of, hash_of_batch};
use crate::clock::Moment;
use crate::config::{ApprovalRule, Limits};
use crate::consequence::Consequence;
use crate::consequence::rule_words::Prefix;
use crate::envelope::Actor;
use crate::model::{BatchRequest, ExecRequest, HeldCall, HeldCommand, HoldReason};

pub(super) const EXEC: &str = "ExecCommand";
pub(super) const BATCH: &str = "ExecCommandBatch";

/// How long a command that was allowed with its agent's prompt may take to come here.
const PROMPTED_FOR: Duration = Duration::from_secs(10);
/// How many of them are kept; the oldest goes for another.
const MOST_PROMPTED: usize = 32;

const SCRIPT: &Actor = &Actor::Cli;

/// What requires the operator's approval, and the batches waiting for it. Waiting commands are kept as tasks.
#[derive(Debug)]
pub(super) struct ApprovalGate {
    pub(super) paused: Option<Timestamp>,
    /// How many times that has changed.
    pub(super) turns: u64,
    pub(super) rules: Vec<ApprovalRule>,
    /// Hashes of requests that no longer need approval.
    pub(super) allowed: BTreeSet<String>,
    /// Command prefixes that no longer need approval.
    pub(super) wider: Vec<AllowedPrefix>,
    /// Commands that the operator has just allowed in their agents' own prompts, and until when each counts.
    prompted: Vec<(PromptedCommand, Duration)>,
    pub(super) batches: BTreeMap<u64, HeldCall>,
    pub(super) patience: Duration,
    tickets: u64,
}

impl ApprovalGate {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            paused: None,
            turns: 0,
            rules: limits.approvals.clone(),
            allowed: BTreeSet::new(),
            wider: Vec::new(),
            prompted: Vec::new(),
            batches: BTreeMap::new(),
            patience: limits.batch_hold,
            tickets: 0,
        }
    }

    /// Returns the hold for a new task that must wait for the operator.
    pub(super) fn hold(&mut self, now: Moment, new: &NewTask) -> Option<OperatorHold> {
        let (reason, hash) = self.holds(new)?;
        Some(OperatorHold { ticket: self.ticket(), reason, since: now.wall, hash })
    }

    /// Returns why a new task must wait for the operator, if it must, and the hash of its request. An item of a batch
    /// was already decided with its batch.
    pub(super) fn holds(&self, new: &NewTask) -> Option<(HoldReason, String)> {
        let request = &new.request;
        if request.item.is_some() {
            return None;
        }
        let command = command_of(request, (&new.workdir, &new.shell));
        let hash = hash_of(request, &command);
        let callers = Callers::of(request, new.behind.as_ref());
        let commands = CostedCommands { commands: std::slice::from_ref(&command), cost: &new.cost };
        let reason = self.reason(EXEC, callers, commands, &hash)?;
        Some((reason, hash))
    }

    /// Returns the rule that asks about a command which an agent is about to run in its own shell.
    pub(super) fn rule_of_prompt(
        &self,
        agent: &Actor,
        (cmd, workdir): (&str, &Path),
        cost: Option<&Consequence>,
    ) -> Option<String> {
        let name = agent.to_string();
        let is_allowed = || {
            let covers = |wider: &AllowedPrefix| wider.actor == *agent && wider.like.workdir == workdir;
            self.wider.iter().any(|wider| covers(wider) && wider.prefix.covers(cmd))
        };
        let rule = self.rules.iter().find_map(|rule| rule.asks(EXEC, &name, cmd, cost));
        rule.filter(|_| !is_allowed())
    }

    /// Keeps a command that the operator has allowed in its agent's own prompt, where they were told that a rule asks about
    /// it as well.
    pub(super) fn allow_prompted(&mut self, now: Moment, command: PromptedCommand) {
        if self.prompted.len() == MOST_PROMPTED {
            self.prompted.remove(0);
        }
        self.prompted.push((command, now.mono.saturating_add(PROMPTED_FOR)));
    }

    /// Forgets those commands.
    pub(super) fn forget_prompted(&mut self) {
        self.prompted.clear();
    }

    /// Returns the number of the question with which the operator has allowed this very command, and forgets it.
    pub(super) fn take_prompted(&mut self, now: Moment, new: &NewTask) -> Option<u32> {
        self.prompted.retain(|(_, until)| now.mono < *until);
        let at = self.prompted.iter().position(|(command, _)| command.is(new))?;
        Some(self.prompted.remove(at).0.question)
    }

    /// Tells whether a batch would have to wait.
    pub(super) fn would_hold_batch(&self, batch: &BatchRequest, behind: Option<&CallOrigin>) -> bool {
        let callers = Callers { actor: &batch.actor, behind, is_program: false };
        let commands = CostedCommands { commands: &batch.commands, cost: &batch.cost };
        self.reason(BATCH, callers, commands, &hash_of_batch(batch)).is_some()
    }

    /// Returns a call's batch that waits.
    pub(super) fn held_batch(&self, call: u64) -> Option<&HeldCall> {
        self.batches().find(|batch| batch.call == call)
    }

    /// Returns the waiting batches.
    pub(super) fn batches(&self) -> impl Iterator<Item = &HeldCall> {
        self.batches.values()
    }

    /// Returns why a call must wait, if it must. A rule outlasts a pause: calls held by a rule are not released with
    /// the rest.
    pub(super) fn reason(
        &self,
        tool: &str,
        callers: Callers<'_>,
        CostedCommands { commands, cost }: CostedCommands<'_>,
        hash: &str,
    ) -> Option<HoldReason> {
        let actor = callers.actor;
        if matches!(actor, Actor::Operator | Actor::System) && !callers.is_program {
            return None;
        }
        // A rule about an agent covers its own calls and those of the commands it runs.
        let names: Vec<String> = callers.actors().map(Actor::to_string).collect();
        let asks_of = |rule: &ApprovalRule, name: &String| {
            let mut commands = commands.iter().enumerate();
            commands.find_map(|(at, command)| rule.asks(tool, name, &command.cmd, cost.get(at)))
        };
        let asks = |rule: &ApprovalRule| names.iter().find_map(|name| asks_of(rule, name));
        let is_allowed = || self.allowed.contains(hash) || self.is_covered(actor, commands);
        let rule = self.rules.iter().find_map(asks).filter(|_| !is_allowed());
        match rule {
            Some(rule) => Some(HoldReason::Rule(rule)),
            None if self.paused.is_some() && callers.actors().any(is_agent) => Some(HoldReason::Paused),
            None => None,
        }
    }

    /// Tells whether every command has a prefix that the operator has allowed.
    fn is_covered(&self, actor: &Actor, commands: &[HeldCommand]) -> bool {
        let covers = |command: &HeldCommand| self.wider.iter().any(|wider| wider.covers(actor, command));
        !commands.is_empty() && commands.iter().all(covers)
    }

    pub(super) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }
}

/// The commands of a call, and what each would cost: none if that was not computed before.
#[derive(Debug, Clone, Copy)]
pub(super) struct CostedCommands<'a> {
    pub(super) commands: &'a [HeldCommand],
    pub(super) cost: &'a [Consequence],
}

/// The actor that makes a call, and the task and agent behind it if the call came out of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callers<'a> {
    pub(super) actor: &'a Actor,
    pub(super) behind: Option<&'a CallOrigin>,
    /// Whether a program runs the command: nobody typed it, so for the rules it is a script's, whoever started the program.
    pub(super) is_program: bool,
}

impl<'a> Callers<'a> {
    pub(super) fn of(request: &'a ExecRequest, behind: Option<&'a CallOrigin>) -> Self {
        Self { actor: &request.actor, behind, is_program: request.step.is_some() }
    }

    /// Returns the callers as rules name them.
    fn actors(self) -> impl Iterator<Item = &'a Actor> {
        let own = if self.is_program && *self.actor == Actor::Operator { SCRIPT } else { self.actor };
        [own].into_iter().chain(self.behind.and_then(|behind| behind.agent.as_ref()))
    }
}

pub(super) fn is_agent(actor: &Actor) -> bool {
    matches!(actor, Actor::Agent(_))
}

/// An allowed command prefix, valid for one caller, folder and shell.
#[derive(Debug)]
pub(super) struct AllowedPrefix {
    prefix: Prefix,
    actor: Actor,
    /// The command that was approved: others may differ from it only in their text.
    like: HeldCommand,
}

impl AllowedPrefix {
    /// Creates one from a decision about a call of a single command with this prefix; `None` for any other call.
    pub(super) fn of(prefix: &Prefix, call: &HeldCall) -> Option<Self> {
        let [command] = &call.commands[..] else { return None };
        let wider = Self { prefix: prefix.clone(), actor: call.actor.clone(), like: command.clone() };
        wider.covers(&call.actor, command).then_some(wider)
    }

    fn covers(&self, actor: &Actor, command: &HeldCommand) -> bool {
        let is_alike = HeldCommand { cmd: command.cmd.clone(), ..self.like.clone() } == *command;
        is_alike && self.actor == *actor && self.prefix.covers(&command.cmd)
    }
}

/// Returns a command as the operator sees it, in the directory and shell it would start in.
pub(super) fn command_of(request: &ExecRequest, (workdir, shell): (&Path, &str)) -> HeldCommand {
    HeldCommand {
        cmd: request.cmd.clone(),
        workdir: workdir.to_owned(),
        shell: Some(shell.to_owned()),
        login: request.login,
        tty: request.tty,
    }
}
