//! What passes the approval gate: the pause, the rules, the held calls and the decisions about them.

use std::path::Path;

use super::Supervisor;
use super::gate::{AllowedPrefix, ApprovalGate, BATCH, Callers, CostedCommands, EXEC, command_of, is_agent};
use super::message::{BatchVerdict, CallOrigin, SupervisorAction};
use super::request_hash::{hash_of, hash_of_batch};
use super::task::SupervisedTask;
use crate::clock::Moment;
use crate::config::ApprovalRule;
use crate::consequence::Consequence;
use crate::envelope::{Actor, TaskId};
use crate::model::{
    BatchRequest, CallCost, Decision, ExecRequest, GateEvent, GateEventKind, GateView, HeldCall, HoldReason,
    ParentTask,
};

impl Supervisor {
    /// Returns the task and the agent behind a caller that runs in a task: the agent that started the task, or the
    /// agent behind that task in turn; or else, if the task holds an agent, that one. `None` for a task of another
    /// runtime.
    pub(crate) fn behind(&self, within: &ParentTask) -> Option<CallOrigin> {
        let task = self.tasks.get(&within.task)?;
        let own = Some(&task.request.actor).filter(|actor| is_agent(actor)).cloned();
        let before = || task.behind.as_ref().and_then(|behind| behind.agent.clone());
        let held = || within.is_agent.then(|| Actor::Agent(program_of(&task.request.cmd)));
        Some(CallOrigin { task: within.task.clone(), agent: own.or_else(before).or_else(held) })
    }

    /// Tells whether no rule and no pause concerns a command that is not started here, so that its caller may run it
    /// by itself.
    pub(crate) fn is_free(
        &self,
        request: &ExecRequest,
        within: Option<&ParentTask>,
        cost: &[Consequence],
    ) -> bool {
        let behind = within.and_then(|within| self.behind(within));
        let command = command_of(request, (&request.base, request.shell.as_deref().unwrap_or_default()));
        let callers = Callers::of(request, behind.as_ref());
        let hash = hash_of(request, &command);
        let commands = CostedCommands { commands: std::slice::from_ref(&command), cost };
        self.gate.reason(EXEC, callers, commands, &hash).is_none()
    }

    /// Returns the rule that asks about a command which an agent is about to run in its own shell.
    pub(crate) fn rule_of_prompt(
        &self,
        agent: &Actor,
        command: (&str, &Path),
        cost: Option<&Consequence>,
    ) -> Option<String> {
        self.gate.rule_of_prompt(agent, command, cost)
    }

    /// Lets a new task go that is held by a rule, if the operator has just allowed this very command in the agent's prompt.
    pub(super) fn go_if_prompted(
        &mut self,
        now: Moment,
        id: &TaskId,
        question: u32,
    ) -> Vec<SupervisorAction> {
        let Some(call) = self.tasks.get(id).and_then(held_task) else { return Vec::new() };
        let note = format!("with the agent's prompt, question {question}");
        let mut actions = vec![event(now, GateEventKind::Approved, Some(&call), &note)];
        actions.extend(self.tasks.get_mut(id).map(|task| task.let_go(now, &note)).unwrap_or_default());
        actions
    }

    /// Returns everything that waits for the operator.
    pub(crate) fn gate(&self) -> GateView {
        let tasks = self.tasks.values().filter_map(held_task);
        let mut held: Vec<HeldCall> = tasks.chain(self.gate.batches.values().cloned()).collect();
        held.sort_by_key(|held| held.ticket);
        let ApprovalGate { paused, turns, allowed, wider, rules, .. } = &self.gate;
        let allowed = allowed.len() + wider.len();
        GateView { paused: *paused, turns: *turns, held, allowed, rules: rules.len() }
    }

