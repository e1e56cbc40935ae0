//! Evaluates what happened to the command that an agent was asked to run, and why. Pure.

use std::path::{Path, PathBuf};

use super::PATIENCE;
use super::screen::TrialEnd;
use super::start::TrialForm;
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
    /// What became of the command in each form that was tried.
    pub(super) trials: Vec<TrialOutcome>,
}

/// What became of the command in one form of an agent.
#[derive(Debug, Clone)]
pub(super) struct TrialOutcome {
    pub(super) form: TrialForm,
    /// What the command printed.
    pub(super) inside: Option<CommandEnvironment>,
    /// The task in this workspace's recording.
    pub(super) task: Option<String>,
    /// How the agent ended.
    pub(super) end: TrialEnd,
}

impl TrialOutcome {
    /// Returns whether the command was seen to run.
    pub(super) fn is_known(&self) -> bool {
        self.inside.is_some() || self.task.is_some()
    }
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
    /// Whether it had a terminal.
    on_terminal: bool,
    /// Our shell's message about a command that it could not make a task.
    complaint: Option<String>,
}

impl CommandEnvironment {
    /// Returns the command that prints this, after a line with the marker.
    pub(super) fn command(mark: &str) -> String {
        format!(
            "printf '%s\\n' '{mark}' \"task=$PILOTHOUSE_TASK_ID\" \"switch=$PILOTHOUSE_SHELL\" \
             \"run=$XDG_RUNTIME_DIR\" \"state=$XDG_STATE_HOME\"; if test -t 1; then echo terminal=yes; fi"
        )
    }

    /// Parses what the command printed, ignoring what the agent adds.
    pub(super) fn read(text: &str, mark: &str) -> Option<Self> {
        // Some agents give their model a JSON text, in which it is one string.
        let text = text.replace("\\n", "\n");
        let printed = text.lines().skip_while(|line| !line.trim_end().ends_with(mark)).skip(1);
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
            on_terminal: value("terminal").is_some(),
            complaint: text.lines().find_map(|line| Some(line.split_once(PLAINLY)?.1.to_owned())),
        })
    }
}

/// Reports whether an agent's own shell leads here and, if it does not, what is wrong and how to fix it.
pub(super) fn judge(seen: &RoutingEvidence) -> DoctorFinding {
    let RoutingEvidence { agent, started_as, trials, .. } = seen;
    let check = format!("{} shell", agent.as_str());
    let led = trials.iter().find_map(|trial| Some((trial.form, trial.task.as_ref()?)));
    let screen = trials.iter().find(|trial| trial.form == TrialForm::Screen);
    match (led, screen) {
        (Some((TrialForm::Screen, task)), _) => {
            let found = format!(
                "`{started_as}`, in its screen: a command of its own shell was recorded here as {task}"
            );
            Agents.ok(check, found)
        }
        (Some((TrialForm::Prompt, task)), Some(screen)) => {
            let (why, fix) = unknown(*agent, screen);
            let found = format!(
                "`{started_as}`, with a single prompt: a command of its own shell was recorded here as {task}; \
                 its screen is not known: {why}"
            );
            Agents.note(check, found).fix(fix)
        }
        (Some((TrialForm::Prompt, task)), None) => Agents
            .ok(check, format!("`{started_as}`: a command of its own shell was recorded here as {task}")),
        (None, _) => cause(seen, check),
    }
}

/// Returns why a trial showed nothing, and what to do about it.
fn unknown(agent: AgentProgram, trial: &TrialOutcome) -> (String, String) {
    let word = agent.as_str();
    let by_itself =
        format!("make sure that `{word}` can run commands on its own; then run `pilothouse doctor --agents`");
    match &trial.end {
        TrialEnd::Asks(line) => (
            format!("it asks \"{line}\""),
            format!("answer it once in `{word}`; then `pilothouse doctor --agents`"),
        ),
        TrialEnd::Unfinished(last) => (
            format!(
                "it had not run the command {} s after its last step; it shows: {last}",
                PATIENCE.as_secs()
            ),
            format!("see what `{word}` shows here; then `pilothouse doctor --agents` again"),
        ),
        TrialEnd::Ended(last) => {
            (format!("it did not run the command it was asked to run: {last}"), by_itself)
        }
        TrialEnd::Answered => {
            ("it gave its model something else than what the command printed".to_owned(), by_itself)
        }
    }
}

/// Reports why a command is not on record here, or that this is not known.
fn cause(seen: &RoutingEvidence, check: String) -> DoctorFinding {
    let RoutingEvidence { agent, started_as, trials, .. } = seen;
    let ran = trials.iter().find_map(|trial| trial.inside.as_ref());
    let problem = |(found, fix): (String, String)| Agents.problem(check.clone(), found, fix);
    if let Some(named) = missing(seen) {
        return problem(named);
    }
    let Some(inside) = ran else {
        let is_open =
            |trial: &&TrialOutcome| matches!(trial.end, TrialEnd::Unfinished(_) | TrialEnd::Asks(_));
        let open = trials.iter().find(is_open);
        return match (open, trials.last()) {
            (Some(trial), _) => {
                let (why, fix) = unknown(*agent, trial);
                Agents.note(check, format!("not known: `{started_as}`: {why}")).fix(fix)
            }
            (None, Some(trial)) => {
                let (why, fix) = unknown(*agent, trial);
                problem((format!("`{started_as}`: {why}"), fix))
            }
            (None, None) => Agents.note(check, "not tried"),
        };
    };
    problem(bypass_cause(seen, inside))
}

