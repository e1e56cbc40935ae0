//! Commands from agents' own shells that ran without a runtime.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use pilothouse_envelope::mask;

/// Length limit of a kept command, in characters.
pub const CMD_CHARS: usize = 1_000;
/// Length limit of the other kept texts, in characters.
pub const TEXT_CHARS: usize = 300;
/// How much of a command is scanned for secrets to mask, in characters.
const MASKED_CHARS: usize = 8_000;

/// The mark left by a command that ran without a runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnrecordedCommand {
    /// When the command started.
    pub at: Timestamp,
    /// The agent that ran the command, by the name of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Distinguishes this session of the agent from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The directory it started in.
    pub workdir: String,
    /// The command as the model wrote it.
    pub cmd: String,
    /// Why no runtime was available.
    pub why: String,
    /// The program that ran it, if nobody could tell whether that was the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
}

impl UnrecordedCommand {
    /// Returns the mark with its texts cut to size and the secrets in its command masked.
    #[must_use]
    pub fn mask_and_cut(self) -> Self {
        let cut = |text: String, most: usize| match text.char_indices().nth(most) {
            Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
            None => text,
        };
        Self {
            at: self.at,
            agent: self.agent.map(|agent| cut(agent, TEXT_CHARS)),
            session: self.session.map(|session| cut(session, TEXT_CHARS)),
            workdir: cut(self.workdir, TEXT_CHARS),
            cmd: cut(mask(&cut(self.cmd, MASKED_CHARS)).into_owned(), CMD_CHARS),
            why: cut(self.why, TEXT_CHARS),
            caller: self.caller.map(|caller| cut(caller, TEXT_CHARS)),
        }
    }
}

/// The row for commands that ran outside the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UnrecordedRow {
    Command(UnrecordedCommand),
    /// A number of commands of which nothing else is known.
    More {
        more: u64,
    },
}
