//! The agents' programs on this machine: where their files are, what those say, and how they start our program.

mod entry;
mod files;
mod shell;

use crate::agents::{AgentProgram, McpClient};

pub(super) use self::entry::AgentEntry;
pub use self::files::own_command;
pub(super) use self::files::text;
pub(super) use self::shell::CodexExecutor;

impl AgentProgram {
    /// Describes how much of a result it keeps, and which tools its model does not see at once.
    pub(super) fn results(self) -> String {
        let measured = self.profile().client.as_ref().map(McpClient::about);
        measured.unwrap_or_else(|| "how much of a result it keeps was not measured".to_owned())
    }
}
