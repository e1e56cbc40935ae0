//! Every fact about a task is said in the same words wherever it is shown: in a row of the console, in a plain line, in
//! the receipt of TaskStatus and in a row of TaskList. A new fact does not compile without its row here.

use std::sync::Arc;

use pilothouse::console::plain;
use pilothouse::envelope::Actor;
use pilothouse::model::{
    CeilingHit, CeilingKind, Exit, HoldReason, InputEvidence, InputLoss, InputNeed, InputWait, LaneObstacle,
    LaneWait, Listener, LostInput, RejectionReason, Signal, Snapshot, StopSignal, TaskFact, TaskState,
    TaskStatus, TaskUpdate, TaskView,
};
use pilothouse::terminal::Size;
use pilothouse::tools::task_list::ListedTasks;
use pilothouse::tools::task_status::TaskDetails;
use pilothouse::tools::{render, task_list, task_status};

use crate::console_fixture::{ago, console, empty, event, now, shown, task};

/// Where facts are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interface {
    Row,
    Plain,
    Status,
    List,
}

const ALL: &[Interface] = &[Interface::Row, Interface::Plain, Interface::Status, Interface::List];
const WITHOUT_ROW: &[Interface] = &[Interface::Plain, Interface::Status, Interface::List];
const STATUS: &[Interface] = &[Interface::Status];
const ROW: &[Interface] = &[Interface::Row];

/// What is said of a fact: a word in the console's row, and a clause wherever it is shown.
struct Said {
    word: &'static str,
    clause: String,
    by: &'static [Interface],
}

fn said(word: &'static str, clause: impl Into<String>, by: &'static [Interface]) -> Said {
    Said { word, clause: clause.into(), by }
}

fn end(status: TaskStatus) -> TaskFact {
    TaskFact::End { status, ran_ms: Some(1_000), error: None, survivors: Vec::new(), peak_memory: None }
}

fn waiting(kind: InputNeed, evidence: InputEvidence, program: Option<&str>) -> InputWait {
    InputWait { kind, evidence, since: ago(20), program: program.map(str::to_owned), question: None }
}

/// Returns what follows a fact until it can be seen, what is said then, and a fact of the next kind.
fn row(fact: &TaskFact) -> (Vec<TaskFact>, Said, Option<TaskFact>) {
    let running = || said("running", "running", STATUS);
    let exit = |exit| TaskFact::Exit(exit);
    let killed = || vec![exit(Exit::Signal(Signal::KILL)), end(TaskStatus::Failed)];
    let wait = LaneWait { lane: "build".into(), running: 2, slots: 2, by: LaneObstacle::Pressure(12) };
    let listener = Listener { at: "127.0.0.1:5173".parse().expect("an address"), url: None, after_ms: 1_200 };
    let at = listener.at.clone();
    match fact {
        TaskFact::Held(HoldReason::Paused) => (
            vec![],
            said("to approve", "agents paused", ROW),
            Some(TaskFact::Held(HoldReason::Rule("rm".into()))),
        ),
        TaskFact::Held(HoldReason::Rule(_)) => {
            (vec![], said("to approve", "needs approval", ROW), Some(TaskFact::Approved("go".into())))
        }
        TaskFact::Approved(_) => (vec![], said("queued", "", &[]), Some(TaskFact::Denied("not now".into()))),
        TaskFact::Denied(_) => (
            vec![end(TaskStatus::Cancelled)],
            said("denied", "The operator denied this: not now", WITHOUT_ROW),
            Some(TaskFact::Queued(wait)),
        ),
        TaskFact::Queued(wait) => (vec![], said("queued", wait.to_string(), ALL), Some(TaskFact::Admitted)),
        TaskFact::Admitted => {
            (vec![], said("queued", "queued", STATUS), Some(TaskFact::Start { pid: Some(42) }))
        }
        TaskFact::Start { .. } => (
            vec![],
            said("running", "running", WITHOUT_ROW),
            Some(TaskFact::Waiting(waiting(InputNeed::Line, InputEvidence::TtyRead, None))),
        ),
        TaskFact::Waiting(_) => (
            vec![],
            said("waiting", "waiting for input", WITHOUT_ROW),
            Some(TaskFact::Promoted { kept: false }),
        ),
        TaskFact::Promoted { .. } => (vec![], running(), Some(TaskFact::Outlived("it hung up".into()))),
        TaskFact::Outlived(_) => (vec![], running(), Some(TaskFact::Input(5))),
        TaskFact::Input(_) => {
            let lost = LostInput { bytes: 6, at_most: false, cause: InputLoss::ThrownAway };
            (vec![], running(), Some(TaskFact::InputLost(lost)))
        }
        TaskFact::InputLost(lost) => {
            let said = said("running", "thrown away by the program: 6 bytes", STATUS);
            assert_eq!(said.clause, lost.clause());
            (vec![], said, Some(TaskFact::Unanswered))
        }
        TaskFact::Unanswered => (vec![], running(), Some(TaskFact::Listening(listener))),
        TaskFact::Listening(_) => {
            (vec![], said("running", "127.0.0.1:5173, seen after 1.2 s", STATUS), Some(TaskFact::Closed(at)))
        }
        TaskFact::Closed(_) => (vec![], running(), Some(TaskFact::Refused(RejectionReason::TaskNotRunning))),
        TaskFact::Refused(_) => (vec![], running(), Some(TaskFact::Lease)),
        TaskFact::Lease => (vec![], running(), Some(TaskFact::Released)),
        TaskFact::Released => (vec![], running(), Some(TaskFact::Resize(Size::default()))),
        TaskFact::Resize(_) => {
            (vec![], running(), Some(TaskFact::Stop { force: false, why: None, kill_at: None }))
        }
        TaskFact::Stop { .. } => (
            vec![exit(Exit::Signal(Signal::TERM)), end(TaskStatus::Cancelled)],
            said("cancelled", "stopped by operator", WITHOUT_ROW),
            Some(TaskFact::Signal(StopSignal::Term)),
        ),
        TaskFact::Signal(_) => (
            vec![exit(Exit::Signal(Signal::TERM)), end(TaskStatus::Failed)],
            said("SIGTERM", "signalled by operator", WITHOUT_ROW),
            Some(TaskFact::Timeout),
        ),
        TaskFact::Timeout => (
            vec![end(TaskStatus::Failed)],
            said("timed out", "timed out after 2 min", WITHOUT_ROW),
            Some(TaskFact::OutputLimit(64)),
        ),
        TaskFact::OutputLimit(_) => (
            killed(),
            said("SIGKILL", "The command wrote more than 64 B and was ended for it", WITHOUT_ROW),
            Some(ceiling(CeilingKind::MemoryLimit)),
        ),
        TaskFact::Ceiling(hit) => {
            let (word, next) = match hit.kind {
                CeilingKind::MemoryLimit => ("over memory", ceiling(CeilingKind::SystemOom)),
                CeilingKind::SystemOom => ("system oom", ceiling(CeilingKind::ProcessLimit)),
                CeilingKind::ProcessLimit => ("fork limit", TaskFact::ScreenReset),
            };
            (killed(), said(word, hit.to_string(), WITHOUT_ROW), Some(next))
        }
        TaskFact::ScreenReset => (vec![], running(), Some(exit(Exit::Code(3)))),
        TaskFact::Exit(_) => (
            vec![end(TaskStatus::Failed)],
            said("exit 3", "exit 3", WITHOUT_ROW),
            Some(TaskFact::AtWork(vec!["sort".into()])),
        ),
        TaskFact::AtWork(_) => (vec![], running(), Some(TaskFact::Kept(vec!["sort".into()]))),
        TaskFact::Kept(_) => (vec![], running(), Some(TaskFact::Leftovers(vec!["sort".into()]))),
        TaskFact::Leftovers(_) => (vec![], running(), Some(end(TaskStatus::Interrupted))),
        TaskFact::End { .. } => (vec![], said("interrupted", "interrupted", ALL), None),
    }
}

