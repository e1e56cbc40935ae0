//! Qwen Code.

use super::own_shell::{EnvironmentMarks, OwnShell};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["qwen"],
    start: "Start Qwen Code with its shell routed through Pilothouse; the arguments that follow are its own",
    loss: "Qwen Code's sandbox and command confirmation no longer apply",
    ..AgentProfile::started("Qwen Code", OwnShell::bash(EnvironmentMarks::named("QWEN_CODE")))
};
