//! The response of a command: five keys, always all five (docs/contract.md#command-lines). Every answer of the
//! command line and of every line of `exec` is one of these.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::code::{self, Code};
use crate::envelope::{ErrorKind, TaskId, ToolError, one_line, with_causes};
use crate::tools;

/// The version of the formats that scripts rely on: response, manifest, lines of `exec`.
pub const SCHEMA_VERSION: &str = "1.0";
/// The key in `meta` for what only this program says.
pub const OWN_KEY: &str = "x-pilothouse";
/// The maximum length of a failure on one line, in characters.
const LINE_CHARS: usize = 300;
/// The maximum number of lines of a detail for a person.
const DETAIL_LINES: usize = 8;

/// When something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before anything was done.
    Validation,
    /// While it was done.
    Execution,
    /// After it was done.
    Cleanup,
}

/// Why a command has no answer, or not a good one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure(Box<Details>);

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Details {
    code: Cow<'static, str>,
    #[serde(skip)]
    exit_code: u8,
    message: String,
    /// The same request has had no effect and may succeed later.
    retryable: bool,
    phase: Phase,
    /// `partial`: something may have been done.
    #[serde(skip_serializing_if = "Option::is_none")]
    side_effects: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(rename = "fix_required", skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    context: Map<String, Value>,
    #[serde(skip)]
    data: Value,
    #[serde(skip)]
    text: String,
}

impl Failure {
    /// Creates a failure that is known before anything is done.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            code: Cow::Borrowed(code.as_str()),
            exit_code: code.exit_code(),
            message: message.into(),
            retryable: false,
            phase: Phase::Validation,
            side_effects: None,
            detail: None,
            fix: None,
            suggestion: None,
            context: Map::new(),
            data: Value::Null,
            text: String::new(),
        }))
    }

    /// Creates a failure that occurred while something was done.
    pub fn running(code: Code, message: impl Into<String>) -> Self {
        let mut failure = Self::new(code, message);
        failure.0.phase = Phase::Execution;
        failure
    }

    /// Creates a failure of the machine or of Pilothouse from an error and its causes.
    pub fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        Self::running(Code::InternalError, with_causes(error))
    }

    /// Says whether the same request has had no effect and may succeed later, although nobody changes anything.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = retryable;
        self
    }

    /// Says that the same request may succeed now or `later`, although nobody changes anything.
    #[must_use]
    pub fn again(self, later: &str) -> Self {
        self.fix(format!("try again{later}")).retryable(true)
    }

    /// Marks that something may have been done, so that the same request is not simply sent again.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.0.side_effects = Some("partial");
        self.0.retryable = false;
        self.0.phase = Phase::Execution;
        self
    }

    /// Adds the message of whatever detected it, such as a parser.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds how to fix it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.0.fix = Some(fix.into());
        self
    }

    /// Adds what was probably meant.
    #[must_use]
    pub fn suggest(mut self, near: Option<impl Into<String>>) -> Self {
        self.0.suggestion = near.map(Into::into);
        self
    }

    /// Adds a fact about this case.
    #[must_use]
    pub fn with(mut self, name: &str, fact: impl Into<Value>) -> Self {
        self.0.context.insert(name.to_owned(), fact.into());
        self
    }

    /// Adds the data that exists despite the failure.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.0.data = data;
        self
    }

    /// Adds that data as text for a person.
    #[must_use]
    pub fn with_text(mut self, text: String) -> Self {
        self.0.text = text;
        self
    }

    /// Returns its error code.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// Returns the exit code for the command line.
    pub fn exit_code(&self) -> u8 {
        self.0.exit_code
    }

    /// Returns the message on one line.
    pub fn line(&self) -> String {
        one_line(&self.0.message, LINE_CHARS)
    }

    /// Returns the text for a person: the message, then what to do.
    pub fn text(&self) -> String {
        let Details { message, suggestion, fix, detail, .. } = &*self.0;
        // A detail that repeats the message is for programs.
        let detail = detail.as_ref().filter(|detail| !detail.contains(message.trim_end_matches('.')));
        let lines = detail.into_iter().flat_map(|detail| detail.lines().take(DETAIL_LINES));
        let detail: String = lines.map(|line| format!("\n{}", one_line(line, LINE_CHARS))).collect();
        let near = suggestion.as_ref().map(|near| format!("\ndid you mean {near}?"));
        let fix = fix.as_ref().map(|fix| format!("\nfix: {fix}"));
        format!("{message}{detail}{}{}", near.unwrap_or_default(), fix.unwrap_or_default())
    }
}

