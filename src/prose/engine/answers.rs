//! Answers supplied with a program (`--answers FILE`): for tests, for CI, and for anyone who knows the answers in
//! advance. Pure, except for reading the file.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use toml::Value as Given;

use super::record::error::RunError;
use crate::files::{self, Links};
use crate::model::{AnswerValue, QuestionKind};

/// The longest file that is read.
const MOST_BYTES: u64 = 4 << 20;

/// The answers in a file, in order. An answer is taken by the first question that matches all its criteria.
#[derive(Debug, Default)]
pub struct Answers {
    answers: Vec<AnswerEntry>,
    /// How often each was taken.
    taken: Mutex<Vec<u32>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswersFile {
    #[serde(default)]
    answer: Vec<AnswerEntry>,
}

/// One answer: which questions it is for, and what it says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerEntry {
    /// The name of the input, the gate or the agent.
    name: Option<String>,
    line: Option<u32>,
    /// A part of its text.
    text: Option<String>,
    /// `yes_no`, `choice`, `text`, `gate`, `command` or `in_flight`.
    kind: Option<String>,
    /// The pass of the loop around it.
    pass: Option<u32>,
    /// What is answered: `yes`, a label, a text, `approve`, `rerun`; or true and false, or the place of an
    /// option.
    answer: Option<Given>,
    /// The message it fails with.
    fail: Option<String>,
    /// Nobody answers in time.
    #[serde(default)]
    time_out: bool,
    /// How many questions it is for; all where nothing is said.
    times: Option<u32>,
}

/// A question, as matched against the answers.
#[derive(Debug, Clone, Copy)]
pub struct AskedQuestion<'a> {
    /// Its name, if it has one.
    pub name: Option<&'a str>,
    /// Its line in the program.
    pub line: u32,
    /// The kind of answer it expects.
    pub kind: &'a QuestionKind,
    pub text: &'a str,
    /// The current iteration of the enclosing loop.
    pub pass: Option<u32>,
}

/// The content of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuppliedAnswer {
    Value(AnswerValue),
    /// A failure with this message.
    Fail(String),
    /// A timeout.
    TimeOut,
}

impl Answers {
    /// Reads a file: TOML, or JSON if its extension is `json`.
    ///
    /// # Errors
    /// When it cannot be read or is not valid.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let text = files::read_text(path, Links::Within, MOST_BYTES);
        let text = text.map_err(RunError::io("read the answers in", path))?;
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let broken = |reason: String| RunError::Answers { path: path.to_owned(), reason };
        Self::parse(&text, is_json).map_err(broken)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, is_json: bool) -> Result<Self, String> {
        let file: AnswersFile = match is_json {
            true => serde_json::from_str(text).map_err(|error| error.to_string())?,
            false => toml::from_str(text).map_err(|error| error.to_string())?,
        };
        for (at, entry) in file.answer.iter().enumerate() {
            let said = [entry.answer.is_some(), entry.fail.is_some(), entry.time_out];
            if said.iter().filter(|is_said| **is_said).count() != 1 {
                return Err(format!("answer {} must have one of `answer`, `fail`, `time_out`", at + 1));
            }
        }
        let taken = Mutex::new(vec![0; file.answer.len()]);
        Ok(Self { answers: file.answer, taken })
    }

    /// Takes the answer to a question, if there is one; an error says why that answer is not valid for it.
    pub fn take(&self, asked: &AskedQuestion<'_>) -> Option<Result<SuppliedAnswer, String>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_left = |at: usize, entry: &AnswerEntry| entry.times.is_none_or(|times| taken[at] < times);
        let mut fitting = self.answers.iter().enumerate();
        let (at, entry) = fitting.find(|(at, entry)| entry.fits(asked) && is_left(*at, entry))?;
        taken[at] += 1;
        Some(entry.reply(asked.kind))
    }

    /// Returns whether a question of a program that has not started yet has an answer here.
    pub fn covers(&self, asked: &AskedQuestion<'_>) -> bool {
        // A text with variables may turn out to be anything.
        let is_open = asked.text.contains('{');
        let has_text =
            |entry: &AnswerEntry| entry.text.as_deref().is_none_or(|text| asked.text.contains(text));
        self.answers.iter().any(|entry| entry.may_fit(asked) && (is_open || has_text(entry)))
    }
}

impl AnswerEntry {
    fn fits(&self, asked: &AskedQuestion<'_>) -> bool {
        self.may_fit(asked)
            && self.text.as_deref().is_none_or(|text| asked.text.contains(text))
            && self.pass.is_none_or(|pass| asked.pass == Some(pass))
    }

    /// Like `fits`, as far as can be known before the program runs: its texts may contain variables.
    fn may_fit(&self, asked: &AskedQuestion<'_>) -> bool {
        self.name.as_deref().is_none_or(|name| asked.name == Some(name))
            && self.line.is_none_or(|line| asked.line == line)
            && self.kind.as_deref().is_none_or(|kind| asked.kind.as_str() == kind)
            && (self.names_one() || self.reads_as(asked.kind))
    }

    /// Returns whether it says which question it is for, so that an answer of the wrong form is a mistake.
    fn names_one(&self) -> bool {
        self.name.is_some() || self.line.is_some() || self.text.is_some() || self.kind.is_some()
    }

    fn reads_as(&self, kind: &QuestionKind) -> bool {
        self.reply(kind).is_ok()
    }

