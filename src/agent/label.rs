//! Agent labels.

use crate::agents::AgentProgram;
use crate::envelope::{SafeText, one_line};

/// The maximum length of a label or client name, in characters.
const NAME_CHARS: usize = 64;
/// The label of an agent that does not identify itself.
const NAMELESS: &str = "agent";

/// Returns an agent's preferred label: the one its user chose, else the name of its client. Both are untrusted input
/// and are reduced to one short line.
pub(super) fn label(asked: Option<&str>, client: Option<&str>) -> String {
    let clean = |text: &str| Some(name(text)).filter(|text| !text.is_empty());
    let named = client.map(|name| AgentProgram::client(name).map_or(name, |known| known.label));
    asked.and_then(clean).or_else(|| named.and_then(clean)).unwrap_or_else(|| NAMELESS.to_owned())
}

/// Reduces text to one short line without hidden characters: two names that look the same are the same.
fn name(text: &str) -> String {
    one_line(&SafeText::line(&one_line(text, NAME_CHARS)), NAME_CHARS)
}

/// Returns an agent's program for display: name and version in one short line.
pub(super) fn program(name: &str, version: &str) -> String {
    self::name(format!("{name} {version}").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_chosen_by_the_user_else_by_the_client() {
        for (asked, client, expected) in [
            (Some("ci"), Some("claude-code"), "ci"),
            (None, Some("claude-code"), "claude-code"),
            (None, Some("codex-mcp-client"), "codex"),
            (None, Some("gemini-cli-mcp-client"), "gemini"),
            (None, Some("gemini-cli-mcp-client-pilothouse"), "gemini"),
            (None, Some("opencode"), "opencode"),
            (Some(" \n"), Some("codex"), "codex"),
            (None, Some("\u{1b}[31m evil\nname"), "[31m evil name"),
            (None, None, "agent"),
        ] {
            assert_eq!(label(asked, client), expected);
        }
        assert_eq!(label(Some(&"x".repeat(999)), None).chars().count(), NAME_CHARS);
    }
}
