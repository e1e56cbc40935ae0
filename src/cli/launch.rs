//! `pilothouse claude`, `opencode`, `gemini`: starts the agent unchanged, with its shell redirected here, for this
//! process only; `codex` is started if its own file already redirects its commands here. Runs before the command line
//! is parsed: everything after the agent's name belongs to the agent.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::announce::announce;
use super::print;
use super::shell::{DOOR, REAL};
use crate::agents::{AgentProgram, CODEX_ENVIRONMENTS, ConfigFolder, ShellRedirect};
use crate::files::{self, Links};
use crate::process::environment::TASK_KIND;
use crate::process::{ShellLinks, become_program, kind_of_shell};

/// The exit code for an unmet precondition, as in all commands.
const PRECONDITION: u8 = 4;
/// The task kind that marks commands as an agent's.
const AGENT: &str = "agent";
/// Starts an agent if the first argument names one.
pub(super) fn run(argv: &[OsString]) -> Option<ExitCode> {
    let agent = AgentProgram::routed_as(argv.get(1)?.to_str()?)?;
    let args = argv.get(2..).unwrap_or_default();
    if args.first().is_some_and(|first| first == "--schema") {
        return None;
    }
    Some(match start(agent, args) {
        Ok(code) => code,
        Err(error) => {
            let _ = print::say(format_args!("start {}: {error}", agent.as_str()));
            ExitCode::FAILURE
        }
    })
}

fn start(agent: AgentProgram, args: &[OsString]) -> io::Result<ExitCode> {
    if let Some(ShellRedirect::OwnFile { unless }) = agent.own_shell().map(|shell| shell.redirect)
        && !is_codex_adopted()
    {
        let _ = print::say(unless);
        return Ok(ExitCode::from(PRECONDITION));
    }
    let name = agent.as_str();
    let Ok(program) = which::which(name) else {
        let _ = print::say(format_args!("{name} is not in your PATH"));
        return Ok(ExitCode::from(PRECONDITION));
    };
    let links =
        ShellLinks::of_user().ok_or_else(|| io::Error::other("neither HOME nor XDG_DATA_HOME is set"))?;
    links.make(&std::env::current_exe()?)?;
    let cwd = std::env::current_dir()?;
    let variables = environment(agent, std::env::vars_os().collect(), &links, &cwd);
    announce(&cwd, name, None);
    let args: Vec<OsString> = [OsString::from(name)].into_iter().chain(args.iter().cloned()).collect();
    Err(become_program(&program, &args, &variables))
}

/// The longest file of Codex that is read.
const MOST_BYTES: u64 = 1 << 20;

/// Returns whether Codex's own file redirects its commands here.
fn is_codex_adopted() -> bool {
    let ConfigFolder::Own(variable, usual) = CODEX_ENVIRONMENTS.folder else { return false };
    let named = std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(usual));
    let file = named.or_else(usual).zip(CODEX_ENVIRONMENTS.names.first());
    let text = file
        .and_then(|(folder, name)| files::read_text(&folder.join(name), Links::Followed, MOST_BYTES).ok());
    let settings = text.and_then(|text| text.parse::<toml::Table>().ok());
    settings
        .is_some_and(|settings| settings.get("default").and_then(toml::Value::as_str) == Some("pilothouse"))
}

/// Returns the environment for an agent: the existing one plus the variables that redirect its shell here.
fn environment(
    agent: AgentProgram,
    variables: Vec<(OsString, OsString)>,
    links: &ShellLinks,
    cwd: &Path,
) -> Vec<(OsString, OsString)> {
    let find = |name: &str| variables.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
    let real =
        find("SHELL").map(PathBuf::from).filter(|shell| kind_of_shell(shell).is_some() && shell.is_file());
    let real = real.unwrap_or_else(|| which::which("bash").unwrap_or_else(|_| "/bin/bash".into()));
    let link = links.for_shell(Some(&real)).into_os_string();
    let mut set =
        vec![(REAL, real.into_os_string()), (DOOR, cwd.as_os_str().to_owned()), (TASK_KIND, AGENT.into())];
    match agent.own_shell().map(|shell| shell.redirect) {
        Some(ShellRedirect::Variable(name)) => set.push((name, link)),
        Some(ShellRedirect::Path { .. }) => {
            let path = find("PATH").unwrap_or_default();
            let path = [links.first_in_path().as_os_str().as_bytes(), b":", path.as_bytes()].concat();
            set.push(("PATH", OsStr::from_bytes(&path).to_owned()));
        }
        Some(ShellRedirect::BashEnv { .. } | ShellRedirect::OwnFile { .. }) | None => {}
    }
    let kept = variables.into_iter().filter(|(name, _)| !set.iter().any(|(own, _)| name == *own));
    let kept: Vec<_> = kept.collect();
    kept.into_iter().chain(set.iter().map(|(name, value)| ((*name).into(), value.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(agent: AgentProgram, shell: &str) -> Vec<(String, String)> {
        let variables = vec![("SHELL".into(), shell.into()), ("PATH".into(), "/usr/bin:/bin".into())];
        let text = |text: OsString| text.into_string().expect("UTF-8");
        environment(agent, variables, &ShellLinks::within("/d/pilothouse/shells".into()), Path::new("/w"))
            .into_iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    fn value(set: &[(String, String)], name: &str) -> Option<String> {
        set.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }

    #[test]
    fn each_agent_is_led_here_by_what_it_heeds_and_by_nothing_else() {
        let claude = set(AgentProgram::Claude, "/bin/bash");
        assert_eq!(value(&claude, "CLAUDE_CODE_SHELL").as_deref(), Some("/d/pilothouse/shells/told/bash"));
        assert_eq!(value(&claude, "SHELL").as_deref(), Some("/bin/bash"));
        assert_eq!(value(&claude, REAL).as_deref(), Some("/bin/bash"));
        assert_eq!(value(&claude, DOOR).as_deref(), Some("/w"));
        assert_eq!(value(&claude, TASK_KIND).as_deref(), Some("agent"));
        let opencode = set(AgentProgram::Opencode, "/usr/bin/fish");
        assert_eq!(value(&opencode, "SHELL").as_deref(), Some("/d/pilothouse/shells/told/bash"));
        assert!(value(&opencode, REAL).is_some_and(|real| real.ends_with("/bash")));
        let gemini = set(AgentProgram::Gemini, "/bin/bash");
        assert_eq!(value(&gemini, "PATH").as_deref(), Some("/d/pilothouse/shells/gemini:/usr/bin:/bin"));
        assert_eq!(value(&gemini, "SHELL").as_deref(), Some("/bin/bash"));
    }
}
