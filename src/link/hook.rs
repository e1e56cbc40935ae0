//! The role `hook`: a hook of an agent's program sends one report, a line of JSON. If that is a prompt, it is answered by
//! one line with what the person decided, or by the end of the connection: then the program's own prompt decides. At the end
//! of calls, a line may have the person's words.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;

use super::hello::{self, MAX_HELLO, PATIENCE, within};
use super::shell::ShellCall;
use super::{Client, Error, Hello};
use crate::agents::{HookEvent, HookReport, PromptVerdict};

/// How long a runtime that is there may take to admit a hook, for which an agent may be waiting.
const ADMISSION: Duration = Duration::from_millis(500);

/// What a hook is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookReply {
    /// A person's answer to its prompt.
    Answered(AnsweredPrompt),
    /// A person's words for the model, at the end of its calls.
    Words(String),
}

/// A person's answer to a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredPrompt {
    /// The hash of the call that it is about.
    pub hash: String,
    /// What was decided.
    pub verdict: PromptVerdict,
}

/// A report, and when its hook began: later than the event, by little.
#[derive(Debug, Serialize, Deserialize)]
struct TimedReport {
    at: Timestamp,
    report: HookReport,
}

/// The hook's end; single-threaded and without an async runtime, because an agent may wait for it.
#[derive(Debug)]
pub struct HookCall(ShellCall);

impl HookCall {
    /// Connects to the runtime at a socket.
    ///
    /// # Errors
    /// If there is none, or it does not admit the hook within half a second.
    pub fn dial(socket: &Path, hello: &Hello) -> Result<Self, Error> {
        ShellCall::dial(socket, hello, ADMISSION).map(Self)
    }

    /// Sends a report. For a prompt, waits for its answer, however long it takes; at the end of a call or of calls, half a
    /// second for words. `None` if there is none, or one to another call.
    ///
    /// # Errors
    /// If the connection is lost, or the other end breaks the protocol.
    pub fn report(mut self, report: HookReport, at: Timestamp) -> Result<Option<HookReply>, Error> {
        let mut report = TimedReport { at, report };
        let mut line = serde_json::to_vec(&report)?;
        if line.len() > MAX_HELLO {
            // What a call was is worth more than what came of it.
            report.report = report.report.without_texts();
            line = serde_json::to_vec(&report)?;
        }
        self.0.send_line(&line)?;
        let report = report.report;
        let hash = match &report.event {
            HookEvent::Prompt(call) => Some(report.hash(call)),
            HookEvent::CallsEnded(_) | HookEvent::Used(_) => None,
            _ => return Ok(None),
        };
        let line = match self.0.line_within(hash.is_none().then_some(ADMISSION)) {
            Err(Error::Gone) => return Ok(None),
            line => line?,
        };
        let reply = serde_json::from_slice(&line)?;
        Ok(match reply {
            HookReply::Answered(answer) if hash.as_ref() != Some(&answer.hash) => None,
            HookReply::Words(_) if hash.is_some() => None,
            reply => Some(reply),
        })
    }
}

/// The runtime's end.
#[derive(Debug)]
pub struct HookLine {
    client: Client,
}

impl HookLine {
    /// Waits at most 5 s for the report of an admitted hook.
    ///
    /// # Errors
    /// If it sends something else, too much, or nothing.
    pub async fn receive(mut client: Client) -> Result<(Self, HookReport, Timestamp), Error> {
        let line = within("report", PATIENCE, hello::receive(&mut client.lines)).await?;
        let TimedReport { at, report } = serde_json::from_slice(&line)?;
        Ok((Self { client }, report, at))
    }

    /// Returns the client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Waits until the hook is gone. Cancellation-safe.
    pub async fn wait_for_end(&mut self) {
        while let Ok(Some(_)) = self.client.lines.next().await {}
    }

    /// Sends a reply; tells whether it was sent. A hook that is gone has its program's own prompt.
    pub async fn tell(mut self, reply: &HookReply) -> bool {
        let Ok(mut line) = serde_json::to_vec(reply) else { return false };
        line.push(b'\n');
        self.client.writer.write_all(&line).await.is_ok()
    }
}
