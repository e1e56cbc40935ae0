//! What a limit on connections counts, and what to do when it is reached.

use serde::{Deserialize, Serialize};

/// Which connections a limit counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionKind {
    /// Those of consoles.
    Console,
    /// Those of agents and scripts together; what an older runtime means is not known.
    #[default]
    All,
    /// Those from one task and everything that runs in it.
    OfTask,
    /// Those from one other process.
    OfProcess,
    /// Those that have not yet said who they are.
    Arriving,
}

impl ConnectionKind {
    /// Says how many there are, up to the name of what they are connected to.
    pub(super) fn count_phrase(self, limit: usize) -> String {
        match self {
            Self::Console => format!("{limit} consoles are attached to"),
            Self::All => format!("{limit} agents and scripts are connected to"),
            Self::OfTask => format!("one task and what runs in it have {limit} connections to"),
            Self::OfProcess => format!("one process has {limit} connections to"),
            Self::Arriving => format!("{limit} programs are connecting at once to"),
        }
    }

    /// Says what to do about it.
    pub(super) fn remedy(self) -> &'static str {
        match self {
            Self::Console => "close one of them",
            Self::All => "end some, or raise limits.connections in the settings",
            Self::OfTask => "end some, or raise limits.connections_per_task in the settings",
            Self::OfProcess => "close some, or raise limits.connections_per_process in the settings",
            Self::Arriving => "try again in a moment",
        }
    }
}
