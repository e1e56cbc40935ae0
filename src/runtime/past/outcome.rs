//! Tasks whose end nobody put on record: where they stood, from what had happened to them; and how
//! they ended, from what is left. Pure.

use jiff::Timestamp;

use crate::envelope::Actor;
use crate::facts::{Exit, TaskEvent, TaskFact, TaskStatus};
use crate::process::{EndReason, ExitRecord, ExitStatus, Signal};
use crate::runtime::supervisor::overrun;
use crate::runtime::view::{Ended, StopView, TaskView};

/// Why a task is `interrupted` after its runtime had died (docs/contract.md#record).
const RESTARTED: &str = "runtime_restarted";

/// Lets one event happen to a task.
pub(super) fn happen(task: &mut TaskView, event: &TaskEvent) {
    task.events.push(event.clone());
    task.updated_at = event.at;
    match &event.fact {
        TaskFact::Start => {
            task.started_at = Some(event.at);
            task.status = task.status.max(TaskStatus::Running);
        }
        TaskFact::Promoted { .. } => task.promoted = true,
        TaskFact::Stop { force, why } => {
            let first = task.stop.take().map(|stop| (stop.by, stop.why));
            let (by, why) = first.unwrap_or_else(|| (event.actor.clone(), why.clone()));
            task.stop = Some(StopView { by, at: event.at, kill_at: None, force: *force, why });
            task.status = task.status.max(TaskStatus::Cancelling);
        }
        TaskFact::Timeout => {
            ended(task, event.at).timed_out = true;
            task.status = task.status.max(TaskStatus::Cancelling);
        }
        TaskFact::OutputLimit(limit) => {
            ended(task, event.at).error = Some(overrun(*limit));
            task.status = task.status.max(TaskStatus::Cancelling);
        }
        TaskFact::Exit(exit) => {
            let signalled_by = signalled_by(task, exit);
            let ended = ended(task, event.at);
            ended.signalled_by = signalled_by;
            (ended.exit_status, ended.signal) = match exit {
                Exit::Code(code) => (Some(*code), None),
                Exit::Signal(name) => (None, Some(name.clone())),
            };
        }
        TaskFact::Leftovers(names) => ended(task, event.at).leftovers.clone_from(names),
        TaskFact::End(status) => {
            task.status = *status;
            ended(task, event.at);
        }
        // The rows `queued`, `start` and `ended` hold the task as it stood.
        TaskFact::Held(_) | TaskFact::Approved(_) | TaskFact::Denied(_) | TaskFact::Waiting(..) => {}
        TaskFact::Input(_) | TaskFact::Refused(_) | TaskFact::Lease | TaskFact::Released => {}
        TaskFact::Resize(_) | TaskFact::Signal(_) | TaskFact::ScreenReset => {}
    }
}

/// Returns who sent the signal that ended a task, if anybody did.
fn signalled_by(task: &TaskView, exit: &Exit) -> Option<Actor> {
    task.events.iter().rev().find_map(|event| match event.fact {
        TaskFact::Signal(signal) => Some(signal.explains(exit).then(|| event.actor.clone())),
        _ => None,
    })?
}

fn ended(task: &mut TaskView, at: Timestamp) -> &mut Ended {
    let ended = task.ended.get_or_insert_with(|| Ended {
        at,
        ran_ms: None,
        exit_status: None,
        signal: None,
        signalled_by: None,
        timed_out: false,
        error: None,
        leftovers: Vec::new(),
        survivors: Vec::new(),
    });
    ended.at = at;
    ended
}

