//! What is asked: a command line, and where it would run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A command line, and where it would run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConsequenceRequest {
    /// The command line.
    pub text: String,
    /// The environment it would run in; `None` if that is not known.
    pub environment: Option<BTreeMap<String, String>>,
    /// The folder it would start in, absolute.
    #[serde(with = "crate::names::path")]
    pub folder: PathBuf,
    /// The folder whose files are its own business, absolute.
    #[serde(with = "crate::names::path")]
    pub workspace: PathBuf,
    /// The home folder.
    #[serde(with = "crate::names::path")]
    pub home: PathBuf,
    /// The name or path of the shell that reads it.
    pub shell: String,
    /// Whether that is a login shell, whose own files may set more variables.
    pub is_login: bool,
}
