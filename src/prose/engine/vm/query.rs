//! A question at a position in a program, and the command that may answer it.

use std::path::PathBuf;
use std::time::Duration;

use super::frame::Site;
use crate::config::Answerer;
use crate::model::{NewQuestion, QuestionKind};
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::session::Brief;

/// A question at a position in a program.
pub(super) struct ProgramQuestion {
    pub(super) site: Site,
    pub(super) asking: NewQuestion,
    /// The command that answers it, if one does.
    pub(super) work: Option<Box<SessionWork>>,
    /// Whether a connected agent is to answer it, even if agents generally may not.
    pub(super) is_for_agents: bool,
}

pub(super) struct QuestionEnd {
    pub(super) decided: RecordedDecision,
    /// Whether it is already in the journal.
    pub(super) is_on_record: bool,
}

/// A command that answers a question.
#[derive(Debug, Clone)]
pub(super) struct SessionWork {
    pub(super) words: Vec<String>,
    pub(super) brief: Brief,
    pub(super) timeout: Duration,
    /// The folder of the agent's memory.
    pub(super) memory: Option<PathBuf>,
    /// Whether it resumes its own last session.
    pub(super) resumes: bool,
}

impl SessionWork {
    /// Returns the display name of the program.
    pub(super) fn display_name(&self) -> String {
        Answerer::Command(self.words.clone()).display_name()
    }

    /// Returns whether the question is only a decision: an invalid answer is then left to a person, and does not end
    /// the run.
    pub(super) fn is_judgement(&self) -> bool {
        !matches!(self.brief.wants, QuestionKind::Text { .. })
    }
}
