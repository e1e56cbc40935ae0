//! Rendering and compaction of every possible answer: each has a receipt that is never too long and survives
//! serialization, and every budget yields an envelope of the same shape.

use pilothouse::envelope::preview::StreamText;
use pilothouse::envelope::{Envelope, ErrorKind, ToolError, compact, length};
use pilothouse::model::TaskStatus;
use pilothouse::terminal::{ByteOrigin, Size, Transcript};
use pilothouse::tools::{RECEIPT_CHARS, StreamPreview, render};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::judged;
use crate::tools_receipts::{ended, exec, gallery, running};

const BUDGETS: [usize; 9] = [0, 200, 300, 400, 500, 700, 1_000, 4_000, 100_000];

#[test]
fn every_answer_in_every_budget_is_valid_and_renders() {
    for (title, envelope) in gallery() {
        let mut before = 0;
        for budget in BUDGETS {
            let compacted = compact(&envelope, budget);
            let chars = length(&compacted);
            assert!(chars >= before, "{title}: {chars} characters in {budget}, {before} in less");
            before = chars;
            assert_eq!(compact(&compacted, budget), compacted, "{title} in {budget}");
            let read: Envelope = serde_json::from_value(compacted.to_value()).expect("an envelope");
            let receipt = render(&read);
            assert!(
                !receipt.contains("not known here, as JSON:\n"),
                "{title} in {budget} lost its form:\n{receipt}"
            );
            assert_eq!(receipt.lines().next(), render(&envelope).lines().next(), "{title} in {budget}");
        }
    }
}

#[test]
fn dropped_output_is_told_apart_from_none() {
    let told = |title: &str| {
        let (_, envelope) = gallery().into_iter().find(|(name, _)| *name == title).expect("an answer");
        render(&compact(&envelope, 0))
    };
    assert_eq!(told("exit 0 with output"), "Process exited with code 0\n\nOutput:\n(left out)");
    assert_eq!(told("exit 0 without output"), "Process exited with code 0");
    assert!(told("with output").contains("Initial output:\n(left out)"));
    assert!(told("without output").contains("Initial output:\n(none captured before promotion)"));
}

#[test]
fn a_receipt_is_the_same_after_its_envelope_was_written_and_read() {
    for (title, envelope) in gallery() {
        let text = serde_json::to_string(&envelope).expect("JSON");
        let read: Envelope = serde_json::from_str(&text).expect("an envelope");
        assert_eq!(serde_json::to_string(&read).expect("JSON"), text, "{title}: bytes of the envelope");
        assert_eq!(render(&read), render(&envelope), "{title}: bytes of the receipt");
        assert!(render(&envelope).chars().count() <= RECEIPT_CHARS, "{title}");
    }
}

#[test]
fn every_kind_of_error_has_a_receipt_that_says_what_to_do() {
    for (kind, can_retry) in ErrorKind::ALL.iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let error = ToolError::new(*kind, "It could not be done.")
            .retryable(can_retry)
            .with_details(json!({ "field": "workdir" }))
            .with_hint("do it another way");
        let retryable = if kind.is_about_input() && !can_retry {
            String::new()
        } else {
            format!(" retryable={can_retry}")
        };
        let expected = format!(
            "TaskStop failed: It could not be done.\nkind={kind}{retryable}\nhint: do it another way\ndetails: {{\"field\":\"workdir\"}}",
        );
        assert_eq!(render(&Envelope::error("TaskStop", error)), expected);
    }
}

/// Replaces every free-text string of a result with `text`, and makes `times` more of the items of each list.
fn inflate(value: &mut Value, text: &str, times: usize) {
    match value {
        Value::String(old) if !old.starts_with("task_") => *old = text.to_owned(),
        Value::Array(items) => {
            items.iter_mut().for_each(|item| inflate(item, text, times));
            let copies = items.clone();
            items.extend(copies.iter().cycle().take(copies.len() * times).cloned());
        }
        Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| {
            let is_free = name.ends_with("_preview")
                || ["cmd", "path", "message", "summary", "workdir", "shell", "names", "owner", "description"]
                    .contains(&name.as_str());
            if is_free || !field.is_string() {
                inflate(field, text, times);
            }
        }),
        _ => {}
    }
}

#[test]
fn no_text_makes_a_receipt_too_long_or_lose_its_outcome() {
    let of = |part: &str, chars: usize| part.repeat(chars / part.chars().count());
    // Escaped control characters make the third text longer, so it is repeated less often.
    let texts = |long| [of("x", long), of("é\n", long), of("\u{1b}[31m\r\t", long / 3), of("a b ", long)];
    let long = RECEIPT_CHARS + 1_000;
    let (few_long, many) = (texts(long).map(|text| (text, 2)), texts(long / 20).map(|text| (text, 40)));
    for (title, envelope) in gallery() {
        for (text, times) in few_long.iter().chain(&many) {
            let mut value = envelope.to_value();
            for part in ["result", "error"] {
                inflate(&mut value[part], text, *times);
            }
            let Ok(envelope) = serde_json::from_value::<Envelope>(value) else { continue };
            let receipt = render(&envelope);
            let length = receipt.chars().count();
            assert!(length <= RECEIPT_CHARS, "{title}: {length}");
            assert!(receipt.lines().next().is_some_and(|line| !line.is_empty()), "{title}");
        }
    }
}

