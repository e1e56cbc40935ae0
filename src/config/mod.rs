//! Settings that a person may change: their defaults, what `config.toml` says, and what is wrong with it.

mod approval;
mod load;
mod nearest;
mod prefix;
mod prefix_match;
mod save;
mod settings;
mod shell_words;
mod source;
mod units;
mod watch;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use approval::{ApprovalRule, STARTER_RULES};
pub use load::{FILE, KEYS_FILE, Loaded, Origin, THEMES_FOLDER, WORKSPACE_FILE, read_own};
pub use nearest::nearest;
pub use prefix::{NoPrefix, Prefix};
pub use save::{Error as SaveError, save_theme};
pub use settings::{
    AgentSettings, Color, ConsoleSettings, Env, ExecPolicy, GlyphSet, LimitSettings, Mouse, ProgramSettings,
    RecordSettings, RuntimeMode, Settings,
};
pub use source::{Entry, Fault, Faults, Node, Source};
pub use units::{Bytes, Ceiling, Period};
pub use watch::Watch;

/// Limits of one runtime (docs/contract.md#limits). Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Tasks that may be live at once.
    pub tasks: usize,
    /// Bytes of one stream kept from its start on disk.
    pub stream_head_bytes: u64,
    /// Bytes of one stream kept from its end once the head is full.
    pub stream_tail_bytes: usize,
    /// Bytes after which a task is ended, all its streams together; `None` never ends one for that.
    pub output_bytes: Option<u64>,
    /// Bytes that may wait to be typed into one task.
    pub input_queue_bytes: usize,
    /// Connections to one runtime.
    pub connections: ConnectionLimits,
    /// The largest frame or line accepted from a connection.
    pub frame_bytes: usize,
    /// Time between TERM and KILL when a task is stopped.
    pub stop_grace: Duration,
    /// How long the operator keeps the lease after the last key.
    pub lease: Duration,
    /// How long a batch may go on starting items.
    pub batch_deadline: Duration,
    /// How long a batch that the operator must release waits for it.
    pub batch_hold: Duration,
    /// Commands that wait for the operator's word. None unless somebody asks for it.
    pub approvals: Vec<ApprovalRule>,
    /// Calls kept in memory for the console; all are in the journal.
    pub recent_calls: usize,
    /// An agent may drive tasks that another one started.
    pub share_tasks: bool,
    /// The record.
    pub record: Record,
}

/// How many connections one runtime takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Of agents and scripts together.
    pub all: usize,
    /// Of these, from one managed task.
    pub each_task: usize,
    /// Of these, from one process that is no managed task.
    pub each_process: usize,
    /// Of consoles, beside the others.
    pub operators: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { all: 512, each_task: 16, each_process: 64, operators: 8 }
    }
}

/// How the record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// What happens when it cannot be written.
    pub audit: Audit,
    /// Bytes of all recordings together.
    pub keep_bytes: u64,
    /// How old a recording may become.
    pub keep_for: Duration,
    /// How many recordings are kept.
    pub keep_recordings: usize,
}

/// What happens when the record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Audit {
    /// Running tasks go on; no new command starts.
    #[default]
    Required,
    /// Everything goes on, and the console says that it is not on record.
    BestEffort,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            audit: Audit::default(),
            keep_bytes: 2 << 30,
            keep_for: Duration::from_secs(30 * 24 * 3_600),
            keep_recordings: 200,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tasks: 256,
            stream_head_bytes: 64 << 20,
            stream_tail_bytes: 1 << 20,
            output_bytes: None,
            input_queue_bytes: 64 << 10,
            connections: ConnectionLimits::default(),
            frame_bytes: 1 << 20,
            stop_grace: Duration::from_secs(5),
            lease: Duration::from_secs(10),
            batch_deadline: Duration::from_secs(110),
            batch_hold: Duration::from_secs(45),
            approvals: Vec::new(),
            recent_calls: 1_000,
            share_tasks: false,
            record: Record::default(),
        }
    }
}
