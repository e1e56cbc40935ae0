//! Property tests of every transition, with random interleavings.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::tests::{at, id, new_task, orders, request, status, stop_task};
use super::*;
use crate::model::{
    Decision, Exit, InputEvidence, InputNeed, InputWait, OutputView, StopSignal, TaskEvent, TaskState,
    TaskUpdate, TaskView,
};

#[derive(Debug, Clone)]
enum Event {
    Started,
    StartFailed,
    Exited(i32),
    Drained,
    AtWork,
    Leftovers,
    Gone,
    HostLost,
    Stop(bool),
    Signal,
    Typed(bool),
    Timeout(u32),
    Yield(u32),
    Overrun,
    Waits(bool),
    Decide(bool),
    Shutdown,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        Just(Event::Started),
        Just(Event::StartFailed),
        (0..3i32).prop_map(Event::Exited),
        Just(Event::Drained),
        Just(Event::AtWork),
        Just(Event::Leftovers),
        Just(Event::Gone),
        Just(Event::HostLost),
        any::<bool>().prop_map(Event::Stop),
        Just(Event::Signal),
        any::<bool>().prop_map(Event::Typed),
        (0..5u32).prop_map(Event::Timeout),
        (0..5u32).prop_map(Event::Yield),
        Just(Event::Overrun),
        any::<bool>().prop_map(Event::Waits),
        any::<bool>().prop_map(Event::Decide),
        Just(Event::Shutdown),
    ]
}

fn apply(supervisor: &mut Supervisor, now: Moment, event: Event) -> Vec<SupervisorAction> {
    let id = id();
    let agent = Actor::Agent("a".into());
    match event {
        Event::Started => supervisor.step(now, SupervisorInput::Started { id, pid: 1 }),
        Event::StartFailed => {
            supervisor.step(now, SupervisorInput::StartFailed { id, error: ("k".into(), "m".into()) })
        }
        Event::Exited(code) => supervisor.step(now, SupervisorInput::Exited { id, exit: Exit::Code(code) }),
        Event::Drained => supervisor.step(now, SupervisorInput::Drained { id }),
        Event::AtWork => supervisor.step(now, SupervisorInput::AtWork { id, names: vec!["sort".into()] }),
        Event::Leftovers => {
            supervisor.step(now, SupervisorInput::Leftovers { id, names: vec!["sleep".into()] })
        }
        Event::Gone => supervisor.step(now, SupervisorInput::Gone { id, survivors: vec![] }),
        Event::HostLost => supervisor.step(now, SupervisorInput::HostLost { id, survivors: vec![] }),
        Event::Stop(force) => stop_task(supervisor, now, &agent, Stop { force, signal: None }).1,
        Event::Signal => {
            stop_task(supervisor, now, &agent, Stop { force: false, signal: Some(StopSignal::Hup) }).1
        }
        Event::Typed(operator) => {
            let by = if operator { Actor::Operator } else { agent };
            supervisor.step(now, SupervisorInput::Typed { id, by, bytes: 3 })
        }
        Event::Timeout(epoch) => {
            supervisor.step(now, SupervisorInput::Due { id, timer: Timer::Timeout, epoch })
        }
        Event::Yield(epoch) => supervisor.step(now, SupervisorInput::Due { id, timer: Timer::Yield, epoch }),
        Event::Overrun => supervisor.step(now, SupervisorInput::Overrun { id }),
        Event::Waits(waits) => {
            let (kind, evidence) = (InputNeed::Line, InputEvidence::TtyRead);
            let waiting =
                waits.then_some(InputWait { kind, evidence, since: now.wall, program: None, question: None });
            supervisor.step(now, SupervisorInput::Waiting { id, waiting, is_watched: false })
        }
        Event::Decide(approves) => {
            let decision = if approves { Decision::Once } else { Decision::Deny { note: "no".into() } };
            let held = supervisor.gate().held.into_iter().next();
            held.and_then(|held| supervisor.decide(now, held.ticket, &held.hash, &decision))
                .unwrap_or_default()
        }
        Event::Shutdown => supervisor.step(now, SupervisorInput::Shutdown { closing: CloseReason::Unsaid }),
    }
}

proptest! {
    #[test]
    fn a_task_only_moves_forward_and_closes_exactly_once(events in prop::collection::vec(event(), 0..40)) {
        let mut supervisor = Supervisor::new(&Limits::default());
        supervisor.step(at(0), new_task(request(true, Some(Duration::from_secs(1)))));
        let mut closed = 0;
        let mut before = status(&supervisor);
        for (step, event) in events.into_iter().enumerate() {
            let actions = apply(&mut supervisor, at(step as u64 * 500), event);
            closed += actions.iter().filter(|action| **action == SupervisorAction::Close(id())).count();
            let after = status(&supervisor);
            prop_assert!(after >= before, "{before:?} -> {after:?}");
            if before.is_terminal() {
                prop_assert_eq!(after, before, "the first terminal state wins");
                prop_assert!(orders(&actions).is_empty(), "nothing is ordered after the end");
            }
            before = after;
        }
        prop_assert_eq!(closed, usize::from(before.is_terminal()));
    }

    /// Applying the recorded facts in order gives the task as the runtime showed it.
    #[test]
    fn the_facts_on_record_add_up_to_the_task_that_was_shown(
        is_held in any::<bool>(),
        events in prop::collection::vec(event(), 0..40),
    ) {
        let now = |ms: u64| {
            let wall = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_millis(i64::try_from(ms).expect("short"));
            Moment { wall, ..at(ms) }
        };
        let mut supervisor = Supervisor::new(&Limits::default());
        supervisor.pause(now(0), is_held);
        let asked = supervisor.step(now(0), new_task(request(true, Some(Duration::from_secs(1)))));
        let mut recorded: Option<TaskState> = None;
        let mut record = |supervisor: &Supervisor, actions: Vec<SupervisorAction>| {
            for action in actions {
                let whole = || supervisor.get(&id()).expect("the task").whole(OutputView::default());
                match (action, &mut recorded) {
                    (SupervisorAction::Queue(_) | SupervisorAction::Spawn(_), None) => {
                        recorded = Some(TaskState::new(TaskView { events: Vec::new(), ..whole() }));
                    }
                    (SupervisorAction::Spawn(_), Some(recorded)) => recorded.replace_view(whole()),
                    (SupervisorAction::Note(_, event), Some(recorded)) => {
                        let row = serde_json::to_string(&event).expect("written");
                        let event: TaskEvent = serde_json::from_str(&row).expect("read");
                        recorded.apply(TaskUpdate::Event(event));
                    }
                    _ => {}
                }
            }
            recorded.clone()
        };
        record(&supervisor, asked);
        let end = [Event::Decide(false), Event::Started, Event::Exited(0), Event::Gone, Event::Drained];
        let mut read = None;
        for (step, event) in events.into_iter().chain(end).enumerate() {
            let is_held = supervisor.get(&id()).is_some_and(|task| task.held.is_some());
            if is_held && matches!(event, Event::Started | Event::StartFailed | Event::Exited(_)) {
                continue;
            }
            let actions = apply(&mut supervisor, now(step as u64 * 500), event);
            read = record(&supervisor, actions);
        }
        let (task, mut read) = (supervisor.get(&id()).expect("the task"), read.expect("on record"));
        read.keep_events(task.events.len());
        let promoted = task.promoted && task.started_at.is_none();
        // That a held command's call has returned is only recorded along with the command's start.
        if promoted {
            read.apply(TaskUpdate::Deferred);
        }
        prop_assert_eq!(read.view(), task.view());
        prop_assert!(task.ended.is_some());
    }
}
