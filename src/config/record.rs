//! How the record is kept.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::units::{Bytes, Period};

/// How the record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordSettings {
    /// What happens when the record cannot be written: `required` starts no new command until it can,
    /// `best_effort` goes on.
    pub audit: AuditPolicy,
    /// Bytes of all recordings together; older ones are removed.
    #[serde(with = "Bytes")]
    pub keep_bytes: u64,
    /// How old a recording may become.
    #[serde(with = "Period")]
    pub keep_for: Duration,
    /// How many recordings are kept.
    #[schemars(range(min = 1))]
    pub keep_recordings: usize,
    /// Bytes that the output of ended commands may take in a recording while it is being written; the oldest is removed.
    /// The files made from an output count as well, and each command for at least 64 KiB.
    #[serde(with = "Bytes")]
    pub keep_live_bytes: u64,
}

/// What happens when the record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditPolicy {
    /// Running tasks go on; no new command starts.
    #[default]
    Required,
    /// Everything goes on, and the console says that it is not on record.
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
