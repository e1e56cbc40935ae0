//! The parameters of a client's requests, checked before anything acts on them: what is wrong with them is said in a
//! sentence, under the code for it, rather than as a method that does not exist.

use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, ErrorData, InitializeRequestParams, PaginatedRequestParams,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::link::{MAX_DEPTH, Strict, depth_within};

/// The key in a request of its protocol revision.
pub(super) const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// The first protocol revision without `initialize`.
const MODERN: &str = "2026-07-28";
/// What the keys begin with that a request of that revision has in its `_meta`.
const MODERN_KEYS: &str = "io.modelcontextprotocol/";
/// The key that marks a call whose arguments were a string.
const WAS_TEXT_KEY: &str = "dev.pilothouse/argumentsWereText";

/// Returns the sentence about the arguments of a call, if they were not given as an object.
pub(super) fn taken_otherwise(meta: &Map<String, Value>) -> Option<String> {
    let was_text = meta.contains_key(WAS_TEXT_KEY);
    was_text.then(|| "`arguments` was a string and was taken as the JSON object in it".to_owned())
}

/// Returns whether a request is one of protocol revision 2026-07-28 or later.
pub(super) fn is_modern(message: &Map<String, Value>) -> bool {
    let revision = meta(message).and_then(|meta| meta.get(REVISION_KEY)).and_then(Value::as_str);
    revision.is_some_and(|revision| revision >= MODERN)
}

fn meta(message: &Map<String, Value>) -> Option<&Map<String, Value>> {
    message.get("params")?.get("_meta")?.as_object()
}

/// Checks that a request may be sent now: once `initialize` has been, or with what replaces it in later revisions.
/// `initialize` itself is sent once.
///
/// # Errors
/// When it may not.
pub(super) fn check_turn(
    method: &str,
    message: &Map<String, Value>,
    was_initialized: bool,
) -> Result<(), ErrorData> {
    let carries_its_own =
        || meta(message).is_some_and(|meta| meta.keys().any(|key| key.starts_with(MODERN_KEYS)));
    let text = match method {
        "initialize" if was_initialized => "`initialize` is sent once, and this conversation is open",
        // Both may come first.
        "initialize" | "ping" | "server/discover" => return Ok(()),
        _ if was_initialized || carries_its_own() => return Ok(()),
        _ => {
            "this conversation is not open: send `initialize` first, with `protocolVersion`, `capabilities` and \
             `clientInfo`; or, from revision 2026-07-28 on, `io.modelcontextprotocol/protocolVersion` and \
             `io.modelcontextprotocol/clientCapabilities` in the `_meta` of each request"
        }
    };
    Err(ErrorData::invalid_params(text, None))
}

/// Checks the parameters of a request. The arguments of a call may be a string that is a JSON object: they become
/// that object, and the request is marked for [`taken_otherwise`].
///
/// # Errors
/// When they are not what the method takes.
pub(super) fn check(method: &str, message: &mut Map<String, Value>) -> Result<(), ErrorData> {
    let refuse = |text: String| Err(ErrorData::invalid_params(format!("{method}: {text}"), None));
    if message.get("params").is_some_and(Value::is_null) {
        message.shift_remove("params");
    }
    let mut none = json!({});
    let params = message.get_mut("params").unwrap_or(&mut none);
    let Some(fields) = params.as_object_mut() else { return refuse("`params` must be an object".to_owned()) };
    if fields.get("_meta").is_some_and(Value::is_null) {
        fields.shift_remove("_meta");
    }
    if fields.get("_meta").is_some_and(|meta| !meta.is_object()) {
        return refuse("`_meta` must be an object".to_owned());
    }
    let takes = match method {
        "tools/call" => {
            open_text(fields).or_else(refuse)?;
            takes::<CallToolRequestParams>(params, "`name`, a string, and `arguments`, an object")
        }
        "initialize" => takes::<InitializeRequestParams>(
            params,
            "`protocolVersion`, a string, and the objects `capabilities` and `clientInfo` (with `name` and `version`)",
        ),
        "completion/complete" => takes::<CompleteRequestParams>(
            params,
            "the objects `ref` (with `type` and `name` or `uri`) and `argument` (with `name` and `value`)",
        ),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            takes::<PaginatedRequestParams>(params, "`cursor`, a string, if anything")
        }
        "server/discover" => {
            // It has none, and what later revisions add to it does not matter here.
            fields.retain(|name, _| name == "_meta");
            Ok(())
        }
        _ => Ok(()),
    };
    takes.or_else(refuse)
}

/// Checks parameters by their type; `what` says what that takes.
fn takes<'a, T: Deserialize<'a>>(params: &'a Value, what: &str) -> Result<(), String> {
    T::deserialize(params).map(drop).map_err(|error| format!("{error}; it takes {what}"))
}

