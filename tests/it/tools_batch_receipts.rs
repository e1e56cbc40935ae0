//! What agents get for a batch: the canonical envelope and the receipt made from it, for made-up outcomes of items.

use std::path::PathBuf;
use std::sync::Arc;

use pilothouse::envelope::preview::StreamText;
use pilothouse::envelope::{Actor, Envelope, compact};
use pilothouse::model::{BatchItem, OutputView, StopView, TaskEnd, TaskStatus, TaskView};
use pilothouse::tools::exec_command_batch::{
    BatchDetails, ItemError, ItemOutcome, SkipReason, project, sent_of_batch,
};
use pilothouse::tools::{RECEIPT_CHARS, Room, StreamPreview, render};
use proptest::prelude::*;

use crate::tools_receipts::{ended, running};

fn at(millis: i64) -> jiff::Timestamp {
    let start: jiff::Timestamp = "2026-11-20T12:00:00Z".parse().expect("a time");
    start + jiff::SignedDuration::from_millis(millis)
}

/// A command that ran as an item for 12 ms.
fn ran(exit_status: Option<i32>, signal: Option<&str>) -> TaskView {
    let status = if exit_status == Some(0) { TaskStatus::Completed } else { TaskStatus::Failed };
    let task = ended(running("not shown"), status, exit_status, signal);
    TaskView {
        description: None,
        promoted: false,
        item: Some(BatchItem { index: 1, count: 1 }),
        updated_at: at(12),
        ceiling: None,
        peak_memory: None,
        output: OutputView::default(),
        ..amend(task, |end| end.at = at(12))
    }
}

fn amend(mut task: TaskView, change: impl FnOnce(&mut TaskEnd)) -> TaskView {
    change(task.ended.as_mut().expect("an end"));
    task
}

fn stopped(task: TaskView, by: Actor) -> TaskView {
    let stop = StopView { by, at: at(10), kill_at: None, force: false, why: None };
    TaskView { status: TaskStatus::Cancelled, stop: Some(stop), ..task }
}

fn shown(task: TaskView, stdout: &str, stderr: &str, tokens: Option<u64>) -> ItemOutcome {
    let text = |text: &str| StreamText::Whole(text.to_owned());
    let (stdout, stderr) =
        StreamPreview::pair(&text(stdout), &text(stderr), &task.id, Room::default().budget(tokens).chars);
    let filed = |mut shown: StreamPreview, name: &str| {
        if shown.is_truncated() {
            shown.artifact = Some(PathBuf::from(format!("/state/tasks/task_4k2m9x7a/{name}.log")));
        }
        shown
    };
    ItemOutcome::Ended {
        is_late: false,
        task: Arc::new(task),
        stdout: filed(stdout, "stdout"),
        stderr: filed(stderr, "stderr"),
    }
}

fn batch<const N: usize>(stop_on_error: bool, items: [(&str, ItemOutcome); N]) -> Envelope {
    let items = items.into_iter().map(|(cmd, outcome)| (cmd.to_owned(), outcome)).collect();
    project(&BatchDetails { stop_on_error, deadline_ms: 110_000, items })
}

fn rejected(kind: &str, message: &str) -> ItemOutcome {
    ItemOutcome::Rejected(ItemError::new(kind, message))
}

/// Prints both forms as one block, and checks what must hold for every answer.
fn answer(envelope: &Envelope) -> String {
    let receipt = render(envelope);
    let json = serde_json::to_string_pretty(envelope).expect("JSON");
    assert!(!json.contains("4242") && !receipt.contains("4242"), "a process id");
    format!("{json}\n\n{receipt}\n")
}

