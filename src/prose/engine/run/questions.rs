//! The questions of a program and of those it uses.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::config::ExecPolicy;
use crate::prose::engine::survey::{PossibleQuestion, ProgramSurvey};
use crate::prose::engine::vm::module::Library;

/// Lists the questions of a program and of those it uses; a used program asks for an input only if a call omits it.
pub(super) fn questions(loaded: &Library, exec: ExecPolicy) -> Vec<(String, PossibleQuestion)> {
    let name = loaded.source.name().to_owned();
    let asks = |survey: &ProgramSurvey| {
        let commands = if exec == ExecPolicy::Allow { Vec::new() } else { survey.commands.clone() };
        survey.questions.iter().cloned().chain(commands).collect::<Vec<_>>()
    };
    let mut given = CallInputs::default();
    given.note(&loaded.survey, &loaded.uses);
    let mut all: Vec<_> = asks(&loaded.survey).into_iter().map(|possible| (name.clone(), possible)).collect();
    let mut open: Vec<_> = loaded.uses.values().cloned().collect();
    let mut seen = HashSet::new();
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
struct CallInputs(HashMap<String, Vec<Vec<String>>>);

impl CallInputs {
    fn note(&mut self, survey: &ProgramSurvey, uses: &HashMap<String, Arc<Library>>) {
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