    /// Holds new calls from agents from now on, or releases those that only the pause holds.
    pub(super) fn pause(&mut self, now: Moment, paused: bool) -> Vec<SupervisorAction> {
        if paused == self.gate.paused.is_some() {
            return Vec::new();
        }
        self.gate.paused = paused.then_some(now.wall);
        self.gate.turns += 1;
        self.gate.forget_prompted();
        let mut actions =
            vec![event(now, if paused { GateEventKind::Paused } else { GateEventKind::Resumed }, None, "")];
        if paused {
            return actions;
        }
        let only_paused = |reason: &HoldReason| *reason == HoldReason::Paused;
        for task in self.tasks.values_mut() {
            if task.operator_hold().is_some_and(|held| only_paused(&held.reason)) {
                actions.extend(task.let_go(now, "resumed"));
            }
        }
        let batches = std::mem::take(&mut self.gate.batches);
        for (ticket, call) in batches {
            if only_paused(&call.reason) {
                actions.push(SupervisorAction::Admit { ticket, verdict: BatchVerdict::Go });
            } else {
                self.gate.batches.insert(ticket, call);
            }
        }
        actions
    }

    /// Returns the ticket of a call's batch that waits for the operator.
    pub(crate) fn held_batch(&self, call: u64) -> Option<&HeldCall> {
        self.gate.held_batch(call)
    }

    /// Tells whether the operator can decide so on a held call: it is still the call they were shown.
    pub(crate) fn can_decide(&self, ticket: u64, hash: &str, decision: &Decision) -> bool {
        self.held_call(ticket, hash).is_some_and(|call| match decision {
            Decision::Prefix(prefix) => AllowedPrefix::of(prefix, &call).is_some(),
            Decision::Once | Decision::Exact | Decision::Deny { .. } => true,
        })
    }

    fn held_call(&self, ticket: u64, hash: &str) -> Option<HeldCall> {
        self.gate().held.into_iter().find(|held| held.ticket == ticket && held.hash == hash)
    }

    /// Applies these rules from now on. Calls that are already held stay held until the operator decides.
    pub(super) fn set_rules(&mut self, now: Moment, rules: Vec<ApprovalRule>) -> Vec<SupervisorAction> {
        if rules == self.gate.rules {
            return Vec::new();
        }
        let told: Vec<String> = rules.iter().map(ToString::to_string).collect();
        self.gate.rules = rules;
        self.gate.forget_prompted();
        let said = gate_event(now, GateEventKind::Rules, None, &told.join("; "));
        vec![SupervisorAction::Gate(GateEvent { actor: Actor::System, ..said })]
    }

    /// Applies the operator's decision on a held call; `None` if it is no longer the call they were shown.
    pub(super) fn decide(
        &mut self,
        now: Moment,
        ticket: u64,
        hash: &str,
        decision: &Decision,
    ) -> Option<Vec<SupervisorAction>> {
        let call = self.held_call(ticket, hash)?;
        let note = match decision {
            Decision::Once => "",
            Decision::Exact => "and every one like it",
            Decision::Prefix(prefix) => {
                self.gate.wider.push(AllowedPrefix::of(prefix, &call)?);
                &format!("and all that begin with: {}", prefix.text())
            }
            Decision::Deny { note } => note.as_str(),
        };
        if *decision == Decision::Exact {
            self.gate.allowed.insert(call.hash.clone());
        }
        let is_denied = matches!(decision, Decision::Deny { .. });
        let word = if is_denied { GateEventKind::Denied } else { GateEventKind::Approved };
        let mut actions = vec![event(now, word, Some(&call), note)];
        if let Some(id) = &call.task {
            let task = self.tasks.get_mut(id)?;
            actions.extend(match decision {
                Decision::Deny { note } => task.deny(now, note),
                Decision::Once | Decision::Exact | Decision::Prefix(_) => task.let_go(now, note),
            });
            return Some(actions);
        }
        self.gate.batches.remove(&ticket);
        let verdict = match decision {
            Decision::Deny { note } => BatchVerdict::Denied { note: note.clone() },
            Decision::Once | Decision::Exact | Decision::Prefix(_) => BatchVerdict::Go,
        };
        actions.push(SupervisorAction::Admit { ticket, verdict });
        Some(actions)
    }

