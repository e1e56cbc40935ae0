//! Ceilings: what the processes of one command may take together. Pure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::approval::RuleFault;
use super::units::Count;
use crate::consequence::rule_words::{begins, commands};
use crate::envelope::units::Ceiling;

/// The share of the processor that the kernel gives a control group unless told otherwise.
pub const USUAL_CPU_WEIGHT: u32 = 100;

/// What the processes of one command may take together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes and threads at once.
    pub processes: Option<u32>,
    /// The share of the processor where it is wanted by more than there is of it, 1 to 10,000.
    pub cpu_weight: u32,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self { memory: None, processes: None, cpu_weight: USUAL_CPU_WEIGHT }
    }
}

impl Ceilings {
    /// Tells whether there is anything that must not be exceeded.
    pub fn is_bound(&self) -> bool {
        self.memory.is_some() || self.processes.is_some()
    }
}

/// Overrides of ceilings for commands that begin with these words. Omitted ceilings keep their general values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CeilingRule {
    /// The first whole words of a command in the line, as in an approval rule.
    pub prefix: String,
    /// Maximum memory in bytes, or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Ceiling>,
    /// Maximum number of processes and threads, or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<Count>,
    /// Relative share of the processor, 1 to 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10000))]
    pub cpu_weight: Option<u32>,
}

impl CeilingRule {
    /// Returns what keeps the rule from ever matching.
    pub(super) fn senseless(&self) -> Option<RuleFault> {
        let what = "it must be the first words of one command".to_owned();
        (commands(&self.prefix).len() != 1).then_some(RuleFault { key: "prefix", what, near: None })
    }
}

impl Ceilings {
    /// Returns the ceilings of a command line by these rules, with `self` for what none of them names. Of several rules
    /// that match, the first one that names a ceiling decides about it.
    pub(super) fn by(self, rules: &[CeilingRule], cmd: &str) -> Self {
        let rules: Vec<&CeilingRule> = rules.iter().filter(|rule| begins(cmd, &rule.prefix)).collect();
        let memory = rules.iter().find_map(|rule| rule.memory);
        let processes = rules.iter().find_map(|rule| rule.processes);
        let cpu_weight = rules.iter().find_map(|rule| rule.cpu_weight);
        Self {
            memory: memory.map_or(self.memory, |Ceiling(bytes)| bytes),
            processes: processes.map_or(self.processes, |Count(most)| most),
            cpu_weight: cpu_weight.unwrap_or(self.cpu_weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;

    #[test]
    fn the_first_rule_that_names_a_ceiling_decides_about_it_and_the_rest_stays() {
        let limits: Limits = toml::from_str(
            "memory = \"512 MiB\"\nprocesses = 256\ncpu_weight = 50\n\
             [[for]]\nprefix = \"cargo build\"\nmemory = \"4 GiB\"\n\
             [[for]]\nprefix = \"cargo\"\nmemory = \"none\"\nprocesses = \"none\"\n",
        )
        .expect("limits");
        let with = |memory, processes| Ceilings { memory, processes, cpu_weight: 50 };
        for (cmd, expected) in [
            ("make", with(Some(512 << 20), Some(256))),
            ("cd x && cargo build --release", with(Some(4 << 30), None)),
            ("cargo test", with(None, None)),
            ("echo cargo", with(Some(512 << 20), Some(256))),
        ] {
            assert_eq!(limits.ceilings(cmd), expected, "{cmd}");
        }
        assert_eq!(Limits::default().ceilings("make"), Ceilings::default());
        assert!(!Ceilings::default().is_bound(), "by default there is none");
    }
}
