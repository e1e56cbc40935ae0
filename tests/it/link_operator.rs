//! Consoles attached to a headless runtime: what they see, what they may do, and who may not.

use std::sync::Arc;

use pilothouse::envelope::TaskId;
use pilothouse::link::{Act, ConsoleView, Error, Operator, Reply};
use pilothouse::model::{CloseReason, Snapshot, Subject, TypedInput};
use pilothouse::terminal::host_terminal::DefaultColours;
use serde_json::json;

use crate::support::{self, Home};

async fn attach(home: &Home) -> Operator {
    Operator::attach(&home.places().operator_socket(), home.workspace()).await.expect("attaches")
}

/// Starts a command on a terminal as the operator.
async fn start(operator: &Operator, cmd: &str) -> TaskId {
    let input = json!({"cmd": cmd, "tty": true, "cols": 40, "rows": 6, "yield_time_ms": 0});
    let answer = operator.call("ExecCommand", input).await.expect("an answer");
    let id = answer.envelope.result().expect("success")["task_handle"]["task_id"].clone();
    id.as_str().expect("a task").parse().expect("an id")
}

/// Waits until a task's screen shows a text.
async fn shows(operator: &Operator, task: &TaskId, text: &str) {
    let changed = operator.screens_changed();
    let seen = async {
        loop {
            if operator.screen(task).is_some_and(|screen| screen.text().contains(text)) {
                return;
            }
            changed.notified().await;
        }
    };
    let waited = tokio::time::timeout(crate::support::PATIENCE, seen).await;
    assert!(waited.is_ok(), "{task} never showed {text}");
}

#[tokio::test]
async fn two_consoles_see_the_same_task_and_both_can_type() {
    let home = Home::new();
    let mut served = home.serve();
    let (first, second) = (attach(&home).await, attach(&home).await);
    assert!(first.is_remote());
    let task = start(&first, "while read -r line; do echo \"<$line>\"; done").await;
    for console in [&first, &second] {
        console.show(support::panes(std::slice::from_ref(&task), &task));
    }
    first.ask(Act::Send(TypedInput::Raw(b"one\r".to_vec())).on(task.clone())).await.expect("typed");
    shows(&second, &task, "<one>").await;
    second.ask(Act::Send(TypedInput::Paste("two\r".to_owned())).on(task.clone())).await.expect("pasted");
    shows(&first, &task, "<two>").await;

    first.ask(Act::Rename(Some("echo".to_owned())).on(task.clone())).await.expect("renamed");
    let mut snapshot = second.snapshot();
    let named = snapshot.wait_for(|snapshot| {
        snapshot.tasks.iter().any(|view| view.id == task && view.name.as_deref() == Some("echo"))
    });
    let seq = named.await.expect("told").calls.last().expect("a call").seq;
    assert_eq!(second.record(seq).await.map(|record| record.tool.clone()), Some("ExecCommand".to_owned()));

    // A console that disconnects, even in the middle of something, leaves everything as it is.
    drop(first);
    assert!(second.snapshot().borrow().tasks.iter().any(|view| !view.status.is_terminal()));
    let mut connected = second.link_state();
    let witness = attach(&home).await;
    let mut left_alone = witness.link_state();
    second
        .ask(Act::Shutdown(CloseReason::OperatorEnded).on(Subject::Home))
        .await
        .expect("a headless runtime can be ended");
    left_alone.wait_for(|connected| !connected).await.expect("told");
    let ends =
        |snapshot: &pilothouse::model::Snapshot| snapshot.tasks.iter().all(|view| view.ended.is_some());
    assert!(ends(&witness.snapshot().borrow()), "the last a console hears is how its tasks ended");
    connected.wait_for(|connected| !connected).await.expect("told");
    assert!(served.wait().expect("ends").success());
    assert!(matches!(second.call("TaskList", json!({})).await, Err(Error::Gone)));
}

/// Shows a task at a width.
fn show_at(console: &Operator, task: &TaskId, columns: u16) {
    let columns = [(task.clone(), columns)].into();
    console.show(ConsoleView { visible: vec![task.clone()], columns, ..ConsoleView::default() });
}

