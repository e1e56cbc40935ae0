//! What a command line would cost: facts, each a sentence with its numbers, and what cannot be known.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sentence where no cost was found, and how one begins of what could not be computed.
const NO_COST: &str = "no cost computed";
const NOT_KNOWN: &str = "not known: ";

/// The class of a command's consequence, as rules and JSON name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// More than 1,000 files.
    Many,
    /// Work of which git has no copy: changed files, files it neither tracks nor ignores, and unreferenced commits.
    Uncommitted,
    /// A resource on another machine or under another program's control.
    Remote,
    /// Files outside the workspace.
    Outside,
    /// An unset variable widens a deletion.
    Unset,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Outside, Self::Unset, Self::Uncommitted, Self::Remote, Self::Many];

    /// Returns its name in rules and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Outside => "outside",
            Self::Unset => "unset",
            Self::Uncommitted => "uncommitted",
            Self::Remote => "remote",
            Self::Many => "many",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What happens to what a fact names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FactKind {
    /// Files are deleted.
    Deletes,
    /// What files contain is replaced.
    Overwrites,
    /// Git gives up changes, commits or stashes.
    Discards,
    /// Something elsewhere is deleted or replaced.
    Elsewhere,
    /// How the line is read: a warning that belongs to another fact.
    Warns,
}

impl FactKind {
    /// Returns its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deletes => "deletes",
            Self::Overwrites => "overwrites",
            Self::Discards => "discards",
            Self::Elsewhere => "elsewhere",
            Self::Warns => "warns",
        }
    }
}

/// One thing that a command line would cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What happens.
    pub kind: FactKind,
    /// Whether it depends on something that is not known.
    pub is_possible: bool,
    /// The sentence. It quotes names of files and the command: not safe to print as it is.
    pub text: String,
    /// Reasons to look twice.
    pub classes: BTreeSet<Class>,
    /// How many files it concerns.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// The files and folders, as they are now; folders stand for all that is in them.
    #[serde(with = "crate::names::paths")]
    pub paths: Vec<PathBuf>,
}

/// What a command line would cost, as far as it can be computed. Nothing in it means that the line is harmless.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Consequence {
    /// What it would cost, in the order of the line.
    pub facts: Vec<Fact>,
    /// What cannot be known, each as what it is.
    pub unknown: Vec<String>,
}

impl Consequence {
    /// Returns one that says only what cannot be known.
    #[must_use]
    pub fn unknown(what: impl Into<String>) -> Self {
        Self { facts: Vec::new(), unknown: vec![what.into()] }
    }

    /// Returns the reasons to look twice.
    #[must_use]
    pub fn classes(&self) -> BTreeSet<Class> {
        self.facts.iter().flat_map(|fact| fact.classes.iter().copied()).collect()
    }

    /// Returns its sentences, not safe to print as they are. There is always at least one.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let unknown = self.unknown.iter().map(|what| format!("{NOT_KNOWN}{what}"));
        let all: Vec<String> = self.facts.iter().map(|fact| fact.text.clone()).chain(unknown).collect();
        if all.is_empty() { vec![NO_COST.to_owned()] } else { all }
    }

    /// Tells whether one of its sentences says a cost, rather than that there is none or that it is not known.
    #[must_use]
    pub fn is_cost(sentence: &str) -> bool {
        sentence != NO_COST && !sentence.starts_with(NOT_KNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cost_says_that_no_cost_was_computed() {
        assert_eq!(Consequence::default().sentences(), ["no cost computed"]);
        assert_eq!(Consequence::unknown("what make does").sentences(), ["not known: what make does"]);
    }
}
