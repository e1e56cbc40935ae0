//! Qwen Code.

use super::own_shell::{EnvironmentMarks, OwnShell, ScriptedModel, Trial, TrialScreen, words};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["qwen"],
    start: "Start Qwen Code with its shell routed through Pilothouse; the arguments that follow are its own",
    loss: "Qwen Code's sandbox and command confirmation no longer apply",
    ..AgentProfile::started("Qwen Code", SHELL)
};

const SHELL: OwnShell =
    OwnShell { trial: Some(TRIAL), ..OwnShell::bash(EnvironmentMarks::named("QWEN_CODE")) };

const TRIAL: Trial = Trial {
    tools: &["run_shell_command"],
    arguments: |model| trial(model, "-p"),
    screen: Some(TrialScreen {
        arguments: |model| trial(model, "-i"),
        questions: &[],
        own_terminal: Some("tools.shell.enableInteractiveShell"),
    }),
    unset: &[],
    variables: |_| Vec::new(),
    settings: None,
};

fn trial(model: ScriptedModel<'_>, form: &str) -> Vec<String> {
    let url = format!("{}/v1", model.url);
    let openai = ["--auth-type", "openai", "--openai-api-key", "none", "--openai-base-url", &url, "-m", "m"];
    words(&[&openai[..], &["--approval-mode", "yolo", form, model.prompt]].concat())
}
