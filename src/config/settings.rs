//! The settings in `config.toml`: every key, its meaning and its default.
//!
//! **To add a setting**: add a field here or in [`Limits`] or [`RecordSettings`], with a doc comment and a default, and its
//! line in `assets/config.toml`. The validation of a file, `config show` and the schema are derived from the types. A
//! limit reaches the runtime through [`Settings::limits`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::agents::AgentSettings;
use super::approval::ApprovalRule;
use super::lanes::Lane;
use super::ledger_mode::LedgerMode;
use super::limits::{ConnectionLimits, Limits};
use super::record::RecordSettings;
use super::sessions::SessionSettings;
use super::watch_rule::WatchRule;
use crate::envelope::units::Period;

/// The settings of one user.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The process that runs tasks: `embedded` in the console that starts first, or `background`, so that tasks
    /// continue after the console closes.
    pub runtime: RuntimeMode,
    /// Whether Pilothouse lists the workspace files that differ since each command began: while the check takes little
    /// time (`auto`), always (`on`) or never (`off`). Read when a runtime starts.
    pub ledger: LedgerMode,
    /// Resource limits of one runtime. Read when a runtime starts.
    pub limits: Limits,
    /// Storage and retention of the record. Read when a runtime starts.
    pub record: RecordSettings,
    /// Permissions and limits of agents. Read when a runtime starts.
    pub agents: AgentSettings,
    /// Action taken on tasks whose agent has ended.
    pub services: ServiceSettings,
    /// Handling of commands from agents' own shells. Read when a command starts.
    pub shell: ShellSettings,
    /// Execution of programs. Read when a run starts.
    pub programs: ProgramSettings,
    /// Commands that wait for your approval before they start, each described by one rule. Read again when the
    /// file changes.
    #[schemars(length(max = 100))]
    pub approvals: Vec<ApprovalRule>,
    /// Limits on concurrent commands of one kind, across all your runtimes. Read when a runtime starts.
    #[schemars(length(max = 32))]
    pub lanes: Vec<Lane>,
    /// Environment variables of commands. Read when a runtime starts.
    pub env: EnvSettings,
    /// Machines and containers besides those of `~/.ssh/config`, by name. Read when one is used.
    pub hosts: BTreeMap<String, HostSettings>,
    /// Runtimes that one console may show. Read when a console opens.
    pub fleet: FleetSettings,
    /// Appearance and behaviour of the console. Read again when the file changes.
    pub console: ConsoleSettings,
}

/// Runtimes that one console may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FleetSettings {
    /// On this machine, show only the runtimes in this runtime folder, as with `fleet --here`.
    pub here: bool,
}

/// The process that runs tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeMode {
    /// The console that starts first; tasks end with it.
    #[default]
    Embedded,
    /// A separate process; tasks continue when consoles close.
    Background,
}

/// Action taken on tasks whose agent has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServiceSettings {
    /// Action taken on running tasks whose agent has ended: continue (`keep`), end (`end`; read when a runtime starts),
    /// or continue and wait for your decision (`ask`; read again when the file changes).
    pub on_agent_end: OnAgentEnd,
}

/// Action taken on running tasks whose agent has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnAgentEnd {
    /// The task continues, and the attention list shows it.
    #[default]
    Keep,
    /// Pilothouse ends the task.
    End,
    /// The task continues, and a console asks you.
    Ask,
}

/// Handling of commands from agents' own shells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShellSettings {
    /// Action taken if no runtime is available for such a command: run it without one and print a line that says so
    /// (`plain`), or refuse it (`refuse`).
    pub on_failure: OnFailure,
    /// Agent commands that get a terminal beside their streams, where programs can ask you for a password: all while a
    /// console is open and up to ten minutes after (`attended`), all (`always`) or none (`never`). Read when a runtime
    /// starts.
    pub terminal: SideTerminal,
    /// Maximum time that a program at that terminal waits for your answer; its input then ends. Read when a runtime
    /// starts.
    #[serde(with = "Period")]
    pub ask_within: Duration,
}

impl Default for ShellSettings {
    fn default() -> Self {
        let (terminal, ask_within) = (SideTerminal::default(), Duration::from_secs(90));
        Self { on_failure: OnFailure::default(), terminal, ask_within }
    }
}

/// Agent commands that get a terminal beside their streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SideTerminal {
    /// All commands, while a console is open and for ten minutes after.
    #[default]
    Attended,
    /// All commands.
    Always,
    /// No command.
    Never,
}

/// Action taken on a command if no runtime is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The command runs unobserved.
    #[default]
    Plain,
    /// The command does not run.
    Refuse,
}

