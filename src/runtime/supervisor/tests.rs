//! Table-driven tests of every transition.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::*;
use crate::model::{
    ExecRequest, Exit, Leftovers, ProgramStep, STEP_GRACE, Signal, StopSignal, TaskEnd, TaskStatus,
};

pub(in crate::runtime) fn at(ms: u64) -> Moment {
    Moment { mono: Duration::from_millis(ms), wall: Timestamp::UNIX_EPOCH }
}

pub(in crate::runtime) fn id() -> TaskId {
    TaskId::from_random([7; 8])
}

pub(super) fn request(tty: bool, timeout: Option<Duration>) -> ExecRequest {
    ExecRequest {
        actor: Actor::Agent("a".into()),
        call: 1,
        cmd: "true".into(),
        shell: None,
        login: false,
        workdir: None,
        base: PathBuf::from("/"),
        tty,
        size: None,
        accepts_input: tty,
        yield_after: Some(Duration::from_secs(10)),
        timeout,
        leftovers: Leftovers::End,
        description: None,
        item: None,
        step: None,
        native: None,
    }
}

pub(super) fn new_task(request: ExecRequest) -> SupervisorInput {
    SupervisorInput::Start(Box::new(NewTask {
        id: id(),
        request,
        behind: None,
        workdir: PathBuf::from("/"),
        shell: "/bin/sh".into(),
        folder: PathBuf::from("/tmp"),
        side_terminal: false,
        lane: None,
        cost: Vec::new(),
    }))
}

pub(in crate::runtime) fn running(tty: bool, timeout: Option<Duration>) -> Supervisor {
    let mut supervisor = Supervisor::new(&Limits::default());
    supervisor.step(at(0), new_task(request(tty, timeout)));
    supervisor.step(at(1), SupervisorInput::Started { id: id(), pid: 1 });
    supervisor
}

pub(super) fn status(supervisor: &Supervisor) -> TaskStatus {
    supervisor.get(&id()).expect("the task").status
}

fn ended(task: &SupervisedTask) -> &TaskEnd {
    task.ended.as_ref().expect("an end")
}

pub(super) fn orders(actions: &[SupervisorAction]) -> Vec<HostOrder> {
    let order = |action: &SupervisorAction| match action {
        SupervisorAction::Order(_, order) => Some(order.clone()),
        _ => None,
    };
    actions.iter().filter_map(order).collect()
}

pub(super) fn end(supervisor: &mut Supervisor, exit: Exit) {
    supervisor.step(at(50), SupervisorInput::Exited { id: id(), exit });
    supervisor.step(at(51), SupervisorInput::Drained { id: id() });
    supervisor.step(at(52), SupervisorInput::Leftovers { id: id(), names: vec![] });
    supervisor.step(at(53), SupervisorInput::Gone { id: id(), survivors: vec![] });
}

#[test]
fn exit_zero_completes_and_any_other_exit_fails() {
    for (exit, expected) in [
        (Exit::Code(0), TaskStatus::Completed),
        (Exit::Code(7), TaskStatus::Failed),
        (Exit::Signal("SIGSEGV".parse().expect("a signal")), TaskStatus::Failed),
    ] {
        let mut supervisor = running(false, None);
        end(&mut supervisor, exit);
        assert_eq!(status(&supervisor), expected);
    }
}

