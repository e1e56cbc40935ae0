//! Kilo.

use super::config_file::{ConfigFile, ConfigFolder};
use super::hook::AgentHook;
use super::hook_entry::{HookEntry, HookPassing};
use super::opencode;
use super::own_shell::{EnvironmentMarks, OwnShell, Trial};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["kilo"],
    start: started_here!("Kilo"),
    loss: "Kilo's permissions for `bash` no longer apply",
    hook: Some(HOOK),
    ..AgentProfile::shell_only("Kilo", SHELL)
};

/// It was opencode once, and runs the same plugins.
const HOOK: AgentHook = AgentHook {
    entry: HookEntry {
        file: Some(ConfigFile::new(ConfigFolder::Config, &["kilo/tui.json", "kilo/tui.jsonc"])),
        process: Some(HookPassing::File("KILO_TUI_CONFIG")),
        ..opencode::hook::HOOK.entry
    },
    ..opencode::hook::HOOK
};

const SHELL: OwnShell = OwnShell {
    misses_signals: true,
    trial: Some(TRIAL),
    ..OwnShell::bash(EnvironmentMarks {
        pid: Some("KILO_PID"),
        ..EnvironmentMarks::of_program("KILO_RUN_ID")
    })
};

/// It was opencode once, and takes the same settings.
const TRIAL: Trial = Trial {
    variables: |model| vec![("KILO_CONFIG_CONTENT", opencode::trial_config(model.url).to_string())],
    ..opencode::TRIAL
};
