//! Which lines of a receipt say what a field of its envelope says. Only what can be told for certain is linked:
//! a text that the receipt had to cut, or lines that could belong to two items, have no counterpart.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

/// Lines of an envelope and of its receipt that say the same, each counted from the text's first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Of the envelope, as it is laid out.
    pub envelope: Range<usize>,
    /// Of the receipt.
    pub receipt: Range<usize>,
}

/// Returns the links of an answer.
#[must_use]
pub fn links(envelope: &Value, receipt: &str) -> Vec<Link> {
    let mut places = BTreeMap::new();
    lay_out(&mut places, envelope, String::new(), 0);
    let lines = receipt.split('\n').collect();
    let mut linker = Linker { envelope, places, lines, links: Vec::new() };
    linker.error();
    match envelope["tool_name"].as_str() {
        Some("ExecCommand") => linker.command(),
        Some("ExecCommandBatch") => linker.batch(),
        _ => {}
    }
    linker.links
}

/// Notes where each value stands, by its JSON pointer; returns the line after it.
fn lay_out(places: &mut BTreeMap<String, Range<usize>>, value: &Value, path: String, line: usize) -> usize {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, field)| (format!("{path}/{key}"), field)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, i)| (format!("{path}/{at}"), i)).collect(),
        _ => Vec::new(),
    };
    let brackets = usize::from(!inside.is_empty());
    let after = inside.into_iter().fold(line + 1, |line, (path, value)| lay_out(places, value, path, line));
    places.insert(path, line..after + brackets);
    after + brackets
}

struct Linker<'a> {
    envelope: &'a Value,
    places: BTreeMap<String, Range<usize>>,
    lines: Vec<&'a str>,
    links: Vec<Link>,
}

