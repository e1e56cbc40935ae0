//! The role `shell`: one command from an agent's own shell. The caller sends a request along with its descriptors,
//! receives progress reports and forwards signals. Its environment was sent with the hello.
//!
//! A request is a length (u32, big endian) and that many bytes of JSON, followed by a length and the arguments of the
//! shell, each terminated by a NUL. The descriptors (directory, standard input, output, error, and those above them that
//! its header numbers) are sent with its first byte.

mod caller;
mod conversation;
mod loss;
mod served;
mod unasked;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Error;
use crate::process::{InheritedAttributes, MOST_DESCRIPTORS};

pub use caller::ShellCall;
pub use conversation::ShellConversation;
pub use loss::Loss;
pub use served::{ServedRequest, ShellLine};
pub use unasked::ShellFallback;

/// Size limit of a request's header, in bytes: the kernel takes no longer command than fits in it, escaped.
const MAX_HEADER: usize = 1 << 20;
/// Size limit of the arguments, in bytes: the kernel takes no more than 6 MiB.
const MAX_ARGUMENTS: usize = 8 << 20;
/// Number of descriptors: directory, standard input, output and error.
const DESCRIPTORS: usize = 4;
/// Number of descriptors including those above the standard streams.
const ALL_DESCRIPTORS: usize = DESCRIPTORS + MOST_DESCRIPTORS;

/// A command to run exactly as its caller would have run it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellRequest {
    /// The agent that runs the command, by the name of its program: `claude`.
    pub agent: Option<String>,
    /// Distinguishes this session of the agent from others.
    pub session: Option<String>,
    /// The agent's process id, if reported.
    pub agent_pid: Option<u32>,
    /// The shell that runs it.
    pub shell: PathBuf,
    /// What its caller would hand on to it.
    pub inherited: InheritedAttributes,
    /// The numbers of its caller's descriptors above the standard streams.
    pub descriptors: Vec<i32>,
    /// The source of its input.
    pub input: ShellInput,
    /// The agent's id for the model's tool call.
    pub tool_call: Option<String>,
    /// The text shown instead of its arguments, if it stands for a command that runs elsewhere.
    pub shown: Option<String>,
    /// A description shown with the command.
    pub description: Option<String>,
    /// Why the runtime cannot run it as its caller would: it then only says whether its caller may.
    pub unfit: Option<String>,
    /// The arguments of the shell, starting with the name it is called by.
    #[serde(skip)]
    pub args: Vec<OsString>,
}

/// The source of a command's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellInput {
    /// The caller's descriptor.
    #[default]
    Descriptor,
    /// A pipe: for what the caller sends and what a person types.
    Pipe,
    /// As `Pipe`, but the command runs on a terminal of 80x24, whose output goes to the standard output.
    Terminal,
    /// The command runs on a terminal that stands for the caller's, which its three standard streams are.
    CallersTerminal,
}

impl ShellRequest {
    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let header = serde_json::to_vec(self)?;
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

    /// Parses a request and returns the bytes after it; `None` if it is incomplete.
    fn parse(bytes: &[u8]) -> Result<Option<(Self, &[u8])>, Error> {
        let Some((header, rest)) = part(bytes, MAX_HEADER)? else { return Ok(None) };
        let Some((args, rest)) = part(rest, MAX_ARGUMENTS)? else { return Ok(None) };
        let mut request: Self = serde_json::from_slice(header)?;
        let args = args.strip_suffix(b"\0").map(|args| args.split(|byte| *byte == 0));
        request.args = args.into_iter().flatten().map(|arg| OsString::from_vec(arg.to_vec())).collect();
        Ok(Some((request, rest)))
    }
}

/// One part, and the bytes after it.
type Split<'a> = (&'a [u8], &'a [u8]);

/// Splits off one part: a length and that many bytes.
fn part(bytes: &[u8], limit: usize) -> Result<Option<Split<'_>>, Error> {
    let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    if length > limit {
        return Err(Error::frame(format!("{length} bytes announced, {limit} allowed")));
    }
    Ok(rest.split_at_checked(length))
}

/// Takes the next message off what was received; `None` while it is incomplete.
fn take<T: DeserializeOwned>(unread: &mut Vec<u8>, limit: usize) -> Result<Option<T>, Error> {
    let Some((body, rest)) = part(unread, limit)? else { return Ok(None) };
    let (message, left) = (caller::parse(body)?, rest.len());
    unread.drain(..unread.len() - left);
    Ok(Some(message))
}

/// A message from the runtime to the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellReply {
    /// The caller must run the command itself: it is not in the runtime's sandbox, or is part of a task.
    Fenced,
    /// The command was not run, or nobody can know whether it was; the runtime will not run it.
    Refused {
        /// The reason, as a sentence.
        message: String,
        /// The exit code for the caller, which must not run it either. `None` is the runtime's word that no rule and no
        /// pause concerns the command: its caller may run it by itself, if it leaves a mark.
        code: Option<u8>,
    },
    /// It waits for the operator's approval.
    Held,
    /// It has started.
    Started,
    /// The caller's input has arrived, in the order it was sent.
    Typed {
        /// Why the input was refused, if it was.
        refused: Option<String>,
    },
    /// Its shell has ended, and everything it wrote before that has been written to the caller's descriptors.
    Ended {
        /// Its exit code.
        code: Option<i32>,
        /// The number of the signal that ended it.
        signal: Option<i32>,
        /// Why the runtime ended, if the command was ended with it.
        closing: Option<String>,
        /// Why some of its output could not be written to the caller's descriptors.
        unwritten: Option<String>,
        /// What a person did or said, on one line for the command's standard error.
        note: Option<String>,
    },
}

/// A message from the caller to the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellMessage {
    /// The caller received this signal, to be forwarded to the command.
    Signal {
        /// The signal's number.
        number: i32,
        /// Whether all processes of the caller's group received it, not only the caller.
        to_group: bool,
    },
    /// The caller's terminal has another size.
    Resized,
    /// Input in base64, answered by [`ShellReply::Typed`].
    Input(String),
    /// Kill the command and everything it started.
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
            inherited: InheritedAttributes::own(),
            descriptors: vec![5],
            input: ShellInput::Terminal,
            tool_call: None,
            shown: None,
            description: None,
            unfit: None,
            args: vec!["bash".into(), "-c".into(), OsString::from_vec(vec![0xff, b'\n']), "".into()],
        }
    }

    #[test]
    fn a_request_reads_back_byte_for_byte_and_a_part_of_a_request_is_incomplete() {
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