/// Execution of programs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramSettings {
    /// Commands of a program that need your approval before they run, unless `run --exec` overrides this.
    pub exec: ExecPolicy,
    /// Folders searched for the programs that `use "@handle/name"` names, as `handle/name.prose`. Absolute paths.
    pub path: Vec<String>,
    /// The answerers of sessions.
    pub sessions: SessionSettings,
}

/// Commands of a program that need a person's approval before they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExecPolicy {
    /// No command: the program runs them all.
    #[default]
    Allow,
    /// Each command once: the answer applies to the same text in the same directory until the run ends.
    Once,
    /// Each command, every time.
    Ask,
}

/// A machine or container reached through a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// The program, with its arguments, that runs the rest of its command line there: `["ssh", "box"]`, `["docker",
    /// "exec", "-i", "web"]`, `["kubectl", "exec", "-i", "pod/x", "--"]`. Its standard input and output must carry
    /// bytes unchanged.
    #[schemars(length(min = 1))]
    pub via: Vec<String>,
    /// The path of `pilothouse` there. Default: the one in PATH, `~/.local/bin` or `~/.cargo/bin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// Environment variables of commands, besides those that Pilothouse always sets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnvSettings {
    /// Variables that commands do not inherit; `*` matches any characters: `*_TOKEN`.
    pub drop: Vec<String>,
    /// Variables that commands inherit although they give access to the terminal multiplexer around the runtime, which
    /// types for any caller: `TMUX*`, `STY`, `ZELLIJ*`, `KITTY_LISTEN_ON`, `WEZTERM*`; and those with a terminal although
    /// they describe another: `TERM_PROGRAM`, `COLUMNS`, `TERMINFO` and the like. `*` matches any characters.
    pub keep: Vec<String>,
    /// Variables to set for commands, regardless of inheritance.
    pub set: BTreeMap<String, String>,
}

/// Appearance and behaviour of the console.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConsoleSettings {
    /// The theme: a built-in one, or the name of a file in `themes/` beside this file.
    pub theme: String,
    /// The key preset to start from: `default`, `vim`, `emacs` or `plain`; `keys.toml` beside this
    /// file changes single keys.
    pub keys: String,
    /// Mouse support: none (`off`), only the wheel (`wheel`), or everything (`full`).
    pub mouse: Mouse,
    /// Show motion: spinners, countdowns by the second.
    pub motion: bool,
    /// Colours: those that the terminal supports (`auto`), or `none`, `16`, `256`, `true`.
    pub color: ColorSetting,
    /// Show the time of day in the bar.
    pub clock: bool,
    /// Characters for marks and lines: `unicode`, `ascii`, or by locale (`auto`): ASCII where Unicode would be two
    /// columns wide.
    pub glyphs: GlyphSet,
    /// Ring the bell when something needs you and the terminal does not have the focus.
    pub bell: bool,
    /// A program, with its arguments, to run once each time the bell would ring; its last argument and its environment
    /// describe the need.
    pub notify: Vec<String>,
    /// Additional reasons to ring: tasks that fail, go silent or print something.
    #[schemars(length(max = 100))]
    pub watch: Vec<WatchRule>,
    /// Set the terminal's window title to the workspace and the number of items that wait for you.
    pub title: bool,
    /// Action taken on a runtime in the console when its terminal closes: continue without a console if anything runs
    /// or anybody is connected, else end (`detach`), or always end with its tasks (`end`).
    pub on_hangup: OnHangup,
    /// The folder for exports; empty: `exports/` beside the recordings.
    pub exports: String,
    /// Show first-time hints until their keys have been used.
    pub hints: bool,
}

/// Action taken on a runtime in a console whose terminal closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnHangup {
    /// The runtime ends with its tasks.
    End,
    /// The runtime continues without a console if anything runs or anybody is connected; otherwise it ends.
    #[default]
    Detach,
}

/// Mouse support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mouse {
    /// No mouse support; the terminal keeps the mouse.
    Off,
    /// The wheel scrolls; clicks do nothing.
    Wheel,
    /// The mouse selects, scrolls and types.
    #[default]
    Full,
}

/// The number of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColorSetting {
    /// As many colours as the terminal reports.
    #[default]
    Auto,
    /// No colours, not even a task's.
    #[serde(alias = "0")]
    None,
    /// The sixteen named colours.
    #[serde(rename = "16")]
    Sixteen,
    /// 256 colours.
    #[serde(rename = "256")]
    Many,
    /// 16 million colours.
    True,
}

/// Characters for marks and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GlyphSet {
    /// ASCII if the locale is Chinese, Japanese or Korean.
    #[default]
    Auto,
    /// Unicode.
    Unicode,
    /// Only ASCII.
    Ascii,
}

