//! Which agent a new connection, or a call of a shell, belongs to: by processes, as the kernel reports them, and never by a
//! guess. Pure.

use std::collections::VecDeque;

use tokio::sync::watch;

use super::label;
use crate::agents::AgentProgram;
use crate::model::{AgentRoutes, CallRuling, HOOK_PROFILE, LAUNCH_PROFILE, SHELL_PROFILE};

/// An agent that is connected.
#[derive(Debug)]
pub(super) struct AgentSession {
    pub(super) label: String,
    pub(super) program: Option<AgentProgram>,
    /// Tells its conversation from others of the same process.
    pub(super) name: Option<String>,
    /// The process that a command of ours became.
    pub(super) launched: Option<u32>,
    /// The process that runs its shell and its servers: the launched one, or one below it.
    pub(super) process: Option<u32>,
    pub(super) routes: AgentRoutes,
    /// Whether its process is watched, or was: it is gone when its last connection is.
    pub(super) is_watched: bool,
    /// Whether the process has ended that was above its MCP connection.
    pub(super) has_ended: bool,
    /// The calls about which it asked its user and which are not over: their hashes, and who has answered.
    pub(super) asked: VecDeque<(String, CallRuling)>,
    /// True once the process whose shell calls come here has ended.
    pub(super) ended: Option<watch::Receiver<bool>>,
}

/// A new connection, or a call of a shell.
#[derive(Debug)]
pub(super) struct Arrival<'a> {
    pub(super) program: Option<AgentProgram>,
    pub(super) name: Option<String>,
    pub(super) process: u32,
    /// Whether the agent itself names that process, rather than the position above the caller.
    pub(super) is_claimed: bool,
    /// Its ancestors, the nearest first.
    pub(super) above: &'a [u32],
    /// The label that its user chose.
    pub(super) chosen: Option<&'a str>,
    pub(super) profile: &'static str,
}

impl Arrival<'_> {
    /// Tells whether it is one of many calls, each of which connects.
    fn is_call(&self) -> bool {
        [SHELL_PROFILE, HOOK_PROFILE].contains(&self.profile)
    }
}

/// Returns the position of the agent that an arrival belongs to, and that has room for it.
pub(super) fn place_of(sessions: &[AgentSession], arrival: &Arrival<'_>) -> Option<usize> {
    let is_launched = |pid: &u32| sessions.iter().any(|session| session.launched == Some(*pid));
    // The nearest one: an agent below another is not that one.
    let launched = std::iter::once(&arrival.process).chain(arrival.above).find(|pid| is_launched(pid));
    let known = sessions.iter().position(|session| session.is_of(arrival, launched.copied()));
    known.or_else(|| window_of(sessions, arrival))
}

/// Returns the position of the window of a conversation whose process runs those of others, too: the only one without a
/// conversation, or the only one, which has begun another. Of several, nothing tells which it is.
fn window_of(sessions: &[AgentSession], arrival: &Arrival<'_>) -> Option<usize> {
    let is_named = arrival.profile == HOOK_PROFILE && arrival.is_claimed && arrival.name.is_some();
    let only = |process: Option<u32>| {
        let is_it = |session: &AgentSession| {
            let may_be = session.process.is_none() || session.process == process;
            is_named && session.launched.is_some() && session.program == arrival.program && may_be
        };
        let mut found = sessions.iter().enumerate().filter(|(_, session)| is_it(session)).map(|(at, _)| at);
        found.next().filter(|_| found.next().is_none())
    };
    only(None).or_else(|| only(Some(arrival.process)))
}

impl AgentSession {
    /// Creates the agent that an arrival belongs to, if no known one is it.
    pub(super) fn begin(label: String, arrival: &Arrival<'_>) -> Self {
        let is_launch = arrival.profile == LAUNCH_PROFILE;
        let mut own = Self {
            label,
            program: None,
            name: None,
            launched: is_launch.then_some(arrival.process),
            process: None,
            routes: AgentRoutes::default(),
            is_watched: false,
            has_ended: false,
            asked: VecDeque::new(),
            ended: None,
        };
        own.take_in(arrival);
        own
    }

