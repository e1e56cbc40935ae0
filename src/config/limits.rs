//! What one runtime may use.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::approval::ApprovalRule;
use super::ceilings::{CeilingRule, Ceilings, USUAL_CPU_WEIGHT};
use super::lanes::Lane;
use super::ledger_mode::LedgerMode;
use super::record::RecordSettings;
use super::settings::{OnAgentEnd, SideTerminal};
use super::units::Count;
use crate::envelope::units::{Ceiling, Period};

/// How long a call waits for its command unless it says otherwise, in milliseconds; after that, the command continues as
/// a task. An item of a batch is ended instead.
pub const DEFAULT_YIELD_MS: u64 = 10_000;

/// Resource limits of one runtime (docs/contract.md#limits). Sizes in bytes. The settings contain the first part;
/// the rest is fixed, or put together from other settings by
/// [`Settings::limits`](super::settings::Settings::limits).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "What one runtime may use.")]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Maximum number of live tasks.
    #[schemars(range(min = 1, max = 1000))]
    pub tasks: usize,
    /// Maximum number of connections of agents and scripts together. Consoles have 8 of their own.
    #[schemars(range(min = 2, max = 1000))]
    pub connections: usize,
    /// Maximum number of these connections from one managed task.
    #[schemars(range(min = 1, max = 1000))]
    pub connections_per_task: usize,
    /// Maximum number of these connections from one process outside the tasks.
    #[schemars(range(min = 1, max = 1000))]
    pub connections_per_process: usize,
    /// Time between TERM and KILL when Pilothouse stops a task.
    #[serde(with = "Period")]
    pub stop_grace: Duration,
    /// Time for which you keep the input of a task after your last key.
    #[serde(with = "Period")]
    pub lease: Duration,
    /// Time during which a batch may start items.
    #[serde(with = "Period")]
    pub batch_deadline: Duration,
    /// Maximum output of a task in bytes, or `none`. Exceeding it ends the task.
    #[serde(with = "Ceiling")]
    pub output_bytes: Option<u64>,
    /// Maximum total memory of the processes of one command in bytes, or `none`. Exceeding it ends the command.
    #[serde(with = "Ceiling")]
    pub memory: Option<u64>,
    /// Maximum number of processes and threads of one command, or `none`.
    #[serde(with = "Count")]
    pub processes: Option<u32>,
    /// Relative share of the processor for one command, 1 to 10,000. It requires a control group.
    #[schemars(range(min = 1, max = 10000))]
    pub cpu_weight: u32,
    /// Refuse commands whose memory and process ceilings the kernel cannot enforce, instead of polling them.
    pub require: bool,
    /// Overrides of ceilings for commands that begin with certain words.
    #[serde(rename = "for")]
    #[schemars(length(max = 100))]
    pub by_prefix: Vec<CeilingRule>,
    /// Bytes of one stream kept from its start on disk.
    #[serde(skip)]
    pub stream_head_bytes: u64,
    /// Bytes of one stream kept from its end once the head is full.
    #[serde(skip)]
    pub stream_tail_bytes: usize,
    /// The largest frame or line accepted from a connection.
    #[serde(skip)]
    pub frame_bytes: usize,
    /// Time for which a batch waits for its release by the operator.
    #[serde(skip)]
    pub batch_hold: Duration,
    /// Calls kept in memory for the console; all are in the journal.
    #[serde(skip)]
    pub recent_calls: usize,
    /// Commands that wait for the operator's approval. Default: none.
    #[serde(skip)]
    pub approvals: Vec<ApprovalRule>,
    /// Limits on concurrent commands of one kind.
    #[serde(skip)]
    pub lanes: Vec<Lane>,
    /// An agent may drive tasks that another one started.
    #[serde(skip)]
    pub share_tasks: bool,
    /// Prompts that an agent shows only once its hook has ended may be answered here first.
    #[serde(skip)]
    pub hold_prompts: bool,
    /// Maximum characters of a receipt, by agent label.
    #[serde(skip)]
    pub receipt_chars: BTreeMap<String, usize>,
    /// The record.
    #[serde(skip)]
    pub record: RecordSettings,
    /// Commands that get a terminal beside their streams.
    #[serde(skip)]
    pub side_terminal: SideTerminal,
    /// Maximum time that a program at that terminal waits for an answer.
    #[serde(skip)]
    pub ask_within: Duration,
    /// Action taken on tasks whose agent has ended.
    #[serde(skip)]
    pub on_agent_end: OnAgentEnd,
    /// Whether what differs in the workspace's tree is looked at.
    #[serde(skip)]
    pub ledger: LedgerMode,
}

impl Limits {
    /// Returns the ceilings of a command line.
    pub fn ceilings(&self, cmd: &str) -> Ceilings {
        let Self { memory, processes, cpu_weight, .. } = *self;
        Ceilings { memory, processes, cpu_weight }.by(&self.by_prefix, cmd)
    }

    /// Returns the lane of a command line: the first one that takes it.
    pub fn lane(&self, cmd: &str) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.takes(cmd))
    }
}

/// The limits on a runtime's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// From agents and scripts together.
    pub all: usize,
    /// Of these, from any one managed task.
    pub each_task: usize,
    /// Of these, from any one process that is not a managed task.
    pub each_process: usize,
    /// From consoles, in addition to the others.
    pub operators: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { all: 512, each_task: 16, each_process: 64, operators: 8 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        let connections = ConnectionLimits::default();
        Self {
            tasks: 256,
            connections: connections.all,
            connections_per_task: connections.each_task,
            connections_per_process: connections.each_process,
            stop_grace: Duration::from_secs(5),
            lease: Duration::from_secs(10),
            batch_deadline: Duration::from_secs(110),
            output_bytes: None,
            memory: None,
            processes: None,
            cpu_weight: USUAL_CPU_WEIGHT,
            require: false,
            by_prefix: Vec::new(),
            stream_head_bytes: 64 << 20,
            stream_tail_bytes: 1 << 20,
            frame_bytes: 1 << 20,
            batch_hold: Duration::from_secs(45),
            recent_calls: 1_000,
            approvals: Vec::new(),
            lanes: Vec::new(),
            share_tasks: false,
            hold_prompts: false,
            receipt_chars: BTreeMap::new(),
            record: RecordSettings::default(),
            side_terminal: SideTerminal::default(),
            ask_within: Duration::from_secs(90),
            on_agent_end: OnAgentEnd::default(),
            ledger: LedgerMode::default(),
        }
    }
}