#[tokio::test]
async fn a_program_is_told_the_colours_of_the_console_that_types_into_it() {
    let home = Home::new();
    home.serve_here();
    let (light, dark) = (attach(&home).await, attach(&home).await);
    let asks = r#"bash -c 'stty raw -echo
        printf "ready\r\n"
        while IFS= read -r -n1 key; do
            printf "\033]11;?\033\\"
            IFS= read -r -d "\\" answer
            answer=${answer#*11;}
            printf "$key:%s\r\n" "${answer%?}"
        done'"#;
    let task = start(&light, asks).await;
    let shown = |grey: u8| ConsoleView {
        visible: vec![task.clone()],
        colours: Some(DefaultColours { foreground: (0, 0, 0), background: (grey, grey, grey) }),
        ..ConsoleView::default()
    };
    light.show(shown(0xff));
    dark.show(shown(0x11));
    shows(&light, &task, "ready").await;
    for (console, key, told) in [
        (&light, "a", "a:rgb:ffff/ffff/ffff"),
        (&dark, "b", "a:rgb:ffff/ffff/ffff\nb:rgb:1111/1111/1111"),
        (&light, "c", "a:rgb:ffff/ffff/ffff\nb:rgb:1111/1111/1111\nc:rgb:ffff/ffff/ffff"),
    ] {
        let key = Act::Send(TypedInput::Raw(key.into())).on(task.clone());
        console.ask(key).await.expect("typed");
        shows(&light, &task, told).await;
    }
}

#[tokio::test]
async fn an_attached_console_is_sent_each_screen_at_the_width_of_its_pane() {
    let home = Home::new();
    home.serve_here();
    let (narrow, own) = (attach(&home).await, attach(&home).await);
    let long = "0123456789".repeat(6);
    let task = start(&narrow, &format!("echo {long}-end; read line; printf '\\033[Aup\\n'; read line")).await;
    own.show(support::panes(std::slice::from_ref(&task), &task));
    let as_it_is = format!("{}\n{}-end", &long[..40], &long[40..]);
    shows(&own, &task, &as_it_is).await;
    show_at(&narrow, &task, 80);
    shows(&narrow, &task, &format!("{long}-end")).await;
    show_at(&narrow, &task, 25);
    shows(&narrow, &task, &format!("{}\n{}\n{}-end", &long[..25], &long[25..50], &long[50..])).await;
    assert!(narrow.snapshot().borrow().tasks.iter().all(|view| view.size.cols() == 40), "it keeps its size");
    let enter = Act::Send(TypedInput::Raw(b"\r".to_vec())).on(task.clone());
    narrow.ask(enter).await.expect("typed");
    shows(&narrow, &task, &format!("{as_it_is}\nup")).await;
}

#[tokio::test]
async fn a_managed_task_cannot_act_as_the_operator() {
    let home = Home::new();
    let mut served = home.serve();
    let program = crate::support::program_word();
    let escaped = format!("{program} serve --stop; (setsid {program} serve --stop)");
    // However slow the machine is, both have ended by then.
    let ran = home.run(&["command", "run", "--yield-time-ms", "60000", &escaped]);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(said.matches("cannot act as the operator").count(), 2, "{said}");
    assert!(served.try_wait().expect("asked").is_none(), "the runtime still serves");
    home.stop(&mut served);
}

#[tokio::test]
async fn a_console_sees_what_a_task_uses_with_all_its_processes() {
    let home = Home::new();
    home.serve_here();
    let operator = attach(&home).await;
    // The second process leaves the session, but it is still below the task host.
    let task = start(
        &operator,
        "setsid sleep 600 & x=0; while [ $x -lt 100000 ]; do x=$((x+1)); done; echo spent; read y",
    )
    .await;
    operator.show(support::panes(std::slice::from_ref(&task), &task));
    shows(&operator, &task, "spent").await;
    operator.ask(Act::Send(TypedInput::Raw(b"abc".to_vec())).on(task.clone())).await.expect("typed");
    let gone: TaskId = "task_zzzzzzzz".parse().expect("an id");
    let seen = operator
        .ask(Act::Usage(Some(task.clone())).on(Subject::Tasks(vec![gone, task.clone()])))
        .await
        .expect("looks");
    let Reply::Usage(seen) = seen else { panic!("{seen:?}") };
    let [usage] = &seen[..] else { panic!("one live task: {seen:?}") };
    let tree = usage.tree.expect("/proc is there");
    assert_eq!((&usage.task, usage.typed_bytes), (&task, 3));
    assert!(tree.processes >= 2 && tree.cpu_ms > 0 && tree.memory_bytes > 100_000, "{tree:?}");
    let (shell, others) = usage.processes.split_first().expect("its processes");
    assert!(shell.depth == 0 && others.iter().any(|other| other.depth > 0), "{:?}", usage.processes);
    // Nothing above waits for the state to be published, which happens at most every 50 ms.
    let mut snapshot = operator.snapshot();
    let counts = |snapshot: &Arc<Snapshot>| {
        let first = snapshot.metrics.gauges.first();
        first.is_some_and(|gauge| (gauge.limit.as_str(), gauge.used) == ("tasks", 1))
    };
    let counted = tokio::time::timeout(crate::support::PATIENCE, snapshot.wait_for(counts)).await;
    counted.expect("one task is counted").expect("connected");
    operator.ask(Act::Shutdown(CloseReason::OperatorEnded).on(Subject::Home)).await.expect("ends");
}
