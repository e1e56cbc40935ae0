//! Evaluates what happened to the command that an agent was asked to run, and why. Pure.

use std::path::{Path, PathBuf};

use crate::agents::AgentProgram;
use crate::dispatch::agents::CodexExecutor;
use crate::dispatch::doctor::finding::Area::Agents;
use crate::dispatch::doctor::finding::DoctorFinding;

/// The start of our shell's message about a command that did not become a task; the reason follows.
const PLAINLY: &str = "runs without Pilothouse: ";

/// What was observed about one agent.
#[derive(Debug, Clone)]
pub(super) struct RoutingEvidence {
    pub(super) agent: AgentProgram,
    /// The command line that started it.
    pub(super) started_as: String,
    /// The shell that its settings or its environment name, and whether that exists.
    pub(super) shell: Option<(PathBuf, bool)>,
    /// The executor that Codex has instead.
    pub(super) executor: Option<CodexExecutor>,
    /// What the command printed.
    pub(super) inside: Option<CommandEnvironment>,
    /// The task in this workspace's recording.
    pub(super) task: Option<String>,
    /// The last line that the agent itself printed.
    pub(super) last_line: String,
}

/// What the command found in its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CommandEnvironment {
    /// `PILOTHOUSE_TASK_ID`: not empty inside a task.
    task: String,
    /// `PILOTHOUSE_SHELL`.
    switch: String,
    /// `XDG_RUNTIME_DIR` and `XDG_STATE_HOME`.
    run: String,
    state: String,
    /// Our shell's message about a command that it could not make a task.
    complaint: Option<String>,
}

impl CommandEnvironment {
    /// Returns the command that prints this, after a line with the marker.
    pub(super) fn command(mark: &str) -> String {
        format!(
            "printf '%s\\n' '{mark}' \"task=$PILOTHOUSE_TASK_ID\" \"switch=$PILOTHOUSE_SHELL\" \
             \"run=$XDG_RUNTIME_DIR\" \"state=$XDG_STATE_HOME\""
        )
    }

    /// Parses what the command printed, ignoring what the agent adds.
    pub(super) fn read(text: &str, mark: &str) -> Option<Self> {
        let printed = text.lines().skip_while(|line| !line.ends_with(mark)).skip(1);
        let lines: Vec<&str> = printed.collect();
        let value = |key: &str| {
            let found = lines.iter().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='));
            found.map(str::to_owned)
        };
        Some(Self {
            task: value("task")?,
            switch: value("switch")?,
            run: value("run")?,
            state: value("state")?,
            complaint: text.lines().find_map(|line| Some(line.split_once(PLAINLY)?.1.to_owned())),
        })
    }
}

/// Reports whether an agent's own shell leads here and, if it does not, what is wrong and how to fix it.
pub(super) fn judge(seen: &RoutingEvidence) -> DoctorFinding {
    let word = seen.agent.as_str();
    let check = format!("{word} shell");
    if let Some(task) = &seen.task {
        let found = format!("`{}`: a command of its own shell was recorded here as {task}", seen.started_as);
        return Agents.ok(check, found);
    }
    let (found, fix) = cause(seen);
    Agents.problem(check, found, fix)
}

fn cause(
    RoutingEvidence { agent, started_as, shell, executor, inside, last_line, .. }: &RoutingEvidence,
) -> (String, String) {
    let word = agent.as_str();
    let adopt = format!("pilothouse adopt {word}");
    if let Some((path, false)) = shell {
        return (format!("its shell {} does not exist", path.display()), adopt);
    }
    if let Some(CodexExecutor { program, is_there: false, falls_back }) = executor {
        let then = match falls_back {
            true => "Codex silently runs commands itself (include_local)",
            false => "Codex cannot run any command",
        };
        return (format!("its executor {} does not exist: {then}", program.display()), adopt);
    }
    let Some(inside) = inside else {
        let found = format!("`{started_as}` did not run the command it was asked to run: {last_line}");
        return (
            found,
            format!(
                "make sure that `{word}` can run commands on its own; then run `pilothouse doctor --agents`"
            ),
        );
    };
    if inside.switch == "off" {
        let found = "its commands bypass Pilothouse: PILOTHOUSE_SHELL is off in its environment";
        return (found.to_owned(), "unset PILOTHOUSE_SHELL, also in the agent's settings".to_owned());
    }
    if !inside.task.is_empty() {
        let CommandEnvironment { task, run, state, .. } = inside;
        let found = format!(
            "its command became {task} of another runtime: XDG_RUNTIME_DIR is {run:?} there, XDG_STATE_HOME {state:?}"
        );
        return (
            found,
            "give the agent the XDG_RUNTIME_DIR and XDG_STATE_HOME that you have here".to_owned(),
        );
    }
    if let Some(complaint) = &inside.complaint {
        return (format!("its command ran without Pilothouse: {complaint}"), "pilothouse doctor".to_owned());
    }
    let accepted = agent.own_shell().map_or(&[][..], |shell| shell.accepted_names);
    match shell {
        Some((path, _)) if !is_accepted(accepted, path) => {
            let found = format!(
                "{} ignores the shell {}: its name contains neither {}",
                agent.profile().name,
                path.display(),
                accepted.join(" nor ")
            );
            (found, adopt)
        }
        Some((path, _)) => {
            (format!("its commands do not become tasks, though its shell is {}", path.display()), adopt)
        }
        None => {
            let found = format!("`{started_as}` runs its commands itself, without Pilothouse");
            (found, format!("check that PATH and the settings of {word} name no other shell"))
        }
    }
}

