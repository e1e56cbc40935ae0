//! Programs that answer the sessions of a program of ours: how each is started, and where its output has the answer.

use serde_json::Value;

use super::permission::{EnforcedPermissions, PermissionKind, PermissionLine, PermissionRule, Permissions};

/// What is known about a program that answers sessions.
#[derive(Debug, Clone, Copy)]
pub struct SessionPreset {
    /// Its arguments, if only the program is named.
    pub arguments: &'static [&'static str],
    /// Whether it takes the language's names of models.
    pub takes_models: bool,
    /// The arguments before and after the id of a session of its own that resume it.
    pub resume: (&'static [&'static str], &'static [&'static str]),
    /// Returns whether it enforces a rule.
    pub enforces: fn(Permissions<'_>, PermissionKind, &PermissionRule) -> bool,
    /// Returns what tells it permissions.
    pub enforce: fn(Permissions<'_>) -> EnforcedPermissions,
    /// Finds its answer in the JSON that it printed.
    pub reply: fn(&str) -> ReadReply,
}

impl Permissions<'_> {
    /// Returns what enforces these in a program, and what it does not enforce.
    pub fn enforcement(self, by: Option<&SessionPreset>) -> EnforcedPermissions {
        let is_enforced = |line: &&PermissionLine| match (by, PermissionKind::of(&line.kind)) {
            _ if line.rule == PermissionRule::Prompt => false,
            (Some(preset), Some(kind)) => (preset.enforces)(self, kind, &line.rule),
            _ => line.rule == PermissionRule::Allow,
        };
        let enforced = match by {
            Some(preset) if !self.0.is_empty() => (preset.enforce)(self),
            _ => EnforcedPermissions::default(),
        };
        let unenforced = self.0.iter().filter(|line| !is_enforced(line)).map(ToString::to_string).collect();
        EnforcedPermissions { unenforced, ..enforced }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionReply {
    /// The text of the answer.
    pub text: String,
    /// The program's own session, for resuming it later.
    pub session: Option<String>,
    /// What it cost, in millionths of a dollar.
    pub cost: Option<u64>,
}

/// An answer, or why there is none, along with what is known about the session.
pub type ReadReply = Result<SessionReply, (String, SessionReply)>;

impl SessionReply {
    /// Returns the metadata that many programs include in their JSON.
    pub fn about(value: &Value) -> Self {
        Self {
            text: String::new(),
            session: value["session_id"].as_str().and_then(session_id),
            cost: cost(&value["total_cost_usd"]),
        }
    }
}

/// Returns a session id if it is safe to use in a command line.
pub fn session_id(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let fits = !text.is_empty() && text.len() <= 128 && !text.starts_with('-') && text.chars().all(is_plain);
    fits.then(|| text.to_owned())
}

/// Returns an amount of dollars in millionths.
pub(super) fn cost(usd: &Value) -> Option<u64> {
    let usd = usd.as_f64().filter(|usd| usd.is_finite() && (0.0..1e9).contains(usd))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 10^15")]
    Some((usd * 1e6).round() as u64)
}

/// Returns the refusal of output that is no JSON.
pub fn no_json() -> (String, SessionReply) {
    ("what it printed is not the JSON it was asked for".to_owned(), SessionReply::default())
}

/// Returns the JSON lines of an output.
pub(super) fn events(printed: &str) -> impl DoubleEndedIterator<Item = Value> {
    printed.lines().filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok())
}

/// Returns a text, or nothing.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
