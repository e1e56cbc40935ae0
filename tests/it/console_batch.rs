//! A batch under way in the console: where it stands, in the list of tasks and in that of the calls.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::msg::Msg;
use pilothouse::runtime::{BatchItem, CallRecord, CallSummary, Snapshot, TaskStatus, TaskView};
use serde_json::json;

use crate::console_fixture::{ago, console, empty, ended, press, record, shown, task};

const CMDS: [&str; 4] = ["git status --short", "python3 -i", "cargo test slow_suite", "wc -l src/run.rs"];

/// The second item was rejected: it never was a command.
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
        task: None,
        duration_ms: None,
        stream: None,
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
fn its_items_are_rows_until_there_is_a_receipt() {
    let mut app = under_way((80, 16));
    insta::assert_snapshot!("batch_calls_80x16", shown(&app));
    let _ = press(&mut app, &["Tab"]);
    insta::assert_snapshot!("batch_items_80x16", shown(&app));
    let _ = press(&mut app, &["1"]);
    insta::assert_snapshot!("batch_tasks_80x16", shown(&app));
}

#[test]
fn the_item_under_way_stays_on_screen_where_there_is_little_room() {
    for rows in 9..20 {
        let mut app = under_way((60, rows));
        let _ = press(&mut app, &["Tab"]);
        assert!(shown(&app).contains("running"), "{rows} rows:\n{}", shown(&app));
    }
}

#[test]
fn beside_an_item_stands_the_call_it_belongs_to() {
    let app = console(snapshot(), (200, 60));
    assert_eq!(app.selected().and_then(|task| task.item).map(|item| item.index), Some(3));
    assert_eq!(app.shown_call().map(|call| call.seq), Some(311));
}
