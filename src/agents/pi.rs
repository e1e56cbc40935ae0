//! pi.

use super::config_file::ConfigFolder::Own;
use super::config_file::{ConfigFile, ShellSetting};
use super::own_shell::{EnvironmentMarks, OwnShell};
use super::profile::AgentProfile;

/// The user's settings.
const SETTINGS: ConfigFile = ConfigFile::new(Own("PI_CODING_AGENT_DIR", ".pi/agent"), &["settings.json"]);

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["pi"],
    start: "Start pi with its shell routed through Pilothouse; the arguments that follow are its own",
    ..AgentProfile::started("pi", SHELL)
};

const SHELL: OwnShell = OwnShell {
    setting: Some(ShellSetting { file: SETTINGS, keys: &["shellPath"] }),
    ..OwnShell::bash(EnvironmentMarks::named("PI_CODING_AGENT"))
};
