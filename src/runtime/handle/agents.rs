//! Agents: who is connected, and what the settings say about them.

use super::Handle;
use crate::config::OnAgentEnd;
use crate::envelope::{mask, one_line};
use crate::model::AgentActivity::Ended;
use crate::model::{AgentActivity, AgentPeer, AgentWork, LAUNCH_PROFILE, SHELL_PROFILE};
use crate::runtime::driver::{DriverOrder, QuestionOrder};
use crate::runtime::record_row::{AgentConnection, Fact};

/// The lower limit of a receipt's maximum length, in characters.
const LEAST_RECEIPT_CHARS: usize = 2_000;
/// The maximum length of a command in a notice, in characters.
const CMD_CHARS: usize = 60;

impl Handle {
    /// Registers an agent's connection and returns its label, which differs from `wanted` if a connected agent
    /// already has that one.
    pub fn agent_connected(&self, wanted: &str, peer: &AgentPeer) -> String {
        self.shared.ledger.open();
        let label = self.shared.session().agent_connected(wanted, peer);
        self.agent(&label, peer, true);
        label
    }

    /// Registers a further connection of a registered agent.
    pub fn agent_joined(&self, label: &str, peer: &AgentPeer) {
        self.shared.session().agent_joined(label, peer);
        self.agent(label, peer, true);
    }

    /// Records whether an agent's latest command runs in a sandbox of its own, which carries no words.
    pub fn agent_fenced(&self, label: &str, is_fenced: bool) {
        self.shared.session().agent_fenced(label, is_fenced);
        self.shared.nudge.notify_one();
    }

    /// Records what an agent does, as its hooks report it; `next` returns that from what it did.
    pub fn agent_works(&self, label: &str, next: impl FnOnce(Option<AgentWork>) -> Option<AgentActivity>) {
        let at = self.shared.clock.now().wall;
        self.shared.session().agent_works(label, at, next);
        self.shared.nudge.notify_one();
    }

    /// Records how an agent decides what needs no question, and whether a turn of it has begun.
    pub fn agent_turns(&self, label: &str, mode: Option<&str>, begins: bool) {
        self.shared.session().agent_turns(label, mode, begins);
        self.shared.nudge.notify_one();
    }

    /// Returns how many calls an agent has made.
    #[must_use]
    pub fn agent_calls(&self, label: &str) -> u64 {
        self.shared.session().agents.iter().find(|agent| agent.label == label).map_or(0, |agent| agent.calls)
    }

    /// Records the shell in which an agent was seen to run a command, and that does not lead here.
    pub fn agent_shell(&self, label: &str, shell: &str) {
        let at = self.shared.clock.now().wall;
        let mut session = self.shared.session();
        session.agent_shell(label, shell);
        session.notice(
            at,
            format!(
                "{label} runs commands in {}, which does not lead here: not routed",
                one_line(shell, CMD_CHARS)
            ),
            true,
        );
        drop(session);
        self.shared.nudge.notify_one();
    }

    /// Closes one of an agent's connections. With the last one, the agent counts as disconnected: its tasks continue,
    /// and its label becomes free.
    pub fn agent_gone(&self, label: &str, peer: &AgentPeer) {
        let at = self.shared.clock.now().wall;
        let snapshot = self.shared.snapshot.borrow().clone();
        let left = snapshot.tasks.iter().filter(|task| task.started_by.is_agent(label));
        let left: Vec<_> =
            left.filter(|task| !task.status.is_terminal()).map(|task| task.cmd.as_str()).collect();
        let mut session = self.shared.session();
        if session.agent_gone(label, peer.profile) {
            let gone = QuestionOrder::AgentGone { label: label.to_owned() };
            if self.orders.try_send(DriverOrder::Question(gone)).is_err() {
                tracing::warn!(label, "what was permitted to an agent that is gone could not be ended");
            }
            // What only asked for the tools was there for nothing, and a shell's caller may be no agent.
            let has_called = session.agents.iter().any(|agent| agent.label == label && agent.calls > 0);
            let is_known = peer.profile == LAUNCH_PROFILE || has_called && peer.profile != SHELL_PROFILE;
            session.agent_works(label, at, |was| (was.is_some() || is_known).then_some(Ended));
            if !session.has_agent() {
                self.spawner.give_up_spares();
            }
            let left = left_running(&left);
            session.notice(at, format!("agent {label} has disconnected{left}"), false);
            let unread = session.agent_notices.unread(label);
            if !unread.is_empty() {
                let said = unread.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join("; ");
                session.notice(at, format!("agent {label} has not read what it was told: {said}"), true);
            }
        }
        drop(session);
        self.agent(label, peer, false);
    }

    /// Tells whether an agent is connected now; the published state may not show it yet.
    #[must_use]
    pub fn has_agent(&self) -> bool {
        self.shared.session().has_agent()
    }

    /// Tells whether an agent may control tasks that another one started.
    #[must_use]
    pub fn shares_tasks(&self) -> bool {
        self.shared.limits.share_tasks
    }

    /// Tells whether prompts that an agent shows only once its hook has ended may be answered here first.
    #[must_use]
    pub fn holds_prompts(&self) -> bool {
        self.shared.limits.hold_prompts
    }

    /// Returns the maximum length of a receipt for an agent, in characters, if the settings specify one.
    #[must_use]
    pub fn receipt_chars(&self, label: &str) -> Option<usize> {
        // A second session of an agent uses the settings of the first.
        let name = label.split('#').next().unwrap_or(label);
        self.shared.limits.receipt_chars.get(name).map(|chars| (*chars).max(LEAST_RECEIPT_CHARS))
    }

    /// Drops the messages for an agent whose process has ended, after it has disconnected: they were for that session.
    pub fn agent_ended(&self, label: &str) {
        self.shared.session().drop_words(label);
        self.shared.nudge.notify_one();
    }

    /// Ends the tasks of an agent whose process has ended, if the settings demand that.
    pub fn end_left_by(&self, label: &str) {
        if self.shared.limits.on_agent_end == OnAgentEnd::End
            && self.orders.try_send(DriverOrder::AgentEnded { label: label.to_owned() }).is_err()
        {
            tracing::warn!(label, "the end of an agent could not be passed on");
        }
    }

    fn agent(&self, label: &str, peer: &AgentPeer, connected: bool) {
        let AgentPeer { client, pid, uid, profile } = peer;
        let row = Fact::Agent(AgentConnection {
            label: label.into(),
            client: client.as_str().into(),
            pid: *pid,
            uid: Some(*uid),
            profile: Some((*profile).into()),
            connected,
        });
        self.shared.note_late(&row);
        self.shared.nudge.notify_one();
    }
}

/// Returns what is said of commands that are still running when their agent goes.
fn left_running(commands: &[&str]) -> String {
    let Some(first) = commands.first() else { return String::new() };
    let first = one_line(&mask(first), CMD_CHARS);
    match commands.len() {
        1 => format!("; still running: {first}"),
        many => format!("; still running: {first} and {} more", many - 1),
    }
}
