//! QuestionAnswer: answers a program's question, or comments on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::Receipt;
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use crate::envelope::{Envelope, ToolError, one_line};
use crate::journal::Durability;
use crate::model::phrases::{question_not_found, unusable};
use crate::model::{AnswerInput, AnswerKind, AnswerRefusal, Error, Principal, Question, QuestionId};

/// How many characters of an answer are repeated.
const REPEATED_CHARS: usize = 200;
/// The maximum length of a text that may be sent, in bytes.
const LONGEST: usize = 256 << 10;

pub(super) struct QuestionAnswerTool;

/// The question and the response.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionAnswerInput {
    /// Id of the pilothouse question, `question_…`.
    pub(super) question_id: String,
    /// The answer, exactly as the question expects it: `yes` or `no`, a label, or a text.
    pub(super) answer: Option<String>,
    /// The reason, in a sentence. Without `answer`, a comment on the question for the operator.
    pub(super) comment: Option<String>,
}

/// Effect of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerEffect {
    /// The question is settled.
    Answered,
    /// The question is open; the operator sees the comment.
    Commented,
}

/// The result of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct AnswerResult {
    /// The question.
    question_id: QuestionId,
    /// Kind of the question.
    kind: AnswerKind,
    /// Effect of the response.
    effect: AnswerEffect,
    /// The beginning of the answer.
    answer: Option<String>,
    /// The recorded author of the answer.
    #[schemars(with = "Option<String>")]
    principal: Option<Principal>,
}

/// What is known about an answer or a comment.
#[derive(Debug, Clone)]
pub struct AnswerDetails {
    /// The question in its last state.
    pub question: std::sync::Arc<Question>,
    /// The answer that was accepted, and who gave it.
    pub answer: Option<(String, Principal)>,
}

/// Builds the canonical envelope.
pub fn project(complete: &AnswerDetails) -> Envelope {
    QuestionAnswerTool::envelope(&AnswerResult::of(complete))
}

impl AnswerResult {
    fn of(AnswerDetails { question, answer }: &AnswerDetails) -> Self {
        Self {
            question_id: question.id.clone(),
            kind: (&question.kind).into(),
            effect: if answer.is_some() { AnswerEffect::Answered } else { AnswerEffect::Commented },
            answer: answer.as_ref().map(|(text, _)| one_line(text, REPEATED_CHARS)),
            principal: answer.as_ref().map(|(_, principal)| principal.clone()),
        }
    }
}

impl Verb for QuestionAnswerTool {
    const NAME: &'static str = "QuestionAnswer";
    const TITLE: &'static str = "Answer a question";
    const DESCRIPTION: &'static str = "\
Answers an open pilothouse question, where QuestionList says that it is yours to answer. The program goes on with your answer at \
once, and it cannot be taken back: judge by the evidence, and say why in `comment`. An answer must be exactly what the question \
expects; one that does not fit leaves it open for the operator. Gates are never yours: with `comment` alone you tell the \
operator what you know, beside any question.";
    const HINTS: Hints = Hints::ACTS;
    const DURABILITY: Durability = Durability::Synced;
    const CLI: &'static [&'static str] = &["question", "answer"];
    const IS_LISTED: bool = false;
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        (
            "Answer yes, and say why",
            r#"{"question_id":"question_4k2m9x7q","answer":"yes","comment":"all 212 tests pass"}"#,
        ),
        (
            "Tell the operator something beside a gate",
            r#"{"question_id":"question_4k2m9x7q","comment":"staging has been green for an hour"}"#,
        ),
    ];

    type Input = QuestionAnswerInput;
    type Result = AnswerResult;

    fn check(input: QuestionAnswerInput) -> Result<(), ToolError> {
        validate(&input)
    }

    async fn run(cx: ToolContext<'_>, input: QuestionAnswerInput) -> Result<ToolOutcome, ToolError> {
        let said = answer(cx, input).await?;
        Ok(ToolOutcome { envelope: Self::envelope(&said), task: None })
    }

    fn summary(said: &AnswerResult) -> String {
        let id = &said.question_id;
        match said.effect {
            AnswerEffect::Answered => format!("{id} answered"),
            AnswerEffect::Commented => format!("comment put beside {id}"),
        }
    }

    fn receipt(said: &AnswerResult) -> Receipt {
        let id = &said.question_id;
        match (said.effect, &said.answer) {
            (AnswerEffect::Answered, Some(answer)) => {
                Receipt::new(format!("Answered {id}: {answer}")).line("The program goes on with it.")
            }
            (AnswerEffect::Answered, None) => Receipt::new(format!("Answered {id}")),
            (AnswerEffect::Commented, _) => Receipt::new(format!("Comment put beside {id}"))
                .line("It is still open; the operator sees what you said."),
        }
    }
}

/// Answers a question, or comments on it.
pub(super) async fn answer(
    cx: ToolContext<'_>,
    input: QuestionAnswerInput,
) -> Result<AnswerResult, ToolError> {
    validate(&input)?;
    let QuestionAnswerInput { question_id, answer, comment } = input;
    let Ok(id) = question_id.parse::<QuestionId>() else { return Err(question_not_found(&question_id)) };
    let by = &cx.caller.actor;
    let open =
        cx.runtime.questions().into_iter().find(|question| question.id == id && question.is_of_program());
    let Some(question) = open else {
        // The runtime knows the outcome of the question.
        let late = cx.runtime.comment(by, &id, comment.or(answer).unwrap_or_default()).await;
        return Err(late.err().unwrap_or(Error::Question(AnswerRefusal::Unknown(id))).into());
    };
    let Some(answer) = answer else {
        cx.runtime.comment(by, &id, comment.unwrap_or_default()).await?;
        return Ok(AnswerResult::of(&AnswerDetails { question, answer: None }));
    };
    let Some(value) = question.kind.read(&answer) else {
        let misfit = AnswerRefusal::DoesNotFit { id: id.clone(), expected: question.kind.answer_form() };
        if question.agents {
            let said = format!("answered {}, which does not fit", one_line(&answer, REPEATED_CHARS));
            cx.runtime.comment(by, &id, said).await?;
        }
        return Err(Error::Question(misfit).into());
    };
    let taken = cx.runtime.answer(by, None, &id, AnswerInput { value, note: comment }).await?;
    Ok(AnswerResult::of(&AnswerDetails { question, answer: Some((answer, taken.principal)) }))
}

fn validate(input: &QuestionAnswerInput) -> Result<(), ToolError> {
    let refuse = |field, reason: &str| Err(unusable(QuestionAnswerTool::NAME, field, reason));
    let is_blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
    if input.answer.is_none() && is_blank(&input.comment) {
        return refuse("answer", "`answer` or `comment` is needed");
    }
    if input.answer.as_ref().is_some_and(|answer| answer.len() > LONGEST) {
        return refuse("answer", "`answer` is longer than 256 KiB");
    }
    Ok(())
}
