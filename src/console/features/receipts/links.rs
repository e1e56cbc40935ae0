//! Which lines of an envelope, as laid out, correspond to which lines of its receipt.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use crate::console::state::Column;
use crate::console::text::json::lines_below;
use crate::tools::ReceiptSource;

/// Lines of an envelope and of its receipt that correspond, each counted from the first line of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLink {
    /// Lines of the envelope, as laid out.
    pub envelope: Range<usize>,
    /// Lines of the receipt.
    pub receipt: Range<usize>,
    /// The number of the batch item they concern, from 1.
    pub item: Option<u64>,
}

impl LineLink {
    /// Returns the lines of the text in a column.
    pub fn lines(&self, column: Column) -> &Range<usize> {
        if column == Column::Envelope { &self.envelope } else { &self.receipt }
    }
}

/// Returns which lines of an envelope, as laid out, correspond to which lines of its receipt.
pub(in crate::console) fn links(envelope: &Value, sources: &[ReceiptSource]) -> Vec<LineLink> {
    let mut places = BTreeMap::new();
    lay_out(&mut places, envelope, String::new(), 0);
    let link = |source: &ReceiptSource| {
        let place = places.get(&source.pointer)?;
        let item = source.pointer.strip_prefix("/result/items/").and_then(|rest| rest.split('/').next());
        let number = item.and_then(|at| envelope.pointer(&format!("/result/items/{at}/index"))?.as_u64());
        // An item's fields span many lines, each with a link of its own, so the item itself is represented by
        // its first line.
        let is_item = item.is_some_and(|at| source.pointer.ends_with(&format!("/items/{at}")));
        let end = if is_item { place.start + 1 } else { place.end };
        Some(LineLink { envelope: place.start..end, receipt: source.lines.clone(), item: number })
    };
    sources.iter().filter_map(link).collect()
}

