//! `pilothouse claude`, `copilot`, …, and `pilothouse with` for any other program: starts the agent unchanged, with its
//! shell redirected here, for this process only; `codex` is started if its own file already redirects its commands here.
//! Runs before the command line is parsed: everything after the agent's name belongs to the agent.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::announce::announce;
use super::launch_environment::{StartedAgent, Variable};
use super::launch_settings::OwnSettings;
use super::print;
use crate::agents::{AgentProgram, CODEX_ENVIRONMENTS, ConfigFile, ConfigFolder, HookPassing, ShellRedirect};
use crate::dispatch::{StartAnyInput, own_command};
use crate::files::{self, Links};
use crate::process::{HookFiles, ShellLinks, become_program, is_shell_link};

/// The exit code for an unmet precondition, as in all commands.
const PRECONDITION: u8 = 4;
/// How an agent of which nothing is known is led here.
const ANY_AGENT: ShellRedirect = ShellRedirect::BashEnv { arguments: &[], has_input: true };

/// A command line that starts an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AgentStart<'a> {
    /// What is known about its program.
    agent: Option<AgentProgram>,
    /// The name the user gave it.
    name: Option<&'a OsStr>,
    /// Its program, as typed.
    program: &'a OsStr,
    /// Its arguments.
    args: &'a [OsString],
}

impl<'a> AgentStart<'a> {
    /// Reads the words after the name of this program; `None` if they start no agent.
    fn read(words: &'a [OsString]) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        if first != "with" {
            let agent = AgentProgram::routed_as(first.to_str()?)?;
            let is_ours = rest.first().is_some_and(|word| word == "--schema");
            return (!is_ours).then_some(Self { agent: Some(agent), name: None, program: first, args: rest });
        }
        let (mut name, mut rest) = (None, rest);
        let (program, args) = loop {
            let (word, after) = rest.split_first()?;
            match word.to_str() {
                Some("--") => break after.split_first()?,
                Some("--name") => {
                    (name, rest) = after.split_first().map(|(name, after)| (Some(name.as_os_str()), after))?
                }
                Some(text) if text.starts_with("--name=") => {
                    (name, rest) = (text.strip_prefix("--name=").map(OsStr::new), after);
                }
                Some(text) if text.starts_with('-') => return None,
                _ => break (word, after),
            }
        };
        let agent = Path::new(program).file_name().and_then(OsStr::to_str).and_then(AgentProgram::routed_as);
        Some(Self { agent, name, program, args })
    }

    /// Returns the name of its program.
    fn word(&self) -> &str {
        let file = || Path::new(self.program).file_name().and_then(OsStr::to_str);
        self.agent.map(AgentProgram::as_str).or_else(file).unwrap_or("agent")
    }
}

/// How a process runs our hook.
#[derive(Debug, Default)]
struct HookStart {
    /// The arguments that it needs for that.
    arguments: Vec<OsString>,
    /// Those of its user that they replace.
    replaced: Range<usize>,
    variables: Vec<Variable>,
}

/// Starts an agent if the first argument names one.
pub(super) fn run(argv: &[OsString]) -> Option<ExitCode> {
    let start = AgentStart::read(argv.get(1..)?)?;
    Some(match start.become_it() {
        Ok(code) => code,
        Err(error) => {
            let _ = print::say(format_args!("start {}: {error}", start.word()));
            ExitCode::FAILURE
        }
    })
}

/// Starts an agent that was described as JSON. Returns only if it could not be started.
pub(super) fn start(StartAnyInput { command, name }: StartAnyInput) -> Option<ExitCode> {
    let name = name.map(|name| format!("--name={name}"));
    let words = ["pilothouse", "with"].map(str::to_owned).into_iter().chain(name).chain(["--".to_owned()]);
    run(&words.chain(command).map(OsString::from).collect::<Vec<_>>())
}

