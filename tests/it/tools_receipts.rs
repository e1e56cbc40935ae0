//! What agents get: the canonical envelope and the receipt made from it, side by side. The command lines and
//! outputs are made up; everything from there to the answer is the real code.

use std::path::PathBuf;
use std::sync::Arc;

use pilothouse::envelope::preview::StreamText;
use pilothouse::envelope::{Actor, Envelope, ErrorKind, ToolError};
use pilothouse::model::{
    self, CloseReason, InputEvidence, InputLoss, InputNeed, InputOutcome, InputRejection, InputTarget,
    InputWait, Lease, LostInput, OutputView, RejectionReason, Snapshot, StopEffect, StopOutcome, StopView,
    TaskEnd, TaskEvent, TaskFact, TaskStatus, TaskView, UnendedProcess, UnreadInput,
};
use pilothouse::tools::task_output::{OutputForm, Retrieval};
use pilothouse::tools::{
    OutputCursor, RECEIPT_CHARS, Room, StreamPreview, exec_command, render, task_input, task_list,
    task_output, task_status, task_stop,
};

use jiff::Timestamp;
use proptest::prelude::*;

use crate::console_fixture::task;
use crate::support::must_be_an_envelope;

const START: &str = "2026-11-20T12:00:00Z";

fn at(seconds: i64) -> jiff::Timestamp {
    START.parse::<jiff::Timestamp>().expect("a time") + jiff::SignedDuration::from_secs(seconds)
}

fn agent() -> Actor {
    Actor::Agent("claude".into())
}

/// A task of the agent that has run for a while.
pub(crate) fn running(cmd: &str) -> TaskView {
    TaskView {
        id: "task_4k2m9x7a".parse().expect("an id"),
        description: Some("why".into()),
        workdir: "/home/ada/widgets".into(),
        call: 12,
        listening: Vec::new(),
        created_at: at(0),
        started_at: Some(at(0)),
        updated_at: at(0),
        output: OutputView {
            bytes: 2048,
            stderr_bytes: 0,
            lines: 40,
            dropped_bytes: 0,
            last_at: Some(at(30)),
        },
        pid: Some(4242),
        folder: "/state/tasks/task_4k2m9x7a".into(),
        events: Vec::new(),
        earlier_events: 0,
        ..task(7, cmd, 0, 0)
    }
}

fn with_tty(mut task: TaskView) -> TaskView {
    task.tty = true;
    task.accepts_input = true;
    task
}

pub(crate) fn ended(
    mut task: TaskView,
    status: TaskStatus,
    exit_status: Option<i32>,
    signal: Option<&str>,
) -> TaskView {
    task.status = status;
    task.updated_at = at(42);
    task.ended = Some(TaskEnd {
        at: at(42),
        ran_ms: None,
        signalled_by: None,
        exit_status,
        signal: signal.map(str::to_owned),
        timed_out: false,
        error: None,
        leftovers: Vec::new(),
        survivors: Vec::new(),
        taken_port: None,
    });
    task
}

fn stopped_by_operator(mut task: TaskView) -> TaskView {
    task.stop = Some(StopView { by: Actor::Operator, at: at(40), kill_at: None, force: false, why: None });
    task
}

fn timed_out(task: TaskView) -> TaskView {
    amend(TaskView { timeout_ms: Some(1_500), ..task }, |ended| ended.timed_out = true)
}

fn killed_by(signal: &str) -> TaskView {
    ended(running("sleep 60"), TaskStatus::Failed, None, Some(signal))
}

fn with_the_runtime(mut task: TaskView) -> TaskView {
    let why = Some(CloseReason::ConsoleClosed.to_string());
    task.stop = Some(StopView { by: Actor::System, at: at(40), kill_at: None, force: false, why });
    task.status = TaskStatus::Interrupted;
    task
}

fn sent_by_codex(task: TaskView) -> TaskView {
    amend(task, |ended| ended.signalled_by = Some(Actor::Agent("codex".into())))
}

fn amend(mut task: TaskView, change: impl FnOnce(&mut TaskEnd)) -> TaskView {
    change(task.ended.as_mut().expect("an end"));
    task
}

fn text(text: &str) -> StreamText {
    StreamText::Whole(text.into())
}

/// What the file sink would have done: set the path of the artifact.
fn filed(mut shown: StreamPreview, path: &str) -> StreamPreview {
    if shown.is_truncated() {
        shown.artifact = Some(PathBuf::from(path));
    }
    shown
}

