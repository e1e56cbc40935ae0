//! Decides whether a call of an agent's shell becomes a task or goes straight to the real shell. Pure, and run before
//! any other initialisation.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use crate::agents::AgentProgram;
use crate::process::environment::COMMAND;

/// The variable with the program of an agent that was started here, in calls that `BASH_ENV` leads here.
pub const STARTED_AGENT: &str = "PILOTHOUSE_AGENT";
/// The long options of bash that go along with a script, and those that take a file.
const LONG: [&str; 9] =
    ["debugger", "login", "noediting", "noprofile", "norc", "posix", "pretty-print", "restricted", "verbose"];
const LONG_WITH_FILE: [&str; 2] = ["init-file", "rcfile"];

/// The inputs of the decision.
#[derive(Debug, Clone, Copy)]
pub struct RouteFacts<'a> {
    /// The arguments of the shell, without its name.
    pub args: &'a [OsString],
    /// Which of its standard streams are a terminal.
    pub terminal: TerminalStreams,
    /// The kind of the enclosing task, from the environment.
    pub task_kind: Option<&'a OsStr>,
    /// `PILOTHOUSE_SHELL`.
    pub switch: Option<&'a OsStr>,
    /// What the environment says about the agent.
    pub marks: MarkedAgent,
}

/// Which of a call's standard streams are a terminal, and whose that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TerminalStreams {
    #[default]
    None,
    /// Some, and the call is not the first process on that terminal: a person's, or that of another program.
    Shared,
    /// All three, and the call is the first process on that terminal, which an agent has made for it.
    Own,
    /// As `Own`, but not all three.
    Partly,
}

impl TerminalStreams {
    /// Tells whether a call that has them can be the agent's own.
    fn may_be_own(self, marks: MarkedAgent) -> bool {
        match self {
            Self::None => true,
            Self::Shared => false,
            Self::Own | Self::Partly => marks.agent.is_some() || marks.is_started,
        }
    }
}

/// The agent identified by an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MarkedAgent {
    /// Which agent it is, if any.
    pub agent: Option<AgentProgram>,
    /// Whether it was started here, by whatever program, and `BASH_ENV` has handed over the call.
    pub is_started: bool,
    /// Whether the call is made for the model rather than for the agent itself. Only Claude Code distinguishes the
    /// two.
    pub for_model: bool,
}

/// The environment variables that agents set for the processes they start.
#[derive(Debug, Clone, Copy)]
pub struct AgentMarks<'a, F: Fn(&str) -> Option<&'a OsStr>>(pub F);

impl<'a, F: Fn(&str) -> Option<&'a OsStr>> AgentMarks<'a, F> {
    /// Identifies the agent. One that was started here says which it is. If several others are nested, there is no
    /// telling which was started last: those that set their variables only for their own calls take precedence.
    pub fn read(&self) -> MarkedAgent {
        let is_set = |name: &str| (self.0)(name).is_some_and(|value| !value.is_empty());
        if let Some(word) = (self.0)(STARTED_AGENT) {
            let agent = word.to_str().and_then(AgentProgram::routed_as);
            return MarkedAgent { agent, is_started: true, for_model: true };
        }
        // Claude Code, the first, sets its variables for everything below it, also for other agents.
        let mut known =
            AgentProgram::ALL.iter().rev().filter_map(|agent| Some((*agent, agent.own_shell()?.marks)));
        let found = known.find(|(_, marks)| is_set(marks.program));
        let for_model = found.is_none_or(|(_, marks)| marks.for_model.is_none_or(is_set));
        MarkedAgent { agent: found.map(|(agent, _)| agent), is_started: false, for_model }
    }
}

/// The destination of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The real shell, unchanged.
    Through,
    /// The runtime, unless an enclosing task is a command.
    Task,
}

/// Decides where a call goes. The process's ancestors are checked later, and only for calls that would become tasks.
#[must_use]
pub fn decide(facts: RouteFacts<'_>) -> Route {
    let Some(script) = script(facts.args) else { return Route::Through };
    let is_off = facts.switch.is_some_and(|switch| switch == "off");
    let in_command = facts.task_kind.is_some_and(|kind| kind == COMMAND);
    let is_others = !facts.terminal.may_be_own(facts.marks);
    if is_off || in_command || is_others || is_probe(facts, script) {
        return Route::Through;
    }
    Route::Task
}

/// Returns whether an agent runs this for itself.
fn is_probe(facts: RouteFacts<'_>, script: &OsStr) -> bool {
    let shell = facts.marks.agent.and_then(AgentProgram::own_shell);
    !facts.marks.for_model && shell.is_some_and(|shell| (shell.is_probe)(script.as_bytes()))
}