impl AgentStart<'_> {
    fn become_it(&self) -> io::Result<ExitCode> {
        let redirect = self.agent.and_then(AgentProgram::own_shell).map_or(ANY_AGENT, |shell| shell.redirect);
        if let ShellRedirect::OwnFile { unless } = redirect
            && !is_codex_adopted()
        {
            let _ = print::say(unless);
            return Ok(ExitCode::from(PRECONDITION));
        }
        let is_in_service = self.is_in_service();
        if is_in_service && self.own_settings() == OwnSettings::Unclear && !self.is_adopted() {
            let word = self.word();
            let _ = print::say(format_args!(
                "this session would run in a service of {word}'s, where only settings lead its shell here, and what \
                 --settings gives is not one JSON object: its commands would pass by Pilothouse. Leave --settings out, \
                 or run `pilothouse adopt {word}` first"
            ));
            return Ok(ExitCode::from(PRECONDITION));
        }
        let Ok(program) = which::which(self.program) else {
            let place =
                if Path::new(self.program).components().count() > 1 { "a program" } else { "in your PATH" };
            let _ = print::say(format_args!("{} is not {place}", self.program.to_string_lossy()));
            return Ok(ExitCode::from(PRECONDITION));
        };
        let links =
            ShellLinks::of_user().ok_or_else(|| io::Error::other("neither HOME nor XDG_DATA_HOME is set"))?;
        links.make(&std::env::current_exe()?)?;
        let cwd = std::env::current_dir()?;
        let (word, name, pid) = (self.word(), self.name, std::process::id());
        let started = StartedAgent { redirect, word, name, pid, cwd: &cwd };
        let (mut routing, mut variables) = started.environment(std::env::vars_os().collect(), &links);
        if !is_in_service {
            announce(&cwd, word, name.and_then(OsStr::to_str));
        }
        let hook = self.hook(&mut routing).unwrap_or_default();
        variables.retain(|(name, _)| hook.variables.iter().all(|(own, _)| own != name));
        variables.extend(routing.into_iter().chain(hook.variables));
        let needed = arguments(redirect, self.args).into_iter().chain(hook.arguments);
        let own = std::iter::once(self.program.to_owned()).chain(needed);
        let given = self.args.iter().enumerate().filter(|(at, _)| !hook.replaced.contains(at));
        let args: Vec<OsString> = own.chain(given.map(|(_, word)| word.clone())).collect();
        Err(become_program(&program, &args, &variables))
    }

    /// Returns how its process is configured to run our hook.
    fn passing(&self) -> Option<HookPassing> {
        self.agent?.hook()?.entry.process
    }

    fn is_given(&self, name: &str) -> bool {
        self.args
            .iter()
            .filter_map(|word| word.to_str()?.strip_prefix(name))
            .any(|rest| rest.is_empty() || rest.starts_with('='))
    }

    /// Tells whether the session runs in a service of the agent's program, which does not get this process's environment.
    fn is_in_service(&self) -> bool {
        matches!(self.passing(), Some(HookPassing::Settings { in_service, .. })
            if in_service.iter().any(|argument| self.is_given(argument)))
    }

    /// Returns the settings that its user gives.
    fn own_settings(&self) -> OwnSettings {
        match self.passing() {
            Some(HookPassing::Settings { argument, .. }) => OwnSettings::read(self.args, argument),
            _ => OwnSettings::Absent,
        }
    }

    /// Tells whether a file of the agent leads its shell here.
    fn is_adopted(&self) -> bool {
        let setting = self.agent.and_then(|agent| agent.own_shell()?.setting);
        let text = setting.and_then(|setting| read_own(setting.file));
        let settings = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        settings.zip(setting).is_some_and(|(settings, setting)| {
            let named = setting.keys.iter().try_fold(&settings, |within, key| within.get(key));
            named.and_then(Value::as_str).is_some_and(|shell| is_shell_link(Path::new(shell)))
        })
    }

    /// Returns how this process runs our hook, beside what its user has given. An agent that cannot be given it starts without.
    /// Takes the variables of `routing` that its settings hold.
    fn hook(&self, routing: &mut Vec<Variable>) -> Option<HookStart> {
        let (agent, files) =
            self.agent.and_then(|agent| Some((agent, HookFiles::of_user(agent.as_str())?)))?;
        let entry = &agent.hook()?.entry;
        let passing = entry.process?;
        // As in settings that `adopt` has made: an agent runs one hook that stands in both once.
        let own = std::env::current_exe().unwrap_or_else(|_| "pilothouse".into());
        let command = own_command(&own, which::which("pilothouse").ok().as_deref());
        let setup = agent.hook_setup(&command, &files.plugin())?;
        if let Some(text) = &setup.plugin {
            files.write(&files.plugin(), text).ok()?;
        }
        match passing {
            HookPassing::Settings { argument, .. } => {
                let mut settings = setup.settings;
                let held = as_json(routing);
                settings["env"] = held.clone().unwrap_or_default().into();
                let (settings, replaced) = self.own_settings().join(settings)?;
                held.is_some().then(|| routing.clear());
                let arguments = vec![argument.into(), settings.to_string().into()];
                Some(HookStart { arguments, replaced, ..HookStart::default() })
            }
            HookPassing::Plugin(name) => Some(HookStart::by([name.into(), files.plugin().into()])),
            HookPassing::Folder(_) if entry.file.and_then(own_path).is_some_and(|path| path.exists()) => None,
            HookPassing::Folder(name) => {
                let (folder, manifest) = files.folder();
                let hooks = json!({ "name": "pilothouse", "hooks": setup.settings["hooks"] });
                files.write(&manifest, &hooks.to_string()).ok()?;
                Some(HookStart::by([name.into(), folder.into()]))
            }
            HookPassing::File(name) => {
                let path = files.settings();
                let own = std::env::var_os(name).filter(|own| !own.is_empty());
                if own.is_some_and(|own| own != path) {
                    return None;
                }
                files.write(&path, &setup.settings.to_string()).ok()?;
                Some(HookStart { variables: vec![(name.into(), path.into())], ..HookStart::default() })
            }
        }
    }
}

