//! Infers how tasks ended whose end was never recorded, from their earlier events and from what they left behind.
//! Pure.

use jiff::Timestamp;

use crate::envelope::Actor;
use crate::model::{Exit, Signal, TaskEvent, TaskFact, TaskState, TaskStatus, TaskUpdate, UnendedProcess};
use crate::process::{EndReason, ExitRecord};

/// The error kind of a task that is `interrupted` because its runtime died (docs/contract.md#record).
const RESTARTED: &str = "runtime_restarted";

/// Completes a task whose runtime had died: by its host's exit record if there is one, otherwise as interrupted.
/// `survivors` are processes that could not be ended. Returns the events missing from the record.
pub(super) fn complete(
    task: &mut TaskState,
    left: Option<&ExitRecord>,
    survivors: &[UnendedProcess],
    now: Timestamp,
) -> Vec<TaskEvent> {
    let at = left.map_or(now, |left| left.ended_at);
    let exit = left.and_then(|left| left.exit);
    // A terminal that goes away with its runtime hangs up the process it belongs to, perhaps before the host notices.
    let hung_up = task.tty && exit == Some(Exit::Signal(Signal::HUP));
    let by_itself =
        task.exit().is_some() || !hung_up && left.is_some_and(|left| left.reason == EndReason::Exited);
    // The task was already ending with its runtime, and the reason is recorded.
    let is_told = task.stop.as_ref().is_some_and(|stop| stop.why.is_some());
    let ended_before = task.is_stopped() || task.has_failed() || by_itself && task.stop.is_none();

    let mut facts = Vec::new();
    if let Some(exit) = exit.filter(|_| task.exit().is_none()) {
        facts.push(TaskFact::Exit(exit));
    }
    if let Some(left) = left.filter(|left| !left.leftovers.is_empty()) {
        facts.push(TaskFact::Leftovers(left.leftovers.clone()));
    }
    let mut missing: Vec<TaskEvent> = facts.into_iter().map(|fact| event(at, fact)).collect();
    missing.iter().for_each(|event| task.apply(TaskUpdate::Event(event.clone())));

    let status = task.final_status(!ended_before);
    let died = || (RESTARTED.to_owned(), "the runtime that ran it had died".to_owned());
    let error = (status == TaskStatus::Interrupted && !is_told).then(died);
    let (survivors, peak_memory) = (survivors.to_vec(), task.peak_memory);
    let end = event(at, TaskFact::End { status, ran_ms: None, error, survivors, peak_memory });
    task.apply(TaskUpdate::Event(end.clone()));
    missing.push(end);
    missing
}