fn ceiling(kind: CeilingKind) -> TaskFact {
    let limit = (kind != CeilingKind::SystemOom).then_some(512 << 20);
    TaskFact::Ceiling(CeilingHit { kind, limit, soft: true, peak: None })
}

/// Returns a task to which this has happened.
fn happened(facts: &[TaskFact]) -> TaskView {
    let is_early = matches!(
        facts[0],
        TaskFact::Held(_)
            | TaskFact::Approved(_)
            | TaskFact::Denied(_)
            | TaskFact::Queued(_)
            | TaskFact::Admitted
    );
    let view = TaskView {
        status: if is_early { TaskStatus::Queued } else { TaskStatus::Running },
        started_at: (!is_early).then(|| ago(60)),
        timeout_ms: Some(120_000),
        events: Vec::new(),
        ..task(7, "make", 60, 30)
    };
    let mut state = TaskState::new(view);
    for fact in facts {
        state.apply(TaskUpdate::Event(event(30, Actor::Operator, fact.clone())));
    }
    (**state.view()).clone()
}

fn text(task: &TaskView, of: Interface) -> String {
    let shared = Arc::new(task.clone());
    match of {
        Interface::Row => shown(&console(Snapshot { tasks: vec![shared], ..empty() }, (200, 60))),
        Interface::Plain => plain::tasks::state_line(task, now()),
        Interface::Status => {
            render(&task_status::project(&TaskDetails { task: shared, now: now() })).as_str().to_owned()
        }
        Interface::List => {
            let listed = ListedTasks { total: 1, tasks: vec![shared], now: now() };
            render(&task_list::project(&listed)).as_str().to_owned()
        }
    }
}

fn assert_said(task: &TaskView, Said { word, clause, by }: &Said) {
    assert_eq!(task.word(), *word);
    let row = text(task, Interface::Row);
    assert!(row.contains(word), "{word}\n{row}");
    for interface in *by {
        let text = text(task, *interface);
        assert!(text.contains(&**clause), "{interface:?}: {clause}\n{text}");
    }
}

