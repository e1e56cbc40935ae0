//! Tasks whose end nobody put on record: where they stood, from what had happened to them; and how
//! they ended, from what is left. Pure.

use jiff::Timestamp;

use crate::envelope::Actor;
use crate::process::{EndReason, ExitRecord, ExitStatus, Signal};
use crate::runtime::supervisor::overrun;
use crate::runtime::view::{Ended, StopView, TaskEvent, TaskStatus, TaskView};

/// Why a task is `interrupted` after its runtime had died (contracts 7).
const RESTARTED: &str = "runtime_restarted";

/// Lets one event happen to a task.
pub(super) fn happen(task: &mut TaskView, event: &TaskEvent) {
    task.events.push(event.clone());
    task.updated_at = event.at;
    match event.what.as_str() {
        "start" => {
            task.started_at = Some(event.at);
            task.status = task.status.max(TaskStatus::Running);
        }
        "promoted" => task.promoted = true,
        "stop" => {
            let by = task.stop.take().map_or_else(|| event.actor.clone(), |stop| stop.by);
            let force = event.note == "KILL";
            task.stop = Some(StopView { by, at: event.at, kill_at: None, force });
            task.status = task.status.max(TaskStatus::Cancelling);
        }
        "timeout" => {
            ended(task, event.at).timed_out = true;
            task.status = task.status.max(TaskStatus::Cancelling);
        }
        "output_limit" => {
            let limit = event.bytes.unwrap_or_default();
            ended(task, event.at).error = Some(overrun(limit));
            task.status = task.status.max(TaskStatus::Cancelling);
        }
        "exit" => {
            let code = event.note.strip_prefix("exit ").and_then(|code| code.parse().ok());
            let ended = ended(task, event.at);
            ended.exit_status = code;
            ended.signal = code.is_none().then(|| event.note.clone());
        }
        "leftovers" => {
            ended(task, event.at).leftovers =
                event.note.split_ascii_whitespace().map(str::to_owned).collect();
        }
        "end" => {
            if let Some(status) = TaskStatus::parse(&event.note) {
                task.status = status;
                ended(task, event.at);
            }
        }
        _ => {}
    }
}

fn ended(task: &mut TaskView, at: Timestamp) -> &mut Ended {
    let ended = task.ended.get_or_insert_with(|| Ended {
        at,
        exit_status: None,
        signal: None,
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
        (None, true) => TaskStatus::Failed,
        (None, false) if by_itself => TaskStatus::Completed,
        _ => TaskStatus::Interrupted,
    };
    let facts = ended(&mut task, at);
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
    if status == TaskStatus::Interrupted {
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
            let (what, note) = ((*what).to_owned(), (*note).to_owned());
            let event =
                TaskEvent { at: Timestamp::UNIX_EPOCH, actor: actor.clone(), what, note, bytes: None };
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
