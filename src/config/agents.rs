//! What agents may do, as far as it is a setting.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What agents may do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentSettings {
    /// An agent may type into, and stop, tasks that another one started.
    pub share_tasks: bool,
    /// Prompts of Codex and Qwen Code wait here first, at most 20 s, for an answer. `adopt` tells them to wait.
    pub hold_prompts: bool,
    /// The most characters of a receipt for an agent, by its label, if its client cuts off more than Pilothouse knows
    /// of. At least 2000.
    pub receipt_chars: BTreeMap<String, usize>,
}
