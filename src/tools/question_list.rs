//! QuestionList: decisions that running programs wait for.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::question::QuestionRow;
use super::receipt::Receipt;
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use crate::envelope::{Actor, Envelope, ToolError};
use crate::model::Question;
use crate::model::phrases::question_not_found;

/// The maximum number of questions in one answer.
const MOST: usize = 50;

pub(super) struct QuestionListTool;

/// The questions to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionListInput {
    /// List only this question, `question_…`, with its whole text and evidence.
    question_id: Option<String>,
}

/// The questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct QuestionListing {
    /// Number of open questions.
    total: usize,
    /// Number of these that you may answer.
    answerable: usize,
    /// The questions, oldest first.
    questions: Vec<QuestionRow>,
}

/// What is known about the open questions.
#[derive(Debug, Clone)]
pub struct OpenQuestions {
    /// All open questions, or the requested one.
    pub questions: Vec<Arc<Question>>,
    /// The caller.
    pub actor: Actor,
    /// Whether a single question was requested: it is shown in full.
    pub whole: bool,
    /// The current time.
    pub now: Timestamp,
}

/// Builds the canonical envelope.
pub fn project(complete: &OpenQuestions) -> Envelope {
    QuestionListTool::envelope(&QuestionListing::of(complete))
}

/// Lists the open questions, or only the one with this id.
pub(super) fn listing(
    cx: ToolContext<'_>,
    question_id: Option<String>,
) -> Result<QuestionListing, ToolError> {
    let mut questions = cx.runtime.questions();
    questions.retain(|question| question.is_of_program());
    let whole = question_id.is_some();
    if let Some(id) = question_id {
        questions.retain(|question| question.id.as_str() == id);
        if questions.is_empty() {
            return Err(question_not_found(&id));
        }
    }
    Ok(QuestionListing::of(&OpenQuestions {
        questions,
        actor: cx.caller.actor.clone(),
        whole,
        now: cx.now(),
    }))
}

impl Verb for QuestionListTool {
    const NAME: &'static str = "QuestionList";
    const TITLE: &'static str = "List questions";
    const DESCRIPTION: &'static str = "\
Lists the open pilothouse questions: decisions that running programs wait for, with the values they concern. Each \
says whether you may answer it, what an answer may be and how long it waits. Gates are always the operator's. With \
`question_id`, one question with its whole text and evidence. Usually nothing is open; look when you run a program, or when \
you are asked to.";
    const HINTS: Hints = Hints::READS;
    const CLI: &'static [&'static str] = &["question", "list"];
    const IS_LISTED: bool = false;
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[("See the open questions", "{}")];

    type Input = QuestionListInput;
    type Result = QuestionListing;

    async fn run(cx: ToolContext<'_>, input: QuestionListInput) -> Result<ToolOutcome, ToolError> {
        let listing = listing(cx, input.question_id)?;
        Ok(ToolOutcome { envelope: Self::envelope(&listing), task: None })
    }

    fn summary(listing: &QuestionListing) -> String {
        listing.count_line()
    }

    fn receipt(listing: &QuestionListing) -> Receipt {
        let rows = listing.questions.iter();
        let receipt =
            rows.fold(Receipt::new(listing.count_line()), |receipt, row| receipt.block(row.lines()));
        let hidden = listing.total.saturating_sub(listing.questions.len());
        let receipt = receipt.block((hidden > 0).then(|| format!("Not shown: {hidden} newer.")));
        match (listing.total, listing.answerable) {
            (0, _) => receipt,
            (_, 0) => {
                receipt.next("nothing to answer; Question with `comment` tells the operator what you know.")
            }
            _ => receipt.next("Question with `question_id` and `answer` to answer one."),
        }
    }
}

impl QuestionListing {
    fn of(OpenQuestions { questions, actor, whole, now }: &OpenQuestions) -> Self {
        let row = |question: &Arc<Question>| QuestionRow::of(question, actor, *now, *whole);
        let rows: Vec<QuestionRow> = questions.iter().map(row).collect();
        Self {
            total: rows.len(),
            answerable: rows.iter().filter(|row| row.answerable).count(),
            questions: rows.into_iter().take(MOST).collect(),
        }
    }

    fn count_line(&self) -> String {
        match (self.total, self.answerable) {
            (0, _) => "No open questions".to_owned(),
            (1, 0) => "1 open question, for the operator".to_owned(),
            (1, _) => "1 open question, yours to answer".to_owned(),
            (total, answerable) => format!("{total} open questions, {answerable} of them yours to answer"),
        }
    }
}