    fn reply(&self, kind: &QuestionKind) -> Result<SuppliedAnswer, String> {
        if let Some(message) = &self.fail {
            return Ok(SuppliedAnswer::Fail(message.clone()));
        }
        let Some(answer) = &self.answer else { return Ok(SuppliedAnswer::TimeOut) };
        let text = match (answer, kind) {
            (Given::Boolean(yes), QuestionKind::Gate { .. } | QuestionKind::Command) => {
                if *yes { "approve" } else { "reject" }.to_owned()
            }
            (Given::Boolean(yes), QuestionKind::YesNo { .. }) => if *yes { "yes" } else { "no" }.to_owned(),
            (Given::String(text), QuestionKind::Choice { labels }) if !labels.contains(text) => {
                label_at(labels, text).unwrap_or_else(|| text.clone())
            }
            (Given::String(text), QuestionKind::YesNo { .. }) if text == "true" => "yes".to_owned(),
            (Given::String(text), QuestionKind::YesNo { .. }) if text == "false" => "no".to_owned(),
            (Given::String(text), _) => text.clone(),
            (Given::Integer(place), QuestionKind::Choice { labels }) => {
                label_at(labels, &place.to_string()).unwrap_or_default()
            }
            (other, _) => other.to_string(),
        };
        let value = kind.read(&text).map(SuppliedAnswer::Value);
        value.ok_or_else(|| format!("{text:?} is not {}", kind.answer_form()))
    }
}

/// Returns the option with a number, which counts from 1.
fn label_at(labels: &[String], place: &str) -> Option<String> {
    let at = place.parse::<usize>().ok()?.checked_sub(1)?;
    labels.get(at).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [[answer]]
        name = "deploy"
        answer = true

        [[answer]]
        line = 7
        answer = "no"
        times = 1

        [[answer]]
        text = "flaky"
        fail = "the service is down"

        [[answer]]
        kind = "yes_no"
        answer = "yes"
    "#;

    fn yes_no() -> QuestionKind {
        QuestionKind::YesNo { yes: String::new(), no: String::new() }
    }

    #[test]
    fn the_first_answer_that_fits_is_taken_as_often_as_it_says() {
        let answers = Answers::parse(FILE, false).expect("answers");
        let kind = yes_no();
        let ask = |line, text| {
            let asked = AskedQuestion { name: None, line, kind: &kind, text, pass: None };
            answers.take(&asked).map(|reply| reply.expect("fits"))
        };
        assert_eq!(ask(7, "is it?"), Some(SuppliedAnswer::Value(AnswerValue::No)));
        assert_eq!(ask(7, "is it?"), Some(SuppliedAnswer::Value(AnswerValue::Yes)), "taken once");
        assert_eq!(ask(9, "a flaky one"), Some(SuppliedAnswer::Fail("the service is down".into())));
        let gate = QuestionKind::Gate { allow: vec![] };
        let asked = AskedQuestion { name: Some("deploy"), line: 1, kind: &gate, text: "go?", pass: None };
        assert_eq!(answers.take(&asked), Some(Ok(SuppliedAnswer::Value(AnswerValue::Approve))));
        let text = QuestionKind::Text { masked: false };
        assert_eq!(answers.take(&AskedQuestion { name: None, kind: &text, ..asked }), None);
        assert!(
            answers.covers(&asked) && !answers.covers(&AskedQuestion { name: None, kind: &text, ..asked })
        );
    }

    #[test]
    fn an_option_may_be_given_by_its_place_and_a_yes_as_true() {
        let choice = QuestionKind::Choice { labels: vec!["one".into(), "1".into(), "three".into()] };
        let reply = |answer: &str, kind: &QuestionKind| {
            let answers = Answers::parse(&format!("[[answer]]\nline = 1\nanswer = {answer}\n"), false);
            let asked = AskedQuestion { name: None, line: 1, kind, text: "?", pass: None };
            answers.expect("answers").take(&asked).expect("fits")
        };
        let label = |label: &str| Ok(SuppliedAnswer::Value(AnswerValue::Choice(label.into())));
        for (answer, expected) in [("\"3\"", "three"), ("3", "three"), ("\"1\"", "1"), ("\"one\"", "one")] {
            assert_eq!(reply(answer, &choice), label(expected), "{answer}");
        }
        assert!(reply("\"4\"", &choice).is_err() && reply("0", &choice).is_err());
        assert_eq!(reply("\"true\"", &yes_no()), Ok(SuppliedAnswer::Value(AnswerValue::Yes)));
        assert_eq!(reply("false", &yes_no()), Ok(SuppliedAnswer::Value(AnswerValue::No)));
    }

    #[test]
    fn an_answer_of_the_wrong_form_is_reported() {
        let answers = Answers::parse("[[answer]]\nline = 3\nanswer = \"maybe\"\n", false).expect("answers");
        let asked = AskedQuestion { name: None, line: 3, kind: &yes_no(), text: "?", pass: None };
        assert_eq!(answers.take(&asked), Some(Err("\"maybe\" is not yes or no".into())));
        assert!(Answers::parse("[[answer]]\nline = 3\n", false).is_err());
        assert!(Answers::parse("[[answer]]\nanswer = 1\nfail = \"x\"\n", false).is_err());
        assert!(Answers::parse("[[answer]]\nlyne = 3\nanswer = 1\n", false).is_err());
        assert!(Answers::parse(r#"{"answer":[{"line":3,"answer":"yes"}]}"#, true).is_ok());
    }
}