/// Decides how a task ended whose runtime had died: by what its host left, if it left anything, else
/// it was interrupted. `survivors` could not be ended.
pub(super) fn decide(
    mut task: TaskView,
    left: Option<&ExitRecord>,
    survivors: &[String],
    now: Timestamp,
) -> TaskView {
    let at = left.map_or(now, |left| left.ended_at);
    let exit = left.and_then(|left| left.exit);
    let was_seen = task.ended.as_ref().is_some_and(is_exit);
    // A terminal that goes with its runtime hangs up whoever had it, perhaps before the host knows.
    let hung_up = task.tty && exit == Some(ExitStatus::Signal(Signal::HUP));
    let by_itself = was_seen || !hung_up && left.is_some_and(|left| left.reason == EndReason::Exited);
    let is_cut_off = task.ended.as_ref().is_some_and(|ended| ended.timed_out || ended.error.is_some());
    let status = match (&task.stop, is_cut_off) {
        (Some(stop), _) if stop.by != Actor::System => TaskStatus::Cancelled,
        (_, true) => TaskStatus::Failed,
        (None, false) if by_itself => TaskStatus::Completed,
        _ => TaskStatus::Interrupted,
    };
    let signalled_by = exit.and_then(|exit| {
        let exit = match exit {
            ExitStatus::Code(code) => Exit::Code(code),
            ExitStatus::Signal(signal) => Exit::Signal(signal.to_string()),
        };
        signalled_by(&task, &exit)
    });
    // It was ending with its runtime already, and why is known.
    let is_told = task.stop.as_ref().is_some_and(|stop| stop.why.is_some());
    let facts = ended(&mut task, at);
    facts.signalled_by = facts.signalled_by.take().or(signalled_by);
    match exit {
        Some(ExitStatus::Code(code)) if !facts.timed_out => facts.exit_status = Some(code),
        Some(ExitStatus::Signal(signal)) if !facts.timed_out => facts.signal = Some(signal.to_string()),
        _ if facts.timed_out => facts.exit_status = Some(124),
        _ => {}
    }
    facts.survivors = survivors.to_vec();
    if let Some(left) = left.filter(|left| !left.leftovers.is_empty()) {
        facts.leftovers.clone_from(&left.leftovers);
    }
    let is_success = facts.exit_status == Some(0) && facts.signal.is_none();
    if status == TaskStatus::Interrupted && !is_told {
        facts.error = Some((RESTARTED.to_owned(), "the runtime that ran it had died".to_owned()));
    }
    task.status = if status == TaskStatus::Completed && !is_success { TaskStatus::Failed } else { status };
    task.updated_at = at;
    (task.lease, task.waiting, task.held) = (None, None, None);
    task
}

fn is_exit(ended: &Ended) -> bool {
    ended.exit_status.is_some() || ended.signal.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::TaskId;
    use crate::runtime::view::OutputView;
    use crate::terminal::Size;

    fn task(tty: bool, events: &[(&str, &str, Actor)]) -> TaskView {
        let mut task = TaskView {
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
            started_by: Actor::Cli,
            call: 1,
            from_task: None,
            promoted: false,
            item: None,
            held: None,
            timeout_ms: None,
            lease: None,
            waiting: None,
            created_at: Timestamp::UNIX_EPOCH,
            started_at: None,
            updated_at: Timestamp::UNIX_EPOCH,
            stop: None,
            ended: None,
            output: OutputView::default(),
            pid: None,
            folder: "/nowhere".into(),
            events: Vec::new(),
        };
        for (what, note, actor) in events {
            let fact = TaskFact::parse(what, note, None).expect("a fact");
            let event = TaskEvent { at: Timestamp::UNIX_EPOCH, actor: actor.clone(), fact };
            happen(&mut task, &event);
        }
        task
    }

    fn left(reason: EndReason, exit: ExitStatus) -> ExitRecord {
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
    fn a_signal_and_a_stop_name_who_and_why_as_they_did_when_it_happened() {
        let codex = || Actor::Agent("codex".into());
        let start = || ("start", "", Actor::Cli);
        let signalled =
            task(false, &[start(), ("signal", "TERM", codex()), ("exit", "SIGTERM", Actor::System)]);
        assert_eq!(signalled.cause().as_deref(), Some("signalled by agent:codex"));
        let other = task(false, &[start(), ("signal", "USR1", codex()), ("exit", "SIGTERM", Actor::System)]);
        assert_eq!(other.cause(), None);
        let stopped = task(false, &[start(), ("stop", "TERM, its caller hung up", Actor::Cli)]);
        assert_eq!(stopped.cause().as_deref(), Some("stopped by cli: its caller hung up"));
        let closing =
            task(false, &[start(), ("stop", "TERM, the operator closed the console", Actor::System)]);
        let ended = decide(closing, None, &[], Timestamp::UNIX_EPOCH);
        let said = "ended with the runtime: the operator closed the console";
        assert_eq!((ended.status, ended.cause().as_deref()), (TaskStatus::Interrupted, Some(said)));
        assert_eq!(ended.ended.expect("an end").error, None);
    }

    #[test]
    fn an_untold_end_is_decided_by_what_is_left() {
        let start = || ("start", "", Actor::Cli);
        let (code, signal) = (ExitStatus::Code, |signal| ExitStatus::Signal(signal));
        let gone = EndReason::RuntimeGone;
        let by = |actor| [start(), ("stop", "TERM", actor)];
        let timeout = [start(), ("timeout", "", Actor::System)];
        let flooded = [start(), ("output_limit", "", Actor::System)];
        let exited = [start(), ("exit", "exit 3", Actor::System)];
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
            let ended = decide(task, left.as_ref(), &[], Timestamp::UNIX_EPOCH);
            let facts = ended.ended.expect("an end");
            assert_eq!((ended.status, facts.exit_status), (status, exit), "{what}");
            let is_told = status == TaskStatus::Interrupted || what == "wrote too much";
            assert_eq!(facts.error.is_some(), is_told, "{what}");
        }
    }
}