/// Replaces arguments that are a string by the JSON object in it, and marks the call.
fn open_text(params: &mut Map<String, Value>) -> Result<(), String> {
    if let Some(meta) = params.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.shift_remove(WAS_TEXT_KEY);
    }
    let Some(text) = params.get("arguments").and_then(Value::as_str) else { return Ok(()) };
    let refused = |why: String| format!("`arguments` must be an object, not a string{why}");
    if !depth_within(text.as_bytes(), MAX_DEPTH) {
        return Err(refused(format!(", and JSON nests at most {MAX_DEPTH} deep")));
    }
    let object = match serde_json::from_str(text) {
        Ok(Strict(Value::Object(object))) => object,
        Ok(_) => return Err(refused(String::new())),
        Err(error) => return Err(refused(format!(", and this one holds none: {error}"))),
    };
    params.insert("arguments".to_owned(), Value::Object(object));
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    meta[WAS_TEXT_KEY] = json!(true);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmcp::RoleServer;
    use rmcp::model::{ClientRequest, JsonRpcMessage};
    use rmcp::service::RxJsonRpcMessage;

    use super::*;

    fn checked(method: &str, params: &Value) -> Result<Map<String, Value>, String> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut message = message.as_object().cloned().expect("an object");
        check(method, &mut message).map_err(|error| {
            assert_eq!(error.code.0, -32_602);
            error.message.into_owned()
        })?;
        Ok(message)
    }

    #[test]
    fn f59_a_refusal_of_parameters_is_a_sentence_that_names_what_the_method_takes() {
        let call = "it takes `name`, a string, and `arguments`, an object";
        for (method, params, expected) in [
            ("tools/call", json!({}), "missing field `name`"),
            ("tools/call", json!({"arguments": {}}), "missing field `name`"),
            ("tools/call", json!({"name": 5}), call),
            ("tools/call", json!({"name": "x", "arguments": [1]}), call),
            ("tools/call", json!({"name": "x", "requestState": 5}), call),
            (
                "tools/call",
                json!({"name": "x", "arguments": "ls"}),
                "`arguments` must be an object, not a string",
            ),
            ("tools/call", json!({"name": "x", "arguments": "[1]"}), "must be an object, not a string"),
            ("tools/call", json!({"name": "x", "arguments": "{\"a\":1,\"a\":2}"}), "appears twice"),
            ("tools/call", json!({"name": "x", "arguments": format!("{{\"a\":{}", "[".repeat(200))}), "deep"),
            ("completion/complete", json!({}), "missing field `ref`"),
            ("initialize", json!({}), "missing field `protocolVersion`"),
            ("initialize", json!({"protocolVersion": "x", "capabilities": 5, "clientInfo": {}}), "it takes"),
            ("tools/list", json!({"cursor": 5}), "it takes `cursor`"),
            ("tools/list", json!([]), "`params` must be an object"),
            ("ping", json!(5), "`params` must be an object"),
            ("no/such", json!({"_meta": 5}), "`_meta` must be an object"),
        ] {
            let text = checked(method, &params).expect_err("refused");
            assert!(text.starts_with(&format!("{method}: ")) && text.contains(expected), "{params}: {text}");
        }
        let nulls = json!({"name": "x", "arguments": null, "_meta": null});
        for (method, params) in [
            ("tools/call", nulls),
            ("ping", Value::Null),
            ("tools/list", Value::Null),
            ("no/such", json!({"a": 1})),
        ] {
            assert!(checked(method, &params).is_ok(), "{method}");
        }
    }

    #[test]
    fn f59_arguments_that_are_an_object_in_a_string_are_taken_and_the_call_is_marked() {
        let message =
            checked("tools/call", &json!({"name": "x", "arguments": "{\"cmd\": \"ls\"}"})).expect("taken");
        assert_eq!(message["params"]["arguments"], json!({"cmd": "ls"}));
        let told = taken_otherwise(meta(&message).expect("marked"));
        assert_eq!(told.as_deref(), Some("`arguments` was a string and was taken as the JSON object in it"));
        // The mark is ours to make.
        let own = json!({"name": "x", "arguments": {}, "_meta": {WAS_TEXT_KEY: true}});
        let message = checked("tools/call", &own).expect("taken");
        assert_eq!(taken_otherwise(meta(&message).expect("there")), None);
    }

    #[test]
    fn f59_a_request_before_initialize_is_refused_with_how_to_open() {
        let of = |meta: Value| json!({"params": {"_meta": meta}}).as_object().cloned().expect("an object");
        let said = |method: &str, meta: Value, was_initialized: bool| {
            check_turn(method, &of(meta), was_initialized).map_err(|error| error.message.into_owned())
        };
        let text = said("tools/list", json!({}), false).expect_err("refused");
        assert!(text.starts_with("this conversation is not open: send `initialize` first"), "{text}");
        assert!(said("initialize", json!({}), true).expect_err("refused").contains("sent once"));
        for (method, meta, was_initialized) in [
            ("tools/list", json!({}), true),
            ("ping", json!({}), false),
            ("initialize", json!({}), false),
            // What it lacks is named by the library.
            ("tools/list", json!({REVISION_KEY: MODERN}), false),
        ] {
            assert_eq!(said(method, meta, was_initialized), Ok(()), "{method}");
        }
    }

    proptest! {
        /// Otherwise the library would take it for a request with a method of somebody's own.
        #[test]
        fn f59_parameters_that_pass_are_read_as_what_they_are(
            method in prop::sample::select(vec!["initialize", "tools/call", "tools/list", "completion/complete", "server/discover", "ping"]),
            fields in prop::collection::btree_map(
                prop::sample::select(vec!["name", "arguments", "cursor", "protocolVersion", "capabilities", "clientInfo", "ref", "argument", "requestState", "inputResponses"]),
                prop::sample::select(vec![json!("x"), json!(5), json!({}), json!({"name": "n", "version": "1", "value": "v", "type": "ref/prompt"}), json!([]), json!(true), json!("{}")]),
                0..6,
            ),
        ) {
            if let Ok(message) = checked(method, &json!(fields)) {
                let read: RxJsonRpcMessage<RoleServer> = serde_json::from_value(Value::Object(message)).expect("a message");
                let JsonRpcMessage::Request(request) = read else { panic!("a request") };
                prop_assert!(!matches!(request.request, ClientRequest::CustomRequest(_)), "{:?}", fields);
            }
        }
    }
}
