//! The columns that wide rows of the task list may have.

use serde::{Deserialize, Serialize};

/// An optional column.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum ListColumn {
    /// Who started it.
    By,
    /// How long it has been running, or ran; rounded.
    Age,
    /// How long it has been idle.
    Idle,
    /// Percent of a CPU.
    Cpu,
    /// How long it ran, to the tenth of a second.
    Duration,
    /// Its exit code, or the signal that ended it.
    Exit,
    /// The directory it runs in.
    Directory,
}
