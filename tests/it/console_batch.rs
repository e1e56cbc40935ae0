//! A running batch in the console: its progress in the list of tasks and in the list of calls.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::coverage::{
    CommandCoverage, CoveredCommand, CoveredStream, StreamTranscript,
};
use pilothouse::envelope::TaskId;
use pilothouse::envelope::preview::{self, StreamText};
use pilothouse::model::{BatchItem, CallRecord, CallSummary, Snapshot, TaskStatus, TaskView};
use pilothouse::tools::render;
use serde_json::{Value, json};

use crate::console_fixture::{ago, console, empty, ended, id, obstacle, press, record, shown, task};

const CMDS: [&str; 4] = ["git status --short", "python3 -i", "cargo test slow_suite", "wc -l src/run.rs"];

/// The second item was rejected: it never became a command.
fn snapshot() -> Snapshot {
    let item = |index: usize, age| TaskView {
        item: Some(BatchItem { index, count: 4 }),
        call: 311,
        promoted: false,
        ..task(u32::try_from(index).expect("small"), CMDS[index - 1], age, 0)
    };
    let call = CallSummary {
        seq: 311,
        at: ago(9),
        actor: record().actor,
        tool: "ExecCommandBatch".into(),
        status: None,
        summary: "4 items".into(),
        asked: String::new(),
        task: None,
        end: None,
        duration_ms: None,
        stream: None,
        native: None,
    };
    let first = ended(item(1, 9), TaskStatus::Completed, Some(0), 8);
    Snapshot { tasks: vec![Arc::new(first), Arc::new(item(3, 8))], calls: vec![Arc::new(call)], ..empty() }
}

fn under_way(size: (u16, u16)) -> App {
    let mut app = console(snapshot(), size);
    let _ = press(&mut app, &["3"]);
    let items: Vec<_> = CMDS.iter().map(|cmd| json!({ "cmd": cmd })).collect();
    let input = json!({ "items": items });
    let record = CallRecord { seq: 311, input, envelope: None, receipt: None, duration_ms: None, ..record() };
    let _ = app.update(Msg::Record(Arc::new(record)));
    app
}

#[test]
fn the_items_of_a_running_batch_are_listed_as_rows() {
    let mut app = under_way((80, 16));
    insta::assert_snapshot!("batch_calls_80x16", shown(&app));
    let _ = press(&mut app, &["Tab"]);
    insta::assert_snapshot!("batch_items_80x16", shown(&app));
    let _ = press(&mut app, &["1"]);
    insta::assert_snapshot!("batch_tasks_80x16", shown(&app));
}

#[test]
fn the_running_item_of_a_batch_stays_on_a_small_screen() {
    for rows in 9..20 {
        let mut app = under_way((60, rows));
        let _ = press(&mut app, &["Tab"]);
        assert!(shown(&app).contains("running"), "{rows} rows:\n{}", shown(&app));
    }
}

#[test]
fn the_call_of_a_batch_item_is_shown_beside_it() {
    let app = console(snapshot(), (200, 60));
    assert_eq!(app.state.selected_task().and_then(|task| task.item).map(|item| item.index), Some(3));
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(311));
}

