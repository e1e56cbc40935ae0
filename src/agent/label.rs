//! Agent labels.

use crate::agents::AgentProgram;
use crate::envelope::{SafeText, one_line};

/// The maximum length of a label or client name, in characters.
const NAME_CHARS: usize = 64;
/// Names that say nothing: an agent that has one is called by its program.
const NAMELESS: [&str; 3] = ["agent", "client", "mcp-client"];
/// The label of an agent of which nothing is known.
const UNKNOWN: &str = "unknown";

/// Returns an agent's preferred label: the one its user chose, else the name of its client, else that of its program.
/// All are untrusted input and are reduced to one short line.
pub(super) fn label(
    asked: Option<&str>,
    client: Option<&str>,
    program: impl FnOnce() -> Option<String>,
) -> String {
    let clean = |text: &str| Some(name(text)).filter(|text| !text.is_empty());
    let named = client.map(|name| AgentProgram::of_client(name).map_or(name, |known| known.label()));
    let named = named.filter(|name| !NAMELESS.contains(&name.trim()));
    let chosen = asked.and_then(clean).or_else(|| named.and_then(clean));
    chosen.or_else(|| clean(&program()?)).unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Returns a label without the number that tells it from others of the same agent.
pub(super) fn base(label: &str) -> &str {
    match label.rsplit_once('#') {
        Some((base, number)) if !base.is_empty() && number.parse::<u64>().is_ok() => base,
        _ => label,
    }
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
    fn a_label_is_chosen_by_the_user_else_by_the_client_else_by_the_program() {
        let of = |asked, client| label(asked, client, || Some("node-thing".to_owned()));
        for (asked, client, expected) in [
            (Some("ci"), Some("claude-code"), "ci"),
            (None, Some("claude-code"), "claude-code"),
            (None, Some("codex-mcp-client"), "codex"),
            (None, Some("gemini-cli-mcp-client"), "gemini"),
            (None, Some("gemini-cli-mcp-client-pilothouse"), "gemini"),
            (None, Some("opencode"), "opencode"),
            (Some(" \n"), Some("codex"), "codex"),
            (None, Some("\u{1b}[31m evil\nname"), "[31m evil name"),
            (None, Some("agent"), "node-thing"),
            (None, None, "node-thing"),
        ] {
            assert_eq!(of(asked, client), expected);
        }
        assert_eq!(label(Some(&"x".repeat(999)), None, || None).chars().count(), NAME_CHARS);
        assert_eq!(label(None, None, || Some("\u{1b}".into())), UNKNOWN);
    }

    #[test]
    fn the_number_of_a_session_is_no_part_of_the_name() {
        for (label, expected) in [("claude#2", "claude"), ("c#sharp", "c#sharp"), ("#9", "#9"), ("ci", "ci")]
        {
            assert_eq!(base(label), expected);
        }
    }
}
