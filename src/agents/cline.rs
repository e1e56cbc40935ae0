//! Cline.

use super::own_shell::{EnvironmentMarks, OwnShell};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["cline"],
    start: "Start Cline with its shell routed through Pilothouse; the arguments that follow are its own",
    ..AgentProfile::started("Cline", OwnShell::bash(EnvironmentMarks::named("")))
};
