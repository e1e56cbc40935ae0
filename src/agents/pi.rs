//! pi.

mod hook;

use serde_json::json;

use super::config_file::ConfigFolder::Own;
use super::config_file::{ConfigFile, ShellSetting};
use super::own_shell::{EnvironmentMarks, OwnShell, ScriptedModel, Trial, TrialFile, TrialScreen, words};
use super::profile::AgentProfile;

/// The user's settings.
const SETTINGS: ConfigFile = ConfigFile::new(Own("PI_CODING_AGENT_DIR", ".pi/agent"), &["settings.json"]);

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["pi"],
    start: started_here!("pi"),
    hook: Some(hook::HOOK),
    ..AgentProfile::shell_only("pi", SHELL)
};

const SHELL: OwnShell = OwnShell {
    setting: Some(ShellSetting { file: SETTINGS, keys: &["shellPath"], is_strict: true }),
    trial: Some(TRIAL),
    ..OwnShell::bash(EnvironmentMarks {
        session: Some("PI_SESSION_ID"),
        ..EnvironmentMarks::of_program("PI_CODING_AGENT")
    })
};

const TRIAL: Trial = Trial {
    tools: &["bash"],
    arguments: |model| [words(&["-p"]), trial(model)].concat(),
    screen: Some(TrialScreen::new(trial)),
    unset: &[],
    variables: |_| vec![("PI_OFFLINE", "1".to_owned()), ("PI_SKIP_VERSION_CHECK", "1".to_owned())],
    // Providers are added by extensions (its docs/custom-provider.md).
    settings: Some(TrialFile {
        ending: "js",
        variable: None,
        text: |model| {
            let provider = json!({
                "baseUrl": format!("{}/v1", model.url), "apiKey": "none", "api": "openai-completions",
                "models": [{
                    "id": "m", "name": "m", "reasoning": false, "input": ["text"],
                    "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 },
                    "contextWindow": 100_000, "maxTokens": 4_000,
                }],
            });
            format!("export default function (pi) {{ pi.registerProvider(\"scripted\", {provider}); }}\n")
        },
    }),
};

fn trial(model: ScriptedModel<'_>) -> Vec<String> {
    let file = model.file.to_string_lossy();
    words(&["--extension", &file, "--provider", "scripted", "--model", "m", "--no-session", model.prompt])
}
