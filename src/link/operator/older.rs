//! Support for a runtime whose link protocol is one version older than this console's: it is attached read-only. Its
//! messages are parsed as far as they are understood; the rest is dropped.

use serde_json::{Value, json};

use crate::link::frame::Frame;
use crate::link::protocol::{Request, ServerMessage};
use crate::link::route::cure;
use crate::link::{Error, VERSION};
use crate::model::Snapshot;
use crate::tools;

/// The first version of the link protocol with pieces of logs. Older runtimes close the connection on a request they
/// do not know.
const LOGS: u32 = 6;

/// A runtime attached read-only because of its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Older {
    /// The version it speaks.
    pub(super) version: u32,
    /// Why it is read-only.
    pub(super) why: String,
}

impl Older {
    /// Returns the read-only mode for a runtime of another version; `None` if that version is not supported.
    pub(super) fn of(version: u32, host: Option<&str>) -> Option<Self> {
        let why = format!(
            "read-only: that runtime speaks version {version} of the link, this console version {VERSION}; {}",
            cure(version, host)
        );
        (version + 1 == VERSION).then_some(Self { version, why })
    }

    /// Tells whether a request only reads and is known to the runtime.
    pub(super) fn answers(&self, request: &Request) -> bool {
        match request {
            Request::Log { .. } => self.version >= LOGS,
            request => is_look(request),
        }
    }
}

/// Tells whether a request only reads.
fn is_look(request: &Request) -> bool {
    match request {
        Request::Record { .. }
        | Request::Command { .. }
        | Request::Metrics
        | Request::Standing
        | Request::Streams { .. }
        | Request::Usage { .. } => true,
        Request::Call { tool, .. } => tools::find(tool).is_some_and(|tool| tool.hints.read_only),
        _ => false,
    }
}

/// Parses a message as far as it is understood; `None` if it is not understood at all.
///
/// # Errors
/// If it is not valid JSON.
pub(super) fn read(frame: &Frame) -> Result<Option<ServerMessage>, Error> {
    let mut message: Value = frame.parse()?;
    if let Some(items) = message.get_mut("items").and_then(Value::as_array_mut) {
        items.retain(|item| serde_json::from_value::<super::Item>(item.clone()).is_ok());
    }
    if let Some(rest) = message.pointer_mut("/update/rest") {
        fill(rest, &serde_json::to_value(Snapshot::default()).unwrap_or_default());
    }
    let asked = message.pointer("/reply/id").and_then(Value::as_u64);
    Ok(serde_json::from_value(message).ok().or_else(|| {
        let reply = json!({"Err": "the older runtime gave an answer that this console does not understand"});
        serde_json::from_value(json!({"reply": {"id": asked?, "reply": reply}})).ok()
    }))
}

/// Fills in the members that a value lacks compared to `whole`.
fn fill(value: &mut Value, whole: &Value) {
    let (Some(own), Some(whole)) = (value.as_object_mut(), whole.as_object()) else { return };
    for (key, whole) in whole {
        match own.get_mut(key) {
            Some(own) => fill(own, whole),
            None => drop(own.insert(key.clone(), whole.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(value: &Value) -> Option<ServerMessage> {
        read(&Frame::json(value).expect("a frame")).expect("JSON")
    }

    #[test]
    fn a_snapshot_that_lacks_what_is_new_is_read_and_unknown_things_are_left_out() {
        let mut rest =
            serde_json::to_value(Snapshot { workspace: "/w".into(), ..Snapshot::default() }).expect("JSON");
        let fields = rest.as_object_mut().expect("an object");
        fields.remove("metrics");
        fields.remove("gate");
        fields.insert("novel".into(), json!({"a": 1}));
        let read = message(&json!({"update": {"rest": rest, "items": []}}));
        assert!(matches!(read, Some(ServerMessage::Update(_))), "{read:?}");
        let items = json!({"items": [{"spaceship": {}}, {"notice": {"seq": 1, "at": "2026-01-01T00:00:00Z", "is_error": false, "text": "x"}}]});
        let Some(ServerMessage::Items(items)) = message(&items) else { panic!("items") };
        assert_eq!(items.len(), 1);
        assert!(message(&json!({"hologram": 1})).is_none());
    }

    #[test]
    fn an_answer_that_is_not_understood_is_an_answer() {
        let Some(ServerMessage::Reply { id: 7, reply: Err(_) }) =
            message(&json!({"reply": {"id": 7, "reply": {"Ok": {"dance": 1}}}}))
        else {
            panic!("an answer")
        };
    }

    #[test]
    fn one_version_older_is_looked_at_and_no_other() {
        assert!(Older::of(VERSION - 1, Some("box")).expect("looked at").why.contains("host install box"));
        for theirs in [VERSION - 2, VERSION, VERSION + 1] {
            assert_eq!(Older::of(theirs, None), None);
        }
        assert!(is_look(&Request::Metrics) && is_look(&Request::call("TaskList", json!({}))));
        assert!(!is_look(&Request::call("ExecCommand", json!({}))));
        assert!(!is_look(&Request::Pause { paused: true, nonce: None }));
        let task = "task_00000001".parse().expect("an id");
        let log = Request::Log { task, part: crate::runtime::LogPart::ALL[0], from: 0 };
        for (version, knows_it) in [(LOGS - 1, false), (LOGS, true)] {
            let older = Older { version, why: String::new() };
            assert_eq!((older.answers(&log), older.answers(&Request::Metrics)), (knows_it, true));
        }
    }
}
