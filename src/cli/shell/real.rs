//! The shell that an agent would use without this one, and the environment it would have.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::handed_over::{
    AGENT_NAME, AGENT_PID, BASH_ENV, CALLED_AS, LAST_WORD, LEVEL, OWN_BASH_ENV, RAISED_LEVEL,
};
use super::{DOOR, REAL, ShellInvocation, UNSERVED, find};
use crate::agent::shell::STARTED_AGENT;
use crate::agents::{AgentProgram, ShellRedirect};
use crate::process::{is_own_bash_env, is_shell_link};

/// The variables that exist only to redirect an agent to this shell.
const OURS: [&str; 9] =
    [REAL, DOOR, UNSERVED, STARTED_AGENT, AGENT_NAME, AGENT_PID, OWN_BASH_ENV, CALLED_AS, RAISED_LEVEL];

/// The real shell, as the caller would have invoked it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct RealShell {
    pub(in crate::cli) program: PathBuf,
    /// Its arguments, starting with its name.
    pub(in crate::cli) args: Vec<OsString>,
    /// Its environment: the caller's, without the redirection to this shell.
    pub(in crate::cli) variables: Vec<(OsString, OsString)>,
}

impl RealShell {
    /// Finds the real shell of a call.
    pub(super) fn of(call: &ShellInvocation, shell: &str) -> Self {
        let program = program(call, shell);
        let name = find(&call.variables, CALLED_AS).map_or_else(|| program.clone().into(), OsStr::to_owned);
        let args = [name].into_iter().chain(call.args.iter().cloned()).collect();
        let variables = call.variables.iter().filter_map(|(name, value)| {
            if name == LAST_WORD {
                return Some(("_".into(), value.clone()));
            }
            if OURS.iter().any(|own| name == *own) {
                return None;
            }
            if name == BASH_ENV && is_own_bash_env(Path::new(value)) {
                return Some((name.clone(), find(&call.variables, OWN_BASH_ENV)?.to_owned()));
            }
            if name == LEVEL
                && let Some(level) = lower_level(call, value)
            {
                return level.map(|level| (name.clone(), level));
            }
            if names_shell(name) && is_shell_link(Path::new(value)) {
                // A variable that names a shell for the agent alone is removed; `SHELL`, which everyone uses, names
                // the real one.
                return (name == "SHELL").then(|| (name.clone(), program.clone().into_os_string()));
            }
            Some((name.clone(), value.clone()))
        });
        Self { variables: variables.collect(), program: program.clone(), args }
    }
}

/// Returns the shell level without the one that an agent was started with for our sake; `None` if there was none.
fn lower_level(call: &ShellInvocation, level: &OsStr) -> Option<Option<OsString>> {
    let before = find(&call.variables, RAISED_LEVEL)?;
    let level = level.to_str()?.parse::<u32>().ok()?.saturating_sub(1);
    Some((level > 0 || !before.is_empty()).then(|| level.to_string().into()))
}

/// Returns whether a variable names the shell of an agent.
fn names_shell(variable: &OsStr) -> bool {
    AgentProgram::routed_programs()
        .any(|(_, shell)| matches!(shell.redirect, ShellRedirect::Variable(name) if variable == name))
}

