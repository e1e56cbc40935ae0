//! The commands that a call would run, for a dry run. Plain data.

/// A command that a call would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCommand {
    /// The command line.
    pub cmd: String,
    /// The directory, as given.
    pub workdir: Option<String>,
    /// The shell, as given.
    pub shell: Option<String>,
    /// Whether it is a login shell.
    pub login: bool,
    /// Whether it has a terminal.
    pub tty: bool,
    /// The kind and the message if it would be rejected for what it is.
    pub rejection: Option<(String, String)>,
}

/// The commands of a call, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallPlan {
    pub commands: Vec<PlannedCommand>,
    /// Whether they are items, whose rejection leaves the call a success.
    pub is_batch: bool,
    /// Whether the first rejected item keeps those after it from running.
    pub stop_on_error: bool,
}
