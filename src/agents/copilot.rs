//! GitHub Copilot CLI.

use super::own_shell::{
    EnvironmentMarks, OwnShell, ScreenQuestion, ShellRedirect, Trial, TrialScreen, words,
};
use super::profile::AgentProfile;

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["copilot"],
    start: "Start Copilot CLI with its shell routed through Pilothouse; the arguments that follow are its own",
    loss: "Copilot CLI's rules about its shell no longer apply",
    ..AgentProfile::started("Copilot CLI", SHELL)
};

const SHELL: OwnShell = OwnShell {
    redirect: ShellRedirect::BashEnv { arguments: &["--bash-env=on"] },
    trial: Some(TRIAL),
    ..OwnShell::bash(EnvironmentMarks {
        session: Some("COPILOT_AGENT_SESSION_ID"),
        ..EnvironmentMarks::named("COPILOT_CLI")
    })
};

const TRIAL: Trial = Trial {
    tools: &["bash"],
    arguments: |model| words(&["-p", model.prompt, "--allow-all"]),
    screen: Some(TrialScreen {
        arguments: |model| words(&["-i", model.prompt, "--allow-all"]),
        // The first answer, which is chosen, holds for this session.
        questions: &[ScreenQuestion { shows: "Do you trust the files in this folder?", keys: Some("\r") }],
        own_terminal: None,
    }),
    unset: &[],
    variables: |model| {
        vec![
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url)),
            ("COPILOT_PROVIDER_API_KEY", "none".to_owned()),
            ("COPILOT_MODEL", "gpt-4.1".to_owned()),
        ]
    },
    settings: None,
};
