//! Lanes: how many commands of one kind run at the same time. Pure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::approval::RuleFault;
use crate::consequence::rule_words::{begins, commands};

/// The longest name of a lane.
const NAME_BYTES: usize = 32;

/// A limit on concurrent commands of one kind, across all runtimes of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// Name of the lane: at most 32 letters, digits, `-` and `_`. All runtimes share lanes of the same name.
    pub name: String,
    /// Maximum number of concurrent commands; further commands wait in order of arrival.
    #[schemars(range(min = 1, max = 32))]
    pub slots: usize,
    /// The first whole words of a command in the line, as in an approval rule; one match is enough.
    #[schemars(length(min = 1, max = 100))]
    pub prefix: Vec<String>,
}

impl Lane {
    /// Tells whether a command line belongs in it.
    pub(crate) fn takes(&self, cmd: &str) -> bool {
        self.prefix.iter().any(|prefix| begins(cmd, prefix))
    }

    /// Returns what is wrong with it; `before` are those above it.
    pub(super) fn senseless(&self, before: &[Self]) -> Option<RuleFault> {
        let fault = |key, what: &str| Some(RuleFault { key, what: what.to_owned(), near: None });
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !(1..=NAME_BYTES).contains(&self.name.len()) || !self.name.bytes().all(is_plain) {
            return fault("name", "it must be 1 to 32 letters, digits, `-` or `_`");
        }
        if before.iter().any(|other| other.name == self.name) {
            return fault("name", "another lane has this name");
        }
        if self.prefix.iter().any(|prefix| commands(prefix).len() != 1) {
            return fault("prefix", "each must be the first words of one command");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;

    fn lane(name: &str, prefix: &[&str]) -> Lane {
        let prefix = prefix.iter().map(|prefix| (*prefix).to_owned()).collect();
        Lane { name: name.to_owned(), slots: 2, prefix }
    }

    #[test]
    fn the_first_lane_that_takes_a_command_has_it() {
        let lanes = vec![lane("build", &["cargo build", "make"]), lane("rust", &["cargo"])];
        let limits = Limits { lanes, ..Limits::default() };
        for (cmd, name) in [
            ("make -j4", Some("build")),
            ("cd x && cargo build --release", Some("build")),
            ("cargo test", Some("rust")),
            ("echo make", None),
        ] {
            assert_eq!(limits.lane(cmd).map(|lane| lane.name.as_str()), name, "{cmd}");
        }
        assert_eq!(Limits::default().lane("make"), None, "by default there is none");
    }

    #[test]
    fn the_name_of_a_lane_is_plain_and_unique_and_a_prefix_is_one_command() {
        let fault = |lane: &Lane, before: &[Lane]| lane.senseless(before).map(|fault| fault.key);
        let build = lane("build", &["make"]);
        assert_eq!(fault(&build, &[]), None);
        assert_eq!(fault(&build, std::slice::from_ref(&build)), Some("name"));
        for name in ["", "a/b", "..", "a b", &"x".repeat(33)] {
            assert_eq!(fault(&lane(name, &["make"]), &[]), Some("name"), "{name}");
        }
        assert_eq!(fault(&lane("x", &["make", "a; b"]), &[]), Some("prefix"));
    }
}
