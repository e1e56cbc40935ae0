//! Kilo.

use super::own_shell::{EnvironmentMarks, OwnShell};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["kilo"],
    start: "Start Kilo with its shell routed through Pilothouse; the arguments that follow are its own",
    loss: "Kilo's permissions for `bash` no longer apply",
    ..AgentProfile::started("Kilo", SHELL)
};

const SHELL: OwnShell = OwnShell::bash(EnvironmentMarks::named("KILO_RUN_ID"));
