//! User settings: the defaults, parsing of `config.toml`, and faults in it.

mod agents;
mod approval;
mod ceilings;
mod lanes;
mod ledger_mode;
mod limits;
mod load;
mod nearest;
mod record;
mod save;
mod sessions;
mod settings;
mod source;
mod units;
mod watch_rule;

pub use agents::AgentSettings;
pub use approval::{ApprovalRule, STARTER_COMMAND, STARTER_RULES};
pub use ceilings::{CeilingRule, Ceilings, USUAL_CPU_WEIGHT};
pub use lanes::Lane;
pub use ledger_mode::LedgerMode;
pub use limits::{ConnectionLimits, DEFAULT_YIELD_MS, Limits};
pub use load::{
    FILE, KEYS_FILE, LoadedSettings, Origin, THEMES_FOLDER, WORKSPACE_FILE, read_own, watched_places,
};
pub use nearest::nearest;
pub use record::{AuditPolicy, RecordSettings};
pub use save::{SaveError, save_theme, write_own};
pub use sessions::{Answerer, SessionSettings, SessionSubject};
pub use settings::{
    ColorSetting, ConsoleSettings, EnvSettings, ExecPolicy, FleetSettings, GlyphSet, HostSettings, Mouse,
    OnAgentEnd, OnFailure, OnHangup, ProgramSettings, RuntimeMode, ServiceSettings, Settings, SideTerminal,
};
pub use source::{Fault, Faults, Node, Source, SourceEntry};
pub use watch_rule::{Pattern, WatchRule};
