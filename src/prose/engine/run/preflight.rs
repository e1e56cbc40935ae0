//! Checks before a program runs: unknown inputs, and questions that nobody could answer.

use std::path::Path;

use super::answerable::answerer;
use super::questions::questions;
use super::request::RunRequest;
use crate::config::Answerer;
use crate::model::QuestionKind;
use crate::prose::engine::answers::AskedQuestion;
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::record::journal::RunJournal;
use crate::prose::engine::survey::PossibleQuestion;
use crate::prose::engine::vm::AnswerPolicy;
use crate::prose::engine::vm::module::Library;
use crate::runtime::Handle;

/// Rejects inputs that the program does not have.
///
/// # Errors
/// With the first such input.
pub fn check_inputs(loaded: &Library, inputs: &[(String, String)]) -> Result<(), RunError> {
    let known: Vec<&str> = loaded.program.inputs().map(|input| input.name.as_str()).collect();
    match inputs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) => {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Err(RunError::UnknownInput { name: name.clone(), known })
        }
    }
}

/// Rejects a program that can ask a question nobody could answer, before any of it runs.
pub(super) fn preflight(
    runtime: &Handle,
    request: &RunRequest,
    loaded: &Library,
    inputs: &[(String, String)],
    policy: &AnswerPolicy,
) -> Result<(), RunError> {
    if request.has_operator || runtime.is_watched() {
        return Ok(());
    }
    let has_agent = runtime.has_agent();
    let by = |possible: &PossibleQuestion| match answerer(&policy.sessions, possible) {
        Answerer::Command(_) => true,
        Answerer::Mcp(_) => has_agent && possible.agents,
        _ => has_agent && policy.agents && possible.agents,
    };
    let is_answered = |possible: &PossibleQuestion| {
        let is_given = possible.construct == "input"
            && inputs.iter().any(|(name, _)| Some(name) == possible.name.as_ref());
        let is_guarded = matches!(possible.kind, QuestionKind::Gate { .. } | QuestionKind::Command);
        let asked = AskedQuestion {
            name: possible.name.as_deref(),
            line: possible.line,
            kind: &possible.kind,
            text: &possible.text,
            pass: None,
        };
        is_given
            || (!is_guarded || policy.gates_from_answers) && policy.answers.covers(&asked)
            || by(possible)
    };
    let open: Vec<String> = questions(loaded, policy.exec)
        .into_iter()
        .filter(|(_, possible)| !is_answered(possible))
        .map(|(program, possible)| describe(&program, &possible))
        .collect();
    if open.is_empty() { Ok(()) } else { Err(RunError::NobodyAnswers { report: open.join("\n") }) }
}

/// Rejects a run that is resumed although its end is known, and nobody is there to say whether to repeat what ended it.
pub(super) fn again(
    runtime: &Handle,
    request: &RunRequest,
    journal: &RunJournal,
    policy: &AnswerPolicy,
) -> Result<(), RunError> {
    let Some((line, ran)) = journal.known_failure() else { return Ok(()) };
    let what = match ran.session.as_ref().and_then(|session| session.failed.clone()) {
        Some(why) => format!("the session failed: {why}"),
        None => ran.failure(),
    };
    let asked = AskedQuestion { name: None, line, kind: &QuestionKind::InFlight, text: &what, pass: None };
    if policy.rerun || request.has_operator || runtime.is_watched() || policy.answers.covers(&asked) {
        return Ok(());
    }
    let run = request.resume.clone().unwrap_or_default();
    Err(RunError::KnownFailure { run, line, what: what.trim_end().to_owned() })
}

fn describe(program: &str, possible: &PossibleQuestion) -> String {
    let name = possible.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let file = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let text = crate::envelope::one_line(&possible.text, 80);
    format!("  {file}, line {}: {}{name}: {text}", possible.line, possible.construct)
}
