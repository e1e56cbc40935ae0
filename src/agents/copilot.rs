//! GitHub Copilot CLI.

use super::own_shell::{EnvironmentMarks, OwnShell, ShellRedirect};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["copilot"],
    start: "Start Copilot CLI with its shell routed through Pilothouse; the arguments that follow are its own",
    loss: "Copilot CLI's rules about its shell no longer apply",
    ..AgentProfile::started("Copilot CLI", SHELL)
};

const SHELL: OwnShell = OwnShell {
    redirect: ShellRedirect::BashEnv { arguments: &["--bash-env=on"] },
    ..OwnShell::bash(EnvironmentMarks {
        session: Some("COPILOT_AGENT_SESSION_ID"),
        ..EnvironmentMarks::named("COPILOT_CLI")
    })
};