    /// Adds an arrival that is this agent's.
    pub(super) fn take_in(&mut self, arrival: &Arrival<'_>) {
        let is_launch = arrival.profile == LAUNCH_PROFILE;
        self.routes.set(arrival.profile, true);
        self.is_watched |= is_launch || arrival.is_call();
        self.program = self.program.or(arrival.program);
        if self.name.is_none() || arrival.profile == HOOK_PROFILE && arrival.name.is_some() {
            self.name.clone_from(&arrival.name);
        }
        // A launched process may yet start the one that is the agent.
        if !is_launch && (self.process.is_none() || arrival.is_claimed) {
            self.process = Some(arrival.process);
        }
    }

    /// Tells whether an arrival is this agent's; `launched` is the nearest launched process at or above it.
    fn is_of(&self, arrival: &Arrival<'_>, launched: Option<u32>) -> bool {
        let is_shell = arrival.is_call();
        // A further call of its shell or its hooks is no further connection; a second MCP connection is another agent's.
        if self.routes.has(arrival.profile) && !is_shell {
            return false;
        }
        // A hook may know only the process above it.
        let is_hook = arrival.profile == HOOK_PROFILE && arrival.is_claimed && arrival.name.is_none();
        let is_nameless = self.name.is_none() || arrival.name.is_none();
        let is_name = !is_shell || self.name == arrival.name || !self.routes.shell && is_nameless || is_hook;
        let is_chosen = arrival.chosen.is_none_or(|chosen| label::base(chosen) == label::base(&self.label));
        // What is not known of its program is known by its launch.
        let is_same = self.program == arrival.program || self.program.is_none() || arrival.program.is_none();
        let is_launched = is_same && self.launched.is_some() && self.launched == launched;
        let is_process = match self.process {
            // Its servers, whatever it calls itself there.
            Some(own) if own == arrival.process => {
                !is_shell || self.program == arrival.program || is_launched
            }
            Some(_) => is_launched && !arrival.is_claimed,
            None => is_launched,
        };
        is_name && is_chosen && is_process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(program: Option<AgentProgram>, launched: Option<u32>, process: Option<u32>) -> AgentSession {
        let (routes, ended) = (AgentRoutes { launch: launched.is_some(), ..AgentRoutes::default() }, None);
        let (label, is_watched) = ("x".into(), false);
        let has_ended = false;
        let asked = VecDeque::new();
        AgentSession {
            label,
            program,
            name: None,
            launched,
            process,
            routes,
            is_watched,
            has_ended,
            asked,
            ended,
        }
    }

    fn shell(program: Option<AgentProgram>, process: u32, is_claimed: bool, above: &[u32]) -> Arrival<'_> {
        Arrival { program, name: None, process, is_claimed, above, chosen: None, profile: SHELL_PROFILE }
    }

