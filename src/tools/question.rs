//! A question as agents see it: the same in lists and in answers.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::units::millis;
use crate::envelope::{Actor, mask, one_line};
use crate::model::millis_between;
use crate::model::{AnswerKind, BindingView, Question, QuestionId};

/// The maximum length of a text in a list, in characters.
const LIST_CHARS: usize = 400;
/// The maximum length of a value in a list, in characters.
const VALUE_CHARS: usize = 200;

/// One open question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct QuestionRow {
    /// Id of the pilothouse question.
    pub(super) question_id: QuestionId,
    /// Kind of the expected answer.
    pub(super) kind: AnswerKind,
    /// Whether you may answer it.
    pub(super) answerable: bool,
    /// The text; in a list, its beginning.
    pub(super) text: String,
    /// Whether the text is longer.
    pub(super) text_truncated: bool,
    /// The permitted answers.
    pub(super) expects: String,
    /// The program that asks.
    pub(super) program: Option<String>,
    /// Its line in the program.
    pub(super) line: Option<u32>,
    /// The values in question.
    pub(super) evidence: Vec<QuestionValue>,
    /// The loop pass that it concerns, from 1.
    pub(super) pass: Option<u32>,
    /// Maximum number of passes.
    pub(super) passes: Option<u32>,
    /// Milliseconds since it was asked.
    pub(super) waiting_ms: u64,
    /// Milliseconds until the deadline; null if it waits forever.
    pub(super) remaining_ms: Option<u64>,
    /// The deadline for an answer.
    #[schemars(with = "Option<String>")]
    pub(super) deadline: Option<Timestamp>,
    /// The expected answerer.
    pub(super) expected: Option<String>,
    /// Whether a command works on it; the operator may still answer.
    pub(super) at_work: bool,
    /// The program's agent for this work.
    pub(super) agent: Option<String>,
    /// The model of that agent.
    pub(super) model: Option<String>,
    /// The permissions of that agent.
    pub(super) permissions: Vec<String>,
    /// The skills of that agent.
    pub(super) skills: Vec<String>,
    /// Comments on the question.
    pub(super) comments: Vec<Remark>,
}

/// A value of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct QuestionValue {
    /// Its name.
    name: String,
    /// Its beginning.
    preview: String,
    /// Whether it is longer.
    truncated: bool,
    /// Exit code of the command that produced it.
    exit_code: Option<i32>,
    /// The end of that command's stderr.
    stderr: Option<String>,
    /// The file with the complete value.
    file: Option<String>,
}

/// A comment on a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Remark {
    /// The author.
    by: Actor,
    /// The text.
    text: String,
}

impl QuestionRow {
    /// Returns a question as `actor` sees it: in full if `whole`, otherwise shortened for a list.
    pub(super) fn of(question: &Question, actor: &Actor, now: Timestamp, whole: bool) -> Self {
        let origin = &question.origin;
        let (text_chars, value_chars) =
            if whole { (usize::MAX, usize::MAX) } else { (LIST_CHARS, VALUE_CHARS) };
        let text = mask(&question.text);
        let (text, text_truncated) = cut(&text, text_chars);
        let values = question.evidence.bindings.iter().map(|binding| QuestionValue::of(binding, value_chars));
        let expected = question.expected.clone().unwrap_or_default();
        let remaining = |until: Timestamp| millis_between(now, until);
        Self {
            question_id: question.id.clone(),
            kind: (&question.kind).into(),
            answerable: question.agents || *actor == Actor::Operator,
            text,
            text_truncated,
            expects: question.kind.answer_form(),
            program: origin.program.as_ref().map(|path| path.to_string_lossy().into_owned()),
            line: origin.lines.map(|lines| lines.first),
            evidence: values.collect(),
            pass: question.evidence.pass.map(|(pass, _)| pass),
            passes: question.evidence.pass.and_then(|(_, most)| most),
            waiting_ms: millis_between(question.asked_at, now),
            remaining_ms: question.deadline.map(remaining),
            deadline: question.deadline,
            at_work: !question.needs_somebody(),
            expected: question.expected.as_ref().map(|expected| expected.by.clone()),
            agent: expected.agent,
            model: expected.model,
            permissions: expected.permissions,
            skills: expected.skills,
            comments: question.comments.iter().map(Remark::of).collect(),
        }
    }

