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

/// The settings of a person.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Where tasks live: `embedded` in the console that starts first, or `background`, so that closing
    /// the console leaves them running.
    pub runtime: RuntimeMode,
    /// Whether each command is listed with what differs in the workspace's files since it began: while looking takes
    /// little time (`auto`), always (`on`) or never (`off`). Read when a runtime starts.
    pub ledger: LedgerMode,
    /// What one runtime may use. Read when a runtime starts.
    pub limits: Limits,
    /// How the record is kept. Read when a runtime starts.
    pub record: RecordSettings,
    /// What agents may do. Read when a runtime starts.
    pub agents: AgentSettings,
    /// What happens to tasks that outlive their agent.
    pub services: ServiceSettings,
    /// What happens to commands from agents' own shells. Read when one begins.
    pub shell: ShellSettings,
    /// How programs run. Read when a run begins.
    pub programs: ProgramSettings,
    /// Commands that wait for your approval before they start, each described by one rule. Read again when the
    /// file changes.
    #[schemars(length(max = 100))]
    pub approvals: Vec<ApprovalRule>,
    /// How many commands of one kind run at the same time, in all your runtimes together. Read when a runtime
    /// starts.
    #[schemars(length(max = 32))]
    pub lanes: Vec<Lane>,
    /// What commands inherit. Read when a runtime starts.
    pub env: EnvSettings,
    /// Machines and containers besides those of `~/.ssh/config`, by name. Read when one is used.
    pub hosts: BTreeMap<String, HostSettings>,
    /// Which runtimes one console may show. Read when a console is opened.
    pub fleet: FleetSettings,
    /// How the console looks and behaves. Read again when the file changes.
    pub console: ConsoleSettings,
}

/// Which runtimes one console may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FleetSettings {
    /// Of this machine, only those in this runtime folder, as with `fleet --here`.
    pub here: bool,
}

/// Where tasks live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeMode {
    /// In the console that is opened first; they end with it.
    #[default]
    Embedded,
    /// In a process of their own; consoles come and go.
    Background,
}

/// What happens to tasks that outlive their agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServiceSettings {
    /// What is still running when its agent has ended goes on (`keep`), is ended (`end`; read when a runtime starts), or
    /// goes on and waits for you to decide (`ask`; read again when the file changes).
    pub on_agent_end: OnAgentEnd,
}

/// What happens to what is still running when its agent has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnAgentEnd {
    /// It goes on, and is listed among what to look at.
    #[default]
    Keep,
    /// It is ended.
    End,
    /// It goes on, and a console asks.
    Ask,
}

/// What happens to commands from agents' own shells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShellSettings {
    /// If no runtime is available for such a command: it runs without one, and a line says so (`plain`), or it does not
    /// run (`refuse`).
    pub on_failure: OnFailure,
    /// Which agent commands get a terminal beside their streams, where programs can ask you for a password: all while a
    /// console is open and up to ten minutes after (`attended`), all (`always`) or none (`never`). Read when a runtime
    /// starts.
    pub terminal: SideTerminal,
    /// How long a program that asks there waits for you; after that its input ends. Read when a runtime starts.
    #[serde(with = "Period")]
    pub ask_within: Duration,
}

impl Default for ShellSettings {
    fn default() -> Self {
        let (terminal, ask_within) = (SideTerminal::default(), Duration::from_secs(90));
        Self { on_failure: OnFailure::default(), terminal, ask_within }
    }
}

/// Which agent commands get a terminal beside their streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SideTerminal {
    /// All, while a console is open and for ten minutes after.
    #[default]
    Attended,
    /// All.
    Always,
    /// None.
    Never,
}

/// What happens to a command when no runtime is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// It runs anyway, unobserved.
    #[default]
    Plain,
    /// It does not run.
    Refuse,
}

/// How programs run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramSettings {
    /// Which commands of a program you are asked about before they run, unless `run --exec` says otherwise.
    pub exec: ExecPolicy,
    /// Folders searched for the programs that `use "@handle/name"` names, as `handle/name.prose`. Absolute paths.
    pub path: Vec<String>,
    /// Who answers sessions.
    pub sessions: SessionSettings,
}