fn program(call: &ShellInvocation, shell: &str) -> PathBuf {
    let fits = |program: &PathBuf| {
        let name = program.file_name().is_some_and(|name| name == shell);
        name && program.is_absolute() && !is_shell_link(program)
    };
    let named = [REAL, "SHELL"].into_iter().filter_map(|name| find(&call.variables, name));
    if let Some(program) = named.map(PathBuf::from).find(fits) {
        return program;
    }
    let path = find(&call.variables, "PATH");
    let folders = path.into_iter().flat_map(std::env::split_paths).chain(["/bin".into(), "/usr/bin".into()]);
    let found = folders.map(|folder| folder.join(shell)).find(|program| fits(program) && program.is_file());
    found.unwrap_or_else(|| Path::new("/bin").join(shell))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::shell::{MarkedAgent, TerminalStreams};

    fn call(variables: &[(&str, &str)]) -> ShellInvocation {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        ShellInvocation {
            args: vec!["-c".into(), "ls".into()],
            variables,
            marks: MarkedAgent::default(),
            terminal: TerminalStreams::None,
        }
    }

    fn real(variables: &[(&str, &str)]) -> RealShell {
        RealShell::of(&call(variables), "bash")
    }

    #[test]
    fn the_real_shell_is_called_as_the_agent_would_have_called_it() {
        let ours = "/d/pilothouse/shells/told/bash";
        let named =
            real(&[("SHELL", ours), (REAL, "/opt/bin/bash"), ("CLAUDE_CODE_SHELL", ours), ("A", "1")]);
        assert_eq!(named.program, Path::new("/opt/bin/bash"));
        assert_eq!(named.args, ["/opt/bin/bash", "-c", "ls"].map(OsString::from));
        let expected = [("SHELL", "/opt/bin/bash"), ("A", "1")];
        assert_eq!(named.variables, expected.map(|(name, value)| (name.into(), value.into())));
        assert_eq!(real(&[("SHELL", "/usr/bin/bash")]).program, Path::new("/usr/bin/bash"));
        let other = real(&[("SHELL", "/usr/bin/fish"), ("PATH", "/nowhere")]);
        assert_eq!(other.program, Path::new("/bin/bash"));
        assert_eq!(other.variables[0].1, "/usr/bin/fish");
    }

    #[test]
    fn a_command_from_bash_env_runs_in_the_real_shell_with_the_environment_of_the_agent() {
        let handed_over = [
            ("SHLVL", "1"),
            (REAL, "/usr/bin/bash"),
            (CALLED_AS, "bash"),
            (STARTED_AGENT, "aider"),
            (AGENT_NAME, "ci"),
            (AGENT_PID, "7"),
            (DOOR, "/w"),
            (UNSERVED, "nobody answers"),
            ("A", "1"),
        ];
        let own = real(&handed_over);
        assert_eq!(
            (own.program.as_path(), &own.args[0]),
            (Path::new("/usr/bin/bash"), &OsString::from("bash"))
        );
        assert_eq!(
            own.variables,
            [("SHLVL", "1"), ("A", "1")].map(|(name, value)| (name.into(), value.into()))
        );
        // Called in another way, it finds the file still there.
        let file = (BASH_ENV, "/d/pilothouse/shells/bash-env");
        assert_eq!(real(&[file, (OWN_BASH_ENV, "/h/mine")]).variables, [(BASH_ENV.into(), "/h/mine".into())]);
        assert!(real(&[file]).variables.is_empty());
        assert_eq!(real(&[(BASH_ENV, "/h/mine")]).variables.len(), 1);
        for (before, now, expected) in [("", "1", None), ("", "2", Some("1")), ("0", "1", Some("0"))] {
            let own = real(&[("SHLVL", now), (RAISED_LEVEL, before)]);
            assert_eq!(
                own.variables.first().map(|(_, level)| level.to_str()),
                expected.map(Some),
                "{before} {now}"
            );
        }
    }

    #[test]
    fn a_link_that_is_found_in_the_path_is_no_real_shell() {
        let (links, dir) = (tempfile::tempdir().expect("temp dir"), tempfile::tempdir().expect("temp dir"));
        let told = links.path().join("pilothouse/shells/told");
        std::fs::create_dir_all(&told).expect("a folder");
        for folder in [&told, dir.path()] {
            std::fs::write(folder.join("bash"), "").expect("written");
        }
        let path = format!("{}:{}", told.display(), dir.path().display());
        assert_eq!(real(&[("PATH", &path)]).program, dir.path().join("bash"));
    }
}
