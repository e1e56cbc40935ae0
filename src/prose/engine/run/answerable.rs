//! Determines who answers the sessions of a run, from the settings and the command line, and checks it before
//! anything is executed: a named program must exist, and the restrictions of an agent must be enforced by its
//! answerer.

use std::path::Path;

use super::questions::questions;
use super::request::RunRequest;
use crate::config::{Answerer, ExecPolicy, SessionSettings, SessionSubject};
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::session::{SessionParameters, preset};
use crate::prose::engine::survey::PossibleQuestion;
use crate::prose::engine::vm::module::Library;
use crate::prose::engine::vm::{AnswerPolicy, permissions};
use crate::runtime::Handle;

/// Returns the settings, overridden by the command line.
pub(super) fn answerers(settings: &SessionSettings, typed: &[String]) -> Result<SessionSettings, RunError> {
    let mut settings = settings.clone();
    for one in typed {
        settings.set(one).map_err(|reason| RunError::Answerer { typed: one.clone(), reason })?;
    }
    Ok(settings)
}

/// Returns the answerer of a possible question.
pub(super) fn answerer<'a>(settings: &'a SessionSettings, possible: &PossibleQuestion) -> &'a Answerer {
    match possible.construct {
        "session" | "resume" => settings.answerer(SessionSubject {
            agent: possible.name.as_deref(),
            model: possible.model,
            label: possible.label.as_deref(),
        }),
        "if" | "loop" | "choice" | "filter" | "value" => settings.judge(),
        _ => &Answerer::Ask,
    }
}

/// Rejects a run whose sessions cannot be answered as configured.
pub(super) fn answerable(
    runtime: &Handle,
    request: &RunRequest,
    loaded: &Library,
    policy: &AnswerPolicy,
    allow_unenforced: bool,
) -> Result<(), RunError> {
    let path = runtime.inherited_variable("PATH").unwrap_or_default();
    let mut unenforced: Vec<String> = Vec::new();
    for (program, possible) in questions(loaded, ExecPolicy::Allow) {
        let Answerer::Command(words) = answerer(&policy.sessions, &possible) else { continue };
        let name = words.first().map_or("", String::as_str);
        let is_there = match name.contains('/') {
            true => request.cwd.join(name).is_file(),
            false => std::env::split_paths(&path).any(|folder| folder.join(name).is_file()),
        };
        if !is_there {
            return Err(RunError::NoAnswerer { program: name.to_owned() });
        }
        let Some(agent) = possible.name.as_deref().and_then(|name| agent(loaded, &program, name)) else {
            continue;
        };
        let of = SessionParameters { permissions: &agent, ..SessionParameters::default() };
        let file = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
        let name = possible.name.as_deref().unwrap_or_default();
        let by = Answerer::Command(words.clone()).display_name();
        let lines = preset::start_command(words, of).unenforced.into_iter();
        unenforced.extend(lines.map(|one| format!("  {file}: agent {name}: {one} ({by})")));
    }
    unenforced.dedup();
    match unenforced.is_empty() || allow_unenforced {
        true => Ok(()),
        false => Err(RunError::Unenforced { report: unenforced.join("\n") }),
    }
}

/// Returns the permissions of an agent in a program or in one that it uses.
fn agent(loaded: &Library, program: &str, name: &str) -> Option<Vec<crate::agents::PermissionLine>> {
    if loaded.source.name() == program {
        return loaded.program.agent(name).map(|agent| permissions(&agent.permissions));
    }
    loaded.uses.values().find_map(|used| agent(used, program, name))
}
