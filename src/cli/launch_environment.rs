//! The environment of an agent that is started here: the existing one plus the variables that redirect its shell.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::shell::handed_over::{AGENT_NAME, AGENT_PID, BASH_ENV, LEVEL, OWN_BASH_ENV, RAISED_LEVEL};
use super::shell::{DOOR, REAL};
use crate::agent::shell::STARTED_AGENT;
use crate::agents::ShellRedirect;
use crate::process::environment::TASK_KIND;
use crate::process::{ShellLinks, is_own_bash_env, kind_of_shell};

/// The task kind that marks commands as an agent's.
const AGENT: &str = "agent";

/// The name and the value of an environment variable.
pub(super) type Variable = (OsString, OsString);

/// An agent to start.
#[derive(Debug, Clone)]
pub(super) struct StartedAgent<'a> {
    /// What leads its shell here.
    pub(super) redirect: ShellRedirect,
    /// The name of its program.
    pub(super) word: &'a str,
    /// The name the user gave it.
    pub(super) name: Option<&'a OsStr>,
    /// The process that becomes it.
    pub(super) pid: u32,
    /// The directory it is started in.
    pub(super) cwd: &'a Path,
}

impl StartedAgent<'_> {
    /// Returns the variables that lead its shell here, and the others of an environment for it.
    pub(super) fn environment(
        &self,
        variables: Vec<(OsString, OsString)>,
        links: &ShellLinks,
    ) -> (Vec<Variable>, Vec<Variable>) {
        let find = |name: &str| variables.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        let real = find("SHELL").map(PathBuf::from);
        let real = real.filter(|shell| kind_of_shell(shell).is_some() && shell.is_file());
        let real = real.unwrap_or_else(|| which::which("bash").unwrap_or_else(|_| "/bin/bash".into()));
        let link = links.for_shell(Some(&real)).into_os_string();
        let mut set = vec![(DOOR, self.cwd.as_os_str().to_owned()), (TASK_KIND, AGENT.into())];
        set.extend(self.name.map(|name| (AGENT_NAME, name.to_owned())));
        // What an agent around this one was started with says nothing about this one.
        let mut removed = vec![AGENT_NAME, STARTED_AGENT, AGENT_PID, OWN_BASH_ENV, RAISED_LEVEL];
        match self.redirect {
            ShellRedirect::Variable(name) => set.extend([(REAL, real.into_os_string()), (name, link)]),
            ShellRedirect::BashEnv { .. } => {
                removed.push(REAL);
                set.extend([
                    (BASH_ENV, links.bash_env().into_os_string()),
                    (STARTED_AGENT, self.word.into()),
                    (AGENT_PID, self.pid.to_string().into()),
                ]);
                let own = match find(BASH_ENV) {
                    Some(outer) if is_own_bash_env(Path::new(&outer)) => find(OWN_BASH_ENV),
                    own => own,
                };
                set.extend(own.map(|own| (OWN_BASH_ENV, own)));
                // A bash whose input is a socket would otherwise take its caller for a network login, and read ~/.bashrc
                // instead of this file.
                let level = find(LEVEL).unwrap_or_default();
                if level.is_empty() || level == "0" {
                    set.extend([(LEVEL, "1".into()), (RAISED_LEVEL, level)]);
                }
            }
            ShellRedirect::OwnFile { .. } => set.push((REAL, real.into_os_string())),
        }
        let is_kept = |name: &OsStr| !set.iter().map(|(own, _)| own).chain(&removed).any(|own| name == *own);
        let kept = variables.into_iter().filter(|(name, _)| is_kept(name)).collect();
        (set.into_iter().map(|(name, value)| (name.into(), value)).collect(), kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::AgentProgram;

    fn set(word: &str, variables: &[(&str, &str)]) -> Vec<(String, String)> {
        let shell = AgentProgram::routed_as(word).and_then(AgentProgram::own_shell);
        let redirect =
            shell.map_or(ShellRedirect::BashEnv { arguments: &[], has_input: true }, |shell| shell.redirect);
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        let text = |text: OsString| text.into_string().expect("UTF-8");
        let (set, kept) =
            StartedAgent { redirect, word, name: Some(OsStr::new("ci")), pid: 7, cwd: Path::new("/w") }
                .environment(variables.collect(), &ShellLinks::within("/d/pilothouse/shells".into()));
        kept.into_iter().chain(set).map(|(name, value)| (text(name), text(value))).collect()
    }

    fn value<'a>(set: &'a [(String, String)], name: &str) -> Option<&'a str> {
        let mut found = set.iter().filter(|(own, _)| own == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} stands twice");
        value
    }

    #[test]
    fn each_agent_is_started_with_only_the_variables_that_redirect_its_shell() {
        let usual = [("SHELL", "/bin/bash"), ("PATH", "/usr/bin:/bin")];
        let claude = set("claude", &usual);
        assert_eq!(value(&claude, "CLAUDE_CODE_SHELL"), Some("/d/pilothouse/shells/told/bash"));
        assert_eq!(value(&claude, "SHELL"), Some("/bin/bash"));
        assert_eq!(value(&claude, REAL), Some("/bin/bash"));
        assert_eq!(value(&claude, DOOR), Some("/w"));
        assert_eq!(value(&claude, TASK_KIND), Some("agent"));
        assert_eq!((value(&claude, AGENT_NAME), value(&claude, BASH_ENV)), (Some("ci"), None));
        let opencode = set("opencode", &[("SHELL", "/usr/bin/fish")]);
        assert_eq!(value(&opencode, "SHELL"), Some("/d/pilothouse/shells/told/bash"));
        assert!(value(&opencode, REAL).is_some_and(|real| real.ends_with("/bash")));
        let gemini = set("gemini", &usual);
        assert_eq!(value(&gemini, BASH_ENV), Some("/d/pilothouse/shells/bash-env"));
        assert_eq!((value(&gemini, "PATH"), value(&gemini, REAL)), (Some("/usr/bin:/bin"), None));
    }

    #[test]
    fn any_other_agent_is_redirected_by_bash_env_and_the_users_own_bash_env_is_kept() {
        let file = "/d/pilothouse/shells/bash-env";
        let plain = set("aider", &[("SHLVL", "1"), ("PATH", "/bin")]);
        assert_eq!(value(&plain, BASH_ENV), Some(file));
        assert_eq!((value(&plain, STARTED_AGENT), value(&plain, AGENT_PID)), (Some("aider"), Some("7")));
        assert_eq!((value(&plain, OWN_BASH_ENV), value(&plain, RAISED_LEVEL)), (None, None));
        assert_eq!((value(&plain, REAL), value(&plain, "PATH")), (None, Some("/bin")));
        let own = set("aider", &[(BASH_ENV, "$HOME/.bashenv"), ("SHLVL", "0"), (AGENT_PID, "5")]);
        assert_eq!(value(&own, OWN_BASH_ENV), Some("$HOME/.bashenv"));
        assert_eq!(
            (value(&own, LEVEL), value(&own, RAISED_LEVEL), value(&own, AGENT_PID)),
            (Some("1"), Some("0"), Some("7"))
        );
        // One agent within another.
        let nested = set("pi", &[(BASH_ENV, file), (OWN_BASH_ENV, "/h/mine")]);
        assert_eq!((value(&nested, BASH_ENV), value(&nested, OWN_BASH_ENV)), (Some(file), Some("/h/mine")));
    }
}
