//! Whether there is a ledger.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether each command is listed with what differs in the files since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LedgerMode {
    /// As long as a look at the files takes little time.
    #[default]
    Auto,
    /// Always, where git is installed.
    On,
    /// Never.
    Off,
}