/// The finished batch: item 1 printed 40 lines, of which the answer has head and tail; item 3 wrote to both streams.
fn answered(size: (u16, u16)) -> App {
    let mut app = console(snapshot(), size);
    let _ = press(&mut app, &["3"]);
    let lines =
        |range: std::ops::Range<u32>| range.map(|n| format!(" M src/part_{n:02}.rs\n")).collect::<String>();
    let cut = preview::cut(&StreamText::Whole(lines(0..40)), 200).expect("not blank");
    assert!(cut.truncated);
    let item = |index: usize, status: &str, stdout: Value, stderr: Value| {
        let has_run = matches!(status, "completed" | "failed");
        let error = (status == "rejected").then(|| json!({"kind": "unsupported", "message": "It is not."}));
        json!({"index": index, "cmd": CMDS[index - 1], "status": status, "exit_status": has_run.then_some(0),
            "stdout_preview": stdout, "stderr_preview": stderr, "truncated": index == 1, "timed_out": false,
            "duration_ms": has_run.then_some(9), "error": error})
    };
    let items = [
        item(1, "completed", json!(cut.text), Value::Null),
        item(2, "rejected", Value::Null, Value::Null),
        item(3, "completed", json!("ok 1\nok 2\n"), json!("slow: [4] of 9\n")),
        item(4, "completed", json!("212 src/run.rs\n"), Value::Null),
    ];
    let result = json!({"item_count": 4, "completed_count": 3, "failed_count": 0, "rejected_count": 1,
        "skipped_count": 0, "stop_on_error": false, "items": items});
    let envelope = json!({"tool_name": "ExecCommandBatch", "status": "success",
        "summary_text": "ExecCommandBatch completed 3/4 items", "result": result, "error": Value::Null});
    let receipt = render(&serde_json::from_value(envelope.clone()).expect("an envelope"));
    let envelope = Some(envelope);
    let record =
        CallRecord { seq: 311, envelope, receipt: Some(receipt.into()), duration_ms: Some(21), ..record() };
    let _ = app.update(Msg::Record(Arc::new(CallRecord { tool: "ExecCommandBatch".into(), ..record })));
    app
}

fn asked(effects: Vec<Effect>) -> Vec<CoveredCommand> {
    let of = |effect| match effect {
        Effect::Coverage { call: 311, shown } => Some(shown),
        _ => None,
    };
    effects.into_iter().find_map(of).expect("it is read")
}

#[test]
fn the_part_of_each_items_output_that_an_answer_showed_is_marked_in_the_whole() {
    for size in [(80, 24), (120, 40)] {
        let mut app = answered(size);
        assert_eq!(obstacle(&app, Action::ModelSaw).as_deref(), None);
        let shown_of = asked(press(&mut app, &["v"]));
        let known: Vec<_> = shown_of.iter().map(|shown| shown.task.as_ref().map(TaskId::to_string)).collect();
        let is = [
            Ok(id(1).to_string()),
            Err(&"it was not run"),
            Ok(id(3).to_string()),
            Err(&"it is no longer on the list"),
        ];
        assert_eq!(known, is);
        let told = shown_of.into_iter().map(|CoveredCommand { name, task, streams }| {
            let read = |stream_shown: CoveredStream| {
                let all = match (name.as_str(), &stream_shown.sent) {
                    ("[1] git status --short", Some(_)) => {
                        (0..40).map(|n| format!(" M src/part_{n:02}.rs\n")).collect()
                    }
                    (_, sent) => sent.as_ref().map(|sent| format!("{sent}\n")).unwrap_or_default(),
                };
                (stream_shown, StreamTranscript { all, ..StreamTranscript::default() })
            };
            let streams = task.map(|_| streams.into_iter().map(read).collect()).map_err(str::to_owned);
            CommandCoverage { name: name.clone(), streams }
        });
        let told = told.collect();
        let _ = app.update(Msg::Coverage(311, told));
        insta::assert_snapshot!(format!("batch_seen_{}x{}", size.0, size.1), shown(&app));
        let screen = shown(&app);
        assert!(screen.contains("│  M src/part_00.rs") && screen.contains("command 1/4"), "{screen}");
        let _ = press(&mut app, &["]", "]"]);
        let screen = shown(&app);
        assert!(screen.contains("│ slow: [4] of 9") && screen.contains("command 3/4"), "{screen}");
    }
}

#[test]
fn the_view_of_the_seen_output_begins_at_the_item_that_is_read() {
    let mut app = answered((120, 40));
    let _ = press(&mut app, &["Tab", "G"]);
    let shown_of = asked(press(&mut app, &["v"]));
    let told = |shown: CoveredCommand| CommandCoverage { name: shown.name, streams: Ok(Vec::new()) };
    let _ = app.update(Msg::Coverage(311, shown_of.into_iter().map(told).collect()));
    assert!(shown(&app).contains("command 4/4"), "{}", shown(&app));
}
