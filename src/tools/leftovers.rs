//! Processes that outlived the shell of their command and were ended, as shown in results: names and counts, never
//! process ids.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum number of process names listed.
const MOST_NAMES: usize = 10;
/// Processes that outlived the shell of their command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct LeftoverProcesses {
    /// Number of processes.
    pub(super) count: usize,
    /// Unique process names.
    pub(super) names: Vec<String>,
    /// Action taken on them.
    pub(super) action: LeftoverAction,
}

/// Action taken on leftover processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum LeftoverAction {
    /// They were ended.
    Ended,
}

impl LeftoverProcesses {
    /// Returns the sentence for a receipt.
    pub(super) fn sentence(&self) -> String {
        let Self { count, names, action: LeftoverAction::Ended } = self;
        let (noun, whose, it) =
            if *count == 1 { ("process", "Its", "it") } else { ("processes", "Their", "them") };
        let names = names.join(", ");
        format!(
            "Ended {count} leftover {noun}: {names}. {whose} output may be cut; `leftovers: \"keep\"` of ExecCommand lets {it} run on."
        )
    }

    /// Describes the processes with these names; `None` if there are none.
    pub(super) fn of(names: &[String]) -> Option<Self> {
        if names.is_empty() {
            return None;
        }
        let distinct: BTreeSet<&String> = names.iter().collect();
        Some(Self {
            count: names.len(),
            names: distinct.into_iter().take(MOST_NAMES).cloned().collect(),
            action: LeftoverAction::Ended,
        })
    }
}
