//! Reading the texts of a call: the same field in both, searching, comparing.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::msg::Msg;
use pilothouse::console::state::calls::Column;
use pilothouse::envelope::Envelope;
use pilothouse::model::{CallRecord, CallSummary, Snapshot};
use ratatui::style::Modifier;
use serde_json::{Value, json};

use crate::console_fixture::{
    ALL_SIZES, SIZES, ago, build, console, draw, empty, obstacle, press, record, shown,
};

/// A batch of four: one prints, one fails, one is rejected, one is skipped.
fn batch(seq: u64, printed: &str) -> CallRecord {
    let item = |index: usize, cmd: &str, rest: Value| {
        let mut item = json!({
            "index": index, "cmd": cmd, "status": "completed", "exit_status": null, "stdout_preview": null,
            "stderr_preview": null, "truncated": false, "timed_out": false, "duration_ms": null, "error": null
        });
        let fields = rest.as_object().cloned().unwrap_or_default();
        item.as_object_mut().expect("an object").extend(fields);
        item
    };
    let message = "ExecCommandBatch items do not support `tty`; use ExecCommand for this one.";
    let error = json!({"kind": "unsupported_batch_command_field", "message": message});
    let items = json!([
        item(
            1,
            "git status --short",
            json!({"exit_status": 0, "stdout_preview": printed, "duration_ms": 11})
        ),
        item(
            2,
            "grep -rn todo src",
            json!({"status": "failed", "exit_status": 1, "duration_ms": 9, "stderr_preview": "grep: src: nothing\n"})
        ),
        item(3, "python3 -i", json!({"status": "rejected", "error": error})),
        item(4, "cargo test slow_suite", json!({"status": "skipped", "reason": "stop_on_error"})),
    ]);
    let result = json!({
        "item_count": 4, "completed_count": 1, "failed_count": 1, "rejected_count": 1, "skipped_count": 1,
        "stop_on_error": true, "items": items
    });
    let envelope = Envelope::success("ExecCommandBatch", "ExecCommandBatch completed 1/4 items", &result);
    CallRecord {
        seq,
        tool: "ExecCommandBatch".into(),
        input: json!({"items": [{"cmd": "git status --short"}]}),
        receipt: Some(pilothouse::tools::render(&envelope).into()),
        envelope: Some(envelope.to_value()),
        ..record()
    }
}

fn summary(record: &CallRecord) -> Arc<CallSummary> {
    Arc::new(CallSummary {
        seq: record.seq,
        at: ago(9),
        actor: record.actor.clone(),
        tool: record.tool.clone(),
        status: Some("success".into()),
        summary: "1/4 items".into(),
        asked: String::new(),
        task: None,
        end: None,
        duration_ms: Some(21),
        stream: None,
        native: None,
    })
}

/// The receipts screen with these calls, the last one selected.
fn reading(records: &[CallRecord], size: (u16, u16)) -> App {
    let calls = records.iter().map(summary).collect();
    let mut app = console(Snapshot { calls, ..empty() }, size);
    let _ = press(&mut app, &["3"]);
    for record in records {
        let _ = app.update(Msg::Record(Arc::new(record.clone())));
    }
    app
}

fn opened(size: (u16, u16)) -> App {
    let mut app = reading(&[batch(311, " M src/run.rs\n")], size);
    let _ = press(&mut app, &["Tab"]);
    app
}

/// Moves down in the current column until the row contains `text`.
fn down_to(app: &mut App, text: &str) {
    let _ = press(app, &["g"]);
    for _ in 0..200 {
        if at(app, app.state.calls.column).contains(text) {
            return;
        }
        let _ = press(app, &["j"]);
    }
    panic!("no {text:?}:\n{}", shown(app));
}

/// The row at the cursor in a column.
fn at(app: &App, column: Column) -> String {
    let sheet = app.receipts.sheet.as_ref().expect("a sheet");
    let row = match column {
        Column::Envelope => sheet.envelope.document.rows().get(sheet.envelope.at),
        _ => sheet.receipt.document.rows().get(sheet.receipt.at),
    };
    row.expect("a row").iter().map(|piece| piece.text.as_str()).collect()
}

/// The number of marks in the texts.
fn marks(app: &App) -> usize {
    let (buffer, _) = draw(app);
    let plan = app.state.layout();
    let of = |area: ratatui::layout::Rect| {
        let rows = area.y + 1..area.y + area.height;
        rows.filter(|y| area.width > 0 && buffer[(area.x, *y)].symbol() == "▸").count()
    };
    of(plan.receipt) + of(plan.envelope)
}

#[test]
fn the_same_field_is_marked_in_both_texts() {
    for size in ALL_SIZES {
        let mut app = opened(size);
        down_to(&mut app, "rejected=");
        let (columns, rows) = size;
        if SIZES.contains(&size) {
            insta::assert_snapshot!(format!("field_receipt_{columns}x{rows}"), shown(&app));
            let _ = press(&mut app, &["Tab"]);
            insta::assert_snapshot!(format!("field_envelope_{columns}x{rows}"), shown(&app));
        }
    }
}