pub(crate) fn exec(task: TaskView, stdout: &str, stderr: &str, budget: usize) -> Envelope {
    let (stdout, stderr) = StreamPreview::pair(&text(stdout), &text(stderr), &task.id, budget);
    let stdout = filed(stdout, "/state/tasks/task_4k2m9x7a/stdout.log");
    let stderr = filed(stderr, "/state/tasks/task_4k2m9x7a/stderr.log");
    exec_command::project(&exec_command::CommandDetails::Ended { task: Arc::new(task), stdout, stderr })
}

fn promoted(task: TaskView, output: &str) -> Envelope {
    let output = StreamPreview::of(&text(output), 32_000);
    exec_command::project(&exec_command::CommandDetails::Promoted {
        task: Arc::new(task),
        output,
        now: Timestamp::UNIX_EPOCH,
    })
}

fn read(retrieval: Retrieval, task: TaskView, output: &str, seen: OutputForm) -> Envelope {
    let output = filed(StreamPreview::of(&text(output), 400), "/state/tasks/task_4k2m9x7a/output.log");
    let next = OutputCursor::at(4096);
    task_output::project(&task_output::OutputDetails {
        retrieval,
        task: Arc::new(task),
        output,
        seen,
        reading: None,
        next,
        now: at(42),
    })
}

fn typed(task: TaskView, bytes: u64, reaction: Option<&str>) -> Envelope {
    typed_and_unread(task, bytes, UnreadInput::default(), reaction)
}

fn typed_and_unread(task: TaskView, bytes: u64, unread: UnreadInput, reaction: Option<&str>) -> Envelope {
    let target = Some(if task.tty { InputTarget::Tty } else { InputTarget::Stdin });
    let outcome =
        InputOutcome { accepted: true, target, bytes_written: bytes, rejection: None, task: Arc::new(task) };
    let reaction = reaction.map(|text| (Some(text.to_owned()), OutputCursor::at(4096)));
    task_input::project(&task_input::InputDetails { outcome, unread, reaction })
}

fn refused(task: TaskView, reason: RejectionReason, message: &str) -> Envelope {
    let rejection = Some(InputRejection { reason, message: message.into() });
    let outcome =
        InputOutcome { accepted: false, target: None, bytes_written: 0, rejection, task: Arc::new(task) };
    task_input::project(&task_input::InputDetails { outcome, unread: UnreadInput::default(), reaction: None })
}

fn stop(task: TaskView, effect: StopEffect, force: bool) -> Envelope {
    let outcome = StopOutcome { effect, task: Arc::new(task) };
    task_stop::project(&task_stop::StopDetails { outcome, force })
}

fn status(task: TaskView) -> Envelope {
    task_status::project(&task_status::TaskDetails { task: Arc::new(task), now: at(42) })
}

fn list(tasks: Vec<TaskView>, scope: task_list::TaskScope, limit: usize) -> Envelope {
    let wanted = task_list::TaskFilter { actor: agent(), shared: false, scope, listening: false };
    let snapshot = Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), ..Snapshot::default() };
    let (total, newest) = snapshot.newest(limit, |task| wanted.includes(task));
    let tasks = newest.into_iter().cloned().collect();
    task_list::project(&task_list::ListedTasks { total, tasks, now: at(42) })
}

fn renumbered(mut task: TaskView, number: u32, id: &str) -> TaskView {
    task.number = number;
    task.id = id.parse().expect("an id");
    task
}

/// Prints both forms as one block, and checks what must hold for every answer.
fn answer(title: &str, envelope: &Envelope) -> String {
    must_be_an_envelope(&envelope.to_value());
    let receipt = render(envelope);
    assert!(receipt.chars().count() <= RECEIPT_CHARS, "{title}");
    assert!(!receipt.ends_with('\n'), "{title}");
    let json = serde_json::to_string_pretty(envelope).expect("JSON");
    for hidden in ["4242", "\"pid\"", "why"] {
        assert!(!json.contains(hidden) && !receipt.contains(hidden), "{title} shows {hidden}");
    }
    let again: Envelope = serde_json::from_str(&json).expect("an envelope");
    assert_eq!(render(&again), receipt, "{title}: the receipt comes from the envelope alone");
    format!("## {title}\n\n{json}\n\n{receipt}\n\n")
}

