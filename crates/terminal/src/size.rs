//! The size of a terminal.

use serde::{Deserialize, Deserializer, Serialize};

/// Columns and rows of a PTY; both always between 2 and 1000 (docs/contract.md#execcommand).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    #[serde(deserialize_with = "deserialize_clamped")]
    cols: u16,
    #[serde(deserialize_with = "deserialize_clamped")]
    rows: u16,
}

/// Deserializes a number of columns or rows, clamped to the allowed range.
fn deserialize_clamped<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    u16::deserialize(deserializer).map(|number| number.clamp(Size::MIN, Size::MAX))
}

impl Size {
    /// The minimum number of columns or rows.
    pub const MIN: u16 = 2;
    /// The maximum number of columns or rows.
    pub const MAX: u16 = 1000;

    /// Returns the nearest allowed size.
    pub fn nearest(cols: u16, rows: u16) -> Self {
        Self { cols: cols.clamp(Self::MIN, Self::MAX), rows: rows.clamp(Self::MIN, Self::MAX) }
    }

    /// Returns the number of columns.
    pub fn cols(self) -> u16 {
        self.cols
    }

    /// Returns the number of rows.
    pub fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for Size {
    /// Returns 120×40, the size of a task's PTY unless another one is requested.
    fn default() -> Self {
        Self { cols: 120, rows: 40 }
    }
}
