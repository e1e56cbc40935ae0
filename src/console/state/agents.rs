//! How the initiator of a task is shown on screen: agents by the first word of their label, with their
//! connections told apart by a number and a colour.

use crate::console::text;
use crate::envelope::Actor;

/// Splits a label into the agent's own name and the number of an additional connection, if any: `claude#2`.
pub(crate) fn split_label(label: &str) -> (&str, Option<&str>) {
    match label.rsplit_once('#') {
        Some((own, number)) if !own.is_empty() && number.parse::<u64>().is_ok() => (own, Some(number)),
        _ => (label, None),
    }
}

/// Shortens a name to at most this many columns: its first word, plus the number of the connection if it has
/// one.
pub(crate) fn short_name(name: &str, most: usize, dots: &str) -> String {
    let (own, number) = split_label(name);
    let first = own.split(['-', ' ', '/']).find(|word| !word.is_empty()).unwrap_or(own);
    let Some(number) = number else { return text::cut(first, most, dots) };
    let mark = format!("#{number}");
    let room = most.saturating_sub(text::width(&mark));
    text::cut(&format!("{}{mark}", text::prefix(first, room)), most, dots)
}

/// Returns the label of an agent.
pub(in crate::console) fn owner(actor: &Actor) -> Option<String> {
    match actor {
        Actor::Agent(label) => Some(label.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_keeps_the_number_of_the_connection() {
        assert_eq!(short_name("claude-code", 6, "…"), "claude");
        assert_eq!(short_name("claude-code#2", 6, "…"), "clau#2");
        assert_eq!(short_name("codex#12", 6, "…"), "cod#12");
        assert_eq!(short_name("ci", 6, "…"), "ci");
        assert_eq!(short_name("agent-#x", 6, "…"), "agent");
        assert_eq!(short_name("#9", 6, "…"), "#9");
        assert_eq!(split_label("claude#2"), ("claude", Some("2")));
        assert_eq!(split_label("c#sharp"), ("c#sharp", None));
    }
}
