//! How words from the user reach an agent: by its connections, and by what is stopped with them. Said before they are sent,
//! and never more than that way can do. Pure.

use crate::console::text::visible;
use crate::model::calls::SHELL_CALL;
use crate::model::{AgentView, Snapshot, TaskView};

/// How a message reaches its readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum MessageDelivery {
    /// With the next answer to a call.
    Answer,
    /// On the standard error of the command that is stopped with it.
    StoppedCommand,
    /// As `StoppedCommand`; with the next answer, if its hook reports that its model was not given it.
    StoppedReported,
    /// On the standard error of the next command that fails, is stopped or is denied.
    Stderr,
    /// With the next answer, or on the standard error of such a command: whichever is first.
    First,
    /// Not as long as its commands run in a sandbox of its own.
    Fenced,
    /// Not at all: it has left.
    Gone,
    /// Different for several readers.
    Several,
}

impl MessageDelivery {
    /// Returns how a message reaches these agents. `stopped` is a task of the first that is stopped with it.
    pub(in crate::console) fn of(snapshot: &Snapshot, to: &[String], stopped: Option<&TaskView>) -> Self {
        let mut ways = to.iter().map(|label| {
            let agent = snapshot.agents.iter().find(|agent| agent.label == *label);
            agent.map_or(Self::Gone, |agent| {
                Self::to(agent, stopped.map(|task| is_native(snapshot, agent, task)))
            })
        });
        let first = ways.next().unwrap_or(Self::Gone);
        if ways.all(|way| way == first) { first } else { Self::Several }
    }

    /// Returns the way to one agent; `stops` tells whether a command of its own shell is stopped with the message, or
    /// another task.
    fn to(agent: &AgentView, stops: Option<bool>) -> Self {
        let routes = agent.routes;
        // One that was only launched has not asked for anything yet: its shell is routed here.
        let by_shell = routes.shell || routes.launch;
        // The end of its calls takes words, if its hooks report that.
        match (by_shell, routes.tools || routes.hook || !by_shell) {
            _ if !agent.connected => Self::Gone,
            (true, _) if stops == Some(true) && !routes.is_fenced && routes.hook => Self::StoppedReported,
            (true, _) if stops == Some(true) && !routes.is_fenced => Self::StoppedCommand,
            (false, _) => Self::Answer,
            (true, true) if routes.is_fenced || stops == Some(false) => Self::Answer,
            (true, true) => Self::First,
            (true, false) if routes.is_fenced => Self::Fenced,
            (true, false) => Self::Stderr,
        }
    }

    /// Describes it before the message is sent.
    pub(in crate::console) fn promise(self) -> &'static str {
        match self {
            Self::Answer => "It goes with the next answer to a call, as your words.",
            Self::StoppedCommand => "It is the last line of the command's standard error.",
            Self::StoppedReported => "At the end of the command's output; else the next answer.",
            Self::Stderr => "Its next command that fails, is stopped or denied says it.",
            Self::First => "With its next answer, or a command that fails: once.",
            Self::Fenced => "Its commands run in its sandbox, where none can say it.",
            Self::Gone => "It has left: kept, should it come back.",
            Self::Several => "With the next answer; else a command that fails says it.",
        }
    }

    /// Describes it once the message is sent.
    pub(in crate::console) fn confirmation(self, to: &[String]) -> String {
        let who = to.iter().map(|label| visible::one_line(label).into_owned()).collect::<Vec<_>>().join(", ");
        match self {
            Self::Answer => format!("{who} will read it with the next answer"),
            Self::StoppedCommand => {
                format!("for {who} at the end of the command's output; not known to be read")
            }
            Self::StoppedReported => {
                format!(
                    "for {who} at the end of the command's output; if it is not read there, with its next answer"
                )
            }
            Self::Stderr => format!("kept for {who} until a command of it fails, is stopped or denied"),
            Self::First => format!("kept for {who}: for its next answer, or a command that fails"),
            Self::Fenced => format!("kept for {who}: its commands run in its sandbox, where none can say it"),
            Self::Gone => format!("{who} has left; kept, should it come back"),
            Self::Several => format!("kept for {who}: for the next answer, else a command that fails"),
        }
    }

    /// Describes what the agent learns of its command, if that is stopped.
    pub(in crate::console) fn learns(self) -> &'static str {
        match self {
            Self::Fenced => "started it, and sees that it ended.",
            Self::Gone => "started it, and has left.",
            _ => "started it and will be told.",
        }
    }
}

/// Tells whether a task is a command of its agent's own shell.
fn is_native(snapshot: &Snapshot, agent: &AgentView, task: &TaskView) -> bool {
    let call = snapshot.calls.iter().rev().find(|call| call.seq == task.call);
    call.map_or(!agent.routes.tools, |call| call.tool == SHELL_CALL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AgentRoutes;

    fn agent(label: &str, routes: AgentRoutes) -> AgentView {
        AgentView { label: label.into(), connected: true, routes, ..AgentView::default() }
    }

    #[test]
    fn the_promised_delivery_is_one_that_the_routes_of_the_agent_allow() {
        let none = AgentRoutes::default();
        let (shell, tools) = (AgentRoutes { shell: true, ..none }, AgentRoutes { tools: true, ..none });
        let both = AgentRoutes { tools: true, ..shell };
        let fenced = |routes| AgentRoutes { is_fenced: true, ..routes };
        for (routes, stops, expected) in [
            (tools, None, MessageDelivery::Answer),
            (tools, Some(false), MessageDelivery::Answer),
            (shell, None, MessageDelivery::Stderr),
            (shell, Some(true), MessageDelivery::StoppedCommand),
            (AgentRoutes { launch: true, ..none }, None, MessageDelivery::Stderr),
            (both, None, MessageDelivery::First),
            (AgentRoutes { hook: true, ..shell }, None, MessageDelivery::First),
            (both, Some(true), MessageDelivery::StoppedCommand),
            (AgentRoutes { hook: true, ..shell }, Some(true), MessageDelivery::StoppedReported),
            (both, Some(false), MessageDelivery::Answer),
            (fenced(shell), None, MessageDelivery::Fenced),
            (fenced(shell), Some(true), MessageDelivery::Fenced),
            (fenced(both), Some(true), MessageDelivery::Answer),
        ] {
            assert_eq!(MessageDelivery::to(&agent("a", routes), stops), expected, "{routes:?} {stops:?}");
        }
        let gone = AgentView { connected: false, ..agent("a", both) };
        assert_eq!(MessageDelivery::to(&gone, None), MessageDelivery::Gone);
    }

    #[test]
    fn a_message_to_several_agents_names_one_delivery_only_if_they_share_it() {
        let tools = AgentRoutes { tools: true, ..AgentRoutes::default() };
        let shell = AgentRoutes { shell: true, ..AgentRoutes::default() };
        let agents = vec![agent("a", tools), agent("b", tools), agent("c", shell)];
        let snapshot = Snapshot { agents, ..Snapshot::default() };
        let of = |to: &[&str]| {
            let to: Vec<String> = to.iter().map(|label| (*label).to_owned()).collect();
            MessageDelivery::of(&snapshot, &to, None)
        };
        assert_eq!(of(&["a", "b"]), MessageDelivery::Answer);
        assert_eq!(of(&["a", "c"]), MessageDelivery::Several);
        assert_eq!(of(&["nobody"]), MessageDelivery::Gone);
    }
}
