//! What a command asks on the terminal beside its streams: seen, answered by the operator, in no output; and what
//! happens if nobody answers.

use std::time::Duration;

use pilothouse::config::{Limits, SideTerminal};
use pilothouse::envelope::{Actor, TaskId};
use pilothouse::model::{InputEvidence, InputNeed, InputWait, RejectionReason, TaskFact, TypedInput};
use pilothouse::runtime::{OutputStream, StoredLog};

use crate::runtime::{Bench, agent};

const LONG: Duration = crate::support::PATIENCE;

fn bench(side_terminal: SideTerminal, ask_within: Duration) -> Bench {
    Bench::limited(Limits { side_terminal, ask_within, ..Limits::default() })
}

/// Waits until a task is known to be waiting for this kind of input. Another kind may be seen before: that of the last
/// question, whose answer the program has not read yet.
async fn asks(bench: &Bench, id: &TaskId, kind: InputNeed) -> InputWait {
    let mut snapshot = bench.runtime.snapshot();
    let waiting = |snapshot: &pilothouse::model::Snapshot| {
        let task = snapshot.tasks.iter().find(|task| task.id == *id);
        task.and_then(|task| task.waiting.clone()).filter(|waiting| waiting.kind == kind)
    };
    let seen = snapshot.wait_for(|snapshot| waiting(snapshot).is_some());
    let seen =
        tokio::time::timeout(LONG, seen).await.expect("it is seen to wait").expect("the runtime lives");
    waiting(&seen).expect("just seen")
}

async fn typed(bench: &Bench, id: &TaskId, text: &str) {
    let typed =
        bench.runtime.input(&Actor::Operator, id, TypedInput::Text(text.into())).await.expect("input");
    assert!(typed.accepted, "{typed:?}");
}

