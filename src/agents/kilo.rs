//! Kilo.

use super::opencode;
use super::own_shell::{EnvironmentMarks, OwnShell, Trial};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["kilo"],
    start: started_here!("Kilo"),
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
    variables: |model| vec![("KILO_CONFIG_CONTENT", opencode::trial_config(model.url).to_string())],
    ..opencode::TRIAL
};
