//! The session's state besides its tasks: calls, counters, agents, notices, and what changed when.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;

use super::agent_notices::AgentNotices;
use super::counters::Counters;
use crate::envelope::one_line;
use crate::model::program::RecordedPrograms;
use crate::model::{
    AgentActivity, AgentPeer, AgentRoutes, AgentView, AgentWork, ItemChanges, ItemKey, Notice, ProgramView,
};
use crate::runtime::recent_calls::RecentCalls;

/// The maximum length of an agent's word for its mode, in characters.
const MODE_CHARS: usize = 20;
/// Notices kept in memory.
const NOTICES_KEPT: usize = 100;
/// Number of marks whose commands a hook may report too.
const MARKS_KEPT: usize = 64;

/// The state of a session, except for its tasks.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) calls: RecentCalls,
    pub(super) counters: Counters,
    pub(super) agents: Vec<AgentView>,
    pub(super) agent_notices: AgentNotices,
    pub(super) programs: RecordedPrograms,
    pub(super) notices: VecDeque<Notice>,
    /// The texts of the last commands that ran without a runtime.
    marks: VecDeque<String>,
    noticed: u64,
    /// What changed in which snapshot, the tasks included.
    pub(super) changes: ItemChanges,
}

impl SessionState {
    pub(super) fn new(recent_calls: usize) -> Self {
        Self {
            calls: RecentCalls::new(recent_calls),
            counters: Counters::default(),
            agents: Vec::new(),
            agent_notices: AgentNotices::default(),
            programs: RecordedPrograms::default(),
            notices: VecDeque::new(),
            marks: VecDeque::new(),
            noticed: 0,
            changes: ItemChanges::default(),
        }
    }

    /// Returns the recent calls, to change one of them.
    pub(super) fn call(&mut self, seq: u64) -> &mut RecentCalls {
        self.changes.note(ItemKey::Call(seq));
        &mut self.calls
    }

    /// Updates a program's state; returns whether this is the first or the last update about it.
    pub(super) fn show_program(&mut self, view: Arc<ProgramView>) -> bool {
        self.changes.note(ItemKey::Program(view.run.clone()));
        self.programs.show(view)
    }

    /// Adds a notice for the person.
    pub(super) fn notice(&mut self, at: Timestamp, text: String, is_error: bool) {
        self.enter(Notice { seq: 0, at, is_error, text, from: None });
    }

    /// Adds a notice about an action in the console with this pid.
    pub(super) fn notice_of(&mut self, at: Timestamp, text: String, from: Option<u32>) {
        self.enter(Notice { seq: 0, at, is_error: false, text, from });
    }

    fn enter(&mut self, notice: Notice) {
        self.noticed += 1;
        if self.notices.len() == NOTICES_KEPT {
            self.notices.pop_front();
        }
        self.notices.push_back(Notice { seq: self.noticed, ..notice });
    }

    /// Registers an agent's connection and returns its label: the one it wants, or the next one of the form
    /// `wanted#2` that no connected agent has. An agent that takes a label whose holder has disconnected counts as
    /// the same agent, reconnected.
    pub(super) fn agent_connected(&mut self, wanted: &str, peer: &AgentPeer) -> String {
        let label = self.free_label(wanted);
        let mut routes = AgentRoutes::default();
        routes.set(peer.profile, true);
        let view = AgentView {
            label: label.clone(),
            client: peer.client.clone(),
            pid: peer.pid,
            connected: true,
            turns: 1,
            first_call: None,
            last_call: None,
            calls: 0,
            routes,
            unread: self.agent_notices.unread(&label),
            ..AgentView::default()
        };
        match self.agent(&label) {
            Some(known) => {
                let (first_call, last_call, calls) = (known.first_call, known.last_call, known.calls);
                *known = AgentView { first_call, last_call, calls, turns: known.turns + 1, ..view };
            }
            None => self.agents.push(view),
        }
        label
    }

    /// Returns the label for an agent that wants to be called `wanted`.
    fn free_label(&self, wanted: &str) -> String {
        let is_free = |label: &String| {
            let mut holders = self.agents.iter().filter(|agent| agent.label == *label);
            !holders.any(|agent| agent.connected)
        };
        let numbered = |base: &str| {
            let base = base.to_owned();
            (2_u64..).map(move |number| format!("{base}#{number}"))
        };
        let base = match wanted.rsplit_once('#') {
            Some((base, number)) if !base.is_empty() && number.parse::<u64>().is_ok() => base,
            _ => wanted,
        };
        let own = [wanted.to_owned(), base.to_owned()].into_iter();
        own.chain(numbered(base)).find(is_free).unwrap_or_else(|| wanted.to_owned())
    }

