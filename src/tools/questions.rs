//! Question: what running programs need somebody to decide, and the answer to it. The one tool of agents for what the
//! command line has as `question list` and `question answer`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::input;
use super::question_answer::{self, QuestionAnswer, Said};
use super::question_list::{Listing, QuestionList, listing};
use super::receipt::Receipt;
use super::verb::{Context, Done, Hints, Verb};
use crate::envelope::ToolError;
use crate::journal::Durability;

pub(super) struct Question;

/// Nothing to see what is open; `question_id` for one of them; with `answer` or `comment`, what to say to it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The question, by its exact id.
    question_id: Option<String>,
    /// The answer, exactly as the question expects it.
    answer: Option<String>,
    /// Why you answer so; alone, what the operator should know.
    comment: Option<String>,
}

/// What is open, or what came of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Outcome {
    /// What is open.
    Open(Listing),
    /// What came of the answer.
    Settled {
        /// The question and what was said.
        settled: Said,
    },
}

impl Verb for Question {
    const NAME: &'static str = "Question";
    const TITLE: &'static str = "See and answer questions";
    const DESCRIPTION: &'static str = "\
Lists the open pilothouse questions, what running programs wait for somebody to decide: whether you may answer, what an answer may be, how long it \
waits. With `question_id`, one question with its whole text and evidence; with `answer`, answers it for good, so judge by the \
evidence. Gates are the operator's: beside them, `comment` tells what you know. Usually nothing is open.";
    const HINTS: Hints = Hints::ACTS;
    const DURABILITY: Durability = Durability::Synced;
    const CLI: &'static [&'static str] = &[];

    type Input = Input;
    type Result = Outcome;

    fn parse(mut given: Value) -> Result<Input, ToolError> {
        // Yes and no are words of a question; a model may mean them as such.
        if let Some(answer) = given.get_mut("answer")
            && let Some(is_yes) = answer.as_bool()
        {
            *answer = is_yes.to_string().into();
        }
        input::parse::<Self>(given)
    }

    fn check(input: Input) -> Result<(), ToolError> {
        match said(input) {
            Ok(said) => QuestionAnswer::check(said),
            Err(_) => Ok(()),
        }
    }

    async fn run(cx: Context<'_>, input: Input) -> Result<Done, ToolError> {
        let outcome = match said(input) {
            Ok(said) => Outcome::Settled { settled: question_answer::answer(cx, said).await? },
            Err(question_id) => Outcome::Open(listing(cx, question_id)?),
        };
        Ok(Done { envelope: Self::envelope(&outcome), task: None })
    }

    fn summary(outcome: &Outcome) -> String {
        match outcome {
            Outcome::Open(listing) => QuestionList::summary(listing),
            Outcome::Settled { settled } => QuestionAnswer::summary(settled),
        }
    }

    fn receipt(outcome: &Outcome) -> Receipt {
        match outcome {
            Outcome::Open(listing) => QuestionList::receipt(listing),
            Outcome::Settled { settled } => QuestionAnswer::receipt(settled),
        }
    }
}

/// Returns what is said to a question, else the one to look at, if one is named. Something said to no question is an answer
/// to one that cannot be found.
fn said(input: Input) -> Result<question_answer::Input, Option<String>> {
    let Input { question_id, answer, comment } = input;
    if answer.is_none() && comment.is_none() {
        return Err(question_id);
    }
    Ok(question_answer::Input { question_id: question_id.unwrap_or_default(), answer, comment })
}
