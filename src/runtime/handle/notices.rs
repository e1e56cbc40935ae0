//! `Handle` methods for the notices that an agent gets with its next answer (docs/contract.md#since-your-last-call).

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::{AnswerRow, Handle};
use crate::envelope::{Actor, TaskId, mask};
use crate::journal::Durability;
use crate::model::{ConsoleProcess, Error};
use crate::runtime::agent_notices::{DeliveredNotices, PARAGRAPH_CHARS, SEPARATOR, WORDS_CHARS};
use crate::runtime::record_row::Fact;
use crate::runtime::shared::RuntimeShared;

/// The start of the paragraph part about what happened without the agent.
const SINCE: &str = "Since your last call: ";
/// The start of the paragraph part about the call itself.
const NOTE: &str = "Note: ";

/// The notices delivered with one answer to an agent. If dropped without [`AnswerNotices::mark_delivered`], they go with the
/// next answer.
#[derive(Debug)]
pub struct AnswerNotices {
    shared: Arc<RuntimeShared>,
    label: String,
    /// Notices about the call itself, which no other answer will carry.
    own: Vec<String>,
    taken: DeliveredNotices,
    /// The row of the answer, until it is written.
    row: Option<AnswerRow>,
}

impl Handle {
    /// Takes the notices to deliver with an answer, starting with the sentences in `own`, which are about the call
    /// itself. `told` is the task whose end the answer reports itself.
    pub fn agent_notices(&self, label: &str, own: Vec<String>, told: Option<&TaskId>) -> AnswerNotices {
        let used: usize = own.iter().map(|text| text.chars().count() + SEPARATOR.len()).sum();
        let room = PARAGRAPH_CHARS.saturating_sub(used + NOTE.len() + SINCE.len() + 2);
        let is_open = self.shared.viewers.is_anyone();
        let taken = self.shared.session().agent_notices.take(label, room, told, is_open);
        self.notices(label, own, taken)
    }

    /// Takes the messages that a person left for an agent that reads nothing but what its commands write.
    pub fn words_for(&self, label: &str) -> AnswerNotices {
        let taken = self.shared.session().agent_notices.take_words(label);
        self.notices(label, Vec::new(), taken)
    }

    /// Keeps a person's words that the command of a call is about to write, where a hook of its agent will report whether its
    /// model was given them: it may be in the background by then.
    pub fn leave_words_in_output(&self, label: &str, text: &str, call: u64) {
        let mut session = self.shared.session();
        let has_hook = session.agents.iter().any(|agent| agent.label == label && agent.routes.hook);
        if !has_hook || text.trim().is_empty() {
            return;
        }
        // Its hook has reported the call already, of which nothing was there yet.
        let is_reported = session.calls.get(call).is_some_and(|call| call.native.is_some());
        session.leave_words(label, text.trim(), Some(call).filter(|_| !is_reported));
    }

    /// Keeps for an agent's next answer what its commands have written and its hook has not reported: their calls are over.
    pub fn give_up_reading(&self, label: &str) {
        self.shared.session().agent_notices.give_up_reading(label);
    }

    fn notices(&self, label: &str, own: Vec<String>, taken: DeliveredNotices) -> AnswerNotices {
        AnswerNotices { shared: self.shared.clone(), label: label.to_owned(), own, taken, row: None }
    }
}

impl Handle {
    /// Returns the workspace if no console is open on it, so that the caller can suggest opening one there.
    pub fn place_without_console(&self) -> Option<&Path> {
        (!self.shared.viewers.is_anyone()).then(|| self.workspace())
    }

    /// Leaves a person's message for an agent, secrets in it masked; it is recorded before it goes with the agent's
    /// next answer. At most 500 characters (docs/contract.md#since-your-last-call).
    ///
    /// # Errors
    /// If there is no such agent, the message is empty or too long, or the record cannot be written.
    pub async fn tell_agent(&self, from: &ConsoleProcess, label: &str, text: &str) -> Result<(), Error> {
        let text = mask(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned();
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
        let row =
            Fact::Words { actor: Cow::Owned(Actor::Operator), to: label.into(), text: text.as_str().into() };
        self.shared.write(&row, Durability::Synced).await?;
        self.shared.session().words(label, &text);
        self.notice_of(from, format!("told {label}: {text}"));
        Ok(())
    }
}

impl AnswerNotices {
    /// Takes the row of the answer along: it must be written before the answer is.
    #[must_use]
    pub fn with_row(mut self, row: AnswerRow) -> Self {
        self.row = Some(row);
        self
    }

    /// Waits until the answer that these go with is on record, before it is written.
    pub async fn wait_for_record(of_answer: &mut Option<Self>) {
        if let Some(row) = of_answer.as_mut().and_then(|notices| notices.row.take()) {
            row.wait().await;
        }
    }

    /// Returns all sentences.
    pub fn sentences(&self) -> Vec<String> {
        self.own.iter().chain(&self.taken.sentences).cloned().collect()
    }

    /// Returns the paragraph that a receipt ends with; `None` if there are no notices.
    pub fn paragraph(&self) -> Option<String> {
        let part = |title: &str, sentences: &[String]| {
            (!sentences.is_empty()).then(|| format!("{title}{}.", sentences.join(SEPARATOR)))
        };
        let parts = [part(NOTE, &self.own), part(SINCE, &self.taken.sentences)];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then(|| text.chars().take(PARAGRAPH_CHARS).collect())
    }

    /// Leaves the notices with the command of a call, which is about to write them, where a hook of its agent will report
    /// whether its model was given them. Returns them if none will. If it has reported before, they go with the next answer.
    #[must_use]
    pub fn leave_in_output(mut self, call: u64) -> Option<Self> {
        let mut session = self.shared.session();
        if !session.agents.iter().any(|agent| agent.label == self.label && agent.routes.hook) {
            drop(session);
            return Some(self);
        }
        if session.calls.get(call).is_some_and(|call| call.native.is_none()) {
            let ids = std::mem::take(&mut self.taken.ids);
            session.agent_notices.await_reading(&self.label, &ids, call);
        }
        drop(session);
        None
    }

    /// Marks the notices as delivered once their answer is written, so that they are not repeated.
    pub fn mark_delivered(mut self) {
        let ids = std::mem::take(&mut self.taken.ids);
        if !ids.is_empty() {
            self.shared.session().remove_delivered(&self.label, &ids);
            self.shared.nudge.notify_one();
        }
    }
}

impl Drop for AnswerNotices {
    fn drop(&mut self) {
        if !self.taken.ids.is_empty() {
            self.shared.session().agent_notices.put_back(&self.label, &self.taken.ids);
        }
    }
}