/// Answers, each with a title.
type Cases = Vec<(&'static str, Envelope)>;

fn page(answers: Cases) -> String {
    answers.iter().map(|(title, envelope)| answer(title, envelope)).collect()
}

/// Every answer in this file: all tools, all forms, all kinds of errors.
pub(crate) fn gallery() -> Cases {
    [
        exec_command_completed_cases(),
        exec_command_promoted_cases(),
        task_output_success_cases(),
        task_output_not_there_yet_cases(),
        task_input_answers_cases(),
        task_stop_answers_cases(),
        task_status_answers_cases(),
        task_list_shows_own_tasks_newest_first_cases(),
        errors_cases(),
        vec![("a batch", crate::tools_batch_receipts::all_ends())],
    ]
    .concat()
}

fn exec_command_completed_cases() -> Cases {
    let done = |code| {
        let status = if code == 0 { TaskStatus::Completed } else { TaskStatus::Failed };
        ended(running("make widgets"), status, Some(code), None)
    };
    let killed = || ended(running("make widgets"), TaskStatus::Failed, None, Some("SIGKILL"));
    let by_operator = ended(running("make widgets"), TaskStatus::Cancelled, None, Some("SIGTERM"));
    vec![
        ("exit 0 with output", exec(done(0), "shell", "", 32_000)),
        ("exit 0 without output", exec(done(0), " \n", "", 32_000)),
        ("exit 3 with errors", exec(done(3), "", "no such target: widgets\n", 32_000)),
        ("JSON output", exec(done(0), "{\"a\":[1,2.50],\"b\":{}}\n", "", 32_000)),
        ("both streams cut", exec(done(7), &"o".repeat(120), &"e".repeat(120), 200)),
        ("killed", exec(killed(), "started\n", "", 32_000)),
        ("stopped by the operator", exec(stopped_by_operator(by_operator), "", "", 32_000)),
        ("timed out", exec(timed_out(done(124)), "so far\n", "", 32_000)),
        ("ended with the runtime", exec(with_the_runtime(killed_by("SIGTERM")), "so far\n", "", 32_000)),
        ("a signal that somebody sent", exec(sent_by_codex(killed_by("SIGTERM")), "", "", 32_000)),
        (
            "leftover processes",
            exec(
                amend(done(0), |ended| ended.leftovers = vec!["sleep".into(), "sleep".into(), "cat".into()]),
                "done\n",
                "",
                32_000,
            ),
        ),
        (
            "wrote too much",
            exec(
                amend(killed(), |ended| {
                    ended.error =
                        Some(("output_limit_exceeded".into(), "The command wrote more than 1 GiB.".into()));
                }),
                "yes\n",
                "",
                32_000,
            ),
        ),
    ]
}

#[test]
fn the_answers_of_a_completed_command_match_their_snapshot() {
    let answers = page(exec_command_completed_cases());
    insta::assert_snapshot!(answers);
}

#[test]
fn a_large_budget_is_cut_to_what_a_receipt_has_room_for_and_says_so() {
    let many = "o\n".repeat(30_000);
    let finished = ended(running("make widgets"), TaskStatus::Completed, Some(0), None);
    let whole = exec(finished, &many, "", Room::default().budget(Some(64_000)).chars.whole);
    let result = whole.result().expect("a success");
    assert_eq!((&result["truncated"], &result["stdout_artifact"]), (&true.into(), &0.into()));
    let receipt = render(&whole);
    assert!(receipt.chars().count() <= RECEIPT_CHARS);
    assert!(receipt.contains(" of 30000 lines; read on: TaskOutput task_"), "{receipt:.200}");
    assert!(!receipt.contains("Next: ") && !receipt.contains("stdout.log"));
}

fn exec_command_promoted_cases() -> Cases {
    vec![
        ("with output", promoted(running("npm start"), "Starting server on :3000\n")),
        ("without output", promoted(running("sleep 100"), "")),
        ("with a terminal", promoted(with_tty(running("python3 -q")), ">>> ")),
        ("promoted while it is being stopped", {
            let mut task = stopped_by_operator(running("sleep 100"));
            task.status = TaskStatus::Cancelling;
            promoted(task, "")
        }),
    ]
}

#[test]
fn the_answers_of_a_promoted_command_match_their_snapshot() {
    let answers = page(exec_command_promoted_cases());
    insta::assert_snapshot!(answers);
}

fn task_output_success_cases() -> Cases {
    let finished = || ended(running("make widgets"), TaskStatus::Completed, Some(0), None);
    let typed_into = |mut task: TaskView| {
        task.events.push(TaskEvent { at: at(5), actor: Actor::Operator, fact: TaskFact::Input(4) });
        task
    };
    let lines: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    let prompt = |kind: &str, evidence: &str| {
        let mut task = with_tty(running("./install"));
        task.waiting = Some(InputWait {
            kind: kind.parse().expect("a need"),
            evidence: evidence.parse().expect("evidence"),
            since: at(38),
            program: None,
            question: None,
        });
        task
    };
    vec![
        ("finished", read(Retrieval::Success, finished(), "done\n", OutputForm::Transcript)),
        ("finished without output", read(Retrieval::Success, finished(), "", OutputForm::Transcript)),
        ("cut", read(Retrieval::Success, finished(), &lines, OutputForm::Transcript)),
        (
            "failed",
            read(
                Retrieval::Success,
                ended(running("x"), TaskStatus::Failed, Some(7), None),
                "before_fail",
                OutputForm::Transcript,
            ),
        ),
        (
            "stopped by the operator",
            read(
                Retrieval::Success,
                stopped_by_operator(ended(running("x"), TaskStatus::Cancelled, None, Some("SIGTERM"))),
                "partial",
                OutputForm::Transcript,
            ),
        ),
        (
            "something new, after the operator typed",
            read(
                Retrieval::Success,
                typed_into(with_tty(running("./ask"))),
                "heard: blue\n",
                OutputForm::Transcript,
            ),
        ),
        (
            "a full-screen program",
            read(
                Retrieval::Success,
                with_tty(running("top")),
                "top - 12:00:00 up 1 day\nTasks: 3",
                OutputForm::Screen,
            ),
        ),
        (
            "waiting for a line",
            read(Retrieval::Success, prompt("line", "tty_read"), "Colour? ", OutputForm::Transcript),
        ),
        (
            "waiting for a secret",
            read(Retrieval::Success, prompt("secret", "echo_off"), "Password: ", OutputForm::Transcript),
        ),
    ]
}

#[test]
fn the_successful_answers_of_task_output_match_their_snapshot() {
    let answers = page(task_output_success_cases());
    insta::assert_snapshot!(answers);
}

fn task_output_not_there_yet_cases() -> Cases {
    let mut cancelling = running("sleep 10");
    cancelling.status = TaskStatus::Cancelling;
    cancelling.stop =
        Some(StopView { by: agent(), at: at(40), kill_at: Some(at(45)), force: false, why: None });
    vec![
        ("not ready", read(Retrieval::NotReady, running("sleep 5"), "", OutputForm::Transcript)),
        ("timeout", read(Retrieval::Timeout, running("sleep 5"), "so far\n", OutputForm::Transcript)),
        ("being stopped", read(Retrieval::NotReady, cancelling, "so far\n", OutputForm::Transcript)),
    ]
}

#[test]
fn the_answers_of_task_output_before_its_goal_match_their_snapshot() {
    let answers = page(task_output_not_there_yet_cases());
    insta::assert_snapshot!(answers);
}

fn printed() -> impl Strategy<Value = String> {
    let lines =
        |length: usize, count: usize| (0..count).map(|n| format!("{n} {}\n", "x".repeat(length))).collect();
    prop_oneof![
        Just(String::new()),
        (0..200_usize, 0..900_usize).prop_map(move |(length, count)| lines(length, count)),
        (0..120_000_usize).prop_map(|length| "é".repeat(length)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn flags_files_and_the_receipt_agree_whatever_the_budget(
        stdout in printed(), stderr in printed(), tokens in prop_oneof![0..70_000_u64, 9_000..11_000_u64],
    ) {
        let budget = Room::default().budget(Some(tokens)).chars;
        let envelope = exec(ended(running("make"), TaskStatus::Completed, Some(0), None), &stdout, &stderr, budget.whole);
        let (result, receipt) = (envelope.result().expect("a success"), render(&envelope));
        prop_assert!(receipt.chars().count() <= RECEIPT_CHARS);
        let mut is_cut = false;
        for (title, whole) in [("stdout", &stdout), ("stderr", &stderr)] {
            let Some(preview) = result[format!("{title}_preview")].as_str() else {
                is_cut |= !whole.trim().is_empty();
                continue;
            };
            let shown = format!("\n\n{title}:\n{}", preview.trim_end_matches('\n'));
            prop_assert!(receipt.contains(&shown), "the receipt cuts {title} once more");
            is_cut |= preview != whole;
            prop_assert_eq!(result.get(format!("{title}_artifact")).is_some(), preview != whole);
        }
        prop_assert_eq!(result["truncated"] == true, is_cut);
    }
}

#[test]
fn a_task_of_one_endless_line_is_cut_and_filed() {
    let finished = ended(running("x"), TaskStatus::Completed, Some(0), None);
    let envelope = read(Retrieval::Success, finished, &"x".repeat(9000), OutputForm::Transcript);
    let task = &envelope.result().expect("a success")["task"];
    assert_eq!(task["output_truncated"], true);
    assert_eq!(task["output_artifact"], 0);
    assert!(task["output_preview"].as_str().unwrap().contains("[output truncated: showing first "));
    assert!(!envelope.summary_text().contains("xx"));
}

fn task_input_answers_cases() -> Cases {
    let finished = || ended(running("read line"), TaskStatus::Completed, Some(0), None);
    let mut piped = running("read line");
    piped.accepts_input = true;
    let mut held = with_tty(running("python3 -q"));
    held.lease = Some(Lease { holder: Actor::Operator, until: at(50) });
    let terminal = || with_tty(running("ssh-keygen"));
    let typed_into = |mut task: TaskView| {
        task.events.push(TaskEvent { at: at(42), actor: agent(), fact: TaskFact::Input(7) });
        task
    };
    let unread = |bytes, has_open_line| UnreadInput { bytes, has_open_line };
    let lost = |mut task: TaskView, cause| {
        let lost = LostInput { bytes: 6, at_most: false, cause };
        task.events.push(TaskEvent { at: at(41), actor: Actor::System, fact: TaskFact::InputLost(lost) });
        task
    };
    vec![
        ("delivered to stdin", typed(piped.clone(), 6, None)),
        ("not read yet", typed_and_unread(piped.clone(), 500_000, unread(434_464, false), None)),
        ("a line without an end", typed_and_unread(with_tty(running("cat")), 3, unread(3, true), Some(""))),
        ("thrown away", typed(lost(terminal(), InputLoss::ThrownAway), 7, Some(""))),
        (
            "an earlier input was thrown away",
            typed(typed_into(lost(terminal(), InputLoss::ThrownAway)), 7, None),
        ),
        ("never read", typed(lost(finished(), InputLoss::NeverRead), 6, None)),
        ("closed", refused(piped.clone(), RejectionReason::InputClosed, "It was ended with `eof`.")),
        (
            "delivered to a terminal, with what came of it",
            typed(with_tty(running("cat")), 6, Some("hello\n")),
        ),
        ("not running", refused(finished(), RejectionReason::TaskNotRunning, "It completed 3 s ago.")),
        (
            "no input",
            refused(running("sleep 9"), RejectionReason::InputNotEnabled, "Its stdin is /dev/null."),
        ),
        (
            "the operator is driving",
            refused(held, RejectionReason::HeldByOperator, "Try again in 8 s, unless more is typed."),
        ),
        ("backlogged", refused(piped, RejectionReason::InputBacklogged, "65536 bytes wait to be read.")),
        (
            "keys without a terminal",
            refused(running("cat"), RejectionReason::TtyRequired, "It reads a plain stdin."),
        ),
    ]
}

#[test]
fn the_answers_of_task_input_match_their_snapshot() {
    let answers = page(task_input_answers_cases());
    insta::assert_snapshot!(answers);
}

fn task_stop_answers_cases() -> Cases {
    let mut stopping = running("sleep 10");
    stopping.status = TaskStatus::Cancelling;
    stopping.stop =
        Some(StopView { by: agent(), at: at(40), kill_at: Some(at(45)), force: false, why: None });
    let by_operator =
        || stopped_by_operator(ended(running("x"), TaskStatus::Cancelled, None, Some("SIGTERM")));
    let survived = amend(by_operator(), |ended| {
        ended.survivors =
            vec!["stuck-on-nfs".into(), UnendedProcess { owner: Some("root".into()), .."sleep".into() }];
    });
    vec![
        ("requested", stop(stopping.clone(), StopEffect::Cancelling, false)),
        ("forced", stop(stopping, StopEffect::Cancelling, true)),
        ("signalled", stop(with_tty(running("python3 -q")), StopEffect::Signalled, false)),
        ("ended with a survivor", stop(survived, StopEffect::Cancelled, true)),
        ("already stopped by the operator", stop(by_operator(), StopEffect::Noop, false)),
        (
            "already finished",
            stop(ended(running("x"), TaskStatus::Completed, Some(0), None), StopEffect::Noop, false),
        ),
    ]
}

#[test]
fn the_answers_of_task_stop_match_their_snapshot() {
    let answers = page(task_stop_answers_cases());
    insta::assert_snapshot!(answers);
}

fn task_status_answers_cases() -> Cases {
    let mut held = with_tty(running("./install"));
    held.lease = Some(Lease { holder: Actor::Operator, until: at(50) });
    held.waiting = Some(InputWait {
        kind: InputNeed::Secret,
        evidence: InputEvidence::EchoOff,
        since: at(38),
        program: None,
        question: None,
    });
    let mut dropped =
        ended(running("for i in 1 2 3; do\n  make $i\ndone"), TaskStatus::Failed, Some(7), None);
    dropped.output.dropped_bytes = 123_456;
    vec![
        ("running", status(running("cargo watch"))),
        ("waiting, held by the operator", status(held)),
        ("failed", status(dropped)),
        (
            "stopped by the operator",
            status(stopped_by_operator(ended(running("x"), TaskStatus::Cancelled, None, Some("SIGTERM")))),
        ),
    ]
}

#[test]
fn the_answers_of_task_status_match_their_snapshot() {
    let answers = page(task_status_answers_cases());
    insta::assert_snapshot!(answers);
}

fn task_list_shows_own_tasks_newest_first_cases() -> Cases {
    let mut foreign = renumbered(running("secret work"), 3, "task_00000003");
    foreign.started_by = Actor::Agent("codex".into());
    let mut foreground = renumbered(running("ls"), 4, "task_00000004");
    foreground.promoted = false;
    let mut waiting = renumbered(with_tty(running("./install\n--all")), 5, "task_00000005");
    waiting.waiting = Some(InputWait {
        kind: InputNeed::Line,
        evidence: InputEvidence::TtyRead,
        since: at(38),
        program: None,
        question: None,
    });
    waiting.lease = Some(Lease { holder: Actor::Operator, until: at(50) });
    let tasks = || {
        vec![
            renumbered(running("cargo watch"), 1, "task_00000001"),
            renumbered(ended(running("make"), TaskStatus::Failed, Some(2), None), 2, "task_00000002"),
            foreign.clone(),
            foreground.clone(),
            waiting.clone(),
        ]
    };
    vec![
        ("active", list(tasks(), task_list::TaskScope::Active, 20)),
        ("all", list(tasks(), task_list::TaskScope::All, 2)),
        ("none", list(Vec::new(), task_list::TaskScope::Active, 20)),
    ]
}

#[test]
fn task_list_shows_own_tasks_newest_first() {
    let answers = page(task_list_shows_own_tasks_newest_first_cases());
    insta::assert_snapshot!(answers);
}

fn errors_cases() -> Cases {
    let id = || "task_00000001".parse().expect("an id");
    let of = |tool: &str, error: model::Error| Envelope::error(tool, ToolError::from(error));
    let long = ToolError::new(ErrorKind::InternalError, "Pilothouse could not do this.")
        .with_details(serde_json::json!({ "reason": "x".repeat(2000) }));
    vec![
        (
            "outside the workspace",
            of("ExecCommand", model::Error::OutsideRoot { workdir: "../outside".into(), root: "/w".into() }),
        ),
        (
            "no such directory",
            of(
                "ExecCommand",
                model::Error::WorkdirNotFound {
                    workdir: "missing".into(),
                    reason: "no such directory".into(),
                },
            ),
        ),
        (
            "no such shell",
            of(
                "ExecCommand",
                model::Error::Spawn {
                    shell: "/definitely/not/a/real/shell".into(),
                    workdir: "/w".into(),
                    message: "No such file or directory (os error 2)".into(),
                },
            ),
        ),
        ("too many", of("ExecCommand", model::Error::TaskLimit { limit: 64 })),
        ("no such task", of("TaskInput", model::Error::UnknownTask(id()))),
        (
            "someone else's task",
            of("TaskStop", model::Error::NotOwner { id: id(), owner: Actor::Agent("codex".into()) }),
        ),
        (
            "a line too long",
            of("TaskInput", model::Error::InputLineTooLong { length: 5000, limit: 4095, is_begun: false }),
        ),
        ("shutting down", of("TaskOutput", model::Error::ShuttingDown)),
        ("long details", Envelope::error("ExecCommand", long)),
    ]
}

#[test]
fn the_answers_with_errors_match_their_snapshot() {
    let answers = page(errors_cases()).replace(&"x".repeat(2000), "<2000 x>");
    insta::assert_snapshot!(answers);
}
