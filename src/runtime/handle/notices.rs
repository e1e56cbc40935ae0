//! The handle's part for what an agent is told of with its next answer (docs/contract.md#since-your-last-call).

use std::path::Path;
use std::sync::Arc;

use super::Handle;
use crate::envelope::{Actor, TaskId, mask};
use crate::journal::Durability;
use crate::process::ConsoleProcess;
use crate::runtime::Error;
use crate::runtime::agent_notices::{PARAGRAPH_CHARS, SEPARATOR, Taken, WORDS_CHARS};
use crate::runtime::events::Row;
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

impl Handle {
    /// Returns the workspace if no console is open on it: where one is to be opened.
    #[must_use]
    pub fn place_without_console(&self) -> Option<&Path> {
        (!self.shared.viewers.is_anyone()).then(|| self.workspace())
    }

    /// Leaves a person's words for an agent: they are on record before they go with its next answer. At most 500
    /// characters (docs/contract.md#since-your-last-call).
    ///
    /// # Errors
    /// When there is no such agent, nothing is written or too much, or the record cannot be written.
    pub async fn tell_agent(&self, from: &ConsoleProcess, label: &str, text: &str) -> Result<(), Error> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_known = self.shared.session().agents.iter().any(|agent| agent.label == label);
        let wrong = match text.chars().count() {
            _ if !is_known => Some(format!("there is no agent {label:?}")),
            0 => Some("nothing is written".to_owned()),
            chars if chars > WORDS_CHARS => {
                Some(format!("{chars} characters, at most {WORDS_CHARS}: shorten it"))
            }
            _ => None,
        };
        if let Some(reason) = wrong {
            return Err(Error::NotSent { reason });
        }
        let row = Row::Words { actor: &Actor::Operator, to: label, text: mask(&text) };
        self.shared.write(&row, Durability::Synced).await?;
        self.shared.session().agent_notices.words(label, &text);
        self.notice_of(from, format!("told {label}: {text}"));
        Ok(())
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