/// Which commands of a program a person is asked about before they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExecPolicy {
    /// None: the program runs them.
    #[default]
    Allow,
    /// Each once: the answer applies to the same text in the same directory until the run ends.
    Once,
    /// Each, every time.
    Ask,
}

/// A machine or container reached through a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// The program that runs the rest of its command line there, with its arguments: `["ssh", "box"]`, `["docker",
    /// "exec", "-i", "web"]`, `["kubectl", "exec", "-i", "pod/x", "--"]`. Its standard input and output must carry
    /// bytes unchanged.
    #[schemars(length(min = 1))]
    pub via: Vec<String>,
    /// The path of `pilothouse` there. Default: the one in PATH, `~/.local/bin` or `~/.cargo/bin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// What commands inherit, besides what Pilothouse always sets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnvSettings {
    /// Variables that commands do not inherit; `*` matches any characters: `*_TOKEN`.
    pub drop: Vec<String>,
    /// Variables that commands inherit although they give access to the terminal multiplexer around the runtime, which
    /// types for anyone who asks: `TMUX*`, `STY`, `ZELLIJ*`, `KITTY_LISTEN_ON`, `WEZTERM*`. `*` matches any characters.
    pub keep: Vec<String>,
    /// Variables that commands get regardless of what is inherited.
    pub set: BTreeMap<String, String>,
}

/// How the console looks and behaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConsoleSettings {
    /// The theme: a built-in one, or the name of a file in `themes/` beside this file.
    pub theme: String,
    /// The key preset to start from: `default`, `vim`, `emacs` or `plain`; `keys.toml` beside this
    /// file changes single keys.
    pub keys: String,
    /// What the mouse does: nothing (`off`), only the wheel (`wheel`), or everything (`full`).
    pub mouse: Mouse,
    /// Show motion: spinners, countdowns by the second.
    pub motion: bool,
    /// Colours: what the terminal supports (`auto`), or `none`, `16`, `256`, `true`.
    pub color: ColorSetting,
    /// Show the time of day in the bar.
    pub clock: bool,
    /// Marks and lines: `unicode`, `ascii`, or by locale (`auto`): ASCII where they would be two columns wide.
    pub glyphs: GlyphSet,
    /// Ring the bell when something needs you and the terminal does not have the focus.
    pub bell: bool,
    /// A program and its arguments, run once each time that happens; its last argument and its environment say what is
    /// needed.
    pub notify: Vec<String>,
    /// What else to ring for: tasks that fail, go silent or print something.
    #[schemars(length(max = 100))]
    pub watch: Vec<WatchRule>,
    /// Set the terminal's window title: the workspace, and how much is waiting for you.
    pub title: bool,
    /// What happens to a runtime in the console when its terminal goes away: it continues without a console if anything
    /// runs or anybody is connected, and ends otherwise (`detach`), or always ends with its tasks (`end`).
    pub on_hangup: OnHangup,
    /// The folder for exports; empty: `exports/` beside the recordings.
    pub exports: String,
    /// Show first-time hints until their keys have been used.
    pub hints: bool,
}

/// What happens to a runtime in a console whose terminal goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnHangup {
    /// It ends, along with its tasks.
    End,
    /// It continues without a console if anything runs or anybody is connected; otherwise it ends.
    #[default]
    Detach,
}

/// What the mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mouse {
    /// Nothing; it is left to the terminal.
    Off,
    /// The wheel scrolls; clicks do nothing.
    Wheel,
    /// It selects, scrolls and types.
    #[default]
    Full,
}

/// How many colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColorSetting {
    /// As many as the terminal reports.
    #[default]
    Auto,
    /// None, not even a task's.
    #[serde(alias = "0")]
    None,
    /// The sixteen named ones.
    #[serde(rename = "16")]
    Sixteen,
    /// 256.
    #[serde(rename = "256")]
    Many,
    /// 16 million.
    True,
}

/// Which marks and lines are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GlyphSet {
    /// ASCII where the locale is Chinese, Japanese or Korean.
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
        let is_kept = || self.keep.iter().any(|pattern| fits(pattern));
        self.drop.iter().any(|pattern| fits(pattern)) || MULTIPLEXERS.into_iter().any(fits) && !is_kept()
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