fn is_accepted(names: &[&str], shell: &Path) -> bool {
    let name = shell.file_name().unwrap_or_default().to_string_lossy();
    names.is_empty() || names.iter().any(|accepted| name.contains(accepted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::doctor::finding::FindingState;

    fn seen() -> RoutingEvidence {
        RoutingEvidence {
            agent: AgentProgram::Claude,
            started_as: "claude".to_owned(),
            shell: Some(("/d/told/bash".into(), true)),
            executor: None,
            inside: Some(CommandEnvironment::default()),
            task: None,
            last_line: "no key".to_owned(),
        }
    }

    #[test]
    fn what_the_command_prints_is_read_among_what_an_agent_adds() {
        let printed = "Output: mark-1\ntask=task_1\nswitch=\nrun=/run/user/1\nstate=\nProcess Group PGID: 7";
        let inside = CommandEnvironment::read(printed, "mark-1").expect("read");
        assert_eq!((inside.task.as_str(), inside.run.as_str()), ("task_1", "/run/user/1"));
        assert_eq!(CommandEnvironment::read("sh: no such command: mark-1", "mark-1"), None);
        assert!(CommandEnvironment::command("mark-1").contains("'mark-1'"));
    }

    #[test]
    fn a_task_on_record_is_the_proof() {
        let finding =
            judge(&RoutingEvidence { task: Some("task_4k2m9x7a".to_owned()), inside: None, ..seen() });
        assert_eq!(finding.state, FindingState::Ok);
        assert!(finding.found.contains("task_4k2m9x7a"));
    }

    #[test]
    fn each_mistake_is_named_with_its_cure() {
        let inside = |inside: CommandEnvironment| RoutingEvidence { inside: Some(inside), ..seen() };
        let text = |text: &str| text.to_owned();
        let cases = [
            (
                RoutingEvidence { shell: Some(("/d/agent-shell".into(), true)), ..seen() },
                "neither bash nor zsh",
                "pilothouse adopt claude",
            ),
            (
                RoutingEvidence { shell: Some(("/gone/bash".into(), false)), inside: None, ..seen() },
                "/gone/bash does not exist",
                "pilothouse adopt claude",
            ),
            (
                inside(CommandEnvironment { switch: text("off"), ..CommandEnvironment::default() }),
                "PILOTHOUSE_SHELL is off",
                "unset PILOTHOUSE_SHELL",
            ),
            (
                inside(CommandEnvironment {
                    task: text("task_1"),
                    run: text("/elsewhere"),
                    ..CommandEnvironment::default()
                }),
                "task_1 of another runtime: XDG_RUNTIME_DIR is \"/elsewhere\"",
                "XDG_RUNTIME_DIR",
            ),
            (
                inside(CommandEnvironment {
                    complaint: Some(text("no runtime")),
                    ..CommandEnvironment::default()
                }),
                "ran without Pilothouse: no runtime",
                "pilothouse doctor",
            ),
            (
                RoutingEvidence { inside: None, ..seen() },
                "did not run the command it was asked to run: no key",
                "doctor",
            ),
            (
                RoutingEvidence {
                    agent: AgentProgram::Codex,
                    shell: None,
                    executor: Some(CodexExecutor {
                        program: "/gone/pilothouse".into(),
                        is_there: false,
                        falls_back: true,
                    }),
                    ..seen()
                },
                "/gone/pilothouse does not exist: Codex silently runs commands itself",
                "pilothouse adopt codex",
            ),
            (seen(), "do not become tasks", "pilothouse adopt claude"),
            (
                RoutingEvidence { shell: None, ..seen() },
                "runs its commands itself, without Pilothouse",
                "PATH",
            ),
        ];
        for (seen, found, fix) in cases {
            let finding = judge(&seen);
            assert_eq!(finding.state, FindingState::Problem, "{seen:?}");
            assert!(finding.found.contains(found), "{finding:?}");
            assert!(finding.fix.as_deref().is_some_and(|told| told.contains(fix)), "{finding:?}");
        }
    }
}
