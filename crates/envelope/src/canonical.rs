//! The canonical envelope: the single record of a tool's answer, from which every other form is derived. A success
//! without a result, or an error without a reason, cannot be represented.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::error::{ErrorKind, ToolError};

/// The maximum length of `summary_text`, in characters.
pub const SUMMARY_CHARS: usize = 200;

/// A tool's answer as it is stored and sent (docs/contract.md#envelope). It has five keys, and always all of them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Wire")]
pub struct Envelope {
    tool_name: String,
    summary_text: String,
    outcome: CallOutcome,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// The tool did what was requested; its result.
    Success(Value),
    /// The tool could not do it; the reason.
    Error(ToolError),
}

/// An envelope that is inconsistent or incomplete, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidEnvelope(&'static str);

impl Envelope {
    /// Creates the envelope of a success. A result that cannot be serialised becomes an internal error.
    pub fn success(tool: &str, summary: &str, result: &impl Serialize) -> Self {
        let outcome = match serde_json::to_value(result) {
            Ok(Value::Null) => Err("the result is empty".to_owned()),
            Ok(result) => Ok(result),
            Err(error) => Err(error.to_string()),
        };
        match outcome {
            Ok(result) => Self {
                tool_name: tool.to_owned(),
                summary_text: one_line(summary, SUMMARY_CHARS),
                outcome: CallOutcome::Success(result),
            },
            Err(reason) => Self::error(
                tool,
                ToolError::new(ErrorKind::InternalError, format!("The result of {tool} cannot be written."))
                    .with_details(json!({ "reason": reason })),
            ),
        }
    }

    /// Creates the envelope of an error; its message is the summary.
    pub fn error(tool: &str, error: ToolError) -> Self {
        Self {
            tool_name: tool.to_owned(),
            summary_text: one_line(&error.message, SUMMARY_CHARS),
            outcome: CallOutcome::Error(error),
        }
    }

    /// Returns the public name of the tool.
    pub fn tool_name(&self) -> &str {
        &self.tool_name
    }

    /// Returns the summary: one line, never output.
    pub fn summary_text(&self) -> &str {
        &self.summary_text
    }

    /// Returns the outcome of the call.
    pub fn outcome(&self) -> &CallOutcome {
        &self.outcome
    }

    /// Returns the value of the `status` key: `success` or `error`.
    pub fn status(&self) -> &'static str {
        if self.is_error() { "error" } else { "success" }
    }

    /// Returns whether the tool could not do what was requested.
    pub fn is_error(&self) -> bool {
        matches!(self.outcome, CallOutcome::Error(_))
    }

    /// Returns the result of a success.
    pub fn result(&self) -> Option<&Value> {
        match &self.outcome {
            CallOutcome::Success(result) => Some(result),
            CallOutcome::Error(_) => None,
        }
    }

    /// Returns this envelope with another outcome.
    pub(super) fn with_outcome(&self, outcome: CallOutcome) -> Self {
        Self { outcome, ..self.clone() }
    }

    /// Returns the JSON form, keys in order.
    pub fn to_value(&self) -> Value {
        json!({
            "tool_name": self.tool_name,
            "status": self.status(),
            "summary_text": self.summary_text,
            "result": self.result(),
            "error": match &self.outcome {
                CallOutcome::Success(_) => None,
                CallOutcome::Error(error) => Some(error),
            },
        })
    }
}