impl HookStart {
    fn by(arguments: [OsString; 2]) -> Self {
        Self { arguments: arguments.into(), ..Self::default() }
    }
}

/// Returns variables as JSON, if all of them are text.
fn as_json(variables: &[Variable]) -> Option<Map<String, Value>> {
    let texts =
        variables.iter().map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.into())));
    texts.collect()
}

/// Returns the arguments that an agent needs in addition to those of its user, who may have given them.
fn arguments(redirect: ShellRedirect, given: &[OsString]) -> Vec<OsString> {
    let needed = if let ShellRedirect::BashEnv { arguments, .. } = redirect { arguments } else { &[] };
    let is_given = |needed: &str| {
        let flag = needed.split('=').next().unwrap_or(needed).trim_start_matches('-');
        given.iter().filter_map(|word| word.to_str()?.strip_prefix("--")).any(|word| {
            let word = word.split('=').next().unwrap_or(word);
            word == flag || word.strip_prefix("no-") == Some(flag)
        })
    };
    needed.iter().filter(|needed| !is_given(needed)).map(OsString::from).collect()
}

/// Returns the path of a file in an agent's own folder.
fn own_path(place: ConfigFile) -> Option<PathBuf> {
    let ConfigFolder::Own(variable, usual) = place.folder else { return None };
    let named = std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(usual)))?;
    Some(folder.join(place.names.first()?))
}

/// The longest file of an agent that is read.
const MOST_BYTES: u64 = 1 << 20;

fn read_own(place: ConfigFile) -> Option<String> {
    files::read_text(&own_path(place)?, Links::Followed, MOST_BYTES).ok()
}

/// Returns whether Codex's own file redirects its commands here.
fn is_codex_adopted() -> bool {
    let settings = read_own(CODEX_ENVIRONMENTS).and_then(|text| text.parse::<toml::Table>().ok());
    settings
        .is_some_and(|settings| settings.get("default").and_then(toml::Value::as_str) == Some("pilothouse"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], judge: impl Fn(Option<AgentStart<'_>>)) {
        judge(AgentStart::read(&words.iter().map(OsString::from).collect::<Vec<_>>()));
    }

    #[test]
    fn arguments_after_the_name_of_an_agent_belong_to_the_agent() {
        let is = |words: &[&str], word: &str, agent, name: Option<&str>, args: usize| {
            read(words, |start| {
                let start = start.expect("an agent");
                let seen = (start.word(), start.agent, start.name, start.args.len());
                assert_eq!(seen, (word, agent, name.map(OsStr::new), args), "{words:?}");
            });
        };
        is(&["claude", "-p", "x"], "claude", Some(AgentProgram::Claude), None, 2);
        is(&["with", "--", "aider", "--name", "x"], "aider", None, None, 2);
        is(&["with", "--name", "ci", "/opt/aider/bin/aider"], "aider", None, Some("ci"), 0);
        is(&["with", "--name=ci", "--", "./pi", "-p"], "pi", Some(AgentProgram::Pi), Some("ci"), 1);
        is(&["with", "npx", "--", "x"], "npx", None, None, 2);
        for none in [
            &["with"][..],
            &["with", "--"],
            &["with", "--name"],
            &["with", "--help"],
            &["with", "--schema"],
            &["task"],
            &[],
        ] {
            read(none, |start| assert_eq!(start, None, "{none:?}"));
        }
    }

    #[test]
    fn an_argument_that_an_agent_needs_is_added_unless_its_user_has_decided() {
        let redirect = ShellRedirect::BashEnv { arguments: &["--bash-env=on"], has_input: false };
        let added =
            |given: &[&str]| arguments(redirect, &given.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(added(&["-p", "x"]), ["--bash-env=on"]);
        for given in ["--bash-env=off", "--bash-env", "--no-bash-env"] {
            assert!(added(&["-p", given]).is_empty(), "{given}");
        }
    }
}