#[test]
fn each_line_of_the_receipt_finds_its_field() {
    let mut app = opened((200, 60));
    for (line, field) in [
        ("completed 1/4", "\"completed_count\": 1"),
        ("[1] git", "{"),
        ("exit=0", "\"exit_status\": 0"),
        ("M src/run.rs", "\"stdout_preview\""),
        ("exit=1", "\"exit_status\": 1"),
        ("grep: src", "\"stderr_preview\""),
        ("rejected=", "\"kind\": \"unsupported"),
        ("skipped=", "\"reason\": \"stop_on_error\""),
    ] {
        down_to(&mut app, line);
        assert!(at(&app, Column::Envelope).contains(field), "{line}: {}", at(&app, Column::Envelope));
        assert_eq!(marks(&app), 2, "{line}");
    }
}

#[test]
fn a_field_without_counterpart_has_no_mark() {
    let mut app = opened((200, 60));
    let _ = press(&mut app, &["Tab"]);
    for field in ["\"duration_ms\": 11", "\"truncated\"", "\"summary_text\"", "\"error\": null"] {
        down_to(&mut app, field);
        assert_eq!(marks(&app), 0, "{field}\n{}", shown(&app));
    }
    down_to(&mut app, "\"exit_status\": 1");
    assert_eq!(at(&app, Column::Receipt), "[2] exit=1");
    let _ = press(&mut app, &["BackTab"]);
    assert_eq!((at(&app, Column::Receipt), marks(&app)), ("[2] exit=1".to_owned(), 2));
}

#[test]
fn the_field_stays_when_the_terminal_changes() {
    let mut app = opened((200, 60));
    down_to(&mut app, "skipped=");
    for (columns, rows) in [(80, 24), (120, 40), (60, 15), (200, 60)] {
        let _ = app.update(Msg::Resize(columns, rows));
        assert!(at(&app, Column::Receipt).contains("skipped="), "{columns}x{rows}");
        assert!(at(&app, Column::Envelope).contains("\"reason\""), "{columns}x{rows}");
    }
}

#[test]
fn the_field_is_on_screen_in_a_long_text_and_in_a_budget() {
    let mut app = reading(&[build()], (80, 24));
    let _ = press(&mut app, &["Tab", "G"]);
    down_to(&mut app, "stderr:");
    assert!(shown(&app).contains("▸stderr:"), "{}", shown(&app));
    let _ = press(&mut app, &["-", "-"]);
    down_to(&mut app, "Process exited");
    let _ = press(&mut app, &["Tab"]);
    assert!(at(&app, Column::Envelope).contains("\"exit_status\": 101"), "{}", at(&app, Column::Envelope));
}

/// How many cells of a column a search has highlighted, and how many of those are at the current match.
fn found(app: &App) -> (usize, usize) {
    let (buffer, _) = draw(app);
    let plan = app.state.layout();
    let area = if app.state.calls.column == Column::Envelope { plan.envelope } else { plan.receipt };
    let cells = area.positions().filter(|at| at.y > area.y).map(|at| buffer[at].modifier);
    let marked: Vec<Modifier> = cells.filter(|modifier| modifier.contains(Modifier::REVERSED)).collect();
    (marked.len(), marked.iter().filter(|m| m.contains(Modifier::UNDERLINED)).count())
}

#[test]
fn a_text_is_found_from_place_to_place_and_around() {
    let mut app = opened((200, 60));
    let _ = press(&mut app, &["/", "e", "x", "i", "t", "=", "Enter"]);
    let [first, second] = ["[1] exit=0", "[2] exit=1"];
    assert_eq!(at(&app, Column::Receipt), first);
    assert!(shown(&app).contains("SEARCH   1/2 exit="), "{}", shown(&app));
    assert_eq!(found(&app), (10, 5), "both are marked, the one more");
    for (expected, count) in [(second, "2/2"), (first, "1/2"), (second, "2/2")] {
        let _ = press(&mut app, &["n"]);
        assert_eq!(at(&app, Column::Receipt), expected);
        assert!(shown(&app).contains(count), "{}", shown(&app));
    }
    let _ = press(&mut app, &["N"]);
    assert_eq!(at(&app, Column::Receipt), first);
    let _ = press(&mut app, &["Esc"]);
    assert_eq!((found(&app), app.state.calls.column), ((0, 0), Column::Receipt));
    let _ = press(&mut app, &["/", "n", "o", "p", "e", "Enter"]);
    assert!(shown(&app).contains("no match nope"), "{}", shown(&app));
    assert_eq!(at(&app, Column::Receipt), first, "nobody is moved for nothing");
}

