//! `config path|show|check`: the location of the settings, their effective values, and faults in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::code::Code;
use super::command::{CommandReach, Danger, EffectOutput, Example, LocalCommand, NoInput};
use super::context::CommandContext;
use super::response::Failure;
use crate::config::{FILE, Fault, Faults, KEYS_FILE, LoadedSettings, Origin, THEMES_FOLDER, WORKSPACE_FILE};
use crate::paths::Places;

/// Turns the faults of files into one failure that names each.
pub fn invalid_settings(faults: &[Fault]) -> Failure {
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Failure::new(Code::ConfigInvalid, format!("The settings cannot be used.\n{}", lines.join("\n")))
        .fix(settings_fix(faults))
        .with("faults", json!(faults))
}

/// Returns what mends such files.
pub(super) fn settings_fix(faults: &[Fault]) -> &'static str {
    if faults.iter().any(|fault| fault.line.is_some()) {
        "correct that line; on a terminal, `pilothouse config edit` opens the settings"
    } else {
        "let this user read that file and nobody else write it, or move it away"
    }
}

pub(super) struct ConfigPath;

/// The paths of the files, whether they exist or not.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConfigPathOutput {
    /// Path of the settings.
    config: String,
    /// Whether that file exists.
    exists: bool,
    /// Path of the changed keys.
    keys: String,
    /// Path of your own themes.
    themes: String,
    /// Path of the limits that this workspace lowers.
    workspace: String,
}

impl ConfigPathOutput {
    fn of(places: &Places) -> Self {
        let config = places.config_dir.join(FILE);
        let text = |path: std::path::PathBuf| path.display().to_string();
        Self {
            exists: config.exists(),
            config: text(config),
            keys: text(places.config_dir.join(KEYS_FILE)),
            themes: text(places.config_dir.join(THEMES_FOLDER)),
            workspace: text(places.workspace.join(WORKSPACE_FILE)),
        }
    }
}

impl LocalCommand for ConfigPath {
    const PATH: &'static str = "config.path";
    const IS_DATA: bool = true;
    const ABOUT: &'static str = "Print the paths of the settings";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[Example { about: "Find the file to edit", input: "{}" }];

    type Input = NoInput;
    type Output = ConfigPathOutput;

    async fn run(cx: &mut CommandContext, _input: NoInput) -> Result<ConfigPathOutput, Failure> {
        Ok(ConfigPathOutput::of(&cx.host.places()?))
    }

    fn text(output: &ConfigPathOutput) -> String {
        output.config.clone()
    }
}

pub(super) struct ConfigShow;

/// The settings to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigShowInput {
    /// Show only keys that begin with this, e.g. `limits`.
    prefix: Option<String>,
    /// Show only settings that differ from the defaults.
    #[serde(default)]
    changed: bool,
}

/// The settings in effect in this workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConfigShowOutput {
    /// Every setting.
    settings: Vec<Setting>,
}

/// One setting.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Setting {
    /// Its key, with its table.
    key: String,
    /// Its value in TOML.
    value: String,
    /// The source: `default`, or a file and line.
    from: String,
}

impl LocalCommand for ConfigShow {
    const PATH: &'static str = "config.show";
    const ABOUT: &'static str = "Print the settings in effect here and the source of each";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "See all settings", input: "{}" },
        Example { about: "See the changed settings", input: r#"{"changed":true}"# },
    ];

    type Input = ConfigShowInput;
    type Output = ConfigShowOutput;

    async fn run(cx: &mut CommandContext, input: ConfigShowInput) -> Result<ConfigShowOutput, Failure> {
        let places = cx.host.places()?;
        let loaded = LoadedSettings::read(&places.config_dir, &places.workspace)
            .map_err(|Faults(faults)| invalid_settings(&faults))?;
        let prefix = input.prefix.unwrap_or_default();
        let wanted = |key: &str, origin: &Origin| {
            key.starts_with(&prefix) && !(input.changed && *origin == Origin::Default)
        };
        let settings = loaded.values().into_iter().filter(|(key, _, origin)| wanted(key, origin));
        let settings = settings.map(|(key, value, origin)| Setting {
            key,
            value,
            from: match origin {
                Origin::Default => "default".into(),
                Origin::File(file, line) => format!("{}:{line}", file.display()),
            },
        });
        Ok(ConfigShowOutput { settings: settings.collect() })
    }

    fn text(output: &ConfigShowOutput) -> String {
        let width = |part: fn(&Setting) -> &str| {
            output.settings.iter().map(|setting| part(setting).chars().count()).max().unwrap_or(0)
        };
        let (keys, values) = (width(|setting| &setting.key), width(|setting| &setting.value));
        let line = |setting: &Setting| {
            let Setting { key, value, from } = setting;
            format!("{key:<keys$} = {value:<values$}  # {from}")
        };
        output.settings.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

pub(super) struct ConfigCheck;

/// The result of a check.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConfigCheckOutput {
    /// The files that exist and are valid.
    files: Vec<String>,
}

impl LocalCommand for ConfigCheck {
    const PATH: &'static str = "config.check";
    const ABOUT: &'static str = "Check settings, keys and themes; report every fault with file and line";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[Example { about: "Check before starting", input: "{}" }];

    type Input = NoInput;
    type Output = ConfigCheckOutput;

    async fn run(cx: &mut CommandContext, _input: NoInput) -> Result<ConfigCheckOutput, Failure> {
        let places = cx.host.places()?;
        let mut faults = match LoadedSettings::read(&places.config_dir, &places.workspace) {
            Ok(loaded) => loaded.aside,
            Err(Faults(faults)) => faults,
        };
        let (files, console) = cx.host.check_console_files()?;
        faults.extend(console);
        let own = [places.config_dir.join(FILE), places.workspace.join(WORKSPACE_FILE)];
        let own = own.into_iter().filter(|path| path.exists()).map(|path| path.display().to_string());
        if !faults.is_empty() {
            return Err(invalid_settings(&faults));
        }
        Ok(ConfigCheckOutput { files: own.chain(files).collect() })
    }

    fn text(output: &ConfigCheckOutput) -> String {
        match output.files.as_slice() {
            [] => "There are no such files; the defaults apply.".to_owned(),
            files => format!("No faults in {}.", files.join(", ")),
        }
    }
}

/// `config edit`: opens `config.toml` in the user's editor.
pub(super) struct ConfigEdit;

impl LocalCommand for ConfigEdit {
    const PATH: &'static str = "config.edit";
    const ABOUT: &'static str = "Edit the settings in $VISUAL or $EDITOR; a new file lists all defaults";
    const DANGER: Danger = Danger::Mutating;
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[Example { about: "Change a setting", input: "{}" }];
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = NoInput;
    type Output = EffectOutput;

    async fn dry_run(cx: &mut CommandContext, _input: NoInput) -> Result<serde_json::Value, Failure> {
        let file = cx.host.places()?.config_dir.join(FILE).display().to_string();
        Ok(json!({ "effect": "would_edit", "file": file }))
    }
}
