//! What agents may do, as far as it is a setting.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Permissions and limits of agents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentSettings {
    /// Allow an agent to type into and stop tasks that another agent started.
    pub share_tasks: bool,
    /// Hold prompts of Codex and Qwen Code here first, at most 20 s, for an answer. `adopt` configures them to wait.
    pub hold_prompts: bool,
    /// Maximum characters of a receipt, by agent label, for a client that cuts off more than Pilothouse knows of. At
    /// least 2000.
    pub receipt_chars: BTreeMap<String, usize>,
}