    /// Registers a further connection of an agent. What it says of its program, when it calls tools, is kept.
    pub(super) fn agent_joined(&mut self, label: &str, peer: &AgentPeer) {
        if let Some(agent) = self.agent(label) {
            agent.turns += u64::from(!agent.connected);
            let knew_itself = std::mem::replace(&mut agent.connected, true) && agent.routes.tools;
            agent.routes.set(peer.profile, true);
            if !knew_itself {
                agent.client.clone_from(&peer.client);
            }
        }
    }

    /// Closes one of an agent's connections; returns whether it was the last one, so that the agent counts as
    /// disconnected. Until then, no other agent has its label.
    pub(super) fn agent_gone(&mut self, label: &str, profile: &str) -> bool {
        let Some(agent) = self.agent(label) else { return false };
        agent.routes.set(profile, false);
        let was_connected = std::mem::replace(&mut agent.connected, agent.routes.is_any());
        agent.turns += u64::from(was_connected && !agent.connected);
        !agent.connected
    }

    /// Records whether an agent's latest command runs in a sandbox of its own.
    pub(super) fn agent_fenced(&mut self, label: &str, is_fenced: bool) {
        if let Some(agent) = self.agent(label) {
            agent.routes.is_fenced = is_fenced;
        }
    }

    /// Records what an agent does; `next` returns that from what it did.
    pub(super) fn agent_works(
        &mut self,
        label: &str,
        at: Timestamp,
        next: impl FnOnce(Option<AgentWork>) -> Option<AgentActivity>,
    ) {
        if let Some(agent) = self.agent(label) {
            let activity = agent.work.map(|work| work.activity);
            let next = next(agent.work);
            if next != activity {
                agent.work = next.map(|activity| AgentWork { activity, since: at });
            }
        }
    }

    /// Records how an agent decides what needs no question, and whether a turn of it has begun.
    pub(super) fn agent_turns(&mut self, label: &str, mode: Option<&str>, begins: bool) {
        if let Some(agent) = self.agent(label) {
            agent.session_turns += u64::from(begins);
            if let Some(mode) = mode {
                agent.mode = Some(one_line(mode, MODE_CHARS));
            }
        }
    }

    /// Keeps the text of a command that ran without a runtime, for the hook that reports it too.
    pub(super) fn keep_mark(&mut self, cmd: &str) {
        if self.marks.len() == MARKS_KEPT {
            self.marks.pop_front();
        }
        self.marks.push_back(cmd.to_owned());
    }

    /// Returns whether a command left such a mark, and forgets that one.
    pub(super) fn take_mark(&mut self, cmd: &str) -> bool {
        let at = self.marks.iter().position(|mark| mark.trim() == cmd.trim());
        at.and_then(|at| self.marks.remove(at)).is_some()
    }

    /// Counts a command of an agent that did not come here; returns whether it is the first.
    pub(super) fn agent_unrouted(&mut self, label: &str) -> bool {
        self.agent(label).is_some_and(|agent| {
            agent.unrouted += 1;
            agent.unrouted == 1
        })
    }

    /// Records the shell in which an agent was seen to run a command, and that does not lead here.
    pub(super) fn agent_shell(&mut self, label: &str, shell: &str) {
        if let Some(agent) = self.agent(label) {
            agent.foreign_shell = Some(one_line(shell, MODE_CHARS));
        }
    }

    /// Returns an agent, to change it.
    fn agent(&mut self, label: &str) -> Option<&mut AgentView> {
        self.changes.note(ItemKey::Agent(label.to_owned()));
        self.agents.iter_mut().find(|agent| agent.label == label)
    }

    /// Leaves a person's message for an agent.
    pub(super) fn words(&mut self, label: &str, text: &str) {
        self.agent_notices.words(label, text);
        self.show_unread(label);
    }

    /// Leaves a person's words that a command is about to write, or for the next answer.
    pub(super) fn leave_words(&mut self, label: &str, text: &str, printed_by: Option<u64>) {
        match printed_by {
            Some(call) => self.agent_notices.words_in_output(label, text, call),
            None => self.agent_notices.words(label, text),
        }
        self.show_unread(label);
    }