/// Returns the script among the arguments of a shell that runs one (`-c`).
#[must_use]
pub fn script(args: &[OsString]) -> Option<&OsStr> {
    let (mut has_script, mut is_leading) = (false, true);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let text = arg.as_bytes();
        // Long options come first, with one or two dashes.
        let is_long = |known: &[&str]| {
            let name = text.strip_prefix(b"--").or_else(|| text.strip_prefix(b"-"));
            name.is_some_and(|name| known.iter().any(|known| known.as_bytes() == name))
        };
        if is_leading && is_long(&LONG) {
            continue;
        }
        if is_leading && is_long(&LONG_WITH_FILE) {
            rest.next()?;
            continue;
        }
        is_leading = false;
        match text {
            b"--" | b"-" => return rest.next().filter(|_| has_script).map(OsString::as_os_str),
            [b'-', b'-', ..] => return None,
            [b'-' | b'+', letters @ ..] if !letters.is_empty() => {
                if letters.contains(&b's') {
                    return None;
                }
                has_script |= text[0] == b'-' && letters.contains(&b'c');
                for _ in letters.iter().filter(|letter| matches!(letter, b'o' | b'O')) {
                    rest.next()?;
                }
            }
            _ => return has_script.then_some(arg),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(args: &[&str]) -> Vec<OsString> {
        args.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_script_is_found_among_the_options_and_only_there() {
        for (args, expected) in [
            (&["-c", "ls"][..], Some("ls")),
            (&["-c", "ls", "name", "-c"], Some("ls")),
            (&["-c", "-l", "ls"], Some("ls")),
            (&["-lc", "ls"], Some("ls")),
            (&["-l", "-c", "ls"], Some("ls")),
            (&["-eo", "pipefail", "-c", "ls"], Some("ls")),
            (&["-c", "--", "-x"], Some("-x")),
            (&["-c"], None),
            (&["script.sh", "-c", "ls"], None),
            (&["--rcfile", "x", "-c", "ls"], Some("ls")),
            (&["--norc", "--noprofile", "-c", "ls"], Some("ls")),
            (&["--posix", "-o", "pipefail", "+O", "extglob", "-c", "--", "ls", "name"], Some("ls")),
            (&["-login", "-c", "ls"], Some("ls")),
            (&["-ic", "ls"], Some("ls")),
            (&["-i", "-c", "ls"], Some("ls")),
            (&["-c", "--norc", "ls"], None),
            (&["--version", "-c", "ls"], None),
            (&["--norc", "script.sh"], None),
            (&["-s"], None),
            (&[], None),
        ] {
            assert_eq!(script(&words(args)), expected.map(OsStr::new), "{args:?}");
        }
    }

    const CALL: MarkedAgent =
        MarkedAgent { agent: Some(AgentProgram::Claude), is_started: false, for_model: true };
    const OWN: MarkedAgent =
        MarkedAgent { agent: Some(AgentProgram::Claude), is_started: false, for_model: false };

    #[test]
    fn a_call_with_a_models_command_becomes_a_task_and_others_go_to_the_real_shell() {
        let args = words(&["-c", "ls"]);
        let call = RouteFacts {
            args: &args,
            terminal: TerminalStreams::None,
            task_kind: None,
            switch: None,
            marks: CALL,
        };
        assert_eq!(decide(call), Route::Task);
        assert_eq!(decide(RouteFacts { task_kind: Some(OsStr::new("agent")), ..call }), Route::Task);
        assert_eq!(decide(RouteFacts { marks: MarkedAgent::default(), ..call }), Route::Task);
        let probe = words(&["-c", "env"]);
        let snapshot = words(&["-c", "-l", "SNAPSHOT_FILE=/x\n# …"]);
        for through in [
            RouteFacts { args: &[], ..call },
            RouteFacts { terminal: TerminalStreams::Shared, ..call },
            RouteFacts { terminal: TerminalStreams::Own, marks: MarkedAgent::default(), ..call },
            RouteFacts { task_kind: Some(OsStr::new("command")), ..call },
            RouteFacts { switch: Some(OsStr::new("off")), ..call },
            RouteFacts { args: &probe, marks: OWN, ..call },
            RouteFacts { args: &snapshot, marks: OWN, ..call },
        ] {
            assert_eq!(decide(through), Route::Through, "{through:?}");
        }
        for terminal in [TerminalStreams::Own, TerminalStreams::Partly] {
            assert_eq!(
                decide(RouteFacts { terminal, ..call }),
                Route::Task,
                "the agent made it for this call"
            );
            let aider = MarkedAgent { agent: None, is_started: true, for_model: true };
            assert_eq!(decide(RouteFacts { terminal, marks: aider, ..call }), Route::Task);
        }
        assert_eq!(decide(RouteFacts { args: &probe, ..call }), Route::Task, "a model may write that, too");
    }

    #[test]
    fn an_agent_is_known_by_its_marks() {
        let read = |names: &'static [&'static str]| {
            AgentMarks(move |name: &str| names.contains(&name).then_some(OsStr::new("1"))).read()
        };
        assert_eq!(read(&["CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION"]), CALL);
        assert_eq!(read(&["CLAUDECODE"]), OWN);
        assert_eq!(read(&["OPENCODE"]).agent, Some(AgentProgram::Opencode));
        let kilo = MarkedAgent { agent: Some(AgentProgram::Kilo), ..CALL };
        assert_eq!(
            read(&["KILO_RUN_ID", "OPENCODE"]),
            kilo,
            "it also sets the mark of the one it comes from"
        );
        assert_eq!(read(&[]), MarkedAgent { agent: None, ..CALL });
        let started = |word: &'static str| {
            AgentMarks(move |name: &str| match name {
                STARTED_AGENT => Some(OsStr::new(word)),
                "CLAUDECODE" => Some(OsStr::new("1")),
                _ => None,
            })
            .read()
        };
        assert_eq!(started("copilot").agent, Some(AgentProgram::Copilot));
        assert_eq!(started("aider"), MarkedAgent { agent: None, is_started: true, for_model: true });
    }
}
