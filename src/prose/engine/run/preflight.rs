//! Checks before a program runs: unknown inputs, and questions that nobody could answer.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::Request;
use super::answerable::answerer;
use super::error::Error;
use super::journal::RunJournal;
use crate::config::{Answerer, ExecPolicy};

use crate::model::QuestionKind;
use crate::prose::engine::answers::Asked;
use crate::prose::engine::survey::{PossibleQuestion, Survey};
use crate::prose::engine::vm::module::Library;
use crate::prose::engine::vm::{AnswerPolicy, failure};
use crate::runtime::Handle;

/// Rejects inputs that the program does not have.
///
/// # Errors
/// With the first such input.
pub fn check_inputs(loaded: &Library, inputs: &[(String, String)]) -> Result<(), Error> {
    let known: Vec<&str> = loaded.program.inputs().map(|input| input.name.as_str()).collect();
    match inputs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) => {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Err(Error::UnknownInput { name: name.clone(), known })
        }
    }
}

/// Rejects a program that can ask a question nobody could answer, before any of it runs.
pub(super) fn preflight(
    runtime: &Handle,
    request: &Request,
    loaded: &Library,
    inputs: &[(String, String)],
    policy: &AnswerPolicy,
) -> Result<(), Error> {
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
        let asked = Asked {
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
        .map(|(program, possible)| described(&program, &possible))
        .collect();
    if open.is_empty() { Ok(()) } else { Err(Error::NobodyAnswers { report: open.join("\n") }) }
}

/// Rejects a run that is resumed although its end is known, and nobody is there to say whether to repeat what ended it.
pub(super) fn again(
    runtime: &Handle,
    request: &Request,
    journal: &RunJournal,
    policy: &AnswerPolicy,
) -> Result<(), Error> {
    let Some((line, ran)) = journal.known_failure() else { return Ok(()) };
    let what = match ran.session.as_ref().and_then(|session| session.failed.clone()) {
        Some(why) => format!("the session failed: {why}"),
        None => failure(ran),
    };
    let asked = Asked { name: None, line, kind: &QuestionKind::InFlight, text: &what, pass: None };
    if policy.rerun || request.has_operator || runtime.is_watched() || policy.answers.covers(&asked) {
        return Ok(());
    }
    let run = request.resume.clone().unwrap_or_default();
    Err(Error::KnownFailure { run, line, what: what.trim_end().to_owned() })
}

/// Lists the questions of a program and of those it uses; a used program asks for an input only if a call omits it.
pub(super) fn questions(loaded: &Library, exec: ExecPolicy) -> Vec<(String, PossibleQuestion)> {
    let name = loaded.source.name().to_owned();
    let asks = |survey: &Survey| {
        let commands = if exec == ExecPolicy::Allow { Vec::new() } else { survey.commands.clone() };
        survey.questions.iter().cloned().chain(commands).collect::<Vec<_>>()
    };
    let mut given = Given::default();
    given.note(&loaded.survey, &loaded.uses);
    let mut all: Vec<_> = asks(&loaded.survey).into_iter().map(|possible| (name.clone(), possible)).collect();
    let mut open: Vec<_> = loaded.uses.values().cloned().collect();
    let mut seen = std::collections::HashSet::new();
    while let Some(library) = open.pop() {
        if !seen.insert(library.source.name().to_owned()) {
            continue;
        }
        given.note(&library.survey, &library.uses);
        all.extend(
            asks(&library.survey).into_iter().map(|possible| (library.source.name().to_owned(), possible)),
        );
        open.extend(library.uses.values().cloned());
    }
    all.retain(|(program, possible)| {
        possible.construct != "input" || *program == name || given.is_left_out(program, possible)
    });
    all
}

/// The inputs provided in the calls of used programs, by the program's file.
#[derive(Default)]
struct Given(HashMap<String, Vec<Vec<String>>>);

impl Given {
    fn note(&mut self, survey: &Survey, uses: &HashMap<String, Arc<Library>>) {
        for call in &survey.calls {
            if let Some(library) = uses.get(&call.program) {
                self.0.entry(library.source.name().to_owned()).or_default().push(call.inputs.clone());
            }
        }
    }

    fn is_left_out(&self, program: &str, input: &PossibleQuestion) -> bool {
        let has = |inputs: &Vec<String>| inputs.iter().any(|name| Some(name) == input.name.as_ref());
        self.0.get(program).is_some_and(|calls| !calls.iter().all(has))
    }
}

fn described(program: &str, possible: &PossibleQuestion) -> String {
    let name = possible.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let file = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let text = crate::envelope::one_line(&possible.text, 80);
    format!("  {file}, line {}: {}{name}: {text}", possible.line, possible.construct)
}
