//! The handle's part for what an agent is told of with its next answer (docs/contract.md#since-your-last-call).

use std::sync::Arc;

use super::Handle;
use crate::envelope::TaskId;
use crate::runtime::agent_notices::{PARAGRAPH_CHARS, SEPARATOR, Taken};
use crate::runtime::shared::Shared;

/// How the paragraph begins where something has happened without the agent.
const SINCE: &str = "Since your last call: ";
/// How it begins where it is about the call itself.
const NOTE: &str = "Note: ";

/// What goes with one answer to an agent. Dropped without [`AgentNotices::given`], it goes with the next one.
#[derive(Debug)]
pub struct AgentNotices {
    shared: Arc<Shared>,
    label: String,
    /// About the call itself: they go with no other answer.
    own: Vec<String>,
    taken: Taken,
}

impl Handle {
    /// Takes what an agent is to be told with an answer, `own` sentences about the call itself first. `told` is the task
    /// whose end the answer tells itself.
    #[must_use]
    pub fn agent_notices(&self, label: &str, own: Vec<String>, told: Option<&TaskId>) -> AgentNotices {
        let used: usize = own.iter().map(|text| text.chars().count() + SEPARATOR.len()).sum();
        let room = PARAGRAPH_CHARS.saturating_sub(used + NOTE.len() + SINCE.len() + 2);
        let is_open = self.shared.viewers.is_anyone();
        let taken = self.shared.session().agent_notices.take(label, room, told, is_open);
        AgentNotices { shared: self.shared.clone(), label: label.to_owned(), own, taken }
    }
}

impl AgentNotices {
    /// Returns all sentences.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        self.own.iter().chain(&self.taken.sentences).cloned().collect()
    }

    /// Returns the paragraph that a receipt ends with, unless there is nothing to say.
    #[must_use]
    pub fn paragraph(&self) -> Option<String> {
        let part = |title: &str, sentences: &[String]| {
            (!sentences.is_empty()).then(|| format!("{title}{}.", sentences.join(SEPARATOR)))
        };
        let parts = [part(NOTE, &self.own), part(SINCE, &self.taken.sentences)];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then(|| text.chars().take(PARAGRAPH_CHARS).collect())
    }

    /// The answer is written: none of it is told again.
    pub fn given(mut self) {
        let ids = std::mem::take(&mut self.taken.ids);
        self.shared.session().agent_notices.given(&self.label, &ids);
    }
}

impl Drop for AgentNotices {
    fn drop(&mut self) {
        if !self.taken.ids.is_empty() {
            self.shared.session().agent_notices.put_back(&self.label, &self.taken.ids);
        }
    }
}