/// What a program may print: prose, logs, one endless line, JSON, almost nothing.
fn stream() -> impl Strategy<Value = String> {
    prop_oneof![
        "(?s)\\PC{0,300}",
        prop::collection::vec("[a-zé\u{1F600}\"\\\\ ]{0,70}", 0..120).prop_map(|lines| lines.join("\n")),
        (0_usize..9_000).prop_map(|run| format!("start\n{}\nend\n", "x".repeat(run))),
        (0_usize..400).prop_map(|many| json!((0..many).collect::<Vec<_>>()).to_string()),
        "[ \n]{0,5}",
    ]
}

/// Returns the head and tail of a truncated preview, without the marker.
fn ends(preview: &str) -> Option<(&str, &str)> {
    let (head, rest) = preview.split_once("...\n[output truncated: ")?;
    Some((head, rest.split_once("]\n...\n")?.1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn projection_and_rendering_are_deterministic_and_survive_writing(
        stdout in stream(), stderr in stream(), budget in 0_usize..6_000,
    ) {
        let task = || ended(running("make"), TaskStatus::Failed, Some(3), None);
        let envelope = exec(task(), &stdout, &stderr, budget);
        prop_assert_eq!(&exec(task(), &stdout, &stderr, budget), &envelope);
        let text = serde_json::to_string(&envelope).expect("JSON");
        let read: Envelope = serde_json::from_str(&text).expect("an envelope");
        prop_assert_eq!(serde_json::to_string(&read).expect("JSON"), text);
        let receipt = render(&envelope);
        prop_assert_eq!(render(&read), receipt.clone());
        prop_assert!(receipt.chars().count() <= RECEIPT_CHARS);
        prop_assert!(receipt.starts_with("Process exited with code 3"));
        prop_assert_eq!(judged(&envelope.to_value()), Ok(()));
        // Compaction to a budget that the envelope already fits leaves the receipt unchanged.
        let compacted = compact(&read, length(&read));
        prop_assert_eq!(render(&compacted), receipt);
    }

    #[test]
    fn previews_share_the_budget_and_show_true_ends(
        stdout in stream(), stderr in stream(), budget in 0_usize..6_000,
    ) {
        let (out, err) = StreamPreview::pair(&StreamText::Whole(stdout.clone()), &StreamText::Whole(stderr.clone()), &running("make").id, budget);
        let mut used = 0;
        for (whole, shown) in [(&stdout, &out), (&stderr, &err)] {
            let Some(preview) = &shown.preview else {
                prop_assert!(whole.trim().is_empty());
                continue;
            };
            used += preview.text.chars().count();
            let is_json = whole.starts_with('[');
            if let Some((head, tail)) = ends(&preview.text).filter(|_| preview.truncated && !is_json) {
                prop_assert!(whole.starts_with(head.trim_end_matches('\n')) && whole.ends_with(tail), "{}", preview.text);
            } else if !is_json {
                prop_assert!(whole.starts_with(preview.text.trim_end_matches("[…]")));
            }
        }
        prop_assert!(used <= budget, "{used} of {budget}");
    }

    #[test]
    fn bytes_cut_anywhere_read_as_the_whole_stream(
        bytes in prop::collection::vec(prop_oneof![3 => 0x20_u8..0x7f, 4 => 0xa0_u8..=0xff, 2 => 0x80_u8..=0xbf], 0..80),
        cut in 0_usize..80,
    ) {
        let whole = String::from_utf8_lossy(&bytes).into_owned();
        // C1 control characters act on a terminal; they are not text.
        prop_assume!(!whole.chars().any(char::is_control));
        let mut transcript = Transcript::new(ByteOrigin::Pipe, Size::default());
        let (first, rest) = bytes.split_at(cut.min(bytes.len()));
        transcript.feed(first);
        transcript.feed(rest);
        prop_assert_eq!(transcript.finish(), whole);
    }
}

#[test]
fn a_byte_order_mark_is_kept_and_a_lone_byte_replaced() {
    for (bytes, text) in
        [(&b"\xef\xbb\xbfa"[..], "\u{feff}a"), (b"a\x80b", "a\u{fffd}b"), (b"\xe4\xbd", "\u{fffd}")]
    {
        let mut transcript = Transcript::new(ByteOrigin::Pipe, Size::default());
        bytes.iter().for_each(|byte| transcript.feed(&[*byte]));
        assert_eq!(transcript.finish(), text);
    }
}
