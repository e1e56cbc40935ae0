//! How the record is kept.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::units::{Bytes, Period};

/// Storage and retention of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordSettings {
    /// Action taken if the record cannot be written: `required` starts no new command until it can, `best_effort`
    /// continues.
    pub audit: AuditPolicy,
    /// Maximum total size of all recordings in bytes; older ones are removed.
    #[serde(with = "Bytes")]
    pub keep_bytes: u64,
    /// Maximum age of a recording.
    #[serde(with = "Period")]
    pub keep_for: Duration,
    /// Maximum number of recordings.
    #[schemars(range(min = 1))]
    pub keep_recordings: usize,
    /// Maximum output of ended commands, in bytes, in a recording that is being written; the oldest output is removed.
    /// Files made from an output count as well, and each command counts for at least 64 KiB.
    #[serde(with = "Bytes")]
    pub keep_live_bytes: u64,
}

/// Action taken if the record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditPolicy {
    /// Running tasks continue; no new command starts.
    #[default]
    Required,
    /// All work continues, and the console reports that it is not on record.
    BestEffort,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self {
            audit: AuditPolicy::default(),
            keep_bytes: 2 << 30,
            keep_for: Duration::from_secs(30 * 24 * 3_600),
            keep_recordings: 200,
            keep_live_bytes: 1 << 30,
        }
    }
}