    /// Lets a batch start, or holds it and returns its ticket.
    pub(super) fn admit_batch(
        &mut self,
        now: Moment,
        batch: BatchRequest,
        within: Option<&ParentTask>,
    ) -> (Option<u64>, Vec<SupervisorAction>) {
        let behind = within.and_then(|within| self.behind(within));
        let hash = hash_of_batch(&batch);
        let callers = Callers { actor: &batch.actor, behind: behind.as_ref(), is_program: false };
        let commands = CostedCommands { commands: &batch.commands, cost: &batch.cost };
        let Some(reason) = self.gate.reason(BATCH, callers, commands, &hash) else {
            return (None, Vec::new());
        };
        let ticket = self.gate.ticket();
        let call = HeldCall {
            ticket,
            call: batch.call,
            actor: batch.actor,
            behind: behind.as_ref().and_then(|behind| behind.agent.clone()),
            tool: BATCH.to_owned(),
            task: None,
            commands: batch.commands,
            description: None,
            reason,
            since: now.wall,
            hash,
            cost: CallCost::default(),
        };
        let reason = call.reason.as_str();
        let note = behind.map_or_else(|| reason.to_owned(), |behind| format!("{reason}; {}", behind.note()));
        let said = GateEvent {
            actor: call.actor.clone(),
            ..gate_event(now, GateEventKind::Held, Some(&call), &note)
        };
        // A script waits as long as it says itself.
        let is_script = call.actor == Actor::Cli;
        self.gate.batches.insert(ticket, call);
        let mut actions = vec![SupervisorAction::Gate(said)];
        if !is_script {
            actions.push(SupervisorAction::WakeHold { ticket, at: now.mono + self.gate.patience });
        }
        (Some(ticket), actions)
    }

    /// Handles the end of a held batch's time limit.
    pub(super) fn hold_over(&mut self, now: Moment, ticket: u64) -> Vec<SupervisorAction> {
        let Some(call) = self.gate.batches.remove(&ticket) else { return Vec::new() };
        let said =
            GateEvent { actor: Actor::System, ..gate_event(now, GateEventKind::Pending, Some(&call), "") };
        vec![SupervisorAction::Gate(said), SupervisorAction::Admit { ticket, verdict: BatchVerdict::Pending }]
    }

    /// Handles a call whose answer nobody waits for any more: its batch, if held, is dropped.
    pub(super) fn withdraw(&mut self, now: Moment, call: u64) -> Vec<SupervisorAction> {
        let ticket = self.gate.held_batch(call).map(|held| held.ticket);
        ticket.map(|ticket| self.hold_over(now, ticket)).unwrap_or_default()
    }

    /// Ends all held batches, so that none can start any more.
    pub(super) fn close_gate(&mut self, now: Moment) -> Vec<SupervisorAction> {
        let tickets: Vec<u64> = self.gate.batches.keys().copied().collect();
        tickets.into_iter().flat_map(|ticket| self.hold_over(now, ticket)).collect()
    }
}

/// Returns the name of the program that a command line starts, as an agent would call itself.
fn program_of(cmd: &str) -> String {
    let is_assignment = |word: &&str| word.contains('=');
    let word = cmd.split_whitespace().find(|word| !is_assignment(word)).unwrap_or(cmd);
    word.rsplit('/').next().unwrap_or(word).to_owned()
}

fn held_task(task: &SupervisedTask) -> Option<HeldCall> {
    let held = task.operator_hold()?;
    Some(HeldCall {
        ticket: held.ticket,
        call: task.request.call,
        actor: task.request.actor.clone(),
        behind: task.behind.as_ref().and_then(|behind| behind.agent.clone()),
        tool: EXEC.to_owned(),
        task: Some(task.id.clone()),
        commands: vec![command_of(&task.request, (&task.workdir, &task.shell))],
        description: task.request.description.clone(),
        reason: held.reason.clone(),
        since: held.since,
        hash: held.hash.clone(),
        cost: CallCost::default(),
    })
}

fn event(now: Moment, what: GateEventKind, call: Option<&HeldCall>, note: &str) -> SupervisorAction {
    SupervisorAction::Gate(gate_event(now, what, call, note))
}

