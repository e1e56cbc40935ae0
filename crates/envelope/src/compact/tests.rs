//! Compaction of random envelopes of every shape: monotonic, stable, and honest about what it removed.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::preview::{ReadOn, recut};
use crate::{ErrorKind, ToolError};

fn exec(stdout: &str, stderr: &str) -> Envelope {
    let result = json!({
        "disposition": "completed", "exit_status": 3, "signal": null, "stdout_preview": stdout,
        "stderr_preview": stderr, "truncated": false, "duration_ms": 12,
        "artifacts": [{"path": "/state/stdout.log"}], "stdout_artifact": 0,
    });
    Envelope::success("ExecCommand", "command exited with status 3", &result)
}

fn batch(outputs: &[String]) -> Envelope {
    let items = outputs.iter().enumerate().map(|(at, output)| {
        json!({
            "index": at + 1, "cmd": format!("make target-{at}"), "status": "completed", "exit_status": 0,
            "stdout_preview": output, "stderr_preview": null, "truncated": false, "timed_out": false,
            "duration_ms": 9, "error": null,
        })
    });
    let result = json!({
        "item_count": outputs.len(), "completed_count": outputs.len(), "failed_count": 0, "rejected_count": 0,
        "skipped_count": 0, "stop_on_error": false, "items": items.collect::<Vec<_>>(),
    });
    Envelope::success("ExecCommandBatch", "ExecCommandBatch completed", &result)
}

fn failed(details: &str) -> Envelope {
    let error = ToolError::new(ErrorKind::WorkdirNotFound, "The working directory cannot be entered.")
        .with_details(json!({ "workdir": details }))
        .with_hint("check the path");
    Envelope::error("ExecCommand", error)
}

fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn the_largest_preview_gives_way_first() {
    let envelope = exec(&lines(2_000), "warning: one\n");
    let compacted = compact(&envelope, 1_500);
    let result = compacted.result().unwrap();
    assert!(length(&compacted) <= 1_500);
    let shown = result["stdout_preview"].as_str().unwrap();
    assert!(shown.starts_with("line 1\n") && shown.ends_with("line 2000\n"), "{shown}");
    assert!(shown.contains("[output truncated: showing first "), "{shown}");
    assert_eq!((&result["stderr_preview"], &result["truncated"]), (&json!("warning: one\n"), &json!(true)));
}

#[test]
fn a_budget_of_zero_keeps_the_disposition_the_exit_status_and_the_artifacts() {
    let result = json!({
        "disposition": "completed", "exit_status": 3, "signal": null, "stdout_preview": null,
        "stderr_preview": null, "truncated": true, "duration_ms": 12,
        "artifacts": [{"path": "/state/stdout.log"}], "stdout_artifact": 0,
    });
    assert_eq!(
        compact(&exec(&lines(2_000), &lines(10)), 0),
        Envelope::success("ExecCommand", "command exited with status 3", &result)
    );
}

#[test]
fn previews_of_batch_items_are_evened_out() {
    let envelope = batch(&[lines(1_000), lines(5), lines(900)]);
    let compacted = compact(&envelope, 3_000);
    let items = &compacted.result().unwrap()["items"];
    assert!(length(&compacted) <= 3_000);
    assert_eq!((&items[1]["stdout_preview"], &items[1]["truncated"]), (&json!(lines(5)), &json!(false)));
    for at in [0, 2] {
        let shown = items[at]["stdout_preview"].as_str().unwrap();
        assert!((400..1_300).contains(&shown.len()), "{shown}");
        assert_eq!(items[at]["truncated"], true);
    }
}

#[test]
fn details_of_an_error_go_and_the_rest_of_it_stays() {
    let kept = compact(&failed("missing"), 1_000);
    assert_eq!(kept, failed("missing"));
    let CallOutcome::Error(error) = compact(&failed(&"x".repeat(5_000)), 400).outcome().clone() else {
        panic!()
    };
    let whole = ToolError::new(ErrorKind::WorkdirNotFound, "The working directory cannot be entered.");
    assert_eq!(error, whole.with_hint("check the path"));
}

#[test]
fn a_long_command_is_the_last_to_be_cut() {
    let result = json!({"task": {"task_id": "task_4k2m9x7a", "command": {"cmd": "make ".repeat(400)}}});
    let compacted = compact(&Envelope::success("TaskStatus", "task running", &result), 400);
    let cmd = compacted.result().unwrap()["task"]["command"]["cmd"].as_str().unwrap();
    assert!(cmd.starts_with("make make") && cmd.chars().count() == CMD_CHARS && cmd.ends_with('…'), "{cmd}");
}

fn output() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "(?s).{0,200}",
        3 => prop::collection::vec("[a-zé\"\\\\\u{1F600} ]{0,50}", 0..80).prop_map(|lines| lines.join("\n")),
        1 => (0_usize..3_000).prop_map(|run| format!("start\n{}\nend", "x".repeat(run))),
        1 => (1_usize..400).prop_map(|count| recut(&lines(count), 700, &ReadOn::default())),
    ]
}

