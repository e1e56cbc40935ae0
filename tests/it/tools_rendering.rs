//! Rendering and compaction of every answer there is: a receipt for each, never too long, the same
//! after writing and reading; and in every budget an envelope of the same shape again.

use pilothouse::envelope::{Envelope, ErrorKind, ToolError, compact, length};
use pilothouse::tools::{RECEIPT_CHARS, render};
use serde_json::{Value, json};

use crate::tools_receipts::gallery;

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
            assert!(!receipt.contains("\n\nresult:\n"), "{title} in {budget} lost its form:\n{receipt}");
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
    for kind in ErrorKind::ALL {
        let error = ToolError::new(*kind, "It could not be done.")
            .with_details(json!({ "field": "workdir" }))
            .with_hint("do it another way");
        let expected = format!(
            "TaskStop failed: It could not be done.\nkind={kind} retryable={}\nhint: do it another way\ndetails: {{\"field\":\"workdir\"}}",
            kind.is_retryable()
        );
        assert_eq!(render(&Envelope::error("TaskStop", error)), expected);
    }
}

/// Puts a text in the place of every string of a result that may be any text.
fn inflate(value: &mut Value, text: &str) {
    match value {
        Value::String(old) if !old.starts_with("task_") => *old = text.to_owned(),
        Value::Array(items) => {
            items.iter_mut().for_each(|item| inflate(item, text));
            let copies = items.clone();
            items.extend(copies.iter().cycle().take(copies.len() * 40).cloned());
        }
        Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| {
            let is_free = name.ends_with("_preview")
                || [
                    "cmd",
                    "path",
                    "message",
                    "summary",
                    "workdir",
                    "shell",
                    "names",
                    "survivors",
                    "description",
                ]
                .contains(&name.as_str());
            if is_free || !field.is_string() {
                inflate(field, text);
            }
        }),
        _ => {}
    }
}

#[test]
fn no_text_makes_a_receipt_too_long_or_lose_its_outcome() {
    let texts =
        ["x".repeat(300_000), "é\n".repeat(90_000), "\u{1b}[31m\r\t".repeat(20_000), "a b ".repeat(60_000)];
    for (title, envelope) in gallery() {
        for text in &texts {
            let mut value = envelope.to_value();
            for part in ["result", "error"] {
                inflate(&mut value[part], text);
            }
            let Ok(envelope) = serde_json::from_value::<Envelope>(value) else { continue };
            let receipt = render(&envelope);
            let length = receipt.chars().count();
            assert!(length <= RECEIPT_CHARS, "{title}: {length}");
            assert!(receipt.lines().next().is_some_and(|line| !line.is_empty()), "{title}");
        }
    }
}