#[tokio::test]
async fn a_prompt_of_a_command_is_answered_by_the_operator_and_is_no_output() {
    let bench = bench(SideTerminal::Always, LONG);
    let id = bench
        .promoted(bench.request(
            "printf out; printf 'Password: ' >/dev/tty; stty -echo </dev/tty; read secret </dev/tty; \
             stty echo </dev/tty; printf 'Name: ' >/dev/tty; read name </dev/tty; printf \"${#secret} $name\"",
        ))
        .await;
    let waiting = asks(&bench, &id, InputNeed::Secret).await;
    assert_eq!(waiting.evidence, InputEvidence::EchoOff);
    assert_eq!(waiting.program.as_deref(), Some("sh"));
    let refused = bench.runtime.input(&agent(), &id, TypedInput::Text("x\n".into())).await.expect("input");
    assert_eq!(refused.rejection.map(|refused| refused.reason), Some(RejectionReason::OperatorAnswers));
    typed(&bench, &id, "hunter2\r").await;
    asks(&bench, &id, InputNeed::Line).await;
    typed(&bench, &id, "me\r").await;
    let task = bench.end(&id).await;
    for stream in [OutputStream::Merged, OutputStream::Stdout] {
        assert_eq!(bench.text(&id, stream).await, "out7 me");
    }
    let output = bench.runtime.output(&id).expect("output");
    assert_eq!(
        std::fs::read(output.artifact(OutputStream::Merged).await.expect("a file")).expect("read"),
        b"out7 me"
    );
    assert_eq!((task.output.bytes, bench.text(&id, OutputStream::Stderr).await.as_str()), (7, ""));
    let log = StoredLog::open(&task).expect("a log");
    let all = std::fs::read_to_string(pilothouse::runtime::log_path(&task.folder)).expect("read");
    assert_eq!(all, "outPassword: Name: me\r\n7 me");
    let page = log.history().page(0, task.size).expect("a page");
    let rows: Vec<String> =
        page.rows.iter().map(|row| row.cells.iter().map(|cell| cell.text.as_ref()).collect()).collect();
    assert_eq!(rows, ["out", "» Password: Name: me", "7 me"]);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn an_answers_echo_stands_before_what_the_program_says_of_it() {
    let bench = bench(SideTerminal::Always, LONG);
    let rounds = 20;
    let ask = format!("for n in $(seq {rounds}); do read answer; echo \"got $answer\"; done </dev/tty");
    let id = bench.promoted(bench.request(&ask)).await;
    for n in 1..=rounds {
        typed(&bench, &id, &format!("{n}\r")).await;
        bench.shows(&id, &format!("got {n}\n")).await;
    }
    let task = bench.end(&id).await;
    let log = std::fs::read_to_string(pilothouse::runtime::log_path(&task.folder)).expect("read");
    let expected: Vec<String> = (1..=rounds).flat_map(|n| [n.to_string(), format!("got {n}")]).collect();
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn an_unanswered_prompt_reads_the_end_of_input_and_its_caller_is_told_once() {
    let bench = bench(SideTerminal::Always, Duration::ZERO);
    let cmd = "read a </dev/tty || echo first; read b </dev/tty || echo second; (sleep 300 >/dev/null 2>&1 &) ; exit 3";
    let task = bench.completed(bench.request(cmd)).await;
    assert_eq!(task.ended.as_ref().and_then(|ended| ended.exit_status), Some(3));
    assert_eq!(bench.text(&task.id, OutputStream::Stdout).await, "first\nsecond\n");
    let said = bench.text(&task.id, OutputStream::Stderr).await;
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("pilothouse: sh asked for input on its terminal, nobody answered"), "{said}");
    let unanswered = task.events.iter().filter(|event| event.fact == TaskFact::Unanswered);
    assert_eq!(unanswered.count(), 2);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_program_that_reads_keys_goes_on_waiting() {
    let bench = bench(SideTerminal::Always, Duration::ZERO);
    let cmd = "stty raw -echo </dev/tty; key=$(dd bs=1 count=1 </dev/tty 2>/dev/null); echo \"got $key\"";
    let id = bench.promoted(bench.request(cmd)).await;
    asks(&bench, &id, InputNeed::Key).await;
    typed(&bench, &id, "k").await;
    let task = bench.end(&id).await;
    assert_eq!(bench.text(&id, OutputStream::Merged).await, "got k\n");
    assert!(!task.events.iter().any(|event| event.fact == TaskFact::Unanswered));
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_program_that_polls_the_terminal_beside_it_is_seen_asking() {
    let bench = bench(SideTerminal::Always, LONG);
    let poll = |print: &str, seconds: &str| {
        let body = format!(
            "import os, select, tty\nt = os.open(\"/dev/tty\", os.O_RDWR); tty.setraw(t)\n{print}\n\
             while not select.select([t, os.pipe()[0]], [], [], {seconds})[0]: pass"
        );
        format!("python3 -c '{body}'")
    };
    // Its question is on stderr.
    let menu = bench.promoted(bench.request(&poll("os.write(2, b\"? Pick\\n\")", "None"))).await;
    // pinentry-curses
    let secret = bench.promoted(bench.request(&poll("os.write(t, b\"Passphrase: \")", ".07"))).await;
    let waiting = asks(&bench, &menu, InputNeed::Key).await;
    assert!(waiting.is_certain() && waiting.question.as_deref() == Some("? Pick"), "{waiting:?}");
    let waiting = asks(&bench, &secret, InputNeed::Secret).await;
    assert_eq!((waiting.question.as_deref(), waiting.is_certain()), (Some("Passphrase:"), true));
    typed(&bench, &menu, "x").await;
    typed(&bench, &secret, "x").await;
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_command_is_asked_at_only_where_somebody_may_answer() {
    let has_terminal =
        "if true </dev/tty; then echo yes; else echo no; fi 2>/dev/null; echo ${GIT_TERMINAL_PROMPT-asks}";
    let (with, without) = ("yes\nasks\n", "no\n0\n");
    let bench = bench(SideTerminal::Attended, LONG);
    let run = async || {
        let task = bench.completed(bench.request(has_terminal)).await;
        bench.text(&task.id, OutputStream::Stdout).await
    };
    assert_eq!(run().await, without);
    let console = bench.runtime.viewer();
    assert_eq!(run().await, with);
    drop(console);
    assert_eq!(run().await, with, "somebody was here just now");
    bench.runtime.shutdown().await;
    let bench = self::bench(SideTerminal::Never, LONG);
    let _console = bench.runtime.viewer();
    let task = bench.completed(bench.request(has_terminal)).await;
    assert_eq!(bench.text(&task.id, OutputStream::Stdout).await, without);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_process_group_that_the_kernel_stops_at_the_terminal_gets_it_and_gives_it_back() {
    let bench = bench(SideTerminal::Always, LONG);
    // `timeout` makes a group of its own, as test runners do, and an interactive shell wants its terminal.
    let cmd = "timeout 60 bash --norc -ic 'echo inside'; read -r line </dev/tty; echo \"back $line\"";
    let id = bench.promoted(bench.request(cmd)).await;
    asks(&bench, &id, InputNeed::Line).await;
    typed(&bench, &id, "again\r").await;
    bench.end(&id).await;
    assert_eq!(bench.text(&id, OutputStream::Stdout).await, "inside\nback again\n");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_process_that_stopped_itself_is_told_as_stopped_and_left_so() {
    for side_terminal in [SideTerminal::Never, SideTerminal::Always] {
        let bench = bench(side_terminal, Duration::from_secs(1));
        let cmd = "sh -c 'echo $$; kill -STOP $$; echo on'; true";
        let id = bench.promoted(bench.request(cmd)).await;
        let waiting = asks(&bench, &id, InputNeed::Stopped).await;
        assert_eq!((waiting.program.as_deref(), waiting.evidence), (Some("sh"), InputEvidence::Halted));
        assert!(!waiting.is_certain(), "nobody can type anything that helps");
        let printed = bench.text(&id, OutputStream::Stdout).await;
        crate::support::send(printed.trim().parse().expect("a pid"), rustix::process::Signal::CONT);
        bench.end(&id).await;
        assert_eq!(bench.text(&id, OutputStream::Stdout).await, format!("{printed}on\n"));
        bench.runtime.shutdown().await;
    }
}