    /// Says whose work it belongs to, if known.
    fn work(&self) -> Option<String> {
        let words = |label: &str, words: &[String]| {
            (!words.is_empty()).then(|| format!("{label} {}", one_line(&words.join(", "), VALUE_CHARS)))
        };
        let expected = self.expected.as_ref().map(|by| match self.at_work {
            true => format!("{by} is at work on it"),
            false => format!("expected from {by}"),
        });
        let facts = [
            words("agent", self.agent.as_slice()),
            words("model", self.model.as_slice()),
            words("permissions", &self.permissions),
            words("skills", &self.skills),
            expected,
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        (!facts.is_empty()).then(|| format!("  {}", facts.join("; ")))
    }

    /// Describes it in a few lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let who = match (self.answerable, self.kind) {
            (true, _) => "yours to answer",
            (false, AnswerKind::Gate) => "a gate, for the operator",
            (false, AnswerKind::Command) => "a command, for the operator",
            (false, _) => "for the operator",
        };
        let left = self.remaining_ms.map(|ms| format!(", {} left", millis(ms)));
        let at = self.line.map(|line| format!(" line {line}")).unwrap_or_default();
        let program = self.program.as_deref().map(|path| format!(" {path}{at}")).unwrap_or_default();
        let pass = self.pass.map(|pass| match self.passes {
            Some(most) => format!(", pass {pass} of at most {most}"),
            None => format!(", pass {pass}"),
        });
        let mut lines = vec![format!(
            "{} ({who}{}){program}{}",
            self.question_id,
            left.unwrap_or_default(),
            pass.unwrap_or_default()
        )];
        lines.extend(self.work());
        lines.extend(self.text.lines().map(|line| format!("> {line}")));
        lines.push(format!("  expects {}", self.expects));
        for value in &self.evidence {
            let exit = value.exit_code.map(|code| format!(" (exit {code})")).unwrap_or_default();
            let dots = if value.truncated { " …" } else { "" };
            lines.push(format!("  {}{exit} = {}{dots}", value.name, one_line(&value.preview, VALUE_CHARS)));
            lines.extend(
                value.stderr.as_deref().map(|text| format!("    stderr: {}", one_line(text, VALUE_CHARS))),
            );
            lines.extend(
                value.file.as_deref().filter(|_| value.truncated).map(|file| format!("    whole: {file}")),
            );
        }
        lines.extend(
            self.comments.iter().map(|said| format!("  {}: {}", said.by, one_line(&said.text, VALUE_CHARS))),
        );
        lines
    }
}

impl QuestionValue {
    fn of(binding: &BindingView, chars: usize) -> Self {
        let (preview, is_cut) = cut(&binding.preview, chars);
        Self {
            name: binding.name.clone(),
            preview,
            truncated: is_cut || binding.is_cut,
            exit_code: binding.exit_code,
            stderr: binding.stderr.as_deref().map(|text| cut(text, chars).0).filter(|text| !text.is_empty()),
            file: binding.file.as_ref().map(|path| path.to_string_lossy().into_owned()),
        }
    }
}

impl Remark {
    fn of(comment: &crate::model::Comment) -> Self {
        Self { by: comment.by.clone(), text: comment.text.clone() }
    }
}

fn cut(text: &str, chars: usize) -> (String, bool) {
    match text.char_indices().nth(chars) {
        Some((at, _)) => (text[..at].to_owned(), true),
        None => (text.to_owned(), false),
    }
}
