//! What waits for the person's word: how it is told whole, what may be written then, and what that means.

use crate::console::app::approval::card;
use crate::console::app::question;
use jiff::tz::TimeZone;

use crate::runtime::{AnswerValue, Decision, Given, HeldCall, HoldReason, Question, QuestionKind};

use super::super::text::document::Piece;
use super::super::text::visible;
use super::line::Line;
use crate::console::app::approval::scope::wider_for;
use crate::console::app::approval::scope::{Preview, Unfit};
use crate::console::app::question::Inquiry;

/// Characters told of a command that a wider yes would let run.
const MOST_COLUMNS: usize = 400;

/// Returns everything there is to know before answering a question, and what may be answered.
#[must_use]
pub fn question(inquiry: &Inquiry) -> Vec<Line> {
    let mut lines = vec![Line::reply(inquiry.title())];
    lines.extend(said(inquiry.lines()));
    if let QuestionKind::Choice { labels } = &inquiry.question.kind {
        let label = |(number, label): (usize, &String)| Line::reply(format!("{number} {label}"));
        lines.extend((1..).zip(labels).map(label));
    }
    lines.push(Line::reply(match &inquiry.question.kind {
        QuestionKind::YesNo { .. } => "answer yes or no; words behind it are your note",
        QuestionKind::Choice { .. } => "answer with a number; words behind it are your note",
        QuestionKind::Text { masked: true } => "answer on the next line; it is not shown",
        QuestionKind::Text { masked: false } => {
            "answer on the next line, or /lines for several; /back to leave it open"
        }
        QuestionKind::Gate { .. } | QuestionKind::Command => {
            "answer approve or reject; words behind it are your note"
        }
        QuestionKind::InFlight => "answer rerun, skip or abort; words behind it are your note",
    }));
    lines
}

/// Returns everything that a held call would run, and what may be answered.
#[must_use]
pub fn call(held: &HeldCall, zone: &TimeZone) -> Vec<Line> {
    let mut lines = vec![Line::reply(card::title(held, 1, 1, "..."))];
    lines.extend(said(card::lines(held, zone)));
    lines.push(Line::reply(format!("answer {}; words behind deny are told to whoever called", words(held))));
    lines
}

/// Returns the words that a held call can be answered with.
#[must_use]
pub fn words(held: &HeldCall) -> String {
    let allow = if matches!(held.reason, HoldReason::Rule(_)) { ", allow (and all like it)" } else { "" };
    let wider = match wider_for(held) {
        Some(prefix) => format!(", wider (what begins like it: {})", visible::one_line(prefix.text())),
        None => String::new(),
    };
    format!("run (once){allow}{wider} or deny")
}

/// A word about a wider yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wider {
    /// To tell what a rule would let run.
    Rule(String),
    /// To let it run.
    Yes,
}

/// Reads a word about a wider yes; none where it is none, or the call cannot get one.
pub(super) fn wider(held: &HeldCall, line: &str) -> Option<Wider> {
    let offered = wider_for(held)?;
    let (word, rest) = first_word(line);
    word.eq_ignore_ascii_case("wider").then(|| match rest {
        None => Wider::Rule(offered.text().to_owned()),
        Some(yes) if yes.eq_ignore_ascii_case("yes") => Wider::Yes,
        Some(rule) => Wider::Rule(rule),
    })
}

/// Returns what a wider yes would let run, and how it is given.
pub(super) fn preview(held: &HeldCall, preview: &Result<Preview, Unfit>) -> Vec<Line> {
    match preview {
        Ok(preview) => {
            let mut lines: Vec<Line> = said(preview.rows(held, MOST_COLUMNS, "...")).collect();
            lines.push(Line::reply("answer wider yes to let it run so, or wider and other first words"));
            lines
        }
        Err(unfit) => vec![Line::reply(format!("that is no rule: {unfit}"))],
    }
}

fn said(rows: Vec<Vec<Piece>>) -> impl Iterator<Item = Line> {
    let text = |row: Vec<Piece>| row.into_iter().map(|piece| piece.text).collect::<String>();
    rows.into_iter().map(text).filter(|text| !text.trim().is_empty()).map(Line::reply)
}

/// Reads an answer to a question; none when it is none.
#[must_use]
pub fn answer(question: &Question, line: &str) -> Option<Given> {
    let kind = &question.kind;
    if let QuestionKind::Text { .. } = kind {
        return Some(Given { value: AnswerValue::Text(line.to_owned()), note: None });
    }
    let (word, note) = first_word(line);
    let value = match (kind, word.to_ascii_lowercase().as_str()) {
        (QuestionKind::Choice { labels }, word) => {
            let number: usize = word.parse().ok()?;
            AnswerValue::Choice(labels.get(number.checked_sub(1)?)?.clone())
        }
        (QuestionKind::Gate { .. } | QuestionKind::Command, "a") => AnswerValue::Approve,
        (QuestionKind::Gate { .. } | QuestionKind::Command, "r") => AnswerValue::Reject,
        (_, word) => kind.read(word)?,
    };
    kind.accepts(&value).then_some(Given { value, note })
}

/// Reads the word about a held call; none when it is none.
#[must_use]
pub fn decision(held: &HeldCall, line: &str) -> Option<Decision> {
    let (word, note) = first_word(line);
    let is_ruled = matches!(held.reason, HoldReason::Rule(_));
    match (word.to_ascii_lowercase().as_str(), &note) {
        ("run" | "y", None) => Some(Decision::Once),
        ("allow" | "e", None) if is_ruled => Some(Decision::Exact),
        ("deny" | "n", _) => Some(Decision::Deny { note: note.unwrap_or_default() }),
        _ => None,
    }
}

/// Says what a question is, in a line of the list of what waits.
#[must_use]
pub fn headline(question: &Question) -> String {
    let text = visible::told(question.text.trim());
    format!("{}: {text}", question::title(question).replacen("  ", " ", 1))
}

fn first_word(line: &str) -> (&str, Option<String>) {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, Some(rest.trim().to_owned()).filter(|note| !note.is_empty()))
}
