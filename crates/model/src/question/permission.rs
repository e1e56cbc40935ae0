//! What a person has permitted of an agent's further prompts, beyond the one that they answered.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AgentPrompt, AnswerValue, AnsweredPrompts, AnsweredWhich, QuestionId};

/// What calls like each other have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallLikeness {
    /// The hash of it, 64 hexadecimal digits: session, process, tool, directory, its words or its whole text, and all other
    /// input.
    pub hash: String,
    /// The first words that their commands have in common; without them, the whole call is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

/// How long what is like a call is permitted.
pub const ALIKE_FOR: Duration = Duration::from_secs(15 * 60);

/// Which prompts of a session are permitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermittedPrompts {
    /// All until its turn ends.
    Turn,
    /// Those like one.
    Alike(CallLikeness),
}

/// A permission for further prompts of an agent's session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPermission {
    /// The question with whose answer it was given.
    pub question: QuestionId,
    /// The number of that question.
    pub number: u32,
    pub agent: String,
    pub session: String,
    pub which: PermittedPrompts,
    /// When that question was asked: what happened before ends nothing.
    pub asked_at: Timestamp,
    /// When it expires; what is for a turn has no time of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Why a permission is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionEnd {
    /// Its time is over.
    Expired,
    /// The turn is over.
    Turn,
    /// The session is over, or goes on with another conversation; or the agent is gone.
    Session,
    /// Agents were paused.
    Paused,
    /// The person ended it.
    Revoked,
}

/// How often prompts like one were answered here before it was asked, in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AlikeAnswers {
    /// How many were allowed.
    pub allowed: u32,
    /// How many were refused.
    pub refused: u32,
}

impl PromptPermission {
    /// Tells whether it permits a prompt of an agent. What a rule of ours asks about is always asked.
    #[must_use]
    pub fn covers(&self, agent: &str, prompt: &AgentPrompt) -> bool {
        let is_session = self.agent == agent && self.session == prompt.session;
        let is_meant = match &self.which {
            PermittedPrompts::Turn => true,
            PermittedPrompts::Alike(alike) => !alike.hash.is_empty() && alike.hash == prompt.alike.hash,
        };
        is_session && is_meant && prompt.rule.is_none()
    }

    /// Returns why an event of its session ends it, if it does.
    #[must_use]
    pub fn ended_by(&self, event: &AnsweredPrompts) -> Option<PermissionEnd> {
        if self.agent != event.agent || self.session != event.session || event.at < self.asked_at {
            return None;
        }
        match (&event.which, &self.which) {
            (AnsweredWhich::All, _) => Some(PermissionEnd::Session),
            (AnsweredWhich::Of(None), PermittedPrompts::Turn) => Some(PermissionEnd::Turn),
            _ => None,
        }
    }

    /// Returns what it permits, in words.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.which {
            PermittedPrompts::Turn => "all of this turn".to_owned(),
            PermittedPrompts::Alike(alike) => alike_in_words(alike),
        }
    }
}

/// Returns which calls are like one, in words.
#[must_use]
pub fn alike_in_words(alike: &CallLikeness) -> String {
    match &alike.words {
        Some(words) => format!("commands that begin with: {words}"),
        None => "exactly this call".to_owned(),
    }
}

impl AnswerValue {
    /// Returns what else an answer to an agent's prompt permits.
    pub fn permits(&self, prompt: &AgentPrompt) -> Option<PermittedPrompts> {
        match self {
            Self::ApproveTurn => Some(PermittedPrompts::Turn),
            Self::ApproveAlike => Some(PermittedPrompts::Alike(prompt.alike.clone())),
            _ => None,
        }
    }
}
