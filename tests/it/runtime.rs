//! The runtime with real processes: promotion, input, lease, stop, output, shutdown.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pilothouse::config::Limits;
use pilothouse::envelope::preview::StreamText;
use pilothouse::envelope::{Actor, TaskId};
use pilothouse::journal;
use pilothouse::model::{
    Error, ExecOutcome, ExecRequest, InputEvidence, InputNeed, RejectionReason, Stop, StopEffect, TaskStatus,
    TaskView, TypedInput, Until,
};
use pilothouse::process::environment::Environment;
use pilothouse::runtime::{Handle, Leftovers, OutputStream};

use crate::support::start_limited;

const LONG: Duration = crate::support::PATIENCE;

/// A runtime in a throw-away workspace.
pub(crate) struct Bench {
    pub(crate) runtime: Handle,
    pub(crate) dir: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn start() -> Self {
        Self::limited(Limits::default())
    }

    pub(crate) fn limited(limits: Limits) -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let (runtime, _) = start_limited(dir.path(), limits);
        Self { runtime, dir }
    }

    /// Makes this the environment of its commands.
    pub(crate) fn with_environment(self, environment: Environment) -> Self {
        Self { runtime: self.runtime.with_exactly(environment), ..self }
    }

    pub(crate) fn request(&self, cmd: &str) -> ExecRequest {
        ExecRequest {
            actor: agent(),
            call: 1,
            cmd: cmd.into(),
            shell: Some("/bin/sh".into()),
            login: false,
            workdir: None,
            base: self.dir.path().join("work"),
            tty: false,
            size: None,
            accepts_input: false,
            yield_after: Some(LONG),
            timeout: None,
            leftovers: Leftovers::End,
            description: None,
            item: None,
            step: None,
            native: None,
        }
    }

    pub(crate) async fn completed(&self, request: ExecRequest) -> Arc<TaskView> {
        match self.runtime.exec(request).await.expect("exec") {
            ExecOutcome::Completed(task) => task,
            outcome => panic!("{outcome:?}"),
        }
    }

    pub(crate) async fn promoted(&self, request: ExecRequest) -> TaskId {
        let request = ExecRequest { yield_after: Some(Duration::ZERO), ..request };
        match self.runtime.exec(request).await.expect("exec") {
            ExecOutcome::Promoted(task) => task.id.clone(),
            outcome => panic!("{outcome:?}"),
        }
    }

    pub(crate) async fn text(&self, id: &TaskId, stream: OutputStream) -> String {
        let output = self.runtime.output(id).expect("output");
        match output.text(stream, 0, 100_000).await.expect("text") {
            StreamText::Whole(text) => text,
            StreamText::Ends { head, tail, .. } => format!("{head}…{tail}"),
        }
    }

    /// Waits until the task's text contains `part`.
    pub(crate) async fn shows(&self, id: &TaskId, part: &str) -> String {
        let mut beyond = 0;
        loop {
            let text = self.text(id, OutputStream::Merged).await;
            if text.contains(part) {
                return text;
            }
            let more = self.runtime.wait(id, Until::Output { beyond }, LONG).await.expect("wait");
            assert!(more, "waited for {part:?}, saw {text:?}");
            let reached = self.runtime.output(id).expect("output").position();
            assert!(reached > beyond || !self.is_over(id), "ended without {part:?}: {text:?}");
            beyond = reached;
        }
    }

    fn is_over(&self, id: &TaskId) -> bool {
        self.runtime.task(id).is_some_and(|task| task.status.is_terminal())
    }

    pub(crate) async fn end(&self, id: &TaskId) -> Arc<TaskView> {
        assert!(self.runtime.wait(id, Until::Terminal, LONG).await.expect("wait"), "the task ends");
        self.runtime.task(id).expect("the task")
    }
}

pub(crate) fn agent() -> Actor {
    Actor::Agent("test".into())
}