/// Names the shell or the executor that is not there.
fn missing(seen: &RoutingEvidence) -> Option<(String, String)> {
    let adopt = format!("pilothouse adopt {}", seen.agent.as_str());
    if let Some((path, false)) = &seen.shell {
        return Some((format!("its shell {} does not exist", path.display()), adopt));
    }
    let Some(CodexExecutor { program, is_there: false, falls_back }) = &seen.executor else { return None };
    let then = match falls_back {
        true => "Codex silently runs commands itself (include_local)",
        false => "Codex cannot run any command",
    };
    Some((format!("its executor {} does not exist: {then}", program.display()), adopt))
}

/// Returns why a command that ran did not become a task here, and what to do about it.
fn bypass_cause(
    RoutingEvidence { agent, started_as, shell, .. }: &RoutingEvidence,
    inside: &CommandEnvironment,
) -> (String, String) {
    let word = agent.as_str();
    let adopt = format!("pilothouse adopt {word}");
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
    let own = agent.own_shell();
    let screen = own.and_then(|shell| shell.trial?.screen);
    if let Some(setting) = screen.and_then(|screen| screen.own_terminal).filter(|_| inside.on_terminal) {
        let found =
            format!("`{started_as}`: its screen runs commands on a terminal of its own: not shown here");
        return (found, format!("set `{setting}` to false in its settings"));
    }
    let accepted = own.map_or(&[][..], |shell| shell.accepted_names);
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
            trials: vec![ran(CommandEnvironment::default())],
        }
    }

    /// The command ran in a screen.
    fn ran(inside: CommandEnvironment) -> TrialOutcome {
        TrialOutcome { form: TrialForm::Screen, inside: Some(inside), task: None, end: TrialEnd::Answered }
    }

    fn silent(form: TrialForm, end: TrialEnd) -> TrialOutcome {
        TrialOutcome { form, inside: None, task: None, end }
    }

    fn recorded(form: TrialForm) -> TrialOutcome {
        TrialOutcome { task: Some("task_4k2m9x7a".to_owned()), ..silent(form, TrialEnd::Answered) }
    }

    #[test]
    fn the_output_of_the_command_is_found_among_text_that_an_agent_adds() {
        let printed = "Output: mark-1\ntask=task_1\nswitch=\nrun=/run/user/1\nstate=\nProcess Group PGID: 7";
        let inside = CommandEnvironment::read(printed, "mark-1").expect("read");
        assert_eq!((inside.task.as_str(), inside.run.as_str()), ("task_1", "/run/user/1"));
        let within = r#"[{"query":"printf 'mark-1' \"task=$X\"","result":"mark-1\ntask=task_2\nswitch=\nrun=\nstate=\n"}]"#;
        assert_eq!(CommandEnvironment::read(within, "mark-1").expect("read").task, "task_2");
        assert_eq!(CommandEnvironment::read("sh: no such command: mark-1", "mark-1"), None);
        assert!(CommandEnvironment::command("mark-1").contains("'mark-1'"));
    }

    #[test]
    fn a_task_on_record_is_the_proof_for_the_form_in_which_it_ran() {
        let proof = judge(&RoutingEvidence { trials: vec![recorded(TrialForm::Screen)], ..seen() });
        assert_eq!(proof.state, FindingState::Ok);
        assert!(proof.found.contains("in its screen") && proof.found.contains("task_4k2m9x7a"));
        let asks = silent(TrialForm::Screen, TrialEnd::Asks("Trust this folder?".to_owned()));
        let half = judge(&RoutingEvidence { trials: vec![asks, recorded(TrialForm::Prompt)], ..seen() });
        assert_eq!(half.state, FindingState::Note);
        assert!(half.found.contains("its screen is not known: it asks \"Trust this folder?\""), "{half:?}");
    }

    #[test]
    fn an_unfinished_trial_leaves_the_routing_unknown_and_is_no_problem() {
        let slow = |form| silent(form, TrialEnd::Unfinished("loading".to_owned()));
        let trials = vec![slow(TrialForm::Screen), slow(TrialForm::Prompt)];
        let finding = judge(&RoutingEvidence { trials, ..seen() });
        assert_eq!(finding.state, FindingState::Note);
        assert!(finding.found.starts_with("not known: `claude`: it had not run the command 60 s after"));
    }

    #[test]
    fn each_mistake_is_named_with_its_cure() {
        let inside = |inside: CommandEnvironment| RoutingEvidence { trials: vec![ran(inside)], ..seen() };
        let ended = || vec![silent(TrialForm::Prompt, TrialEnd::Ended("no key".to_owned()))];
        let text = |text: &str| text.to_owned();
        let cases = [
            (
                RoutingEvidence { shell: Some(("/d/agent-shell".into(), true)), ..seen() },
                "neither bash nor zsh",
                "pilothouse adopt claude",
            ),
            (
                RoutingEvidence { shell: Some(("/gone/bash".into(), false)), trials: ended(), ..seen() },
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
                RoutingEvidence { trials: ended(), ..seen() },
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
            (
                RoutingEvidence {
                    agent: AgentProgram::Gemini,
                    shell: None,
                    ..inside(CommandEnvironment { on_terminal: true, ..CommandEnvironment::default() })
                },
                "its screen runs commands on a terminal of its own: not shown here",
                "tools.shell.enableInteractiveShell",
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
