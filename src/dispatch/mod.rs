//! The scripting interface: the single registry of commands, their answers, and streams of commands (`exec`).
//!
//! The clap tree, the manifest, the routing of `exec`, completions, the manual pages and the reference are derived
//! from [`COMMANDS`]. This layer reads neither argv nor the environment; the layer that does provides them through
//! [`Host`].

mod agents;
mod approvals;
mod audit;
pub mod cli_only;
mod code;
pub mod command;
mod completions;
mod consequence;
mod context;
mod doctor;
mod dry_run;
mod early_end;
pub mod exec;
mod flags;
mod forms;
mod host;
mod keys;
mod manifest;
mod mcp;
mod merge;
mod metrics_show;
mod prose;
mod receipt;
mod receipt_file;
mod recording;
mod registry;
mod relay;
mod response;
mod run;
pub mod run_program;
mod settings;
mod start_agent;
mod status;
mod table;
mod task_export;
mod task_undo;
mod version;

pub use agents::own_command;
pub use code::{Code, EXITS, ExitMeaning, SideEffects, exit_of};
pub use command::{Command, CommandReach, Danger, Example, positional};
pub use context::{CommandContext, folder_failure, is_unwritable, link_failure};
pub use early_end::{cut_short, unended_phrase};
pub use flags::{RunFlags, parse_timeout};
pub use forms::PlainDefault;
pub use host::{Host, KeyRow, PrivateRuntime, Probe, Shell};
pub use manifest::reference;

pub use prose::{
    GateDecision as GateDecided, GateInput, attach as attach_operator, waiting as waiting_gates,
};
pub use recording::find_recording;
pub use registry::{COMMANDS, GROUPS, find, is_data, own_form};
pub use relay::RelayInput;
pub use response::{Failure, Meta, OWN_KEY, Phase, Response, SCHEMA_VERSION};
pub use run::run;
pub use settings::invalid_settings;
pub use start_agent::StartAnyInput;
pub use table::table;
