//! Question: decisions that running programs wait for, and answers to them. Agents have this one tool for what the
//! command line offers as `question list` and `question answer`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::input;
use super::question_answer::{self, AnswerResult, QuestionAnswerTool};
use super::question_list::{QuestionListTool, QuestionListing, listing};
use super::receipt::Receipt;
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use crate::envelope::{Actor, ToolError};
use crate::journal::Durability;
use crate::model::phrases::unusable;

/// The default and maximum time that a call waits for a question, in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
const MOST_TIMEOUT_MS: u64 = 45_000;

pub(super) struct QuestionTool;

/// No field lists the open questions; `question_id` selects one; `answer` or `comment` responds to it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionInput {
    /// `question_…`, as listed.
    question_id: Option<String>,
    /// Answer as the question expects it.
    answer: Option<String>,
    /// Reason; without `answer`, a note for the operator.
    comment: Option<String>,
    /// Wait for a question that you may answer.
    #[serde(default)]
    block: bool,
    /// Maximum wait, up to 45000 ms.
    #[serde(default = "default_timeout")]
    timeout_ms: u64,
}

fn default_timeout() -> u64 {
    DEFAULT_TIMEOUT_MS
}

/// The open questions, or the result of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum QuestionResult {
    /// The open questions.
    Open(QuestionListing),
    /// Result of the response.
    Settled {
        /// The question and the response.
        settled: AnswerResult,
    },
}

impl Verb for QuestionTool {
    const NAME: &'static str = "Question";
    const TITLE: &'static str = "See and answer questions";
    const DESCRIPTION: &'static str = "\
Shows the pilothouse questions that running programs ask, and answers one for good: `question_id` shows its evidence, `answer` \
decides where it is yours, `comment` says why. Gates are the operator's. `block` waits for a question. Usually none is open.";
    const HINTS: Hints = Hints::ACTS;
    const DURABILITY: Durability = Durability::Synced;
    const CLI: &'static [&'static str] = &[];
    const CLAMPED: &'static [(&'static str, u64, u64)] = &[("timeout_ms", 0, MOST_TIMEOUT_MS)];

    type Input = QuestionInput;
    type Result = QuestionResult;

    fn parse(mut given: Value) -> Result<QuestionInput, ToolError> {
        // "Yes" and "no" may be options of a question, and a model may send them as booleans.
        if let Some(answer) = given.get_mut("answer")
            && let Some(is_yes) = answer.as_bool()
        {
            *answer = is_yes.to_string().into();
        }
        input::parse::<Self>(given)
    }

    fn check(input: QuestionInput) -> Result<(), ToolError> {
        waits_for_any(&input)?;
        match given_answer(input) {
            Ok(said) => QuestionAnswerTool::check(said),
            Err(_) => Ok(()),
        }
    }

    async fn run(cx: ToolContext<'_>, input: QuestionInput) -> Result<ToolOutcome, ToolError> {
        if waits_for_any(&input)? {
            wait(cx, input.timeout_ms).await;
        }
        let outcome = match given_answer(input) {
            Ok(said) => QuestionResult::Settled { settled: question_answer::answer(cx, said).await? },
            Err(question_id) => QuestionResult::Open(listing(cx, question_id)?),
        };
        Ok(ToolOutcome { envelope: Self::envelope(&outcome), task: None })
    }

    fn summary(outcome: &QuestionResult) -> String {
        match outcome {
            QuestionResult::Open(listing) => QuestionListTool::summary(listing),
            QuestionResult::Settled { settled } => QuestionAnswerTool::summary(settled),
        }
    }

    fn receipt(outcome: &QuestionResult) -> Receipt {
        match outcome {
            QuestionResult::Open(listing) => QuestionListTool::receipt(listing),
            QuestionResult::Settled { settled } => QuestionAnswerTool::receipt(settled),
        }
    }
}

/// Returns whether the call waits for any question, in which case it must not name one.
fn waits_for_any(input: &QuestionInput) -> Result<bool, ToolError> {
    let is_about_one = input.question_id.is_some() || input.answer.is_some() || input.comment.is_some();
    if input.block && is_about_one {
        let message = "`block` waits for any question: leave `question_id`, `answer` and `comment` out";
        return Err(unusable(QuestionTool::NAME, "block", message));
    }
    Ok(input.block)
}

/// Waits until a question is open that the caller may answer, at most `timeout_ms` milliseconds.
async fn wait(cx: ToolContext<'_>, timeout_ms: u64) {
    let mut snapshots = cx.runtime.snapshot();
    let is_operator = cx.caller.actor == Actor::Operator;
    let open = snapshots.wait_for(|snapshot| {
        snapshot.questions.iter().any(|question| question.agents || is_operator && question.needs_somebody())
    });
    // If none is open by then, the list is empty, and that is the answer.
    let _ = tokio::time::timeout(Duration::from_millis(timeout_ms.min(MOST_TIMEOUT_MS)), open).await;
}

/// Returns the answer or comment given, or else (as `Err`) the question to show, if one is named. An answer without a
/// question id refers to a question that cannot be found.
fn given_answer(input: QuestionInput) -> Result<question_answer::QuestionAnswerInput, Option<String>> {
    let QuestionInput { question_id, answer, comment, .. } = input;
    if answer.is_none() && comment.is_none() {
        return Err(question_id);
    }
    Ok(question_answer::QuestionAnswerInput { question_id: question_id.unwrap_or_default(), answer, comment })
}