#[test]
fn a_capital_is_minded_and_small_letters_stand_for_both() {
    let mut app = opened((120, 40));
    let _ = press(&mut app, &["/", "e", "x", "e", "c", "c", "Enter"]);
    let (small, _) = found(&app);
    let _ = press(&mut app, &["/", "E", "X", "E", "C", "C", "Enter"]);
    assert!(small > 0 && found(&app) == (0, 0), "{small}");
}

#[test]
fn a_text_found_in_the_envelope_at_each_size() {
    for size in ALL_SIZES {
        let mut app = opened(size);
        let _ = press(&mut app, &["Tab", "/", "s", "t", "o", "p", "_", "o", "n", "Enter", "n"]);
        assert!(at(&app, Column::Envelope).contains("\"reason\": \"stop_on_error\""));
        if SIZES.contains(&size) {
            insta::assert_snapshot!(format!("found_{}x{}", size.0, size.1), shown(&app));
        }
        // The search carries over to the other text.
        let _ = press(&mut app, &["BackTab"]);
        assert!(shown(&app).contains("1/1 stop_on"), "{}", shown(&app));
    }
}

#[test]
fn a_group_of_the_envelope_is_folded_and_its_counterpart_still_found() {
    for size in ALL_SIZES {
        let mut app = opened(size);
        let _ = press(&mut app, &["Tab"]);
        down_to(&mut app, "\"index\": 2");
        let _ = press(&mut app, &["Enter"]);
        assert!(at(&app, Column::Envelope).contains("{...},  10 keys"), "{}", at(&app, Column::Envelope));
        assert!(at(&app, Column::Receipt).contains("[2] grep"), "{}", at(&app, Column::Receipt));
        if SIZES.contains(&size) {
            insta::assert_snapshot!(format!("folded_{}x{}", size.0, size.1), shown(&app));
        }
        // A receipt line whose field is folded away leads to the place where it is folded.
        let _ = press(&mut app, &["BackTab"]);
        down_to(&mut app, "exit=1");
        assert!(at(&app, Column::Envelope).contains("{...},  10 keys"), "{}", at(&app, Column::Envelope));
        let _ = press(&mut app, &["Tab", "Enter"]);
        assert!(!shown(&app).contains("{...}"), "{}", shown(&app));
    }
}

#[test]
fn finding_a_text_opens_the_folded_group() {
    let mut app = opened((120, 40));
    let _ = press(&mut app, &["Tab", "g", "Enter"]);
    assert!(shown(&app).contains("{...}  5 keys"), "{}", shown(&app));
    let _ = press(&mut app, &["/", "s", "k", "i", "p", "p", "e", "d", "Enter"]);
    assert!(at(&app, Column::Envelope).contains("skipped"), "{}", at(&app, Column::Envelope));
}

#[test]
fn enter_goes_right_where_nothing_is_folded() {
    let mut app = reading(&[batch(311, "x")], (80, 24));
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(app.state.calls.column, Column::Receipt);
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(app.state.calls.column, Column::Envelope);
}

#[test]
fn two_calls_are_compared_by_their_envelopes_or_receipts() {
    for size in ALL_SIZES {
        let records = [batch(310, " M src/run.rs\n M src/lib.rs\n"), batch(311, " M src/run.rs\n")];
        let mut app = reading(&records, size);
        let _ = press(&mut app, &["j", "="]);
        assert!(shown(&app).contains("=▸   310"), "{}", shown(&app));
        let _ = press(&mut app, &["k", "="]);
        let (columns, rows) = size;
        if SIZES.contains(&size) {
            insta::assert_snapshot!(format!("compared_envelopes_{columns}x{rows}"), shown(&app));
        }
        let _ = press(&mut app, &["Esc", "Tab", "="]);
        let receipts = shown(&app);
        assert!(receipts.contains("receipts of calls - 310 and + 311"), "{receipts}");
        assert!(receipts.contains("-  M src/lib.rs"), "{receipts}");
        assert!(receipts.contains("change 1/1"), "{receipts}");
        let _ = press(&mut app, &["/", "l", "i", "b", "Enter"]);
        assert!(shown(&app).contains("1/1 lib"), "{}", shown(&app));
        let _ = press(&mut app, &["Esc", "Esc", "Tab", "Tab", "j", "="]);
        assert!(!shown(&app).contains("=▸"), "the mark is taken off: {}", shown(&app));
    }
}

#[test]
fn a_call_without_an_answer_is_not_compared() {
    let unanswered = CallRecord { envelope: None, receipt: None, ..batch(311, "x") };
    let mut app = reading(&[unanswered], (120, 40));
    let _ = press(&mut app, &["="]);
    assert!(app.receipts.marked.is_none() && app.state.reader.is_none());
    assert!(shown(&app).contains("there is no answer to compare yet"), "{}", shown(&app));
    assert_eq!(
        obstacle(&app, pilothouse::console::keys::action::Action::Compare).as_deref(),
        Some("there is no answer to compare yet")
    );
}