fn envelope() -> impl Strategy<Value = Envelope> {
    prop_oneof![
        (output(), output()).prop_map(|(stdout, stderr)| exec(&stdout, &stderr)),
        prop::collection::vec(output(), 1..=12).prop_map(|outputs| batch(&outputs)),
        output().prop_map(|details| failed(&details)),
    ]
}

/// Everything except previews, flags, details, commands and items: this must survive.
fn kept(envelope: &Envelope) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Object(fields) => {
                fields.retain(|name, _| {
                    let gives_way = ["details", "cmd", "items", "items_omitted"].contains(&name.as_str());
                    !(is_preview(name) || name.ends_with("truncated") || gives_way)
                });
                fields.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let mut value = envelope.to_value();
    strip(&mut value);
    value
}

/// Checks the remaining items of a batch: each is one of the original items, and the omitted ones are counted.
fn items_left(compacted: &Envelope, whole: &Envelope) -> Result<(), TestCaseError> {
    let of = |envelope: &Envelope| {
        let items = envelope.result().map(|result| result["items"].clone()).unwrap_or_default();
        items.as_array().cloned().unwrap_or_default()
    };
    let (left, all) = (of(compacted), of(whole));
    let omitted = compacted.result().and_then(|result| result["items_omitted"].as_u64()).unwrap_or_default();
    prop_assert_eq!(left.len() as u64 + omitted, all.len() as u64);
    for item in left {
        let same = all.iter().find(|known| known["index"] == item["index"]).expect("one of them");
        for field in ["status", "exit_status", "artifacts", "stdout_artifact"] {
            prop_assert_eq!(&item[field], &same[field]);
        }
    }
    Ok(())
}

#[test]
fn a_failed_item_of_a_batch_is_the_last_to_be_left_out() {
    let mut value = batch(&vec![lines(300); 12]).to_value();
    value["result"]["items"][4]["status"] = "failed".into();
    value["result"]["items"][4]["exit_status"] = 2.into();
    let envelope: Envelope = serde_json::from_value(value).unwrap();
    let compacted = compact(&envelope, 1_000);
    let result = compacted.result().unwrap();
    let items = result["items"].as_array().unwrap();
    assert!(length(&compacted) <= 1_000, "{}", length(&compacted));
    assert!(items.len() > 2 && items.iter().any(|item| item["index"] == 5), "{items:?}");
    assert_eq!(result["items_omitted"], 12 - items.len());
    let left =
        |budget: usize| compact(&envelope, budget).result().unwrap()["items"].as_array().unwrap().clone();
    // With less room fewer items are left: the largest budget that leaves one is found by halves.
    let budgets: Vec<usize> = (0..1_000).collect();
    let more = budgets.partition_point(|budget| left(*budget).len() <= 1);
    let last = left(more - 1);
    assert_eq!((last.len(), &last[0]["index"]), (1, &5.into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_budget_of_a_thousand_is_kept_whatever_a_batch_had(
        outputs in prop::collection::vec(output(), 1..=12), budget in 1_000_usize..3_000,
    ) {
        let envelope = batch(&outputs);
        let compacted = compact(&envelope, budget);
        prop_assert!(length(&compacted) <= budget, "{}", length(&compacted));
        items_left(&compacted, &envelope)?;
    }

    #[test]
    fn less_room_never_yields_more(envelope in envelope(), a in 0_usize..6_000, b in 0_usize..6_000) {
        let (less, more) = (a.min(b), a.max(b));
        prop_assert!(length(&compact(&envelope, less)) <= length(&compact(&envelope, more)));
    }

    #[test]
    fn compacting_an_envelope_twice_changes_nothing_more(envelope in envelope(), budget in 0_usize..6_000) {
        let once = compact(&envelope, budget);
        prop_assert_eq!(compact(&once, budget), once);
    }

    #[test]
    fn a_compacted_envelope_fits_its_budget_or_has_its_least_size(envelope in envelope(), budget in 0_usize..6_000) {
        let compacted = compact(&envelope, budget);
        let least = length(&compact(&envelope, 0));
        prop_assert!(length(&compacted) <= budget.max(least));
        if length(&envelope) <= budget {
            prop_assert_eq!(&compacted, &envelope);
        }
    }

    #[test]
    fn a_compacted_envelope_is_valid_and_keeps_its_required_parts(envelope in envelope(), budget in 0_usize..6_000) {
        let compacted = compact(&envelope, budget);
        prop_assert_eq!(kept(&compacted), kept(&envelope));
        items_left(&compacted, &envelope)?;
        let again: Envelope = serde_json::from_value(compacted.to_value()).unwrap();
        prop_assert_eq!(again, compacted);
    }
}