fn event(at: Timestamp, fact: TaskFact) -> TaskEvent {
    TaskEvent { at, actor: Actor::System, fact }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::TaskId;
    use crate::model::{OutputView, StopSignal, TaskView};
    use crate::terminal::Size;

    fn task(tty: bool, events: &[(TaskFact, Actor)]) -> TaskState {
        let view = TaskView {
            id: TaskId::from_random([1; 8]),
            number: 1,
            status: TaskStatus::Queued,
            cmd: "true".into(),
            cmd_chars: None,
            description: None,
            name: None,
            workdir: "/".into(),
            shell: "/bin/sh".into(),
            login: false,
            tty,
            size: Size::default(),
            size_asked: false,
            accepts_input: tty,
            side_terminal: false,
            started_by: Actor::Cli,
            call: 1,
            from_task: None,
            promoted: false,
            item: None,
            held: None,
            queued: None,
            timeout_ms: None,
            lease: None,
            waiting: None,
            listening: Vec::new(),
            created_at: Timestamp::UNIX_EPOCH,
            started_at: None,
            updated_at: Timestamp::UNIX_EPOCH,
            stop: None,
            ended: None,
            ceiling: None,
            peak_memory: None,
            changes: None,
            output: OutputView::default(),
            pid: None,
            folder: "/nowhere".into(),
            events: Vec::new(),
            earlier_events: 0,
            place: None,
        };
        let mut task = TaskState::new(view);
        for (fact, actor) in events {
            let event = TaskEvent { at: Timestamp::UNIX_EPOCH, actor: actor.clone(), fact: fact.clone() };
            task.apply(TaskUpdate::Event(event));
        }
        task
    }

    fn decide(mut task: TaskState, left: Option<&ExitRecord>) -> TaskState {
        complete(&mut task, left, &[], Timestamp::UNIX_EPOCH);
        task
    }

    fn stop(why: Option<&str>) -> TaskFact {
        TaskFact::Stop { force: false, why: why.map(str::to_owned), kill_at: None }
    }

    fn left(reason: EndReason, exit: Exit) -> ExitRecord {
        let at = Timestamp::UNIX_EPOCH;
        ExitRecord {
            pid: 2,
            start: 3,
            started_at: at,
            exit: Some(exit),
            exited_at: Some(at),
            ended_at: at,
            leftovers: Vec::new(),
            survivors: Vec::new(),
            reason,
        }
    }

    #[test]
    fn the_recorded_cause_of_a_signal_or_a_stop_names_who_and_why() {
        let codex = || Actor::Agent("codex".into());
        let start = || (TaskFact::Start { pid: None }, Actor::Cli);
        let terminated = || (TaskFact::Exit(Exit::Signal(Signal::TERM)), Actor::System);
        // The cause is known once the task has ended.
        let ended = |events: &[(TaskFact, Actor)]| decide(task(false, events), None);
        let signalled = ended(&[start(), (TaskFact::Signal(StopSignal::Term), codex()), terminated()]);
        assert_eq!(signalled.cause().as_deref(), Some("signalled by agent:codex"));
        let other = ended(&[start(), (TaskFact::Signal(StopSignal::Usr1), codex()), terminated()]);
        assert_eq!(other.cause(), None);
        let stopped = task(false, &[start(), (stop(Some("its caller hung up")), Actor::Cli)]);
        assert_eq!(stopped.cause().as_deref(), Some("stopped by cli: its caller hung up"));
        let closing = task(false, &[start(), (stop(Some("the operator closed the console")), Actor::System)]);
        let ended = decide(closing, None);
        let said = "ended with the runtime: the operator closed the console";
        assert_eq!((ended.status, ended.cause().as_deref()), (TaskStatus::Interrupted, Some(said)));
        assert_eq!(ended.ended.as_ref().expect("an end").error, None);
    }

    #[test]
    fn an_unrecorded_end_is_decided_from_the_exit_record_and_earlier_events() {
        let start = || (TaskFact::Start { pid: None }, Actor::Cli);
        let (code, signal) = (Exit::Code, |signal| Exit::Signal(signal));
        let gone = EndReason::RuntimeGone;
        let by = |actor| [start(), (stop(None), actor)];
        let timeout = [start(), (TaskFact::Timeout, Actor::System)];
        let flooded = [start(), (TaskFact::OutputLimit(0), Actor::System)];
        let exited = [start(), (TaskFact::Exit(Exit::Code(3)), Actor::System)];
        for (what, task, left, status, exit) in [
            ("nothing is left", task(false, &[start()]), None, TaskStatus::Interrupted, None),
            ("never started", task(false, &[]), None, TaskStatus::Interrupted, None),
            (
                "by itself",
                task(false, &[start()]),
                Some(left(EndReason::Exited, code(0))),
                TaskStatus::Completed,
                Some(0),
            ),
            (
                "by itself, badly",
                task(false, &[start()]),
                Some(left(EndReason::Exited, code(7))),
                TaskStatus::Failed,
                Some(7),
            ),
            (
                "with the runtime",
                task(false, &[start()]),
                Some(left(gone, signal(Signal::TERM))),
                TaskStatus::Interrupted,
                None,
            ),
            (
                "hung up",
                task(true, &[start()]),
                Some(left(EndReason::Exited, signal(Signal::HUP))),
                TaskStatus::Interrupted,
                None,
            ),
            ("seen to exit", task(false, &exited), Some(left(gone, code(3))), TaskStatus::Failed, Some(3)),
            (
                "stopped",
                task(false, &by(Actor::Operator)),
                Some(left(EndReason::Ordered, signal(Signal::TERM))),
                TaskStatus::Cancelled,
                None,
            ),
            (
                "shut down",
                task(false, &by(Actor::System)),
                Some(left(EndReason::Ordered, signal(Signal::TERM))),
                TaskStatus::Interrupted,
                None,
            ),
            (
                "timed out",
                task(false, &timeout),
                Some(left(EndReason::Ordered, signal(Signal::TERM))),
                TaskStatus::Failed,
                Some(124),
            ),
            (
                "wrote too much",
                task(false, &flooded),
                Some(left(EndReason::Ordered, signal(Signal::TERM))),
                TaskStatus::Failed,
                None,
            ),
        ] {
            let ended = decide(task, left.as_ref());
            let facts = ended.ended.as_ref().expect("an end");
            assert_eq!((ended.status, facts.exit_status), (status, exit), "{what}");
            let is_told = status == TaskStatus::Interrupted || what == "wrote too much";
            assert_eq!(facts.error.is_some(), is_told, "{what}");
        }
    }
}