/// A batch with every outcome that an item can have.
pub(crate) fn all_ends() -> Envelope {
    let limited = TaskView { timeout_ms: Some(10), ..ran(Some(124), None) };
    let timed_out = amend(limited, |ended| ended.timed_out = true);
    let leftovers = amend(ran(Some(0), None), |ended| ended.leftovers = vec!["sleep".into(), "sleep".into()]);
    let lost = |ended: &mut TaskEnd| {
        ended.error = Some(("internal_error".into(), "the task host was killed".into()))
    };
    let spawn = ItemError {
        recovery_hint: Some("omit `shell` to use the default one".into()),
        ..ItemError::new("command_spawn_failed", "The shell /no/shell could not be started.")
    };
    batch(
        false,
        [
            ("git status --short", shown(ran(Some(0), None), " M src/run.rs\n", "", None)),
            ("curl -s api", shown(ran(Some(0), None), "{\"a\":[1,2.50],\"b\":{}}\n", "", None)),
            ("grep -c x f", shown(ran(Some(1), None), "0\n", "a warning\n\n", None)),
            ("cargo test slow", shown(timed_out, "running\n", "", None)),
            ("./crash", shown(ran(None, Some("SIGSEGV")), "", "", None)),
            ("server & printf up", shown(leftovers, "up", "", None)),
            (
                "python3 -i",
                rejected(
                    "unsupported_batch_command_field",
                    "ExecCommandBatch items do not support `tty`; use ExecCommand for this one.",
                ),
            ),
            ("", rejected("invalid_tool_input", "`cmd` is blank.")),
            ("ls", ItemOutcome::Failed(spawn)),
            ("ls", shown(amend(ran(None, None), lost), "half", "", None)),
            ("cat <<E\none\ntwo\nE", shown(ran(Some(0), None), "one\ntwo\n", "", None)),
            (
                "seq 1 300",
                shown(
                    ran(Some(0), None),
                    &(1..300).map(|n| format!("{n}\n")).collect::<String>(),
                    "",
                    Some(50),
                ),
            ),
        ],
    )
}

#[test]
fn the_answer_for_every_end_of_an_item_matches_its_snapshot() {
    insta::assert_snapshot!(answer(&all_ends()));
}

#[test]
fn secrets_in_commands_are_masked_and_long_output_is_cut() {
    let long = "o".repeat(400);
    let envelope = batch(
        false,
        [
            ("API_TOKEN=hunter2 run", shown(ran(Some(0), None), &long, "", Some(20))),
            ("login --password hunter2", shown(ran(Some(0), None), "token=abc", "", None)),
            ("git clone https://me:hunter2@host/x", shown(ran(Some(0), None), "", "", None)),
        ],
    );
    let both = answer(&envelope);
    assert!(!both.contains("hunter2"), "{both}");
    let receipt = render(&envelope);
    for told in
        ["[1] API_TOKEN=[masked] run\n", "[2] login --password [masked]\n", "https://me:[masked]@host/x"]
    {
        assert!(receipt.contains(told), "{receipt}");
    }
    assert!(receipt.contains("token=abc"), "output is never masked: {receipt}");
    assert!(!receipt.contains(&long), "{receipt}");
    assert_eq!(envelope.result().expect("a success")["items"][0]["truncated"], true);
}

#[test]
fn an_item_whose_output_was_compacted_away_says_so() {
    let envelope = batch(
        false,
        [
            ("make", shown(ran(Some(0), None), &"o\n".repeat(400), "", None)),
            ("true", shown(ran(Some(0), None), "", "", None)),
        ],
    );
    let receipt = render(&compact(&envelope, 0));
    assert_eq!(receipt, "ExecCommandBatch completed 2/2 items\n\n(2 more items left out)");
}

#[test]
fn the_answers_of_batches_that_were_cut_short_match_their_snapshot() {
    let skipped = |reason| ItemOutcome::Skipped(reason);
    let killed = || stopped(ran(None, Some("SIGTERM")), Actor::Operator);
    let withdrawn = ItemOutcome::Failed(ItemError::new("cancelled", "The call was withdrawn."));
    let envelopes = [
        batch(
            true,
            [("exit 9", shown(ran(Some(9), None), "", "", None)), ("ls", skipped(SkipReason::StopOnError))],
        ),
        batch(false, [("ls", skipped(SkipReason::BatchDeadline))]),
        batch(
            false,
            [("sleep 60", shown(killed(), "so far", "", None)), ("ls", skipped(SkipReason::Cancelled))],
        ),
        batch(false, [("sleep 60", withdrawn), ("ls", skipped(SkipReason::Cancelled))]),
        batch(
            false,
            [(
                "sleep 60",
                shown(
                    TaskView { status: TaskStatus::Interrupted, ..ran(None, Some("SIGTERM")) },
                    "",
                    "",
                    None,
                ),
            )],
        ),
    ];
    insta::assert_snapshot!(envelopes.iter().map(answer).collect::<Vec<_>>().join("\n"));
}

/// An item with a random amount of output, in lines of a random length.
fn printed() -> impl Strategy<Value = ItemOutcome> {
    let stream =
        || (0_usize..300_000, 1_usize..400, prop_oneof![Just("x"), Just("é"), Just("{\""), Just("\n")]);
    let exit = prop_oneof![Just(Some(0)), Just(Some(7)), Just(None)];
    (stream(), stream(), exit, 1_u64..70_000, any::<bool>()).prop_map(
        |(stdout, stderr, exit, tokens, errors)| {
            let text = |(length, line, letter): (usize, usize, &str)| {
                let line = format!("{}\n", letter.repeat(line));
                line.chars().cycle().take(length).collect::<String>()
            };
            let signal = exit.is_none().then_some("SIGKILL");
            let stderr = if errors { text(stderr) } else { String::new() };
            shown(ran(exit, signal), &text(stdout), &stderr, Some(tokens))
        },
    )
}