/// Returns whether a tool's error says that nothing was done.
fn is_refusal(kind: ErrorKind) -> bool {
    !matches!(
        kind,
        ErrorKind::CommandSpawnFailed
            | ErrorKind::ExecutionFailed
            | ErrorKind::StartUnknown
            | ErrorKind::OutputLimitExceeded
            | ErrorKind::InternalError
    )
}

/// Rewrites a hint for a model: a shell has commands instead of tools.
fn hint_for_a_shell(kind: ErrorKind, hint: &str) -> String {
    if kind == ErrorKind::TaskNotFound {
        return "`pilothouse task list --scope all` lists the tasks of the runtime that serves now, `pilothouse audit list` \
                the recordings of earlier ones"
            .to_owned();
    }
    if matches!(kind, ErrorKind::QuestionNotFound | ErrorKind::QuestionSettled) {
        return "`pilothouse question list` shows what is open".to_owned();
    }
    let command = |word: &str| tools::find(word).map(|tool| tool.cli).filter(|words| !words.is_empty());
    let words = hint.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    let in_commands = words.map(|piece| {
        let word = piece.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        match command(word) {
            Some(words) => format!("`pilothouse {}`{}", words.join(" "), &piece[word.len()..]),
            None => piece.to_owned(),
        }
    });
    in_commands.collect()
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        let context = match error.details.map(|details| *details) {
            Some(Value::Object(details)) => details,
            Some(other) => Map::from_iter([("details".to_owned(), other)]),
            None => Map::new(),
        };
        Self(Box::new(Details {
            code: Cow::Owned(code::of_kind(error.kind)),
            exit_code: error.kind.exit_code(),
            message: error.message,
            retryable: error.retryable,
            phase: if is_refusal(error.kind) { Phase::Validation } else { Phase::Execution },
            side_effects: (error.kind == ErrorKind::StartUnknown).then_some("partial"),
            detail: ["reason", "os_error", "execution_root"]
                .iter()
                .find_map(|name| Some(context.get(*name)?.as_str()?.to_owned())),
            fix: error.recovery_hint.map(|hint| hint_for_a_shell(error.kind, &hint)),
            suggestion: None,
            context,
            data: Value::Null,
            text: String::new(),
        }))
    }
}

/// Metadata of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meta {
    /// The command, if it could be read.
    pub cmd: Option<String>,
    /// The line of the stream, from 1.
    pub line: Option<u64>,
    /// Milliseconds from request to answer.
    pub duration_ms: u64,
    /// The sequence number of the tool call in the recording.
    pub call: Option<u64>,
    /// The effect, if the data does not show it: `noop` for a repeated request.
    pub effect: Option<&'static str>,
    /// Whether the caller already has the data.
    pub not_modified: bool,
    /// What only this program says, under its own key.
    pub own_facts: Option<Value>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The data, or why there is none.
    pub outcome: Result<Value, Failure>,
    /// What the caller should know in addition.
    pub warnings: Vec<String>,
    /// The metadata.
    pub meta: Meta,
    /// The data as text for a person.
    pub text: String,
    /// The task that it is about.
    pub task: Option<TaskId>,
}

impl Response {
    /// Creates the response for a success, with its text for people.
    pub fn success(data: Value, text: String) -> Self {
        Self { outcome: Ok(data), warnings: Vec::new(), meta: Meta::default(), text, task: None }
    }

    /// Creates the response for a failure.
    pub fn failure(failure: Failure) -> Self {
        let text = failure.0.text.clone();
        Self { outcome: Err(failure), warnings: Vec::new(), meta: Meta::default(), text, task: None }
    }

    /// Returns the data, including that of a failure that has some.
    pub fn data(&self) -> &Value {
        match &self.outcome {
            Ok(data) => data,
            Err(failure) => &failure.0.data,
        }
    }

    /// Returns the exit code for the command line.
    pub fn exit_code(&self) -> u8 {
        self.outcome.as_ref().err().map_or(0, Failure::exit_code)
    }