#[test]
fn every_fact_is_said_in_the_same_words_wherever_it_is_shown() {
    let mut next = Some(TaskFact::Held(HoldReason::Paused));
    while let Some(fact) = next {
        let (then, said, following) = row(&fact);
        let facts: Vec<TaskFact> = std::iter::once(fact).chain(then).collect();
        assert_said(&happened(&facts), &said);
        next = following;
    }
}

#[test]
fn every_wait_is_said_in_the_same_words_wherever_it_is_shown() {
    let needs = |need| match need {
        InputNeed::Line => ("input", Some(InputNeed::Key)),
        InputNeed::Key => ("a key", Some(InputNeed::Secret)),
        InputNeed::Secret => ("a password", Some(InputNeed::Stopped)),
        InputNeed::Stopped => ("SIGCONT", None),
    };
    let evidences = |evidence| match evidence {
        InputEvidence::TtyRead => ("reading the terminal", Some(InputEvidence::EchoOff)),
        InputEvidence::EchoOff => ("hidden input", Some(InputEvidence::TtyPoll)),
        InputEvidence::TtyPoll => ("polling the terminal", Some(InputEvidence::Quiet)),
        InputEvidence::Quiet => ("only idle", Some(InputEvidence::Halted)),
        InputEvidence::Halted => ("until SIGCONT", Some(InputEvidence::OutOfTurn)),
        InputEvidence::OutOfTurn => ("another process group has the terminal", None),
    };
    let mut need = Some(InputNeed::Line);
    while let Some(kind) = need {
        let (what, next_need) = needs(kind);
        let mut evidence = Some(InputEvidence::TtyRead);
        while let Some(seen) = evidence {
            let (how, next_evidence) = evidences(seen);
            let waits = waiting(kind, seen, None);
            let (word, clause) = match kind {
                InputNeed::Stopped => ("stopped", "stopped".to_owned()),
                _ if waits.is_certain() => ("waiting", format!("waiting for {what}")),
                _ => ("at a prompt", format!("at a prompt, perhaps waiting for {what}")),
            };
            let task = happened(&[TaskFact::Waiting(waits)]);
            assert_said(&task, &said(word, clause, WITHOUT_ROW));
            assert_said(&task, &said(word, format!("({how})"), &[Interface::Status, Interface::List]));
            evidence = next_evidence;
        }
        need = next_need;
    }
    let asks =
        happened(&[TaskFact::Waiting(waiting(InputNeed::Secret, InputEvidence::EchoOff, Some("sudo")))]);
    assert_said(&asks, &said("waiting", "sudo asks for a password", &[Interface::Plain]));
}

#[test]
fn every_refusal_of_input_is_said_in_the_same_words() {
    let mut next = Some(RejectionReason::TaskNotRunning);
    while let Some(reason) = next {
        let (clause, following) = match reason {
            RejectionReason::TaskNotRunning => ("is not running", Some(RejectionReason::InputNotEnabled)),
            RejectionReason::InputNotEnabled => ("takes no input", Some(RejectionReason::HeldByOperator)),
            RejectionReason::HeldByOperator => {
                ("is driven by the operator", Some(RejectionReason::InputBacklogged))
            }
            RejectionReason::InputBacklogged => {
                ("has not read what it was sent before", Some(RejectionReason::InputTooLong))
            }
            RejectionReason::InputTooLong => {
                ("takes no input of that length", Some(RejectionReason::TtyRequired))
            }
            RejectionReason::TtyRequired => ("has no terminal", Some(RejectionReason::InputClosed)),
            RejectionReason::InputClosed => ("has a closed input", Some(RejectionReason::OperatorAnswers)),
            RejectionReason::OperatorAnswers => ("asks the operator", None),
        };
        let before = happened(&[TaskFact::Start { pid: None }]);
        let after = happened(&[TaskFact::Start { pid: None }, TaskFact::Refused(reason)]);
        let of = |task| Snapshot { tasks: vec![Arc::new(task)], ..empty() };
        let lines = plain::events(&of(before), &of(after));
        assert!(lines.iter().any(|line| line.to_string().contains(clause)), "{clause}: {lines:?}");
        next = following;
    }
}

#[test]
fn lost_input_is_said_in_the_same_words_in_plain_lines() {
    for (at_most, cause, clause) in [
        (false, InputLoss::ThrownAway, "thrown away by the program: 6 bytes"),
        (
            true,
            InputLoss::ThrownAway,
            "thrown away by the program: 6 bytes, or fewer if it had read some of them",
        ),
        (false, InputLoss::NeverRead, "never read: 6 bytes"),
    ] {
        let lost = TaskFact::InputLost(LostInput { bytes: 6, at_most, cause });
        let before = happened(&[TaskFact::Start { pid: None }]);
        let after = happened(&[TaskFact::Start { pid: None }, lost]);
        let of = |task| Snapshot { tasks: vec![Arc::new(task)], ..empty() };
        let lines = plain::events(&of(before), &of(after));
        let text = format!("input of t07 {clause}");
        assert!(lines.iter().any(|line| line.to_string().ends_with(&text)), "{text}: {lines:?}");
    }
}