    fn tools(program: Option<AgentProgram>, above: &[u32]) -> Arrival<'_> {
        let process = above.first().copied().unwrap_or_default();
        Arrival { profile: "receipt", ..shell(program, process, false, above) }
    }

    const CLAUDE: Option<AgentProgram> = Some(AgentProgram::Claude);
    const CODEX: Option<AgentProgram> = Some(AgentProgram::Codex);

    #[test]
    fn connections_of_one_process_are_one_agent_and_of_two_are_two() {
        let known = vec![session(CLAUDE, None, Some(10)), session(CLAUDE, None, Some(20))];
        for (arrival, expected) in [
            (tools(CLAUDE, &[10, 1]), Some(0)),
            (tools(CLAUDE, &[20, 10, 1]), Some(1)),
            (tools(CLAUDE, &[30, 10, 1]), None),
            (tools(None, &[10, 1]), Some(0)),
            (shell(None, 10, false, &[10, 1]), None),
            (shell(CLAUDE, 20, true, &[21, 20, 10, 1]), Some(1)),
            (shell(CLAUDE, 30, true, &[30, 10, 1]), None),
            (Arrival { chosen: Some("x#2"), ..tools(CLAUDE, &[10, 1]) }, Some(0)),
            (Arrival { chosen: Some("ci"), ..tools(CLAUDE, &[10, 1]) }, None),
        ] {
            assert_eq!(place_of(&known, &arrival), expected, "{arrival:?}");
        }
    }

    #[test]
    fn a_second_connection_of_a_kind_is_another_agent_but_a_shell_calls_often() {
        let mut known = vec![session(CODEX, None, Some(10))];
        known[0].routes = AgentRoutes { tools: true, shell: true, ..AgentRoutes::default() };
        known[0].name = Some("one".into());
        let called = |name: &str| Arrival { name: Some(name.into()), ..shell(CODEX, 10, false, &[10]) };
        assert_eq!(place_of(&known, &tools(CODEX, &[10])), None);
        assert_eq!(place_of(&known, &called("one")), Some(0));
        assert_eq!(place_of(&known, &called("two")), None, "one process, two conversations");
    }

    #[test]
    fn conversations_of_one_process_are_told_apart_by_name_and_a_window_only_where_it_is_the_only_one() {
        let told = |name: &str| Arrival {
            name: Some(name.into()),
            profile: HOOK_PROFILE,
            ..shell(CODEX, 10, true, &[10, 5])
        };
        // The first window started the process that runs the conversations of all.
        let mut known = vec![session(CODEX, Some(5), None), session(CODEX, Some(6), None)];
        for (name, at) in [("one", 0), ("two", 1)] {
            assert_eq!(place_of(&known, &told(name)), Some(at));
            known[at].take_in(&told(name));
            assert_eq!(place_of(&known, &told(name)), Some(at));
        }
        let called = |name: &str| Arrival { is_claimed: false, profile: SHELL_PROFILE, ..told(name) };
        assert_eq!(place_of(&known, &called("two")), Some(1));
        assert_eq!(place_of(&known, &told("three")), None, "of either window");
        known.pop();
        assert_eq!(place_of(&known, &told("three")), Some(0), "of the only window");
        assert_eq!(place_of(&known, &called("three")), None);
        known[0].take_in(&told("three"));
        assert_eq!(place_of(&known, &called("three")), Some(0));
        // A process that an earlier window left behind.
        let free = [session(CODEX, Some(6), None), session(CODEX, Some(7), None)];
        let left = |name: &str| Arrival { above: &[10], ..told(name) };
        assert_eq!(place_of(&free, &left("one")), None);
        assert_eq!(place_of(&free[..1], &left("one")), Some(0));
    }

    #[test]
    fn a_connection_belongs_to_the_agent_of_the_nearest_launched_process_above_it() {
        for (session, arrival, expected) in [
            (session(CLAUDE, Some(10), None), shell(CLAUDE, 10, true, &[11, 10, 5]), Some(1)),
            // A script that starts the program itself.
            (session(CLAUDE, Some(10), None), shell(CLAUDE, 12, true, &[12, 10, 5]), Some(1)),
            (session(CLAUDE, Some(10), Some(12)), shell(CLAUDE, 13, true, &[13, 12, 10, 5]), None),
            (session(CLAUDE, Some(10), Some(12)), tools(CLAUDE, &[14, 12, 10, 5]), Some(1)),
            // Its servers, by whatever name, and calls that it does not mark.
            (session(CLAUDE, Some(10), None), tools(None, &[14, 10, 5]), Some(1)),
            (session(CLAUDE, Some(10), Some(12)), shell(None, 14, false, &[14, 12, 10, 5]), Some(1)),
            // A program that is not known, by whatever it starts.
            (session(None, Some(10), Some(12)), shell(None, 14, false, &[14, 10, 5]), Some(1)),
            (session(None, Some(10), None), shell(CODEX, 14, false, &[14, 10, 5]), Some(1)),
            // Another agent below it is not it.
            (session(CLAUDE, Some(10), None), shell(CODEX, 14, false, &[14, 10, 5]), None),
        ] {
            let known = vec![self::session(None, Some(5), None), session];
            assert_eq!(place_of(&known, &arrival), expected, "{arrival:?}");
        }
    }
}