fn outcomes() -> impl Strategy<Value = ItemOutcome> {
    let message = || "\\PC{0,2000}";
    let reason = prop_oneof![
        Just(SkipReason::StopOnError),
        Just(SkipReason::BatchDeadline),
        Just(SkipReason::Cancelled)
    ];
    prop_oneof![
        4 => printed(),
        1 => message().prop_map(|text| ItemOutcome::Rejected(ItemError::new("invalid_tool_input", text))),
        1 => message().prop_map(|text| ItemOutcome::Failed(ItemError::new("command_spawn_failed", text))),
        1 => reason.prop_map(ItemOutcome::Skipped),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_receipt_of_a_batch_fits_and_shows_each_item_whatever_the_items_print(
        items in prop::collection::vec(("[\\PC\n]{0,300}", outcomes()), 1..=12),
        stop_on_error in any::<bool>(),
    ) {
        let count = items.len();
        let envelope = project(&BatchDetails { stop_on_error, deadline_ms: 110_000, items });
        let receipt = render(&envelope);
        let length = receipt.chars().count();
        prop_assert!(length <= RECEIPT_CHARS, "{length}");
        let first: Vec<&str> = receipt.lines().skip(1).take(count).collect();
        for (line, index) in first.iter().zip(1..) {
            let [number, end] = [0, 1].map(|at| line.split(' ').nth(at).unwrap_or_default());
            prop_assert_eq!(number, format!("[{index}]"));
            prop_assert!(end.contains('='), "{}", line);
        }
        prop_assert_eq!(first.len(), count, "each in a line of its own, before all outputs");
        let result = envelope.result().expect("a success");
        for (item, sent) in result["items"].as_array().expect("items").iter().zip(sent_of_batch(result).expect("a batch")) {
            prop_assert_eq!(sent.is_cut, item["truncated"] == true, "the flag is true of the receipt");
            for (title, sent) in [("stdout", sent.stdout), ("stderr", sent.stderr)] {
                let preview = item[format!("{title}_preview")].as_str().map(|text| text.trim_end_matches('\n'));
                prop_assert_eq!(sent.as_deref(), preview, "what the envelope has is what the receipt shows");
            }
        }
        let number = |name: &str| result[name].as_u64().expect("a count");
        let parts = ["completed_count", "failed_count", "rejected_count", "skipped_count"].map(number);
        prop_assert_eq!(parts.iter().sum::<u64>(), number("item_count"));
        prop_assert_eq!(number("item_count"), count as u64);
        let stored = serde_json::to_string(&envelope).expect("JSON");
        let again: Envelope = serde_json::from_str(&stored).expect("an envelope");
        prop_assert_eq!(render(&again), receipt);
    }
}

#[test]
fn the_sent_text_of_each_item_stands_in_the_receipt() {
    let long = |name: &str| (0..6_000).map(|n| format!("{name} {n}\n")).collect::<String>();
    let tokens = Some(8_000);
    let envelope = batch(
        false,
        [
            ("a", shown(ran(Some(0), None), &long("a"), &long("b"), tokens)),
            ("c", rejected("unsupported", "It is not.")),
            ("d", shown(ran(Some(0), None), &long("d"), "", tokens)),
            ("e", shown(ran(Some(0), None), "", "only this\n", tokens)),
        ],
    );
    let (receipt, result) = (render(&envelope), serde_json::to_value(&envelope).expect("JSON"));
    let sent = sent_of_batch(&result["result"]).expect("a batch");
    assert_eq!(sent.iter().map(|item| item.has_run).collect::<Vec<_>>(), [true, false, true, true]);
    let streams: Vec<_> = sent
        .iter()
        .flat_map(|item| [("stdout:", &item.stdout, item.is_cut), ("stderr:", &item.stderr, item.is_cut)])
        .filter_map(|(title, text, is_cut)| Some((title, text.as_ref()?, is_cut)))
        .collect();
    assert_eq!(streams.len(), 4);
    for (title, text, is_cut) in streams {
        assert!(receipt.contains(&format!("\n{title}\n{text}")), "{title} {text:.90}");
        assert_eq!(is_cut, text != "only this");
    }
}
