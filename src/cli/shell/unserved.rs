//! Calls that no runtime takes, or of which nobody can tell whose they are. What to do needs settings and the record, which
//! would make each start of `pilothouse-shell` slower: it becomes the whole program for that.

use std::process::ExitCode;

use super::real::RealShell;
use super::run::{self, REFUSED, RuntimeRequest, UNKNOWN};
use super::{ShellInvocation, UNSERVED};
use crate::agent::shell::{runs_plainly, runs_unrouted};
use crate::cli::print;
use crate::config::{LoadedSettings, OnFailure};
use crate::model::phrases::setting_refusal;
use crate::process::{become_program, whole_program};

/// Why a call is not a task.
pub(super) enum UnservedCause<'a> {
    /// No runtime takes it, for this reason.
    Refused(&'a str),
    /// What answered is no runtime of this version, and says so.
    Answered(&'a str),
    /// This program has started it, which may or may not be the agent.
    Unclear(&'a str),
}

/// What becomes of such a call.
pub(super) type UnservedCall = fn(&ShellInvocation, &RealShell, UnservedCause<'_>) -> ExitCode;

/// Leaves a mark and runs the command plainly, or refuses it as the settings say.
pub(super) fn run_here(call: &ShellInvocation, real: &RealShell, cause: UnservedCause<'_>) -> ExitCode {
    match (cause, RuntimeRequest::new(call, real)) {
        (UnservedCause::Refused(why), Ok(asked)) => run_plainly(&asked, real, why),
        (UnservedCause::Refused(_), Err(error)) => run::not_run(&error),
        (UnservedCause::Answered(why), _) => run::not_run(why),
        (UnservedCause::Unclear(caller), asked) => {
            if let Ok(asked) = asked {
                runs_unrouted(&asked.places, &asked.request, &asked.hello.cwd, caller);
            }
            real.become_it()
        }
    }
}

/// Handles the lack of a runtime as the settings say: the command does not run, or runs plainly and leaves a mark.
fn run_plainly(asked: &RuntimeRequest, real: &RealShell, why: &str) -> ExitCode {
    let loaded = LoadedSettings::read(&asked.places.config_dir, &asked.places.workspace);
    if loaded.map(|loaded| loaded.settings.shell.on_failure).unwrap_or_default() == OnFailure::Refuse {
        let _ = print::say(format_args!("{}", setting_refusal(why)));
        return ExitCode::from(REFUSED);
    }
    match runs_plainly(&asked.places, &asked.request, &asked.hello.cwd, why) {
        Ok(()) => run::plainly(why, real),
        Err(not_run) => {
            let _ = print::say(not_run);
            ExitCode::from(UNKNOWN)
        }
    }
}

/// Becomes the whole program, which does that; its file is beside this one, and may be newer.
pub(super) fn hand_over(call: &ShellInvocation, real: &RealShell, cause: UnservedCause<'_>) -> ExitCode {
    let why = match cause {
        UnservedCause::Refused(why) => Some((UNSERVED.into(), why.into())),
        _ => None,
    };
    let program = std::env::current_exe().map(whole_program).unwrap_or_default();
    let variables: Vec<_> = call.variables.iter().cloned().chain(why).collect();
    let error = become_program(&program, &std::env::args_os().collect::<Vec<_>>(), &variables);
    match cause {
        UnservedCause::Unclear(_) => real.become_it(),
        _ => run::not_run(&format!("execute {}: {error}", program.display())),
    }
}
