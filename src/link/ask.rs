//! What is said in frames: orders from consoles and scripts, news from the runtime.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::operator::{Card, Update};
use crate::config::ApprovalRule;
use crate::envelope::{Envelope, SafeText, TaskId};
use crate::prose::run::{Outcome, Refusal, Request};
use crate::prose::vm::effects::Event;
use crate::runtime::{
    CallRecord, Closing, Decision, Given, Input, InputOutcome, Metrics, QuestionId, StreamView, TaskUsage,
};
use crate::tools::Answer;

/// From a console or script to the runtime.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Do something and say how it went.
    Ask {
        /// Names the answer.
        id: u64,
        /// What to do.
        ask: Ask,
    },
    /// From now on these tasks are on the console's screen (role `operator`).
    Show(Shown),
    /// How far a stream of commands has come; the first one opens its call, the last one ends it (role `cli`).
    Stream(StreamView),
    /// So many screens have been taken in since the start (role `operator`).
    Taken(u64),
}

/// The tasks a console shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    /// Those with a pane.
    pub(super) visible: Vec<TaskId>,
    /// The one the person looks at.
    pub(super) focus: Option<TaskId>,
}

/// Something to do. A script may only `Call`, and read the `Metrics`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    Call {
        tool: String,
        input: Value,
        /// The request's idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        once: Option<String>,
    },
    Send {
        task: TaskId,
        input: Input,
    },
    Release {
        task: TaskId,
    },
    Dismiss {
        task: TaskId,
    },
    Rename {
        task: TaskId,
        name: Option<String>,
    },
    Record {
        seq: u64,
    },
    /// Tell the whole command of a task.
    Command {
        task: TaskId,
    },
    /// Hold new calls of agents, or go on.
    Pause {
        paused: bool,
        /// What came with the card of the pause; needed where going on lets held calls run.
        #[serde(default)]
        nonce: Option<String>,
    },
    /// The operator's word to a held call.
    Decide {
        ticket: u64,
        hash: String,
        decision: Decision,
        /// What came with its card on this connection.
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Answer a question as the operator.
    Answer {
        question: QuestionId,
        given: Given,
        /// What came with its card on this connection.
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Let agents answer a question, or not any more.
    LetAgents {
        question: QuestionId,
        may: bool,
        /// What came with its card on this connection.
        #[serde(default)]
        nonce: Option<String>,
    },
    /// Let the approval rules of a console whose settings lie elsewhere hold too.
    Rules {
        config: PathBuf,
        rules: Vec<ApprovalRule>,
    },
    /// Look what live tasks use now.
    Usage {
        tasks: Vec<TaskId>,
    },
    /// End all tasks and the runtime.
    Shutdown {
        closing: Closing,
    },
    Metrics,
    /// Run a program and tell what happens meanwhile (role `cli`).
    Program(Box<Request>),
}

/// From the runtime to a console or script.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum News {
    /// How an [`Ask`] went; the error is a sentence.
    Reply { id: u64, reply: Result<Reply, String> },
    /// What changed since the last snapshot.
    Update(Box<Update>),
    /// What an answer must carry to what the last update brought that waits for the operator's word.
    Cards(Vec<Card>),
    /// Something happened in the program that is run.
    Event(Box<Event>),
}

/// The answer to an [`Ask`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Answer(Answered),
    Sent(InputOutcome),
    Record(Option<Arc<CallRecord>>),
    Command(Option<String>),
    Metrics(Box<Metrics>),
    Usage(Vec<TaskUsage>),
    Program(Box<Result<Outcome, Refusal>>),
    Done,
}

/// A tool's answer as it travels.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answered {
    seq: u64,
    envelope: Envelope,
    receipt: SafeText,
    #[serde(default)]
    repeated: bool,
}

impl From<Answer> for Answered {
    fn from(Answer { seq, envelope, receipt, repeated }: Answer) -> Self {
        Self { seq, envelope, receipt, repeated }
    }
}

impl From<Answered> for Answer {
    fn from(Answered { seq, envelope, receipt, repeated }: Answered) -> Self {
        Self { seq, envelope, receipt, repeated }
    }
}
