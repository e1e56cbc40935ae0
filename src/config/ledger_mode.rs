//! Whether there is a ledger.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether Pilothouse lists the files that differ since each command began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LedgerMode {
    /// While the check of the files takes little time.
    #[default]
    Auto,
    /// Always, if git is installed.
    On,
    /// Never.
    Off,
}