/// Reduces text to one line of at most `limit` characters: control characters and runs of whitespace become one
/// space, and `…` marks truncation.
pub fn one_line(text: &str, limit: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let spaced: String = text.chars().take(limit.saturating_mul(8)).map(plain).collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let kept: String = line.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The five keys as they are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    tool_name: String,
    status: EnvelopeStatus,
    summary_text: String,
    #[serde(deserialize_with = "present")]
    result: Option<Value>,
    #[serde(deserialize_with = "present")]
    error: Option<ToolError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EnvelopeStatus {
    Success,
    Error,
}

/// Deserialises a key that may be null but must be present.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl TryFrom<Wire> for Envelope {
    type Error = InvalidEnvelope;

    fn try_from(wire: Wire) -> Result<Self, InvalidEnvelope> {
        let invalid = |reason| Err(InvalidEnvelope(reason));
        let outcome = match (wire.status, wire.result, wire.error) {
            (EnvelopeStatus::Success, Some(result), None) => CallOutcome::Success(result),
            (EnvelopeStatus::Error, None, Some(error)) => CallOutcome::Error(error),
            (EnvelopeStatus::Success, _, Some(_)) => {
                return invalid("an envelope with status success has error null");
            }
            (EnvelopeStatus::Success, None, _) => {
                return invalid("an envelope with status success needs a result");
            }
            (EnvelopeStatus::Error, Some(_), _) => {
                return invalid("an envelope with status error has result null");
            }
            (EnvelopeStatus::Error, None, None) => {
                return invalid("an envelope with status error needs an error");
            }
        };
        if one_line(&wire.summary_text, SUMMARY_CHARS) != wire.summary_text {
            return invalid("summary_text is one line of at most 200 characters");
        }
        Ok(Self { tool_name: wire.tool_name, summary_text: wire.summary_text, outcome })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_five_keys_stand_in_order_for_success_and_error() {
        let success = Envelope::success("ExecCommand", "command exited with status 0", &json!({"a": 1}));
        assert_eq!(
            serde_json::to_string(&success).unwrap(),
            r#"{"tool_name":"ExecCommand","status":"success","summary_text":"command exited with status 0","result":{"a":1},"error":null}"#
        );
        let error = Envelope::error("X", ToolError::new(ErrorKind::UnknownTool, "No tool is called X."));
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"tool_name":"X","status":"error","summary_text":"No tool is called X.","result":null,"error":{"kind":"unknown_tool","message":"No tool is called X.","retryable":false}}"#
        );
        for envelope in [success, error] {
            let value = serde_json::to_value(&envelope).unwrap();
            assert_eq!(value, envelope.to_value());
            assert_eq!(serde_json::from_value::<Envelope>(value).unwrap(), envelope);
        }
    }

    #[test]
    fn contradictions_and_missing_keys_are_refused() {
        let error = json!({"kind": "unknown_tool", "message": "m", "retryable": false});
        let cases = [
            (
                json!({"tool_name":"T","status":"success","summary_text":"s","result":null,"error":null}),
                "needs a result",
            ),
            (
                json!({"tool_name":"T","status":"success","summary_text":"s","result":{},"error":error}),
                "error null",
            ),
            (
                json!({"tool_name":"T","status":"error","summary_text":"s","result":null,"error":null}),
                "needs an error",
            ),
            (
                json!({"tool_name":"T","status":"error","summary_text":"s","result":{},"error":error}),
                "result null",
            ),
            (
                json!({"tool_name":"T","status":"success","summary_text":"a\nb","result":{},"error":null}),
                "one line",
            ),
            (
                json!({"tool_name":"T","status":"success","summary_text":"s","result":{}}),
                "missing field `error`",
            ),
            (
                json!({"tool_name":"T","status":"maybe","summary_text":"s","result":{},"error":null}),
                "unknown variant",
            ),
            (
                json!({"tool_name":"T","status":"success","summary_text":"s","result":{},"error":null,"x":1}),
                "unknown field",
            ),
        ];
        for (value, reason) in cases {
            let refused = serde_json::from_value::<Envelope>(value.clone()).unwrap_err().to_string();
            assert!(refused.contains(reason), "{value}: {refused}");
        }
    }

    #[test]
    fn a_result_that_is_nothing_is_an_internal_error() {
        assert!(Envelope::success("T", "s", &()).is_error());
    }

    proptest! {
        #[test]
        fn a_summary_is_one_short_line_and_stays_as_it_is(text in "(?s).{0,400}") {
            let line = one_line(&text, SUMMARY_CHARS);
            prop_assert!(line.chars().count() <= SUMMARY_CHARS);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert_eq!(one_line(&line, SUMMARY_CHARS), line);
        }
    }
}