#[test]
fn a_task_ends_only_after_its_output_is_drained_and_its_tree_is_gone() {
    let mut supervisor = running(false, None);
    let actions = supervisor.step(at(5), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
    assert!(actions.contains(&SupervisorAction::Drain(id())));
    assert_eq!(status(&supervisor), TaskStatus::Running);
    let actions = supervisor.step(at(6), SupervisorInput::Drained { id: id() });
    assert_eq!(orders(&actions), [HostOrder::Finish { leftovers: Leftovers::End, waits: true }]);
    assert_eq!(status(&supervisor), TaskStatus::Running);
    let actions = supervisor.step(at(7), SupervisorInput::Gone { id: id(), survivors: vec![] });
    assert!(actions.contains(&SupervisorAction::Close(id())));
    assert_eq!(status(&supervisor), TaskStatus::Completed);
}

#[test]
fn a_tree_that_is_gone_before_its_output_is_drained_waits_for_that() {
    let mut supervisor = running(false, None);
    supervisor.step(at(5), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
    assert_eq!(supervisor.step(at(6), SupervisorInput::Gone { id: id(), survivors: vec![] }), []);
    assert_eq!(status(&supervisor), TaskStatus::Running);
    let actions = supervisor.step(at(7), SupervisorInput::Drained { id: id() });
    assert!(actions.contains(&SupervisorAction::Close(id())) && orders(&actions).is_empty());
    assert_eq!(status(&supervisor), TaskStatus::Completed);
}

/// Stops the task; returns the effect and the actions.
pub(crate) fn stop_task(
    supervisor: &mut Supervisor,
    now: Moment,
    by: &Actor,
    stop: Stop,
) -> (StopEffect, Vec<SupervisorAction>) {
    let effect = supervisor.stop_effect(&id(), stop);
    let input = SupervisorInput::Stop { id: id(), by: by.clone(), stop, why: None };
    (effect, supervisor.step(now, input))
}

#[test]
fn a_stop_ends_the_tree_with_grace_and_a_second_one_at_once() {
    let mut supervisor = running(false, None);
    let agent = Actor::Agent("a".into());
    let (effect, actions) = stop_task(&mut supervisor, at(10), &Actor::Operator, Stop::default());
    assert_eq!(
        (effect, orders(&actions)),
        (StopEffect::Cancelling, vec![HostOrder::End(Duration::from_secs(5))])
    );
    assert_eq!(status(&supervisor), TaskStatus::Cancelling);
    let (_, actions) = stop_task(&mut supervisor, at(11), &agent, Stop::default());
    assert_eq!(orders(&actions), [HostOrder::End(Duration::ZERO)]);
    end(&mut supervisor, Exit::Signal(Signal::KILL));
    assert_eq!(status(&supervisor), TaskStatus::Cancelled);
    let stop = supervisor.get(&id()).and_then(|task| task.stop.clone()).expect("the stop");
    assert_eq!(stop.by, Actor::Operator, "the first who asked is named");
    assert_eq!(stop_task(&mut supervisor, at(90), &agent, Stop::default()).0, StopEffect::Noop);
}

#[test]
fn a_stop_before_the_start_ends_the_process_as_soon_as_it_starts() {
    let mut supervisor = Supervisor::new(&Limits::default());
    supervisor.step(at(0), new_task(request(false, None)));
    let (_, actions) = stop_task(&mut supervisor, at(1), &Actor::Operator, Stop::default());
    assert_eq!(orders(&actions), []);
    let actions = supervisor.step(at(2), SupervisorInput::Started { id: id(), pid: 9 });
    assert_eq!(orders(&actions), [HostOrder::End(Duration::ZERO)]);
    end(&mut supervisor, Exit::Signal(Signal::TERM));
    assert_eq!(status(&supervisor), TaskStatus::Cancelled);
}

#[test]
fn a_signal_changes_no_state() {
    let mut supervisor = running(true, None);
    let stop = Stop { force: false, signal: Some(StopSignal::Int) };
    let (effect, actions) = stop_task(&mut supervisor, at(9), &Actor::Operator, stop);
    assert_eq!((effect, orders(&actions)), (StopEffect::Signalled, vec![HostOrder::Signal(StopSignal::Int)]));
    assert_eq!(status(&supervisor), TaskStatus::Running);
}

#[test]
fn a_command_is_promoted_once_its_wait_is_over_unless_it_has_exited() {
    let mut supervisor = Supervisor::new(&Limits::default());
    let actions = supervisor.step(at(0), new_task(request(false, None)));
    let Some(SupervisorAction::Wake { timer: Timer::Yield, epoch, at: due, .. }) = actions.last() else {
        panic!("a yield timer was set: {actions:?}");
    };
    assert_eq!(*due, Duration::from_secs(10));
    let yielded = SupervisorInput::Due { id: id(), timer: Timer::Yield, epoch: *epoch };
    supervisor.step(at(1), SupervisorInput::Started { id: id(), pid: 1 });
    assert!(supervisor.step(at(10_000), yielded).contains(&SupervisorAction::Promote(id())));

    let mut supervisor = running(false, None);
    supervisor.step(at(2), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
    let late = SupervisorInput::Due { id: id(), timer: Timer::Yield, epoch: 1 };
    assert_eq!(supervisor.step(at(10_000), late), []);
}

#[test]
fn a_command_whose_wait_is_over_before_it_started_is_promoted_when_it_starts() {
    let mut supervisor = Supervisor::new(&Limits::default());
    supervisor.step(at(0), new_task(request(false, None)));
    assert_eq!(supervisor.step(at(0), SupervisorInput::Due { id: id(), timer: Timer::Yield, epoch: 1 }), []);
    assert!(
        supervisor
            .step(at(1), SupervisorInput::Started { id: id(), pid: 1 })
            .contains(&SupervisorAction::Promote(id()))
    );
}

#[test]
fn kept_leftovers_are_the_task_from_then_on() {
    let mut supervisor = Supervisor::new(&Limits::default());
    supervisor.step(at(0), new_task(ExecRequest { leftovers: Leftovers::Keep, ..request(false, None) }));
    supervisor.step(at(1), SupervisorInput::Started { id: id(), pid: 1 });
    supervisor.step(at(2), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
    let actions = supervisor.step(at(3), SupervisorInput::Drained { id: id() });
    assert_eq!(orders(&actions), [HostOrder::Finish { leftovers: Leftovers::Keep, waits: false }]);
    let kept = SupervisorInput::Leftovers { id: id(), names: vec!["sleep".into()] };
    assert!(supervisor.step(at(4), kept).contains(&SupervisorAction::Promote(id())));
    assert_eq!(status(&supervisor), TaskStatus::Running);
    supervisor.step(at(9), SupervisorInput::Gone { id: id(), survivors: vec![] });
    let task = supervisor.get(&id()).expect("the task");
    assert_eq!((task.status, ended(task).leftovers.len()), (TaskStatus::Completed, 0), "nothing was ended");
}

/// A command whose shell has exited, and of which something is still part of it.
fn at_work(request: ExecRequest) -> Supervisor {
    let mut supervisor = Supervisor::new(&Limits::default());
    supervisor.step(at(0), new_task(request));
    supervisor.step(at(1), SupervisorInput::Started { id: id(), pid: 1 });
    supervisor.step(at(2), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
    supervisor.step(at(3), SupervisorInput::Drained { id: id() });
    supervisor.step(at(4), SupervisorInput::AtWork { id: id(), names: vec!["sort".into()] });
    supervisor
}

const CUT: [HostOrder; 1] = [HostOrder::Finish { leftovers: Leftovers::End, waits: false }];

#[test]
fn f56_processes_of_the_command_are_waited_for_and_promoted_after_the_limit_of_the_call() {
    let mut done = at_work(request(false, None));
    let actions = done.step(at(500), SupervisorInput::Gone { id: id(), survivors: vec![] });
    assert!(actions.contains(&SupervisorAction::Close(id())));
    let task = done.get(&id()).expect("the task");
    assert_eq!((task.status, task.promoted, ended(task).leftovers.len()), (TaskStatus::Completed, false, 0));

    let mut long = at_work(request(false, None));
    let late = || SupervisorInput::Due { id: id(), timer: Timer::Yield, epoch: 1 };
    assert!(long.step(at(10_000), late()).contains(&SupervisorAction::Promote(id())));
    assert_eq!(status(&long), TaskStatus::Running);
    long.step(at(90_000), SupervisorInput::Leftovers { id: id(), names: vec!["node".into()] });
    long.step(at(90_001), SupervisorInput::Gone { id: id(), survivors: vec![] });
    let task = long.get(&id()).expect("the task");
    assert_eq!((task.status, &ended(task).leftovers[..]), (TaskStatus::Completed, &["node".to_owned()][..]));

    // The limit may pass while the output is drained, when it is not known yet whether anything is left.
    let mut draining = running(false, None);
    draining.step(at(9_950), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
    assert_eq!(draining.step(at(10_000), late()), []);
    draining.step(at(10_050), SupervisorInput::Drained { id: id() });
    let actions = draining.step(at(10_051), SupervisorInput::AtWork { id: id(), names: vec!["sort".into()] });
    assert!(actions.contains(&SupervisorAction::Promote(id())));
}

#[tokio::test]
async fn f56_processes_of_the_command_are_ended_and_named_when_its_time_is_up() {
    let limited = || request(false, Some(Duration::from_secs(1)));
    let due = || SupervisorInput::Due { id: id(), timer: Timer::Timeout, epoch: 1 };
    let mut late = at_work(limited());
    assert_eq!(orders(&late.step(at(1_001), due())), CUT);
    late.step(at(1_002), SupervisorInput::Leftovers { id: id(), names: vec!["sort".into()] });
    late.step(at(1_003), SupervisorInput::Gone { id: id(), survivors: vec![] });
    let task = late.get(&id()).expect("the task");
    assert_eq!(
        (task.status, ended(task).exit_status),
        (TaskStatus::Completed, Some(0)),
        "the shell's exit stands"
    );
    assert_eq!(ended(task).leftovers, ["sort"]);

    let mut draining = running(false, Some(Duration::from_secs(1)));
    draining.step(at(990), SupervisorInput::Exited { id: id(), exit: Exit::Code(0) });
    assert_eq!(orders(&draining.step(at(1_001), due())), []);
    draining.step(at(1_050), SupervisorInput::Drained { id: id() });
    let work = SupervisorInput::AtWork { id: id(), names: vec!["sort".into()] };
    assert_eq!(orders(&draining.step(at(1_051), work)), CUT);

    let step = ProgramStep { id: id(), variables: Vec::new() };
    let mut program = at_work(ExecRequest { leftovers: Leftovers::Keep, step: Some(step), ..limited() });
    assert_eq!(orders(&program.step(at(1_001), due())), [HostOrder::End(STEP_GRACE)]);
    program.step(at(1_002), SupervisorInput::Leftovers { id: id(), names: vec!["sort".into()] });
    program.step(at(1_003), SupervisorInput::Gone { id: id(), survivors: vec![] });
    let task = program.get(&id()).expect("the task");
    assert_eq!(
        (task.status, ended(task).exit_status),
        (TaskStatus::Failed, Some(124)),
        "a program has only that"
    );
}

#[test]
fn f56_a_command_whose_processes_are_waited_for_can_be_stopped_limited_and_interrupted() {
    let mut stopped = at_work(request(false, None));
    stop_task(&mut stopped, at(5), &Actor::Operator, Stop::default());
    stopped.step(at(6), SupervisorInput::Gone { id: id(), survivors: vec![] });
    assert_eq!(status(&stopped), TaskStatus::Cancelled);
    let mut flood = at_work(request(false, None));
    assert_eq!(
        orders(&flood.step(at(5), SupervisorInput::Overrun { id: id() })),
        [HostOrder::End(Duration::from_secs(5))]
    );
    let mut closing = at_work(request(false, None));
    closing.step(at(5), SupervisorInput::Shutdown { closing: CloseReason::Unsaid });
    closing.step(at(6), SupervisorInput::Gone { id: id(), survivors: vec![] });
    assert_eq!(status(&closing), TaskStatus::Interrupted);
}

#[test]
fn a_timeout_ends_the_tree_and_the_task_has_failed() {
    let mut supervisor = running(false, Some(Duration::from_secs(1)));
    let actions =
        supervisor.step(at(1_001), SupervisorInput::Due { id: id(), timer: Timer::Timeout, epoch: 1 });
    assert_eq!(orders(&actions), [HostOrder::End(Duration::from_secs(5))]);
    end(&mut supervisor, Exit::Signal(Signal::TERM));
    let task = supervisor.get(&id()).expect("the task");
    assert_eq!((task.status, ended(task).timed_out), (TaskStatus::Failed, true));
}

#[test]
fn a_task_that_writes_too_much_is_ended_once_and_has_failed_by_name() {
    let mut supervisor = running(false, Some(Duration::from_secs(1)));
    let actions = supervisor.step(at(10), SupervisorInput::Overrun { id: id() });
    assert_eq!(orders(&actions), [HostOrder::End(Duration::from_secs(5))]);
    assert_eq!(supervisor.step(at(20), SupervisorInput::Overrun { id: id() }), []);
    assert_eq!(
        supervisor.step(at(1_001), SupervisorInput::Due { id: id(), timer: Timer::Timeout, epoch: 1 }),
        []
    );
    end(&mut supervisor, Exit::Signal(Signal::TERM));
    let task = supervisor.get(&id()).expect("the task");
    assert_eq!((task.status, ended(task).timed_out), (TaskStatus::Failed, false));
    assert_eq!(ended(task).error.as_ref().map(|(kind, _)| kind.as_str()), Some("output_limit_exceeded"));
}

#[test]
fn the_operators_lease_keeps_agents_out_until_ten_seconds_after_the_last_key() {
    let mut supervisor = running(true, None);
    let agent = Actor::Agent("a".into());
    assert_eq!(supervisor.admit(at(5), &id(), &agent, false), Ok(()));
    supervisor.step(at(10), SupervisorInput::Typed { id: id(), by: Actor::Operator, bytes: 1 });
    supervisor.step(at(6_000), SupervisorInput::Typed { id: id(), by: Actor::Operator, bytes: 1 });
    let refused = supervisor.admit(at(11_000), &id(), &agent, false).expect_err("held");
    assert_eq!(refused.reason, RejectionReason::HeldByOperator);
    assert_eq!(supervisor.admit(at(11_000), &id(), &Actor::Operator, true), Ok(()));
    let actions =
        supervisor.step(at(10_010), SupervisorInput::Due { id: id(), timer: Timer::Lease, epoch: 1 });
    assert!(matches!(actions[..], [SupervisorAction::Wake { timer: Timer::Lease, .. }]), "{actions:?}");
    supervisor.step(at(16_000), SupervisorInput::Due { id: id(), timer: Timer::Lease, epoch: 2 });
    assert_eq!(supervisor.admit(at(16_000), &id(), &agent, false), Ok(()));
}

#[test]
fn a_release_frees_the_input_at_once() {
    let mut supervisor = running(true, None);
    supervisor.step(at(10), SupervisorInput::Typed { id: id(), by: Actor::Operator, bytes: 1 });
    supervisor.step(at(11), SupervisorInput::Release { id: id(), by: Actor::Operator });
    assert_eq!(supervisor.admit(at(12), &id(), &Actor::Agent("a".into()), false), Ok(()));
}

#[test]
fn a_shutdown_interrupts_what_lives_and_refuses_what_comes() {
    let mut supervisor = running(false, None);
    let actions = supervisor.step(at(5), SupervisorInput::Shutdown { closing: CloseReason::Unsaid });
    assert_eq!(orders(&actions), [HostOrder::End(Duration::from_secs(5))]);
    assert!(matches!(refusal(&supervisor), Some(crate::model::Error::ShuttingDown)));
    end(&mut supervisor, Exit::Signal(Signal::TERM));
    assert_eq!(status(&supervisor), TaskStatus::Interrupted);
}

fn refusal(supervisor: &Supervisor) -> Option<crate::model::Error> {
    let SupervisorInput::Start(new) = new_task(request(false, None)) else { panic!("a start") };
    supervisor.refusal(&new)
}

#[test]
fn a_task_limit_is_a_limit_on_live_tasks() {
    let mut supervisor = Supervisor::new(&Limits { tasks: 1, ..Limits::default() });
    assert!(refusal(&supervisor).is_none());
    supervisor.step(at(0), new_task(request(false, None)));
    assert!(matches!(refusal(&supervisor), Some(crate::model::Error::TaskLimit { limit: 1 })));
    supervisor.step(at(1), SupervisorInput::StartFailed { id: id(), error: ("k".into(), "m".into()) });
    assert_eq!(status(&supervisor), TaskStatus::Failed);
    assert!(refusal(&supervisor).is_none());
}
