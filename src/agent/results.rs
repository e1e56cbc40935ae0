//! A tool's answer as an MCP result. The text is the receipt and is self-contained; the canonical envelope goes where
//! models do not read it, unless the profile asks for it.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

use super::opening;
use crate::envelope::{Envelope, SafeText};
use crate::link::ResultProfile;

/// The key of the canonical envelope in a result's `_meta`.
pub const ENVELOPE_KEY: &str = "dev.pilothouse/envelope";

/// The key in `_meta` of the notices that accompany a result.
const NOTICES_KEY: &str = "dev.pilothouse/notices";

/// The key in `_meta` of this program's name and version, in each result from protocol revision 2026-07-28 on.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Returns the result of a call. A command that exited with 1 is not an error: the tool worked. An error has the
/// envelope in `_meta` only if the client hides `_meta` from its model.
pub(super) fn result(
    profile: ResultProfile,
    envelope: &Envelope,
    receipt: SafeText,
    hides_meta: bool,
) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(String::from(receipt))]);
    result.is_error = Some(envelope.is_error());
    if hides_meta || !envelope.is_error() {
        let mut meta = MetaObject::default();
        meta.insert(ENVELOPE_KEY.to_owned(), envelope.to_value());
        result.meta = Some(meta);
    }
    if profile == ResultProfile::Structured {
        result.structured_content = Some(envelope.to_value());
    }
    result
}

/// Adds the notices at the end of the receipt to `_meta` too, if the client hides `_meta` from its model.
pub(super) fn tell(result: &mut CallToolResult, notices: Vec<String>) {
    if let Some(meta) = result.meta.as_mut().filter(|_| !notices.is_empty()) {
        meta.insert(NOTICES_KEY.to_owned(), notices.into());
    }
}

/// Returns an answer of protocol revision 2026-07-28 whose result, if it has one, says which server gave it.
pub(super) fn with_server(mut answer: Value) -> Value {
    if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        meta[SERVER_KEY] = json!(opening::server().server_info);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{ErrorKind, ToolError};

    #[test]
    fn the_receipt_is_the_text_and_the_envelope_is_metadata() {
        let envelope =
            Envelope::success("ExecCommand", "command exited with status 3", &json!({"exit_status": 3}));
        let plain = serde_json::to_value(result(
            ResultProfile::Receipt,
            &envelope,
            SafeText::lines("Process exited with code 3"),
            true,
        ));
        let plain = plain.expect("serialises");
        assert_eq!(plain["content"], json!([{"type": "text", "text": "Process exited with code 3"}]));
        assert_eq!(plain["isError"], json!(false));
        assert_eq!(plain["_meta"][ENVELOPE_KEY], envelope.to_value());
        assert_eq!(plain.get("structuredContent"), None);
        let both =
            serde_json::to_value(result(ResultProfile::Structured, &envelope, SafeText::default(), true))
                .expect("serialises");
        assert_eq!(both["structuredContent"], envelope.to_value());
    }

    #[test]
    fn an_error_envelope_is_an_error_result() {
        let envelope = Envelope::error("TaskStop", ToolError::new(ErrorKind::TaskNotFound, "No such task."));
        let shown = result(ResultProfile::Receipt, &envelope, SafeText::default(), true);
        assert_eq!((shown.is_error, shown.meta.is_some()), (Some(true), true));
        let bare = result(ResultProfile::Receipt, &envelope, SafeText::default(), false);
        assert_eq!((bare.is_error, bare.meta), (Some(true), None));
    }
}
