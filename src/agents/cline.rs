//! Cline.

use serde_json::json;

use super::own_shell::{EnvironmentMarks, OwnShell, ShellRedirect, Trial, TrialFile, TrialScreen, words};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["cline"],
    start: started_here!("Cline"),
    ..AgentProfile::shell_only("Cline", SHELL)
};

const SHELL: OwnShell = OwnShell {
    // Its commands have a socket as their input.
    redirect: ShellRedirect::BashEnv { arguments: &[], has_input: true },
    trial: Some(TRIAL),
    ..OwnShell::bash(EnvironmentMarks::of_program(""))
};

const TRIAL: Trial = Trial {
    tools: &["run_commands"],
    arguments: |model| words(&["-P", PROVIDER, "-m", "m", model.prompt]),
    screen: Some(TrialScreen::new(|model| words(&["-P", PROVIDER, "-m", "m", "--tui", model.prompt]))),
    unset: &[],
    // Without a hub: one that an earlier start left has the settings of that start.
    variables: |_| {
        vec![("CLINE_TELEMETRY_DISABLED", "1".to_owned()), ("CLINE_SESSION_BACKEND_MODE", "local".to_owned())]
    },
    settings: Some(TrialFile {
        ending: "json",
        variable: Some("CLINE_PROVIDER_SETTINGS_PATH"),
        text: |model| {
            let provider = json!({
                "provider": PROVIDER, "apiKey": "none", "model": "m", "baseUrl": format!("{}/v1", model.url),
            });
            json!({
                "version": 1, "lastUsedProvider": PROVIDER, "modes": {},
                "providers": { PROVIDER: {
                    "settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
                } },
            })
            .to_string()
        },
    }),
};

const PROVIDER: &str = "openai-compatible";