impl Linker<'_> {
    fn command(&mut self) {
        let result = &self.envelope["result"];
        let first = self.lines.first().copied().unwrap_or_default();
        if result["disposition"] == "completed" {
            let code = result["exit_status"].as_i64().map(|code| format!("exited with code {code}"));
            let signal = result["signal"].as_str().map(|name| format!("terminated by {name}"));
            self.end("/result", 0, &[("exit_status", code), ("signal", signal)]);
            let after = self.block_after(0);
            let after = after.and_then(|at| self.output("/result/stdout_preview", "stdout:", at));
            let after = after.and_then(|at| self.output("/result/stderr_preview", "stderr:", at));
            if let Some(at) = after {
                self.artifacts("/result", "Artifacts:", at);
            }
        } else if first == "Command promoted to background task" {
            self.link("/result/disposition", 0..1);
            let task = result.pointer("/task_handle/task_id").and_then(Value::as_str);
            if task.is_some_and(|task| self.lines.get(1) == Some(&format!("Task: {task}").as_str())) {
                self.link("/result/task_handle/task_id", 1..2);
            }
            if let Some(at) = self.block_after(0)
                && let Some(at) = self.output("/result/initial_output_preview", "Initial output:", at)
            {
                self.artifacts("/result", "Artifacts:", at);
            }
        }
    }

    fn batch(&mut self) {
        let result = &self.envelope["result"];
        let count = format!("completed {}/{} items", result["completed_count"], result["item_count"]);
        if self.lines.first().is_some_and(|first| first.contains(&count)) {
            self.link("/result/completed_count", 0..1);
            self.link("/result/item_count", 0..1);
        }
        let mut from = self.block_after(0);
        let items = result["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (at, item) in items.iter().enumerate() {
            let head = format!("[{}] ", item["index"]);
            let Some(line) = from.and_then(|from| self.head(&head, from)) else { return };
            from = Some(self.item(&format!("/result/items/{at}"), item, line).unwrap_or(line + 1));
        }
    }

    /// Returns the line an item begins at: where the one before has ended for certain, else the only one
    /// behind a blank line that it could be.
    fn head(&self, head: &str, from: usize) -> Option<usize> {
        let is_head = |at: &usize| self.lines[*at].starts_with(head) && self.lines[*at - 1].is_empty();
        let mut found = (from.max(1)..self.lines.len()).filter(is_head);
        let first = found.next()?;
        (first == from || found.next().is_none()).then_some(first)
    }

    /// Links an item; returns where the next begins, if that is certain.
    fn item(&mut self, path: &str, item: &Value, line: usize) -> Option<usize> {
        if let Some(place) = self.places.get(path).cloned() {
            self.links.push(Link { envelope: place.start..place.start + 1, receipt: line..line + 1 });
        }
        self.link(&format!("{path}/index"), line..line + 1);
        self.link(&format!("{path}/cmd"), line..line + 1);
        let next = line + 1;
        let said = self.lines.get(next).copied().unwrap_or_default();
        if let Some(kind) = item.pointer("/error/kind").and_then(Value::as_str) {
            if said == format!("rejected={kind}") || said == format!("failed={kind}") {
                self.link(&format!("{path}/error/kind"), next..next + 1);
                self.same_line(&format!("{path}/error/message"), next + 1);
            }
            return self.block_after(next);
        }
        if let Some(reason) = item["reason"].as_str() {
            if said == format!("skipped={reason}") {
                self.link(&format!("{path}/reason"), next..next + 1);
            }
            return self.block_after(next);
        }
        let code = item["exit_status"].as_i64().map(|code| format!("exit={code}"));
        let signal = item["signal"].as_str().map(|name| format!("killed={name}"));
        self.end(path, next, &[("exit_status", code), ("signal", signal)]);
        // Lines between the end and the output: that output was left out, that processes were left over.
        let is_left_out = self.lines.get(next + 1) == Some(&"output: (left out)");
        let at = next + 1 + usize::from(is_left_out) + usize::from(item["leftover_processes"].is_object());
        let after = self.stream(&format!("{path}/stdout_preview"), "stdout:", at);
        let after = after.and_then(|at| self.stream(&format!("{path}/stderr_preview"), "stderr:", at));
        let at = self.artifacts(path, "artifacts:", after?);
        match self.lines.get(at) {
            None => Some(at),
            Some(line) => line.is_empty().then_some(at + 1),
        }
    }

    fn error(&mut self) {
        let error = &self.envelope["error"];
        let (Some(message), Some(kind)) = (error["message"].as_str(), error["kind"].as_str()) else { return };
        let tool = self.envelope["tool_name"].as_str().unwrap_or_default();
        if self.lines.first() != Some(&format!("{tool} failed: {message}").as_str()) {
            return;
        }
        self.link("/error/message", 0..1);
        if self.lines.get(1) == Some(&format!("kind={kind} retryable={}", error["retryable"]).as_str()) {
            self.link("/error/kind", 1..2);
            self.link_any("/error/retryable", 1..2);
        }
        let hint = error["recovery_hint"].as_str().map(|hint| format!("hint: {hint}"));
        if hint.is_some_and(|hint| self.lines.get(2) == Some(&hint.as_str())) {
            self.link("/error/recovery_hint", 2..3);
        }
    }

    /// Links how a command ended, and why where the line says so.
    fn end(&mut self, path: &str, line: usize, ends: &[(&str, Option<String>)]) {
        let said = self.lines.get(line).copied().unwrap_or_default();
        let (end, why) = said.split_once(" (").unwrap_or((said, ""));
        for (field, _) in
            ends.iter().filter(|(_, text)| text.as_ref().is_some_and(|text| end.ends_with(text)))
        {
            self.link(&format!("{path}/{field}"), line..line + 1);
        }
        for (field, words) in [("timed_out", "timed out after"), ("stopped_by", "stopped by")] {
            if why.contains(words) {
                self.link(&format!("{path}/{field}"), line..line + 1);
            }
        }
    }

    /// Links a block of output that begins at a line, if there is one; returns the line after it and the blank
    /// one. None when it is not all there: what follows could be anywhere.
    fn output(&mut self, path: &str, title: &str, at: usize) -> Option<usize> {
        let after = self.stream(path, title, at)?;
        Some(if after > at { after + 1 } else { at })
    }

    /// The same, without a blank line behind it.
    fn stream(&mut self, path: &str, title: &str, at: usize) -> Option<usize> {
        let text = self.envelope.pointer(path).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let Some(text) = text else { return Some(at) };
        if self.lines.get(at) != Some(&title) {
            return None;
        }
        let told: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
        let end = at + 1 + told.len();
        let is_whole = self.lines.get(at + 1..end).is_some_and(|lines| lines == told);
        self.link(path, at..if is_whole { end } else { at + 1 });
        is_whole.then_some(end)
    }

    /// Links the files named from a line on; returns the line after them.
    fn artifacts(&mut self, path: &str, title: &str, at: usize) -> usize {
        let files = self.envelope.pointer(&format!("{path}/artifacts")).and_then(Value::as_array);
        if self.lines.get(at) != Some(&title) {
            return at;
        }
        let mut line = at + 1;
        for (place, file) in files.into_iter().flatten().enumerate() {
            if file["path"].as_str().is_some_and(|name| self.lines.get(line) == Some(&name)) {
                self.link(&format!("{path}/artifacts/{place}"), line..line + 1);
                line += 1;
            }
        }
        line
    }

    fn same_line(&mut self, path: &str, line: usize) {
        let text = self.envelope.pointer(path).and_then(Value::as_str);
        if text.is_some_and(|text| self.lines.get(line) == Some(&text)) {
            self.link(path, line..line + 1);
        }
    }

    /// Returns the line after the blank one that ends a block.
    fn block_after(&self, line: usize) -> Option<usize> {
        let blank = self.lines.iter().skip(line).position(|line| line.is_empty())?;
        Some(line + blank + 1)
    }

    /// Links a field that says something.
    fn link(&mut self, path: &str, receipt: Range<usize>) {
        let value = self.envelope.pointer(path);
        if value.is_some_and(|value| !value.is_null() && *value != Value::Bool(false)) {
            self.link_any(path, receipt);
        }
    }

    fn link_any(&mut self, path: &str, receipt: Range<usize>) {
        if let Some(envelope) = self.places.get(path).cloned() {
            self.links.push(Link { envelope, receipt });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Says each link as the first line of either text.
    fn told(envelope: &Value, receipt: &str) -> Vec<String> {
        let laid_out = serde_json::to_string_pretty(envelope).expect("json");
        let fields: Vec<&str> = laid_out.split('\n').map(|line| line.trim().trim_end_matches(',')).collect();
        let lines: Vec<&str> = receipt.split('\n').collect();
        let say = |link: &Link| {
            let lines = lines[link.receipt.clone()].join("|");
            format!("{} = {lines}", fields[link.envelope.start])
        };
        links(envelope, receipt).iter().map(say).collect()
    }

    fn envelope(tool: &str, result: &Value) -> Value {
        json!({"tool_name": tool, "status": "success", "summary_text": "x", "result": result, "error": null})
    }

    #[test]
    fn a_command_that_ended_says_its_status_and_output() {
        let result = json!({
            "disposition": "completed", "exit_status": 3, "signal": null, "stdout_preview": "a\n\nstderr:\n",
            "stderr_preview": "b\n", "truncated": true, "artifacts": [{"path": "/x/stdout.log", "bytes": 9}],
        });
        let receipt =
            "Process exited with code 3\n\nstdout:\na\n\nstderr:\n\nstderr:\nb\n\nArtifacts:\n/x/stdout.log";
        assert_eq!(
            told(&envelope("ExecCommand", &result), receipt),
            [
                "\"exit_status\": 3 = Process exited with code 3",
                "\"stdout_preview\": \"a\\n\\nstderr:\\n\" = stdout:|a||stderr:",
                "\"stderr_preview\": \"b\\n\" = stderr:|b",
                "{ = /x/stdout.log",
            ]
        );
    }

    #[test]
    fn the_items_of_a_batch_are_linked_one_by_one() {
        let items = json!([
            {"index": 1, "cmd": "cat notes", "status": "completed", "exit_status": 0, "stdout_preview": "[2] no\n\n[2] nor this\n", "stderr_preview": null, "error": null},
            {"index": 2, "cmd": "python -i", "status": "rejected", "exit_status": null, "stdout_preview": null, "stderr_preview": null, "error": {"kind": "unsupported", "message": "It is not."}},
            {"index": 3, "cmd": "true", "status": "skipped", "exit_status": null, "stdout_preview": null, "stderr_preview": null, "error": null, "reason": "stop_on_error"},
        ]);
        let result = json!({"item_count": 3, "completed_count": 1, "items": items});
        let receipt = "ExecCommandBatch completed 1/3 items\n\n[1] cat notes\nexit=0\nstdout:\n[2] no\n\n[2] nor this\n\n\
                       [2] python -i\nrejected=unsupported\nIt is not.\n\n[3] true\nskipped=stop_on_error";
        let expected = [
            "\"completed_count\": 1 = ExecCommandBatch completed 1/3 items",
            "\"item_count\": 3 = ExecCommandBatch completed 1/3 items",
            "{ = [1] cat notes",
            "\"index\": 1 = [1] cat notes",
            "\"cmd\": \"cat notes\" = [1] cat notes",
            "\"exit_status\": 0 = exit=0",
            "\"stdout_preview\": \"[2] no\\n\\n[2] nor this\\n\" = stdout:|[2] no||[2] nor this",
            "{ = [2] python -i",
            "\"index\": 2 = [2] python -i",
            "\"cmd\": \"python -i\" = [2] python -i",
            "\"kind\": \"unsupported\" = rejected=unsupported",
            "\"message\": \"It is not.\" = It is not.",
            "{ = [3] true",
            "\"index\": 3 = [3] true",
            "\"cmd\": \"true\" = [3] true",
            "\"reason\": \"stop_on_error\" = skipped=stop_on_error",
        ];
        assert_eq!(told(&envelope("ExecCommandBatch", &result), receipt), expected);
    }

    #[test]
    fn an_item_that_could_begin_in_two_places_is_not_linked() {
        let items = json!([
            {"index": 1, "cmd": "a", "exit_status": 0, "stdout_preview": "long\n\n[2] b\nlong"},
            {"index": 2, "cmd": "b", "exit_status": 0},
        ]);
        let result = json!({"item_count": 2, "completed_count": 2, "items": items});
        let receipt =
            "ExecCommandBatch completed 2/2 items\n\n[1] a\nexit=0\nstdout:\n[cut]\n\n[2] b\n\n[2] b\nexit=0";
        let links = told(&envelope("ExecCommandBatch", &result), receipt);
        assert!(links.iter().all(|link| !link.ends_with("[2] b")), "{links:?}");
        assert!(links.iter().any(|link| link.ends_with("= stdout:")), "{links:?}");
    }

    #[test]
    fn an_error_says_its_kind_and_hint() {
        let error =
            json!({"kind": "not_found", "message": "No such.", "retryable": false, "recovery_hint": "Look."});
        let envelope = json!({"tool_name": "TaskStop", "status": "error", "result": null, "error": error});
        let receipt = "TaskStop failed: No such.\nkind=not_found retryable=false\nhint: Look.";
        assert_eq!(
            told(&envelope, receipt),
            [
                "\"message\": \"No such.\" = TaskStop failed: No such.",
                "\"kind\": \"not_found\" = kind=not_found retryable=false",
                "\"retryable\": false = kind=not_found retryable=false",
                "\"recovery_hint\": \"Look.\" = hint: Look.",
            ]
        );
    }
}