    /// Drops the messages for an agent that has ended.
    pub(super) fn drop_words(&mut self, label: &str) {
        self.agent_notices.drop_words(label);
        self.show_unread(label);
    }

    /// Removes notices whose answer was written.
    pub(super) fn remove_delivered(&mut self, label: &str, ids: &[u64]) {
        self.agent_notices.remove_delivered(label, ids);
        self.show_unread(label);
    }

    /// Takes in what a model was given of the command of a call.
    pub(super) fn compare_with_given(&mut self, label: &str, call: u64, given: &str) {
        self.agent_notices.compare_with_given(label, call, given);
        self.show_unread(label);
    }

    fn show_unread(&mut self, label: &str) {
        let unread = self.agent_notices.unread(label);
        if let Some(agent) = self.agent(label) {
            agent.unread = unread;
        }
    }

    /// Tells whether any agent is connected.
    pub(super) fn has_agent(&self) -> bool {
        self.agents.iter().any(|agent| agent.connected)
    }

    /// Counts a call from an agent.
    pub(super) fn agent_called(&mut self, label: &str, at: Timestamp) {
        if let Some(agent) = self.agent(label) {
            agent.first_call.get_or_insert(at);
            agent.last_call = Some(at);
            agent.calls += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LAUNCH_PROFILE, SHELL_PROFILE};

    fn peer() -> AgentPeer {
        AgentPeer { client: "claude-code 2".into(), pid: 7, uid: 0, profile: "receipt" }
    }

    #[test]
    fn each_time_an_agent_comes_or_goes_is_counted() {
        let mut session = SessionState::new(1);
        session.agent_connected("codex", &peer());
        session.agent_gone("codex", "receipt");
        session.agent_gone("codex", "receipt");
        session.agent_connected("codex", &peer());
        assert_eq!((session.agents[0].turns, session.agents[0].connected), (3, true));
    }

    #[test]
    fn a_label_is_free_again_only_when_its_holder_is_gone() {
        let mut session = SessionState::new(1);
        let connect = |session: &mut SessionState, wanted: &str| session.agent_connected(wanted, &peer());
        assert_eq!(connect(&mut session, "claude-code"), "claude-code");
        assert_eq!(connect(&mut session, "claude-code"), "claude-code#2");
        assert_eq!(connect(&mut session, "claude-code"), "claude-code#3");
        assert_eq!(connect(&mut session, "codex"), "codex");
        session.agent_gone("claude-code#2", "receipt");
        assert_eq!(connect(&mut session, "claude-code"), "claude-code#2");
        session.agent_gone("claude-code", "receipt");
        assert_eq!(connect(&mut session, "claude-code"), "claude-code");
        // An agent that reconnects after a restart asks for the label it had.
        assert_eq!(connect(&mut session, "claude-code#3"), "claude-code#4");
        session.agent_gone("claude-code#3", "receipt");
        assert_eq!(connect(&mut session, "claude-code#3"), "claude-code#3");
        assert_eq!(connect(&mut session, "#9"), "#9");
        assert_eq!(connect(&mut session, "#9"), "#9#2");
        assert_eq!(session.agents.iter().filter(|agent| agent.connected).count(), 7);
    }

    #[test]
    fn an_agent_with_several_connections_is_there_until_the_last_one_closes() {
        let mut session = SessionState::new(1);
        let of = |client: &str, profile| AgentPeer { client: client.into(), profile, ..peer() };
        let launched = of("claude-code (launched)", LAUNCH_PROFILE);
        let label = session.agent_connected("claude-code", &launched);
        session.agent_joined(&label, &of("claude-code 2.1", "receipt"));
        session.agent_joined(&label, &of("claude-code (shell)", SHELL_PROFILE));
        let [agent] = &session.agents[..] else { panic!("{:?}", session.agents) };
        assert_eq!(agent.client, "claude-code 2.1");
        assert!(agent.routes.launch && agent.routes.shell && agent.routes.tools);
        assert!(!session.agent_gone(&label, "structured") && session.has_agent());
        assert!(!session.agent_gone(&label, LAUNCH_PROFILE) && session.has_agent());
        assert!(session.agent_gone(&label, SHELL_PROFILE) && !session.has_agent());
        session.agent_joined(&label, &launched);
        assert!(session.has_agent());
    }
}
