//! The role `shell`: one command of an agent's own shell. Its caller sends a request with its descriptors beside it, hears
//! how far the command is, and passes signals on. The environment came with the hello.
//!
//! A request is a length (u32, big endian) and so many bytes of JSON, then a length and the arguments of the shell, each
//! ended by a NUL. The descriptors (directory, standard input, output, error) come with its first byte.

mod caller;
mod conversation;
mod loss;
mod served;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::envelope::TaskId;
use crate::process::ResourceLimits;

pub use caller::ShellCall;
pub use conversation::ShellConversation;
pub use loss::Loss;
pub use served::{Asked, ShellLine};

/// The longest header of a request.
const MAX_HEADER: usize = 64 << 10;
/// The longest list of arguments.
const MAX_ARGUMENTS: usize = 4 << 20;
/// Directory, standard input, output and error.
const DESCRIPTORS: usize = 4;

/// A command to run as its caller would have run it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellRequest {
    /// The agent whose command it is, by the name of its program: `claude`.
    pub agent: Option<String>,
    /// What tells this session of the agent from others.
    pub session: Option<String>,
    /// The process of the agent, where it says so.
    pub agent_pid: Option<u32>,
    /// The shell that runs it.
    pub shell: PathBuf,
    /// The limits of the caller.
    pub limits: ResourceLimits,
    /// Where its input comes from.
    #[serde(default)]
    pub input: ShellInput,
    /// What the agent calls the call of its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<String>,
    /// What is shown in place of its arguments: it stands for a command that runs elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// What is said of it beside the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments of the shell, the name it is called by first.
    #[serde(skip)]
    pub args: Vec<OsString>,
}

/// Where the input of a command comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellInput {
    /// The descriptor of its caller.
    #[default]
    Descriptor,
    /// A pipe: what its caller sends, and what a person types.
    Pipe,
    /// As `Pipe`, and everything else is the terminal, too: 80x24, and what it writes goes to the standard output.
    Terminal,
}

impl ShellRequest {
    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let header = serde_json::to_vec(self).map_err(|error| Error::frame(error.to_string()))?;
        let args = self.args.iter().flat_map(|arg| [arg.as_bytes(), b"\0"].concat()).collect::<Vec<_>>();
        let mut bytes = Vec::new();
        for (part, limit) in [(header, MAX_HEADER), (args, MAX_ARGUMENTS)] {
            let length = u32::try_from(part.len()).ok().filter(|_| part.len() <= limit);
            let length =
                length.ok_or_else(|| Error::frame("a command that is too long to be handed over"))?;
            bytes.extend(length.to_be_bytes());
            bytes.extend(part);
        }
        Ok(bytes)
    }

    /// Reads a request and returns what came after it; `None` when it is not whole.
    fn parse(bytes: &[u8]) -> Result<Option<(Self, &[u8])>, Error> {
        let Some((header, rest)) = part(bytes, MAX_HEADER)? else { return Ok(None) };
        let Some((args, rest)) = part(rest, MAX_ARGUMENTS)? else { return Ok(None) };
        let mut request: Self =
            serde_json::from_slice(header).map_err(|error| Error::frame(error.to_string()))?;
        let args = args.strip_suffix(b"\0").map(|args| args.split(|byte| *byte == 0));
        request.args = args.into_iter().flatten().map(|arg| OsString::from_vec(arg.to_vec())).collect();
        Ok(Some((request, rest)))
    }
}

/// One part, and what comes after it.
type Split<'a> = (&'a [u8], &'a [u8]);

/// Splits off one part: its length and its bytes.
fn part(bytes: &[u8], limit: usize) -> Result<Option<Split<'_>>, Error> {
    let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    if length > limit {
        return Err(Error::frame(format!("{length} bytes announced, {limit} allowed")));
    }
    Ok(rest.split_at_checked(length))
}

/// From the runtime to the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellReply {
    /// The caller runs the command itself: it stands behind another fence than the runtime, or is part of a task.
    Fenced,
    /// The command was not run, and will not be.
    Refused {
        /// Why, in a sentence.
        message: String,
        /// What the caller exits with: a person decides, and the caller does not run it either. `None`: the runtime
        /// could not run it, and the caller may.
        code: Option<u8>,
    },
    /// It is a task from now on.
    Taken {
        /// Its id.
        task: TaskId,
    },
    /// It waits for the operator's word.
    Held,
    /// It has begun.
    Started,
    /// What the caller sent as input has arrived, in the order in which it was sent.
    Typed {
        /// Why not, where it was not taken.
        refused: Option<String>,
    },
    /// Its shell has ended, and everything it wrote before has been written to the caller's descriptors.
    Ended {
        /// Its exit code.
        code: Option<i32>,
        /// The number of the signal that ended it.
        signal: Option<i32>,
        /// It was ended with its runtime; why.
        closing: Option<String>,
    },
}

/// From the caller to the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellMessage {
    /// The caller received this signal: the command is to have it.
    Signal(i32),
    /// Input, in base64: [`ShellReply::Typed`] answers.
    Input(String),
    /// The command and all that it started are to be killed.
    Kill,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ShellRequest {
        ShellRequest {
            agent: Some("claude".into()),
            session: Some("one".into()),
            agent_pid: Some(7),
            shell: "/bin/bash".into(),
            limits: ResourceLimits::own(),
            input: ShellInput::Terminal,
            tool_call: None,
            shown: None,
            description: None,
            args: vec!["bash".into(), "-c".into(), OsString::from_vec(vec![0xff, b'\n']), "".into()],
        }
    }

    #[test]
    fn a_request_reads_back_byte_for_byte_and_no_part_of_it_is_one() {
        let bytes = request().to_bytes().expect("fits");
        for length in 0..bytes.len() {
            assert!(ShellRequest::parse(&bytes[..length]).expect("no error").is_none(), "{length}");
        }
        let with_more = [&bytes[..], b"more"].concat();
        let (read, rest) = ShellRequest::parse(&with_more).expect("parses").expect("whole");
        assert_eq!((read, rest), (request(), &b"more"[..]));
    }

    #[test]
    fn a_length_that_nobody_may_send_is_refused_before_anything_is_kept() {
        assert!(ShellRequest::parse(&u32::MAX.to_be_bytes()).is_err());
        let long = ShellRequest { args: vec!["x".repeat(MAX_ARGUMENTS).into()], ..request() };
        assert!(long.to_bytes().is_err());
    }
}