    /// Returns the five keys, in order.
    pub fn to_value(&self) -> Value {
        json!({
            "ok": self.outcome.is_ok(),
            "data": self.data(),
            "error": self.outcome.as_ref().err(),
            "warnings": self.warnings,
            "meta": self.meta(),
        })
    }

    /// Returns the five keys after `_cmd` and `_line`, for `--echo-top-level`.
    pub fn to_echoed(&self) -> Value {
        let mut whole = Map::new();
        whole.insert("_cmd".into(), json!(self.meta.cmd));
        whole.insert("_line".into(), json!(self.meta.line));
        if let Value::Object(keys) = self.to_value() {
            whole.extend(keys);
        }
        Value::Object(whole)
    }

    fn meta(&self) -> Value {
        let Meta { cmd, line, duration_ms, call, effect, not_modified, own_facts } = &self.meta;
        let mut meta = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                meta.insert(key.to_owned(), value);
            }
        };
        put("_cmd", cmd.as_ref().map(|cmd| json!(cmd)));
        put("_line", line.map(|line| json!(line)));
        put("duration_ms", Some(json!(duration_ms)));
        put("exit_code", Some(json!(self.exit_code())));
        put("schema_version", Some(json!(SCHEMA_VERSION)));
        put("call", call.map(|call| json!(call)));
        put("effect", effect.map(|effect| json!(effect)));
        put("not_modified", not_modified.then(|| json!(true)));
        put("truncated", self.is_truncated().then(|| json!(true)));
        put(OWN_KEY, own_facts.clone());
        Value::Object(meta)
    }

    fn is_truncated(&self) -> bool {
        let data = self.data();
        let flags = ["/truncated", "/task/output_truncated", "/initial_output_truncated"];
        let items = data["items"].as_array().into_iter().flatten();
        flags.iter().any(|flag| data.pointer(flag) == Some(&Value::Bool(true)))
            || items.into_iter().any(|item| item["truncated"] == true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_keys_stand_in_order() {
        let success = Response::success(json!({"a": 1}), String::new());
        assert_eq!(
            success.to_value().to_string(),
            r#"{"ok":true,"data":{"a":1},"error":null,"warnings":[],"meta":{"duration_ms":0,"exit_code":0,"schema_version":"1.0"}}"#
        );
        let failure =
            Failure::new(Code::EmptyStream, "The stream is empty.").fix("write a line").with("n", 1);
        assert_eq!(
            Response::failure(failure).to_value().to_string(),
            r#"{"ok":false,"data":null,"error":{"code":"EMPTY_STREAM","message":"The stream is empty.","retryable":false,"phase":"validation","fix_required":"write a line","context":{"n":1}},"warnings":[],"meta":{"duration_ms":0,"exit_code":2,"schema_version":"1.0"}}"#
        );
    }

    #[test]
    fn a_tools_error_keeps_its_facts_and_its_hint() {
        let error = ToolError::new(ErrorKind::TaskNotFound, "No pilothouse task has that id.")
            .with_details(json!({"task_id": "task_x"}))
            .with_hint("see TaskList, or ExecCommandBatch.");
        let value = Response::failure(error.into()).to_value();
        assert_eq!(value["error"]["code"], "TASK_NOT_FOUND");
        assert_eq!(value["error"]["context"]["task_id"], "task_x");
        assert_eq!(
            value["error"]["fix_required"],
            "`pilothouse task list --scope all` lists the tasks of the runtime that serves now, `pilothouse audit list` the \
             recordings of earlier ones"
        );
        let hint = hint_for_a_shell(ErrorKind::InvalidToolInput, "see TaskList, or ExecCommandBatch.");
        assert_eq!(hint, "see `pilothouse task list`, or `pilothouse command batch`.");
        assert_eq!(
            (&value["error"]["phase"], &value["meta"]["exit_code"]),
            (&json!("validation"), &json!(5))
        );
    }

    #[test]
    fn the_guides_form_has_the_command_and_the_line_first() {
        let mut response = Response::success(json!({}), String::new());
        response.meta.line = Some(3);
        assert!(response.to_echoed().to_string().starts_with(r#"{"_cmd":null,"_line":3,"ok":true,"#));
    }
}