/// Records the lines of each value by its JSON pointer; returns the line after it.
fn lay_out(places: &mut BTreeMap<String, Range<usize>>, value: &Value, path: String, line: usize) -> usize {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, field)| (format!("{path}/{key}"), field)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, i)| (format!("{path}/{at}"), i)).collect(),
        _ => Vec::new(),
    };
    let brackets = usize::from(!inside.is_empty()) + value.as_str().map_or(0, lines_below);
    let after = inside.into_iter().fold(line + 1, |line, (path, value)| lay_out(places, value, path, line));
    places.insert(path, line..after + brackets);
    after + brackets
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::json;

    use super::*;
    use crate::envelope::Envelope;
    use crate::tools;
    use crate::tools::RenderedReceipt;

    /// Returns each link as the first line of either text.
    fn told(tool: &str, result: &Value) -> Vec<String> {
        let envelope = json!({"tool_name": tool, "status": "success", "summary_text": "x", "result": result, "error": null});
        told_of(&envelope)
    }

    fn told_of(envelope: &Value) -> Vec<String> {
        let read = Envelope::deserialize(envelope).expect("an envelope");
        let RenderedReceipt { text, sources } = tools::render_with_sources(&read);
        let laid_out = crate::console::text::json::text(envelope);
        let fields: Vec<&str> = laid_out.split('\n').map(|line| line.trim().trim_end_matches(',')).collect();
        let lines: Vec<&str> = text.split('\n').collect();
        let say = |link: &LineLink| {
            let lines = lines[link.receipt.clone()].join("|");
            format!("{} = {lines}", fields[link.envelope.start])
        };
        links(envelope, &sources).iter().map(say).collect()
    }

    #[test]
    fn a_command_that_ended_says_its_status_and_output() {
        let result = json!({
            "disposition": "completed", "exit_status": 3, "signal": null, "stdout_preview": "a\n\nstderr:\n",
            "stderr_preview": "b\n", "truncated": true, "duration_ms": 5, "artifacts": [{"path": "/x/stdout.log"}],
        });
        assert_eq!(
            told("ExecCommand", &result),
            [
                "\"exit_status\": 3 = Process exited with code 3",
                "\"stdout_preview\": | = stdout:|a||stderr:",
                "\"stderr_preview\": \"b\\n\" = stderr:|b",
                "{ = /x/stdout.log",
            ]
        );
    }

    fn item(index: u64, cmd: &str, status: &str, rest: &Value) -> Value {
        let mut item = json!({
            "index": index, "cmd": cmd, "status": status, "exit_status": null, "stdout_preview": null,
            "stderr_preview": null, "truncated": false, "timed_out": false, "duration_ms": 1, "error": null,
        });
        let rest = rest.as_object().cloned().unwrap_or_default();
        item.as_object_mut().expect("an object").extend(rest);
        item
    }

    fn batch(completed: usize, items: &[Value]) -> Value {
        json!({
            "item_count": items.len(), "completed_count": completed, "failed_count": 0, "rejected_count": 0,
            "skipped_count": 0, "stop_on_error": false, "items": items,
        })
    }

    #[test]
    fn the_items_of_a_batch_are_linked_one_by_one() {
        let printed = json!({"exit_status": 0, "stdout_preview": "[2] no\n\n[2] nor this\n"});
        let items = [
            item(1, "cat notes", "completed", &printed),
            item(
                2,
                "python -i",
                "rejected",
                &json!({"error": {"kind": "unsupported", "message": "It is not."}}),
            ),
            item(3, "true", "skipped", &json!({"reason": "stop_on_error"})),
        ];
        let expected = [
            "\"completed_count\": 1 = ExecCommandBatch completed 1/3 items",
            "\"item_count\": 3 = ExecCommandBatch completed 1/3 items",
            "\"exit_status\": 0 = [1] exit=0",
            "\"kind\": \"unsupported\" = [2] rejected=unsupported",
            "\"reason\": \"stop_on_error\" = [3] skipped=stop_on_error true",
            "{ = [3] skipped=stop_on_error true",
            "\"index\": 3 = [3] skipped=stop_on_error true",
            "\"cmd\": \"true\" = [3] skipped=stop_on_error true",
            "{ = [1] cat notes",
            "\"index\": 1 = [1] cat notes",
            "\"cmd\": \"cat notes\" = [1] cat notes",
            "\"stdout_preview\": | = stdout:|[2] no||[2] nor this",
            "{ = [2] python -i",
            "\"index\": 2 = [2] python -i",
            "\"cmd\": \"python -i\" = [2] python -i",
            "\"message\": \"It is not.\" = It is not.",
        ];
        assert_eq!(told("ExecCommandBatch", &batch(1, &items)), expected);
    }

    #[test]
    fn output_that_looks_like_the_next_item_is_still_linked_to_its_own() {
        let long = format!("long\n\n[2] b\n{}", "long\n".repeat(20_000));
        let items = [
            item(1, "a", "completed", &json!({"exit_status": 0, "stdout_preview": long})),
            item(2, "b", "completed", &json!({"exit_status": 0})),
        ];
        let links = told("ExecCommandBatch", &batch(2, &items));
        assert!(links.iter().any(|link| link.contains("= stdout:|long||[2] b|long|")), "{}", links.len());
        assert_eq!(
            links.iter().filter(|link| link.ends_with("= [2] exit=0 b")).count(),
            4,
            "the item, its number, command and end"
        );
    }

    #[test]
    fn an_error_says_its_kind_and_hint() {
        let error = json!({"kind": "task_not_found", "message": "No such.", "retryable": false, "recovery_hint": "Look."});
        let envelope = json!({
            "tool_name": "TaskStop", "status": "error", "summary_text": "No such.", "result": null, "error": error,
        });
        assert_eq!(
            told_of(&envelope),
            [
                "\"message\": \"No such.\" = TaskStop failed: No such.",
                "\"kind\": \"task_not_found\" = kind=task_not_found retryable=false",
                "\"retryable\": false = kind=task_not_found retryable=false",
                "\"recovery_hint\": \"Look.\" = hint: Look.",
            ]
        );
    }
}
