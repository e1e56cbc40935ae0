//! What is known beside the tasks: calls, counters, agents, notices.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::calls::CallBook;
use super::metrics::Counters;
use super::program::Programs;
use super::view::{AgentView, Notice};

/// Notices kept in memory.
const NOTICES_KEPT: usize = 100;

/// The books of a recording.
#[derive(Debug)]
pub(super) struct Book {
    pub(super) calls: CallBook,
    pub(super) counters: Counters,
    pub(super) agents: Vec<AgentView>,
    pub(super) programs: Programs,
    pub(super) notices: VecDeque<Notice>,
    noticed: u64,
}

impl Book {
    pub(super) fn new(recent_calls: usize) -> Self {
        Self {
            calls: CallBook::new(recent_calls),
            counters: Counters::default(),
            agents: Vec::new(),
            programs: Programs::default(),
            notices: VecDeque::new(),
            noticed: 0,
        }
    }

    /// Adds a line for the person.
    pub(super) fn notice(&mut self, at: Timestamp, text: String, is_error: bool) {
        self.noticed += 1;
        if self.notices.len() == NOTICES_KEPT {
            self.notices.pop_front();
        }
        self.notices.push_back(Notice { seq: self.noticed, at, is_error, text });
    }

    /// Enters an agent's connection; a known label is the same agent come back.
    pub(super) fn agent_connected(&mut self, label: &str, client: &str, pid: u32) {
        let view = AgentView {
            label: label.to_owned(),
            client: client.to_owned(),
            pid,
            connected: true,
            last_call: None,
            calls: 0,
        };
        match self.agents.iter_mut().find(|agent| agent.label == label) {
            Some(known) => *known = AgentView { last_call: known.last_call, calls: known.calls, ..view },
            None => self.agents.push(view),
        }
    }

    /// Marks an agent as gone, unless it came back meanwhile.
    pub(super) fn agent_gone(&mut self, label: &str, pid: u32) {
        if let Some(agent) = self.agents.iter_mut().find(|agent| agent.label == label && agent.pid == pid) {
            agent.connected = false;
        }
    }

    /// Counts a call of an agent.
    pub(super) fn agent_called(&mut self, label: &str, at: Timestamp) {
        if let Some(agent) = self.agents.iter_mut().find(|agent| agent.label == label) {
            agent.last_call = Some(at);
            agent.calls += 1;
        }
    }
}