fn gate_event(now: Moment, what: GateEventKind, call: Option<&HeldCall>, note: &str) -> GateEvent {
    GateEvent {
        at: now.wall,
        actor: Actor::Operator,
        what,
        call: call.map(|call| call.call),
        task: call.and_then(|call| call.task.clone()),
        hash: call.map(|call| call.hash.clone()),
        note: note.to_owned(),
        console: None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Limits;
    use crate::consequence::rule_words::Prefix;
    use crate::model::{CloseReason, HeldCommand, NativeTask, ProgramStep, TaskStatus};
    use crate::runtime::supervisor::tests::{at, id, new_task, request, status, stop_task};
    use crate::runtime::supervisor::{NewTask, PromptedCommand, Stop, StopEffect, SupervisorInput, Timer};

    fn rules() -> Limits {
        let rule = ApprovalRule { prefix: Some("git push".into()), ..ApprovalRule::default() };
        Limits { approvals: vec![rule], ..Limits::default() }
    }

    fn asked(cmd: &str, actor: Actor) -> ExecRequest {
        ExecRequest { cmd: cmd.into(), actor, ..request(false, None) }
    }

    fn agent() -> Actor {
        Actor::Agent("a".into())
    }

    /// An agent's task, held because of a pause.
    fn held() -> Supervisor {
        let mut supervisor = Supervisor::new(&Limits::default());
        supervisor.pause(at(0), true);
        let actions = supervisor.step(at(0), new_task(request(false, None)));
        assert!(!actions.contains(&SupervisorAction::Spawn(id())), "{actions:?}");
        assert!(actions.contains(&SupervisorAction::Queue(id())));
        supervisor
    }

    fn only(supervisor: &Supervisor) -> HeldCall {
        let held = supervisor.gate().held;
        assert_eq!(held.len(), 1);
        held[0].clone()
    }

    fn answer(supervisor: &mut Supervisor, decision: &Decision) -> Vec<SupervisorAction> {
        let HeldCall { ticket, hash, .. } = only(supervisor);
        supervisor.decide(at(100), ticket, &hash, decision).expect("it is held")
    }

    fn deny(note: &str) -> Decision {
        Decision::Deny { note: note.into() }
    }

    fn batch(cmds: &[&str], call: u64) -> BatchRequest {
        let command = |cmd: &&str| HeldCommand {
            cmd: (*cmd).to_owned(),
            workdir: "/w".into(),
            shell: None,
            login: true,
            tty: false,
        };
        let commands = cmds.iter().map(command).collect();
        BatchRequest { actor: agent(), call, commands, stop_on_error: false, cost: Vec::new() }
    }

    #[test]
    fn a_pause_holds_agents_and_a_rule_whom_it_names() {
        for (paused, cmd, actor, reason) in [
            (true, "ls", agent(), Some("paused")),
            (true, "ls", Actor::Cli, None),
            (true, "ls", Actor::Operator, None),
            (false, "ls", agent(), None),
            (false, "git push", agent(), Some("rule")),
            (true, "git push", agent(), Some("rule")),
            (true, "git push", Actor::Operator, None),
            (true, "git push", Actor::Cli, None),
        ] {
            let mut supervisor = Supervisor::new(&rules());
            supervisor.pause(at(0), paused);
            let actions = supervisor.step(at(0), new_task(asked(cmd, actor.clone())));
            let held = supervisor.gate().held.first().map(|held| match held.reason {
                HoldReason::Paused => "paused",
                HoldReason::Rule(_) => "rule",
            });
            assert_eq!(held, reason, "{paused} {cmd} {actor}");
            assert_eq!(actions.contains(&SupervisorAction::Spawn(id())), reason.is_none());
        }
    }

    #[test]
    fn a_command_of_an_operators_program_is_held_like_a_script_and_stays_the_operators() {
        for (cmd, paused, is_held) in [("git push", false, true), ("ls", true, false)] {
            let rule = ApprovalRule { actor: Some("cli".into()), ..rules().approvals[0].clone() };
            let mut supervisor = Supervisor::new(&Limits { approvals: vec![rule], ..Limits::default() });
            supervisor.pause(at(0), paused);
            let step = Some(ProgramStep { id: id(), variables: Vec::new() });
            supervisor.step(at(0), new_task(ExecRequest { step, ..asked(cmd, Actor::Operator) }));
            let held = supervisor.gate().held;
            assert_eq!(held.len(), usize::from(is_held), "{cmd}");
            assert!(held.iter().all(|held| held.actor == Actor::Operator));
        }
    }

    #[test]
    fn a_held_command_waits_as_long_as_its_caller_then_stays_queued() {
        let mut supervisor = held();
        let due = SupervisorInput::Due { id: id(), timer: Timer::Yield, epoch: 1 };
        assert_eq!(supervisor.step(at(10_000), due), [SupervisorAction::Hold(id())]);
        assert_eq!(status(&supervisor), TaskStatus::Queued);
        assert!(supervisor.get(&id()).expect("the task").promoted, "it has a handle");
        // Released later, it runs as a task.
        assert!(answer(&mut supervisor, &Decision::Once).contains(&SupervisorAction::Spawn(id())));
        let actions = supervisor.step(at(200), SupervisorInput::Started { id: id(), pid: 1 });
        assert!(!actions.contains(&SupervisorAction::Promote(id())));
        assert_eq!(status(&supervisor), TaskStatus::Running);
    }

    #[test]
    fn a_held_command_released_in_time_runs_as_usual() {
        let mut supervisor = held();
        assert!(answer(&mut supervisor, &Decision::Once).contains(&SupervisorAction::Spawn(id())));
        assert_eq!(supervisor.gate().held, []);
        supervisor.step(at(200), SupervisorInput::Started { id: id(), pid: 1 });
        let due = SupervisorInput::Due { id: id(), timer: Timer::Yield, epoch: 1 };
        assert!(supervisor.step(at(10_000), due).contains(&SupervisorAction::Promote(id())));
    }

    #[test]
    fn the_end_of_a_pause_releases_only_commands_held_by_the_pause() {
        let mut supervisor = held();
        let (ticket, _) = supervisor.admit_batch(at(1), batch(&["ls"], 2), None);
        let actions = supervisor.pause(at(5), false);
        assert!(actions.contains(&SupervisorAction::Spawn(id())));
        assert!(
            actions.contains(&SupervisorAction::Admit {
                ticket: ticket.expect("held"),
                verdict: BatchVerdict::Go
            })
        );

        let mut supervisor = Supervisor::new(&rules());
        supervisor.pause(at(0), true);
        supervisor.step(at(0), new_task(asked("git push", agent())));
        assert!(!supervisor.pause(at(1), false).contains(&SupervisorAction::Spawn(id())));
        assert_eq!(supervisor.gate().held.len(), 1);
        assert_eq!(supervisor.gate().paused, None);
    }

    #[test]
    fn a_denied_command_is_cancelled_and_its_caller_told_the_note() {
        let mut supervisor = held();
        let actions = answer(&mut supervisor, &deny("not on a Friday"));
        assert!(actions.contains(&SupervisorAction::Refuse { id: id(), note: "not on a Friday".into() }));
        assert!(actions.contains(&SupervisorAction::Close(id())));
        let task = supervisor.get(&id()).expect("the task");
        assert_eq!(task.status, TaskStatus::Cancelled);
        let (kind, message) = task.ended.as_ref().and_then(|ended| ended.error.clone()).expect("an error");
        assert_eq!(
            (kind.as_str(), message.as_str()),
            ("operator_denied", "The operator denied this: not on a Friday")
        );
        assert_eq!(supervisor.gate().held, []);
    }

    #[test]
    fn an_answer_is_bound_to_the_request_and_used_once() {
        let mut supervisor = held();
        let HeldCall { ticket, hash, .. } = only(&supervisor);
        assert_eq!(supervisor.decide(at(1), ticket, "other", &Decision::Once), None);
        assert_eq!(supervisor.decide(at(1), ticket + 1, &hash, &Decision::Once), None);
        assert_eq!(status(&supervisor), TaskStatus::Queued);
        assert!(supervisor.decide(at(2), ticket, &hash, &Decision::Once).is_some());
        assert_eq!(supervisor.decide(at(3), ticket, &hash, &Decision::Once), None);
        // The same command needs approval again.
        let (again, _) = supervisor.admit_batch(at(4), batch(&["ls"], 2), None);
        assert!(again.is_some());
    }

    #[test]
    fn the_very_same_request_is_asked_about_no_more_when_the_operator_says_so() {
        let mut supervisor = Supervisor::new(&rules());
        let push = batch(&["ls", "git push"], 1);
        let (ticket, _) = supervisor.admit_batch(at(0), push.clone(), None);
        assert!(ticket.is_some());
        answer(&mut supervisor, &Decision::Exact);
        assert_eq!(supervisor.gate().allowed, 1);
        assert_eq!(supervisor.admit_batch(at(1), BatchRequest { call: 2, ..push.clone() }, None).0, None);
        let other = batch(&["ls", "git push -f"], 3);
        assert!(supervisor.admit_batch(at(2), other, None).0.is_some());
        supervisor.pause(at(3), true);
        assert!(supervisor.admit_batch(at(4), push, None).0.is_some(), "a pause holds it all the same");
    }

    #[test]
    fn commands_that_begin_as_the_operator_let_run_are_asked_about_no_more() {
        let mut supervisor = Supervisor::new(&rules());
        let (ticket, _) = supervisor.admit_batch(at(0), batch(&["git push origin"], 1), None);
        let pull = Decision::Prefix(Prefix::new("git pull").expect("a prefix"));
        let HeldCall { ticket: asked, hash, .. } = only(&supervisor);
        assert_eq!(
            (Some(asked), supervisor.decide(at(1), asked, &hash, &pull)),
            (ticket, None),
            "not this call"
        );
        answer(&mut supervisor, &Decision::Prefix(Prefix::new("git push").expect("a prefix")));
        let mut is_held = |change: fn(&mut BatchRequest)| {
            let mut other = batch(&["git push -f"], 2);
            change(&mut other);
            supervisor.admit_batch(at(2), other, None).0.is_some()
        };
        assert!(!is_held(|_| {}));
        assert!(is_held(|batch| batch.commands[0].cmd.push_str(" && ls")));
        assert!(is_held(|batch| batch.commands[0].cmd.push_str(" > log")));
        assert!(is_held(|batch| batch.commands[0].workdir = "/elsewhere".into()));
        assert!(is_held(|batch| batch.commands[0].shell = Some("/bin/sh".into())));
        assert!(is_held(|batch| batch.commands[0].tty = true));
        assert!(is_held(|batch| batch.commands[0].login = false));
        assert!(is_held(|batch| batch.actor = Actor::Agent("b".into())));
        supervisor.pause(at(3), true);
        assert!(
            supervisor.admit_batch(at(4), batch(&["git push"], 3), None).0.is_some(),
            "a pause holds it all the same"
        );
    }

    #[test]
    fn a_stop_and_a_shutdown_end_what_is_held_at_once() {
        let mut supervisor = held();
        let (effect, actions) = stop_task(&mut supervisor, at(1), &agent(), Stop::default());
        assert_eq!(effect, StopEffect::Cancelled);
        assert!(actions.contains(&SupervisorAction::Close(id())));
        assert_eq!(status(&supervisor), TaskStatus::Cancelled);

        let mut supervisor = held();
        let (ticket, _) = supervisor.admit_batch(at(1), batch(&["ls"], 2), None);
        let actions = supervisor.step(at(2), SupervisorInput::Shutdown { closing: CloseReason::Unsaid });
        assert_eq!(status(&supervisor), TaskStatus::Interrupted);
        let told = SupervisorAction::Admit { ticket: ticket.expect("held"), verdict: BatchVerdict::Pending };
        assert!(actions.contains(&SupervisorAction::Close(id())) && actions.contains(&told));
    }

    /// Tells whether a row of the record says that a batch is held, and why.
    fn is_held_by(actions: &[SupervisorAction], why: &str) -> bool {
        let says = |event: &GateEvent| event.what == GateEventKind::Held && event.note == why;
        actions.iter().any(|action| matches!(action, SupervisorAction::Gate(event) if says(event)))
    }

    #[test]
    fn a_held_batch_fails_when_its_wait_is_over_and_is_forgotten_with_its_call() {
        let mut supervisor = Supervisor::new(&Limits::default());
        supervisor.pause(at(0), true);
        let (ticket, actions) = supervisor.admit_batch(at(0), batch(&["ls"], 7), None);
        let ticket = ticket.expect("held");
        assert!(actions.contains(&SupervisorAction::WakeHold { ticket, at: Duration::from_secs(45) }));
        assert!(is_held_by(&actions, "agent calls are paused"), "{actions:?}");
        let actions = supervisor.step(at(45_000), SupervisorInput::HoldOver { ticket });
        assert!(actions.contains(&SupervisorAction::Admit { ticket, verdict: BatchVerdict::Pending }));
        assert_eq!(supervisor.gate().held, []);
        assert_eq!(supervisor.step(at(46_000), SupervisorInput::HoldOver { ticket }), []);

        assert!(supervisor.admit_batch(at(50_000), batch(&["ls"], 8), None).0.is_some());
        supervisor.step(at(50_001), SupervisorInput::Withdraw { call: 8 });
        assert_eq!(supervisor.gate().held, []);
    }

    /// A command of an agent's own shell.
    fn native(cmd: &str, session: &str) -> NewTask {
        let native =
            Some(NativeTask { id: id(), has_callers_terminal: false, session: Some(session.into()) });
        let SupervisorInput::Start(new) = new_task(ExecRequest { native, ..asked(cmd, agent()) }) else {
            panic!("a start")
        };
        *new
    }

    #[test]
    fn a_command_allowed_in_its_agents_prompt_is_not_held_by_a_rule_once_and_soon() {
        let workdir = native("git push", "s").workdir;
        let prompted = |cmd: &str| PromptedCommand {
            agent: agent(),
            session: "s".into(),
            cmd: cmd.into(),
            workdir: workdir.clone(),
            question: 3,
        };
        let goes = |supervisor: &mut Supervisor, ms: u64, new: NewTask| {
            let actions = supervisor.step(at(ms), SupervisorInput::Start(Box::new(new)));
            supervisor.tasks.clear();
            actions.contains(&SupervisorAction::Spawn(id()))
        };
        let allowed = || {
            let mut supervisor = Supervisor::new(&rules());
            assert!(supervisor.rule_of_prompt(&agent(), ("git push", &workdir), None).is_some());
            assert_eq!(supervisor.rule_of_prompt(&agent(), ("git pull", &workdir), None), None);
            let command = Box::new(prompted("git push"));
            assert_eq!(supervisor.step(at(0), SupervisorInput::Prompted { command }), []);
            supervisor
        };
        let mut supervisor = allowed();
        let actions = supervisor.step(at(5), SupervisorInput::Start(Box::new(native("git push", "s"))));
        let is_noted = |action: &SupervisorAction| matches!(action, SupervisorAction::Gate(event) if event.what == GateEventKind::Approved && event.note.ends_with("question 3"));
        let [noted, goes_at] = [
            actions.iter().position(is_noted),
            actions.iter().position(|action| *action == SupervisorAction::Spawn(id())),
        ];
        assert!(noted.is_some() && noted < goes_at, "on record first: {actions:?}");
        supervisor.tasks.clear();
        assert!(!goes(&mut supervisor, 6, native("git push", "s")), "once");
        let others: [fn(&mut NewTask); 5] = [
            |new| new.request.cmd.push_str(" -f"),
            |new| new.workdir = "/elsewhere".into(),
            |new| new.request.actor = Actor::Agent("b".into()),
            |new| new.request.native = None,
            |new| new.request.native.iter_mut().for_each(|native| native.session = Some("t".into())),
        ];
        for change in others {
            let mut other = native("git push", "s");
            change(&mut other);
            let told = format!("{other:?}");
            assert!(!goes(&mut allowed(), 5, other), "{told}");
        }
        assert!(!goes(&mut allowed(), 10_000, native("git push", "s")), "late");
        let mut paused = allowed();
        paused.pause(at(1), true);
        paused.pause(at(2), false);
        assert!(!goes(&mut paused, 5, native("git push", "s")), "a pause came between");
    }

    #[test]
    fn a_batch_is_asked_about_once_and_not_its_items() {
        let mut supervisor = Supervisor::new(&rules());
        let (_, actions) = supervisor.admit_batch(at(0), batch(&["ls", "git push"], 7), None);
        assert!(is_held_by(&actions, "prefix \"git push\""), "{actions:?}");
        let item = Some(crate::model::BatchItem { index: 1, count: 1 });
        let request = ExecRequest { item, ..asked("git push", agent()) };
        assert!(supervisor.step(at(0), new_task(request)).contains(&SupervisorAction::Spawn(id())));
    }

    /// An agent's running task, and a call from it.
    fn out_of(owner: Actor, cmd: &str, is_agent: bool) -> (Supervisor, ParentTask) {
        let mut supervisor = Supervisor::new(&rules());
        supervisor.step(at(0), new_task(asked(cmd, owner)));
        supervisor.step(at(1), SupervisorInput::Started { id: id(), pid: 1 });
        (supervisor, ParentTask { task: id(), is_agent })
    }

    #[test]
    fn a_command_line_call_out_of_a_task_counts_as_one_of_its_agent() {
        for (owner, cmd, is_agent, agent) in [
            (agent(), "make", false, Some(agent())),
            (Actor::Operator, "make", false, None),
            (Actor::Cli, "make", false, None),
            (Actor::Operator, "FOO=1 /usr/bin/claude -c", true, Some(Actor::Agent("claude".into()))),
        ] {
            let (mut supervisor, within) = out_of(owner.clone(), cmd, is_agent);
            let behind = supervisor.behind(&within).expect("a task");
            assert_eq!(behind, CallOrigin { task: id(), agent: agent.clone() }, "{owner} {cmd}");
            supervisor.pause(at(2), true);
            let request = BatchRequest { actor: Actor::Cli, ..batch(&["ls"], 2) };
            let (ticket, actions) = supervisor.admit_batch(at(3), request.clone(), Some(&within));
            assert_eq!(ticket.is_some(), agent.is_some(), "{owner} {cmd}");
            let told = |action: &SupervisorAction| matches!(action, SupervisorAction::Gate(event) if event.actor == Actor::Cli && event.note.starts_with("agent calls are paused; from task_"));
            assert_eq!(actions.iter().any(told), agent.is_some(), "the caller is told as who it is");
            assert_eq!(supervisor.admit_batch(at(4), request, None).0, None, "a script of a person goes on");
        }
        let (supervisor, _) = out_of(agent(), "make", false);
        let elsewhere = ParentTask { task: TaskId::from_random([9; 8]), is_agent: false };
        assert_eq!(supervisor.behind(&elsewhere), None);
    }

    #[test]
    fn a_rule_about_an_agent_holds_its_command_line_too_and_one_about_scripts_as_well() {
        for (caller, is_held) in [("agent:a", true), ("cli", true), ("agent:b", false)] {
            let rule = ApprovalRule {
                prefix: Some("git push".into()),
                actor: Some(caller.into()),
                ..ApprovalRule::default()
            };
            let (_, within) = out_of(agent(), "make", false);
            let mut supervisor = Supervisor::new(&Limits { approvals: vec![rule], ..Limits::default() });
            supervisor.step(at(0), new_task(asked("make", agent())));
            let request = BatchRequest { actor: Actor::Cli, ..batch(&["git push"], 2) };
            let held = supervisor.admit_batch(at(1), request, Some(&within)).0.is_some();
            assert_eq!(held, is_held, "{caller}");
        }
    }

    #[test]
    fn a_task_that_came_out_of_an_agents_task_passes_that_on() {
        let (mut supervisor, within) = out_of(agent(), "make", false);
        let second = TaskId::from_random([8; 8]);
        let SupervisorInput::Start(mut new) = new_task(asked("sh inner", Actor::Cli)) else {
            panic!("a start")
        };
        (new.id, new.behind) = (second.clone(), supervisor.behind(&within));
        supervisor.step(at(2), SupervisorInput::Start(new));
        let behind = supervisor.behind(&ParentTask { task: second, is_agent: false }).expect("a task");
        assert_eq!(behind.agent, Some(agent()));
    }
}
