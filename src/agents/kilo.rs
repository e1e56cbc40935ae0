//! Kilo.

use super::opencode;
use super::own_shell::{EnvironmentMarks, OwnShell, Trial, TrialScreen, words};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["kilo"],
    start: "Start Kilo with its shell routed through Pilothouse; the arguments that follow are its own",
    loss: "Kilo's permissions for `bash` no longer apply",
    ..AgentProfile::started("Kilo", SHELL)
};

const SHELL: OwnShell = OwnShell {
    misses_signals: true,
    trial: Some(TRIAL),
    ..OwnShell::bash(EnvironmentMarks { pid: Some("KILO_PID"), ..EnvironmentMarks::named("KILO_RUN_ID") })
};

/// It was opencode once, and takes the same settings.
const TRIAL: Trial = Trial {
    tools: &["bash"],
    arguments: |model| words(&["run", model.prompt]),
    screen: Some(TrialScreen {
        arguments: |model| words(&["--prompt", model.prompt]),
        questions: &[],
        own_terminal: None,
    }),
    unset: &[],
    variables: |model| vec![("KILO_CONFIG_CONTENT", opencode::trial_config(model.url).to_string())],
    settings: None,
};