impl Default for ConsoleSettings {
    fn default() -> Self {
        Self {
            theme: "default".into(),
            keys: "default".into(),
            mouse: Mouse::Full,
            motion: true,
            color: ColorSetting::Auto,
            clock: true,
            glyphs: GlyphSet::Auto,
            bell: true,
            notify: Vec::new(),
            watch: Vec::new(),
            title: true,
            on_hangup: OnHangup::Detach,
            exports: String::new(),
            hints: true,
        }
    }
}

impl Settings {
    /// Returns the limits on a runtime's connections.
    pub fn connections(&self) -> ConnectionLimits {
        ConnectionLimits {
            all: self.limits.connections,
            each_task: self.limits.connections_per_task,
            each_process: self.limits.connections_per_process,
            ..ConnectionLimits::default()
        }
    }

    /// Returns the limits of a runtime.
    pub fn limits(&self) -> Limits {
        Limits {
            share_tasks: self.agents.share_tasks,
            hold_prompts: self.agents.hold_prompts,
            receipt_chars: self.agents.receipt_chars.clone(),
            approvals: self.approvals.clone(),
            lanes: self.lanes.clone(),
            record: self.record,
            side_terminal: self.shell.terminal,
            ask_within: self.shell.ask_within,
            on_agent_end: self.services.on_agent_end,
            ledger: self.ledger,
            ..self.limits.clone()
        }
    }

    /// Returns the JSON Schema of the file.
    pub fn schema() -> Value {
        schema_of::<Self>()
    }
}

impl EnvSettings {
    /// Returns whether the variable with this name is not inherited.
    pub fn drops(&self, name: &str) -> bool {
        let fits = |pattern: &str| matches(pattern, name);
        let is_of_multiplexer = || MULTIPLEXERS.into_iter().any(fits) && !self.keeps(name);
        self.drop.iter().any(|pattern| fits(pattern)) || is_of_multiplexer()
    }

    /// Returns whether the variable with this name is inherited although it is of the terminal around the runtime.
    pub fn keeps(&self, name: &str) -> bool {
        self.keep.iter().any(|pattern| matches(pattern, name))
    }

    /// Returns the environment that commands inherit.
    pub fn apply(&self, environment: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let is_set = |name: &OsString| self.set.keys().any(|own| name == own.as_str());
        let is_kept = |name: &OsString| !is_set(name) && !self.drops(&name.to_string_lossy());
        let kept = environment.into_iter().filter(|(name, _)| is_kept(name));
        kept.chain(self.set.iter().map(|(name, value)| (name.into(), value.into()))).collect()
    }
}

/// Variables that lead a program to the multiplexer or terminal it runs in, and through it to the operator's console.
const MULTIPLEXERS: [&str; 5] = ["TMUX*", "STY", "ZELLIJ*", "KITTY_LISTEN_ON", "WEZTERM*"];

/// Returns whether a name matches a pattern in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(left) = name.strip_prefix(start) else { return false };
    (0..=left.len()).filter_map(|at| left.get(at..)).any(|left| matches(rest, left))
}

/// Generates the schema of a file, without references.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_a_runtime() {
        assert_eq!(format!("{:?}", Settings::default().limits()), format!("{:?}", Limits::default()));
    }

    #[test]
    fn variables_of_a_multiplexer_are_dropped_unless_the_settings_keep_them() {
        let names = ["TMUX", "TMUX_PANE", "STY", "ZELLIJ_SESSION_NAME", "KITTY_LISTEN_ON", "WEZTERM_PANE"];
        assert!(names.iter().all(|name| EnvSettings::default().drops(name)));
        for name in ["KITTY_WINDOW_ID", "STYLE", "MY_TMUX", "TERM"] {
            assert!(!EnvSettings::default().drops(name), "{name}");
        }
        let env = EnvSettings {
            keep: vec!["TMUX*".into()],
            drop: vec!["TMUX_PANE".into()],
            ..EnvSettings::default()
        };
        assert_eq!(names.map(|name| env.drops(name)), [false, true, true, true, true, true]);
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        let env = EnvSettings {
            drop: vec!["*_TOKEN".into(), "AWS_*".into(), "PLAIN".into()],
            ..EnvSettings::default()
        };
        for name in ["API_TOKEN", "_TOKEN", "AWS_", "AWS_SECRET_KEY", "PLAIN"] {
            assert!(env.drops(name), "{name}");
        }
        for name in ["API_TOKENS", "TOKEN", "XAWS_", "PLAINER", ""] {
            assert!(!env.drops(name), "{name}");
        }
    }
}
