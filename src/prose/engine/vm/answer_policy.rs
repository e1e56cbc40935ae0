//! How the questions of a run are routed.

use super::budget::SessionBudget;
use crate::config::{ExecPolicy, SessionSettings};
use crate::prose::engine::answers::Answers;

/// How questions are routed.
#[derive(Debug, Default)]
pub struct AnswerPolicy {
    /// The answers supplied with the program.
    pub answers: Answers,
    /// Whether they may open gates.
    pub gates_from_answers: bool,
    /// Whether agents may answer questions that are not reserved for a person.
    pub agents: bool,
    /// Which commands need approval before they run.
    pub exec: ExecPolicy,
    /// Who answers sessions.
    pub sessions: SessionSettings,
    /// The budget for sessions.
    pub budget: SessionBudget,
    /// What ended the run before is run again without asking.
    pub rerun: bool,
}
