//! This program as an agent's shell: invoked as `bash` or `zsh` in a folder of links, or as `pilothouse-bash` or
//! `pilothouse-zsh` anywhere. Checked before any initialisation, because it adds latency to every command of the
//! agent: a call that does not become a task executes the real shell within a millisecond. `pilothouse-shell` is this
//! alone, and does the same.

pub(super) mod handed_over;
mod real;
mod run;
mod terminal;
mod unserved;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use crate::agent::shell::{AgentMarks, MarkedAgent, Route, RouteFacts, TerminalStreams, decide};
use crate::process::{SHELL_PREFIX, SHELLS, become_program, is_in_command};
use handed_over::CallOwner;
use real::RealShell;
use unserved::{UnservedCall, UnservedCause};

/// The variable that turns this off: with `off`, every call goes to the real shell.
pub(in crate::cli) const SWITCH: &str = "PILOTHOUSE_SHELL";
/// The shell that an agent would use without this one.
pub(super) const REAL: &str = "PILOTHOUSE_REAL_SHELL";
/// The directory in which the agent was started: the runtime of its workspace is used.
pub(super) const DOOR: &str = "PILOTHOUSE_SHELL_DOOR";
/// Why no runtime took a call, for the whole program, which the one for shells becomes then.
const UNSERVED: &str = "PILOTHOUSE_SHELL_UNSERVED";
/// The exit code for a program that cannot be executed, as in shells.
const NOT_EXECUTABLE: u8 = 126;

/// An invocation of this program as a shell.
struct ShellInvocation {
    args: Vec<OsString>,
    /// The caller's environment variables.
    variables: Vec<(OsString, OsString)>,
    marks: MarkedAgent,
    /// Which of its standard streams are a terminal.
    terminal: TerminalStreams,
}

/// Runs the whole program as a shell if it was invoked as one.
pub(super) fn run_whole(argv: &[OsString]) -> Option<ExitCode> {
    run_as_shell(argv, unserved::run_here)
}

/// Runs `pilothouse-shell` as a shell if it was invoked as one.
pub(super) fn run_small(argv: &[OsString]) -> Option<ExitCode> {
    run_as_shell(argv, unserved::hand_over)
}

fn run_as_shell(argv: &[OsString], unserved: UnservedCall) -> Option<ExitCode> {
    let (name, args) = argv.split_first()?;
    let shell = shell_of(name)?;
    let variables: Vec<_> = std::env::vars_os().collect();
    let find = |name: &str| find(&variables, name);
    let marks = AgentMarks(find).read();
    let terminal = terminal::own_streams();
    let facts = RouteFacts {
        args,
        terminal,
        task_kind: find(crate::process::environment::TASK_KIND),
        switch: find(SWITCH),
        marks,
    };
    let route = decide(facts);
    let call = ShellInvocation { args: args.to_vec(), variables, marks, terminal };
    let real = RealShell::of(&call, shell);
    if route == Route::Through || is_in_command(std::process::id()) {
        return Some(real.become_it());
    }
    if let Some(why) = self::find(&call.variables, UNSERVED) {
        return Some(unserved(&call, &real, UnservedCause::Refused(&why.to_string_lossy())));
    }
    Some(match handed_over::owner(&call) {
        CallOwner::Model => run::run(&call, &real, unserved),
        CallOwner::Unclear(caller) => unserved(&call, &real, UnservedCause::Unclear(&caller)),
        CallOwner::Other => real.become_it(),
    })
}

/// Returns the shell that a name stands for.
fn shell_of(name: &OsStr) -> Option<&'static str> {
    let name = Path::new(name).file_name()?.to_str()?;
    let name = name.strip_prefix(SHELL_PREFIX).unwrap_or(name);
    SHELLS.into_iter().find(|shell| name == *shell)
}

fn find<'a>(variables: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    variables.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_os_str())
}

impl RealShell {
    /// Replaces this process with the real shell.
    fn become_it(&self) -> ExitCode {
        let error = become_program(&self.program, &self.args, &self.variables);
        let _ = super::print::say(format_args!("execute {}: {error}", self.program.display()));
        ExitCode::from(NOT_EXECUTABLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_a_shell_by_its_name_alone() {
        for (name, shell) in [
            ("/d/pilothouse-bash", Some("bash")),
            ("/d/pilothouse/shells/told/zsh", Some("zsh")),
            ("pilothouse-zsh", Some("zsh")),
            ("bash", Some("bash")),
            ("pilothouse", None),
            ("/x/pilothouse-fish", None),
            ("", None),
        ] {
            assert_eq!(shell_of(OsStr::new(name)), shell, "{name}");
        }
    }
}
