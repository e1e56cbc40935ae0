//! What to run, and how, as a client asks for it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::{ExecPolicy, SessionSettings};
use crate::prose::engine::vm::SessionBudget;

/// What to run, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRequest {
    /// The program's file, absolute; none when a run is resumed as it is.
    pub program: Option<PathBuf>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Inputs given beforehand.
    pub inputs: Vec<(String, String)>,
    /// A file of answers, absolute.
    pub answers: Option<PathBuf>,
    /// Those answers may open gates.
    pub gates_from_answers: bool,
    /// Let agents answer what is not reserved for a person.
    pub agent_answers: bool,
    /// It begins though nobody may be there to answer.
    pub lazy: bool,
    /// The run to resume.
    pub resume: Option<String>,
    /// What ended that run is run again without asking.
    pub rerun: bool,
    /// A console opens with it, so an operator will be there.
    pub has_operator: bool,
    /// Which commands a person is asked about before they run. A run resumed is never asked about less.
    pub exec: ExecPolicy,
    /// Reads the program by the letter.
    pub strict: bool,
    /// Who answers sessions, by the settings.
    pub sessions: SessionSettings,
    /// What was typed about that; a run that is resumed without any keeps what it was begun with.
    pub session: Vec<String>,
    /// Permissions of agents that nothing enforces do not keep it from running.
    pub allow_unenforced: bool,
    /// What its sessions may take, each time it is run or resumed.
    pub budget: SessionBudget,
    /// Folders with programs that `use` names.
    pub path: Vec<PathBuf>,
    /// Programs that `use` names may be fetched.
    pub allow_fetch: bool,
}

/// Parses `name=value` pairs.
///
/// # Errors
/// The pair that is not valid.
pub fn parse_inputs(pairs: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut inputs: Vec<(String, String)> = Vec::new();
    for pair in pairs {
        match pair.split_once('=') {
            Some((name, value)) if inputs.iter().all(|(known, _)| known != name) => {
                inputs.push((name.to_owned(), value.to_owned()));
            }
            _ => return Err(pair.clone()),
        }
    }
    Ok(inputs)
}