#[tokio::test]
async fn a_command_that_closes_its_output_early_runs_on_and_its_end_is_seen() {
    let bench = Bench::start();
    let closes = "printf told; exec >&- 2>&-; while [ ! -e go ]; do :; done; exit 7";
    let id = bench.promoted(bench.request(closes)).await;
    bench.shows(&id, "told").await;
    assert!(!bench.is_over(&id));
    std::fs::write(bench.dir.path().join("work/go"), "").expect("written");
    let task = bench.end(&id).await;
    let ended = task.ended.clone().expect("ended");
    assert_eq!((task.status, ended.exit_status), (TaskStatus::Failed, Some(7)));
    assert_eq!(bench.text(&id, OutputStream::Merged).await, "told");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_quick_command_completes_with_both_streams_apart() {
    let bench = Bench::start();
    let task = bench.completed(bench.request("printf out; printf err >&2; exit 7")).await;
    let ended = task.ended.clone().expect("ended");
    assert_eq!((task.status, ended.exit_status, ended.signal), (TaskStatus::Failed, Some(7), None));
    assert_eq!(bench.text(&task.id, OutputStream::Stdout).await, "out");
    assert_eq!(bench.text(&task.id, OutputStream::Stderr).await, "err");
    let artifact = bench.runtime.output(&task.id).expect("output").artifact(OutputStream::Stderr).await;
    assert_eq!(std::fs::read(artifact.expect("artifact")).expect("file"), b"err");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn nothing_is_lost_or_restarted_at_promotion() {
    let bench = Bench::start();
    let request = ExecRequest {
        accepts_input: true,
        yield_after: Some(Duration::from_millis(250)),
        ..bench.request("printf start; read line; printf \"done $line\"; echo x >> runs")
    };
    let ExecOutcome::Promoted(task) = bench.runtime.exec(request).await.expect("exec") else {
        panic!("it waits for a line, so it is promoted");
    };
    // On a slow machine the wait is over before the shell has printed anything.
    assert_eq!(bench.shows(&task.id, "start").await, "start");
    let sent =
        bench.runtime.input(&agent(), &task.id, TypedInput::Text("now\n".into())).await.expect("input");
    assert!(sent.accepted, "{sent:?}");
    assert_eq!(sent.bytes_written, 4);
    assert_eq!(bench.end(&task.id).await.status, TaskStatus::Completed);
    assert_eq!(bench.text(&task.id, OutputStream::Merged).await, "startdone now");
    let runs = std::fs::read_to_string(bench.dir.path().join("work/runs")).expect("runs");
    assert_eq!(runs, "x\n", "one process only");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn f04_a_background_child_that_holds_the_pipe_delays_nothing_and_is_named() {
    let bench = Bench::start();
    // The shell ends only when its child has become the `sleep` that is to be named.
    let cmd = "(sleep 300) & until grep -q sleep /proc/$!/comm; do :; done; printf done";
    let task = bench.completed(bench.request(cmd)).await;
    assert_eq!(task.status, TaskStatus::Completed);
    assert_eq!(task.ended.clone().expect("ended").leftovers, ["sleep"]);
    assert_eq!(bench.text(&task.id, OutputStream::Stdout).await, "done");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn kept_leftovers_go_on_as_the_task_and_can_be_stopped() {
    let bench = Bench::start();
    let request = ExecRequest { leftovers: Leftovers::Keep, ..bench.request("(sleep 300) & printf done") };
    let ExecOutcome::Promoted(task) = bench.runtime.exec(request).await.expect("exec") else {
        panic!("what is kept becomes the task");
    };
    assert_eq!(bench.text(&task.id, OutputStream::Stdout).await, "done");
    bench.runtime.stop(&agent(), &task.id, Stop { force: true, signal: None }).await.expect("stop");
    assert_eq!(bench.end(&task.id).await.status, TaskStatus::Cancelled);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_stop_by_the_operator_ends_a_stubborn_tree_and_is_named() {
    let bench = Bench::start();
    let id = bench.promoted(bench.request("trap '' TERM HUP; setsid sleep 300 & echo up; sleep 300")).await;
    bench.shows(&id, "up").await;
    let stop = Stop { force: true, signal: None };
    let stopped = bench.runtime.stop(&Actor::Operator, &id, stop).await.expect("stop");
    assert_eq!(stopped.effect, StopEffect::Cancelling);
    let task = bench.end(&id).await;
    assert_eq!(task.status, TaskStatus::Cancelled);
    assert_eq!(task.stop.clone().expect("stop").by, Actor::Operator);
    assert!(task.ended.clone().expect("ended").survivors.is_empty());
    let again = bench.runtime.stop(&agent(), &id, Stop::default()).await.expect("stop");
    assert_eq!(again.effect, StopEffect::Noop);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn while_the_operator_drives_the_agents_input_is_refused_not_queued() {
    let bench = Bench::start();
    let request = ExecRequest { tty: true, accepts_input: true, ..bench.request("read a; echo \"got $a\"") };
    let id = bench.promoted(request).await;
    let typed =
        bench.runtime.input(&Actor::Operator, &id, TypedInput::Raw(b"per".to_vec())).await.expect("input");
    assert!(typed.accepted);
    let refused =
        bench.runtime.input(&agent(), &id, TypedInput::Text("agent\n".into())).await.expect("input");
    let rejection = refused.rejection.expect("a rejection");
    assert_eq!((refused.accepted, rejection.reason), (false, RejectionReason::HeldByOperator));
    bench.runtime.release(&id).await;
    let taken = bench.runtime.input(&agent(), &id, TypedInput::Text("son\r".into())).await.expect("input");
    assert!(taken.accepted, "{taken:?}");
    assert!(bench.shows(&id, "got").await.contains("got person"));
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_terminal_has_the_size_asked_for_and_follows_a_resize() {
    let bench = Bench::start();
    let request = ExecRequest {
        tty: true,
        accepts_input: true,
        size: Some(pilothouse::terminal::Size::nearest(90, 30)),
        ..bench.request("stty size; read x; stty size")
    };
    let id = bench.promoted(request).await;
    bench.shows(&id, "30 90").await;
    let size = pilothouse::terminal::Size::nearest(70, 20);
    bench.runtime.input(&agent(), &id, TypedInput::Resize(size)).await.expect("resize");
    bench.runtime.input(&agent(), &id, TypedInput::Text("\r".into())).await.expect("enter");
    bench.shows(&id, "20 70").await;
    assert_eq!(bench.end(&id).await.size, size);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_timeout_ends_the_tree_and_keeps_the_output() {
    let bench = Bench::start();
    // Long enough for a shell to start and print on a busy machine.
    let request =
        ExecRequest { timeout: Some(Duration::from_secs(5)), ..bench.request("echo before; sleep 300") };
    let task = bench.completed(request).await;
    let ended = task.ended.clone().expect("ended");
    assert_eq!((task.status, ended.exit_status, ended.timed_out), (TaskStatus::Failed, Some(124), true));
    assert_eq!(bench.text(&task.id, OutputStream::Stdout).await, "before\n");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_start_that_fails_is_an_error_and_the_task_has_failed() {
    let bench = Bench::start();
    let request = ExecRequest { shell: Some("/definitely/not/a/shell".into()), ..bench.request("true") };
    let error = bench.runtime.exec(request).await.expect_err("no such shell");
    assert!(matches!(&error, Error::Spawn { shell, .. } if shell == "/definitely/not/a/shell"), "{error:?}");
    let outside = ExecRequest { workdir: Some("../outside".into()), ..bench.request("true") };
    let error = bench.runtime.exec(outside).await.expect_err("outside");
    assert!(matches!(&error, Error::OutsideRoot { workdir, .. } if workdir == "../outside"), "{error:?}");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn the_last_line_is_never_lost() {
    let bench = Bench::start();
    for round in 0..10 {
        let tty = round % 2 == 1;
        let request = ExecRequest { tty, accepts_input: tty, ..bench.request("seq 20000") };
        let task = bench.completed(request).await;
        assert!(
            bench.text(&task.id, OutputStream::Stdout).await.trim_end().ends_with("\n20000"),
            "round {round}"
        );
        let log = std::fs::read(pilothouse::runtime::log_path(&task.folder)).expect("log");
        assert_eq!(task.output.bytes, log.len() as u64);
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_screen_shows_what_was_written_and_goes_when_the_task_ends() {
    let bench = Bench::start();
    let request = ExecRequest {
        tty: true,
        accepts_input: true,
        ..bench.request("printf '\\033[2J\\033[5;3Hhello'; read x")
    };
    let id = bench.promoted(request).await;
    bench.shows(&id, "hello").await;
    let screen = bench.runtime.screen(&id).expect("a screen");
    let runtime = bench.runtime.clone();
    let seen = || runtime.screen_text(&id).is_some_and(|(text, _)| text.ends_with("hello"));
    crate::support::wait_until("the screen shows it", seen);
    assert!(screen.generation() > 1);
    bench.runtime.input(&agent(), &id, TypedInput::Text("\r".into())).await.expect("enter");
    bench.end(&id).await;
    assert!(bench.runtime.screen(&id).is_none());
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_task_that_reads_a_line_or_a_secret_is_seen_to_wait() {
    let bench = Bench::start();
    for (cmd, kind, evidence) in [
        ("read line", InputNeed::Line, InputEvidence::TtyRead),
        ("stty -echo; read secret", InputNeed::Secret, InputEvidence::EchoOff),
    ] {
        let id = bench.promoted(ExecRequest { tty: true, accepts_input: true, ..bench.request(cmd) }).await;
        let mut snapshot = bench.runtime.snapshot();
        let waits = snapshot.wait_for(|snapshot| {
            let task = snapshot.tasks.iter().find(|task| task.id == id);
            task.and_then(|task| task.waiting.as_ref())
                .is_some_and(|waiting| (waiting.kind, waiting.evidence) == (kind, evidence))
        });
        tokio::time::timeout(LONG, waits).await.expect("it is seen to wait").expect("the runtime lives");
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_task_that_floods_its_terminal_is_never_seen_to_wait() {
    let bench = Bench::start();
    let flood = bench.promoted(ExecRequest { tty: true, accepts_input: true, ..bench.request("yes") }).await;
    // Both are checked in the same rounds: once the reader has been seen waiting, the flood has been checked too.
    let reader =
        bench.promoted(ExecRequest { tty: true, accepts_input: true, ..bench.request("read x") }).await;
    let mut snapshot = bench.runtime.snapshot();
    let seen =
        snapshot.wait_for(|now| now.tasks.iter().any(|task| task.id == reader && task.waiting.is_some()));
    let seen = tokio::time::timeout(LONG, seen).await.expect("the reader waits").expect("the runtime lives");
    assert!(seen.tasks.iter().all(|task| task.id != flood || task.waiting.is_none()));
    drop(seen);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn f14_a_command_that_never_reads_is_refused_more_input_and_holds_nobody_up() {
    let bench = Bench::start();
    let request = ExecRequest { accepts_input: true, ..bench.request("sleep 300") };
    let id = bench.promoted(request).await;
    let mut written = 0;
    let reason = loop {
        let text = TypedInput::Text("x".repeat(32 << 10));
        let outcome = bench.runtime.input(&agent(), &id, text).await.expect("an outcome");
        match outcome.rejection {
            Some(rejection) => break rejection.reason,
            None => written += outcome.bytes_written,
        }
        assert!(written < 2 << 20, "two megabytes were taken in");
    };
    assert_eq!(reason, RejectionReason::InputBacklogged);
    let other = bench.completed(bench.request("echo alive")).await;
    assert_eq!(bench.text(&other.id, OutputStream::Stdout).await, "alive\n");
    bench.runtime.stop(&agent(), &id, Stop { force: true, signal: None }).await.expect("a stop");
    assert_eq!(bench.end(&id).await.status, TaskStatus::Cancelled);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn f51_input_longer_than_any_buffer_is_fed_as_the_program_reads() {
    let bench = Bench::start();
    for (tty, bytes) in [(false, 100_000), (true, 100_000), (false, 1 << 20), (true, 1 << 20)] {
        let raw = if tty { "stty raw -echo; echo ready; " } else { "" };
        let request = bench.request(&format!("{raw}head -c {bytes} | wc -c"));
        let id = bench.promoted(ExecRequest { tty, accepts_input: true, ..request }).await;
        if tty {
            bench.shows(&id, "ready").await;
        }
        let outcome = bench.runtime.input(&agent(), &id, TypedInput::Text("x".repeat(bytes))).await;
        let outcome = outcome.expect("an outcome");
        assert!(outcome.accepted, "{bytes}, tty: {tty}: {:?}", outcome.rejection);
        bench.end(&id).await;
        let text = bench.text(&id, OutputStream::Merged).await;
        assert_eq!(text.split_whitespace().last(), Some(bytes.to_string().as_str()), "{text}");
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn f51_input_that_is_refused_is_refused_with_the_limit() {
    let bench = Bench::start();
    let request = ExecRequest { accepts_input: true, ..bench.request("sleep 300") };
    let id = bench.promoted(request).await;
    let why = async |bytes: usize| {
        let text = TypedInput::Text("x".repeat(bytes));
        let outcome = bench.runtime.input(&agent(), &id, text).await.expect("an outcome");
        outcome.rejection.map(|why| (why.reason, why.message))
    };
    let (reason, message) = why(2 << 20).await.expect("too long");
    assert_eq!(reason, RejectionReason::InputTooLong);
    assert!(message.contains("2097152 bytes") && message.contains("at most 1048576"), "{message}");
    assert_eq!(why(1 << 20).await, None);
    // The pipe has taken some of it.
    let (reason, message) = why(1 << 20).await.expect("no room");
    assert_eq!(reason, RejectionReason::InputBacklogged);
    assert!(message.contains("have not been read, and at most 1048576 may wait"), "{message}");
    // What one task does not read keeps no other from a short input, nor all of them from an end.
    for _ in 0..17 {
        let request = ExecRequest { accepts_input: true, ..bench.request("sleep 300") };
        let other = bench.promoted(request).await;
        let text = TypedInput::Text("x".repeat(1 << 20));
        let long = bench.runtime.input(&agent(), &other, text).await.expect("an outcome");
        let short = bench
            .runtime
            .input(&agent(), &other, TypedInput::Text("short".into()))
            .await
            .expect("an outcome");
        assert!(long.accepted || short.accepted);
        assert!(long.accepted || long.rejection.expect("a reason").message.contains("all tasks"));
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_signal_of_another_actor_names_it_and_a_second_stop_kills() {
    let bench = Bench::start();
    let id = bench.promoted(bench.request("sleep 300")).await;
    let codex = Actor::Agent("codex".into());
    let signal = Some(pilothouse::model::StopSignal::Term);
    bench.runtime.stop(&codex, &id, Stop { force: false, signal }).await.expect("sent");
    let task = bench.end(&id).await;
    assert_eq!(
        (task.status, task.cause().as_deref()),
        (TaskStatus::Failed, Some("signalled by agent:codex"))
    );

    let stubborn = bench.promoted(bench.request("trap '' TERM; echo ready; while :; do sleep 1; done")).await;
    bench.shows(&stubborn, "ready").await;
    bench.runtime.stop(&agent(), &stubborn, Stop::default()).await.expect("asked");
    let second = bench.runtime.stop(&codex, &stubborn, Stop::default()).await.expect("asked again");
    assert!(second.task.stop.as_ref().is_some_and(|stop| stop.force), "{:?}", second.task.stop);
    let task = bench.end(&stubborn).await;
    assert_eq!(
        (task.status, task.cause().as_deref()),
        (TaskStatus::Cancelled, Some("stopped by agent:test"))
    );
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_shutdown_ends_every_task_and_is_on_record() {
    let bench = Bench::start();
    let id = bench.promoted(bench.request("sleep 300")).await;
    let folder = bench.runtime.task(&id).expect("task").folder.clone();
    bench.runtime.shutdown().await;
    let recording = recording(bench.dir.path());
    let report = journal::verify(&recording).expect("verifies");
    assert!(report.is_whole() && report.closed && !report.live, "{report:?}");
    let journal = std::fs::read_to_string(recording.join("journal-0001.jsonl")).expect("journal");
    let rows: Vec<serde_json::Value> =
        journal.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    assert_eq!(rows.first().expect("rows")["kind"], "recording");
    assert_eq!(rows.last().expect("rows")["kind"], "closed");
    let is_end = |row: &&serde_json::Value| row["kind"] == "task" && row["data"]["what"] == "end";
    let end = &rows.iter().rfind(is_end).expect("the end")["data"];
    assert_eq!((end["task"].as_str(), end["note"].as_str()), (Some(id.as_str()), Some("interrupted")));
    assert!(folder.join("exit.json").exists());
    let request = bench.request("true");
    assert!(matches!(bench.runtime.exec(request).await, Err(Error::ShuttingDown)));
}

fn recording(dir: &Path) -> std::path::PathBuf {
    let mut entries = std::fs::read_dir(dir.join("recordings")).expect("recordings");
    entries.next().expect("one recording").expect("entry").path()
}
