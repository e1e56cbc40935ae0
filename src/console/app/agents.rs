//! How the initiator of a task is shown on screen: agents by the first word of their label, with their
//! connections told apart by a number and a colour.

use crate::envelope::Actor;

use super::App;
use crate::console::text;
use crate::console::theme::Role;

/// The colours of agents, in the order in which they connected.
const COLOURS: [Role; 4] = [Role::Agent1, Role::Agent2, Role::Agent3, Role::Agent4];

/// Splits a label into the agent's own name and the number of an additional connection, if any: `claude#2`.
pub(crate) fn parted(label: &str) -> (&str, Option<&str>) {
    match label.rsplit_once('#') {
        Some((own, number)) if !own.is_empty() && number.parse::<u64>().is_ok() => (own, Some(number)),
        _ => (label, None),
    }
}

/// Shortens a name to at most this many columns: its first word, plus the number of the connection if it has
/// one.
pub(crate) fn short_name(name: &str, most: usize, dots: &str) -> String {
    let (own, number) = parted(name);
    let first = own.split(['-', ' ', '/']).find(|word| !word.is_empty()).unwrap_or(own);
    let Some(number) = number else { return text::cut(first, most, dots) };
    let mark = format!("#{number}");
    let room = most.saturating_sub(text::width(&mark));
    text::cut(&format!("{}{mark}", text::prefix(first, room)), most, dots)
}

impl App {
    /// Returns the role an actor is drawn in: an agent keeps its colour as long as the runtime runs.
    pub(crate) fn role_of(&self, actor: &Actor) -> Role {
        let Actor::Agent(label) = actor else { return Role::Faint };
        let agents = &self.view.snapshot.agents;
        let place = agents.iter().position(|agent| agent.label == *label);
        // An unlisted agent, as in an old recording, gets a colour derived from its name.
        let place = place.unwrap_or_else(|| label.bytes().map(usize::from).sum());
        COLOURS.get(place % COLOURS.len()).copied().unwrap_or(Role::Faint)
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
        assert_eq!(parted("claude#2"), ("claude", Some("2")));
        assert_eq!(parted("c#sharp"), ("c#sharp", None));
    }
}
