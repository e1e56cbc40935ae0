//! What waits for the user: how it is listed and opened, how it is presented in full, which answers it
//! accepts, and what a typed answer does.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::console::features::approval::{RulePreview, UnfitRule, card, preview, title, wider_for};
use crate::console::features::attention::item::AttentionSubject;
use crate::console::features::question::QuestionDialog;
use crate::console::msg;
use crate::console::plain::line::{PlainLine, actor_name};
use crate::console::plain::session::{DialogueStep, PlainEffect, PlainSession, PlainWord};
use crate::console::plain::steps::{BACK, reply};
use crate::console::plain::{calls, tasks};
use crate::console::state::names::place_of_number;
use crate::console::state::places::place_of_question;
use crate::console::state::waiting::{WaitingItem, waiting};
use crate::console::state::{alias, call_name, questions, refusal, words};
use crate::console::text::document::StyledPiece;
use crate::console::text::visible;
use crate::console::widgets::CardLine;
use crate::link::Act;
use crate::model::phrases::NOTHING_WAITS;
use crate::model::{
    AnswerInput, AnswerValue, Decision, HeldCall, HoldReason, Question, QuestionKind, READING, Snapshot,
    Subject,
};

/// Maximum length, in characters, of a command shown in the preview of a rule.
const MOST_COLUMNS: usize = 400;

impl PlainSession {
    /// Returns what waits for the user, oldest first.
    pub(super) fn waiting(&self) -> Vec<(Timestamp, AttentionSubject, String)> {
        let all = waiting(&self.snapshot, None).into_iter();
        let text = |waits| headline(&self.snapshot, waits);
        all.filter_map(|(since, waits)| Some((since, AttentionSubject::of(&waits), text(waits)?))).collect()
    }

    pub(super) fn attend(&mut self, rest: &str) -> Vec<PlainEffect> {
        let all = self.waiting();
        if all.is_empty() {
            return vec![reply(NOTHING_WAITS)];
        }
        let subjects: Vec<AttentionSubject> = all.iter().map(|(_, subject, _)| subject.clone()).collect();
        if !rest.is_empty() {
            return self.pick(&subjects, rest);
        }
        self.step = DialogueStep::Waits(subjects);
        let mut effects: Vec<PlainEffect> =
            (1..).zip(&all).map(|(number, (.., text))| reply(format!("{number} {text}"))).collect();
        effects.push(reply("write a number to answer; an empty line leaves it all"));
        effects
    }

    pub(super) fn pick(&mut self, subjects: &[AttentionSubject], line: &str) -> Vec<PlainEffect> {
        let word = line.trim();
        let place = |number: usize| subjects.get(number.checked_sub(1)?);
        let named = |subject: &&AttentionSubject| match subject {
            AttentionSubject::Question(id) | AttentionSubject::AgentPrompt(id) => {
                let open = self.snapshot.questions.iter().find(|open| open.id == *id);
                open.is_some_and(|open| questions::alias(open) == word)
            }
            AttentionSubject::Input(id) => self.task(id).is_some_and(|task| alias(task) == word),
            _ => false,
        };
        let listed = word.parse().ok().and_then(place).or_else(|| subjects.iter().find(named)).cloned();
        let subject = match listed.map_or_else(|| self.held_by_name(word), |subject| Ok(Some(subject))) {
            Ok(subject) => subject.filter(|subject| subjects.contains(subject)),
            Err(why) => return vec![reply(why)],
        };
        match subject {
            None
            | Some(
                AttentionSubject::Prompt(_)
                | AttentionSubject::Capped(_)
                | AttentionSubject::Orphans(_)
                | AttentionSubject::Left(_)
                | AttentionSubject::Watched(..),
            ) => {
                vec![reply(format!("{word:?} does not wait; attention lists what does"))]
            }
            Some(AttentionSubject::Input(id)) => {
                let name = self.task(&id).map(|task| alias(task)).unwrap_or_default();
                self.write(&name)
            }
            Some(AttentionSubject::Question(id) | AttentionSubject::AgentPrompt(id)) => {
                let open = self.snapshot.questions.iter().find(|open| open.id == id).cloned();
                open.map(|open| self.open_question(QuestionDialog::new(open))).unwrap_or_default()
            }
            Some(AttentionSubject::Held(ticket)) => {
                let call = self.snapshot.gate.held.iter().find(|held| held.ticket == ticket).cloned();
                let Some(call) = call else { return vec![reply("it waits no longer")] };
                let name = call_name(&self.snapshot.places, call.call);
                let lines = call_lines(&call, &name, &self.about.zone);
                let mut effects: Vec<PlainEffect> = lines.into_iter().map(PlainEffect::Say).collect();
                let told = place_of_number(&self.snapshot.places, ticket).and_then(|place| refusal(place));
                if let Some(told) = told {
                    effects.push(reply(told));
                    return effects;
                }
                let word =
                    PlainWord { ticket, hash: call.hash, cost: call.cost.revision, shown: None, wider: None };
                self.only_by_a_person(effects, DialogueStep::Held(word))
            }
        }
    }

    /// Finds the held call of that name. A number alone is one of the list, never a call.
    fn held_by_name(&self, word: &str) -> Result<Option<AttentionSubject>, String> {
        if !word.contains('/') && !word.starts_with("call ") {
            return Ok(None);
        }
        let held = || self.snapshot.gate.held.iter();
        let number = match calls::find_call(&self.snapshot, held().map(|held| held.call), word) {
            Ok(number) => number,
            Err(why) if word.starts_with("call ") => return Err(why),
            Err(_) => return Ok(None),
        };
        Ok(held().find(|held| held.call == number).map(|held| AttentionSubject::Held(held.ticket)))
    }

    fn open_question(&mut self, dialog: QuestionDialog) -> Vec<PlainEffect> {
        let is_secret = matches!(dialog.question.kind, QuestionKind::Text { masked: true });
        let mut effects: Vec<PlainEffect> =
            question_lines(&dialog).into_iter().map(PlainEffect::Say).collect();
        let told = place_of_question(&self.snapshot, &dialog.question).and_then(|place| refusal(place));
        if let Some(told) = told {
            effects.push(reply(told));
            return effects;
        }
        effects.push(PlainEffect::Hide(is_secret));
        if dialog.question.kind.is_operators() {
            return self.only_by_a_person(effects, DialogueStep::Question(Box::new(dialog)));
        }
        self.step = DialogueStep::Question(Box::new(dialog));
        effects
    }

    /// Accepts an operator-only answer from a terminal but not from a pipe, because nobody can tell who is
    /// behind it.
    fn only_by_a_person(&mut self, mut effects: Vec<PlainEffect>, step: DialogueStep) -> Vec<PlainEffect> {
        if self.about.is_person {
            self.step = step;
        } else {
            effects.push(reply("only a person at a terminal can answer that; the input here is none"));
        }
        effects
    }

    pub(super) fn answer(
        &mut self,
        mut dialog: Box<QuestionDialog>,
        line: &str,
        at: Timestamp,
    ) -> Vec<PlainEffect> {
        if !dialog.is_ready(at) {
            self.step = DialogueStep::Question(dialog);
            return vec![reply("that line came too early: read, then write it again")];
        }
        let Some(given) = read_answer(&dialog.question, line) else {
            if line.trim().is_empty() {
                return vec![PlainEffect::Hide(false), reply("left open")];
            }
            let text = format!("that is no answer: {}", dialog.question.kind.answer_form());
            self.step = DialogueStep::Question(dialog);
            return vec![reply(text)];
        };
        dialog.is_sent = true;
        vec![PlainEffect::Hide(false), PlainEffect::Do(dialog.answer(given))]
    }

    pub(super) fn decide(&mut self, mut word: PlainWord, line: &str, at: Timestamp) -> Vec<PlainEffect> {
        if line.trim().is_empty() || line.trim() == BACK {
            return vec![reply("left waiting")];
        }
        let held = self.snapshot.gate.held.iter().find(|held| held.ticket == word.ticket);
        let Some(call) = held.cloned() else { return vec![reply("it waits no longer")] };
        if call.cost.revision != word.cost {
            let name = call_name(&self.snapshot.places, call.call);
            let lines = call_lines(&call, &name, &self.about.zone);
            (word.cost, word.shown, word.wider) = (call.cost.revision, None, None);
            self.step = DialogueStep::Held(word);
            return lines.into_iter().map(PlainEffect::Say).collect();
        }
        if word.shown.is_none_or(|shown| at < shown + READING) {
            self.step = DialogueStep::Held(word);
            return vec![reply("that line came too early: read, then write it again")];
        }
        let decision = match read_wider(&call, line) {
            Some(WiderAnswer::Yes) => match word.wider.take() {
                Some(prefix) => Some(Decision::Prefix(prefix)),
                None => {
                    self.step = DialogueStep::Held(word);
                    return vec![reply("write wider first, and read what would run")];
                }
            },
            Some(WiderAnswer::Rule(rule)) => {
                let preview = preview(&self.snapshot, &call, &rule);
                let lines = preview_lines(&call, &preview);
                (word.wider, word.shown) = (preview.ok().map(|preview| preview.prefix), None);
                self.step = DialogueStep::Held(word);
                return lines.into_iter().map(PlainEffect::Say).collect();
            }
            None => read_decision(&call, line),
        };
        match decision {
            Some(decision) => {
                let PlainWord { ticket, hash, cost, .. } = word;
                let decide = Act::Decide { hash, cost, decision };
                vec![PlainEffect::Do(msg::Effect::Ask(decide.on(Subject::Held(ticket))))]
            }
            None => {
                self.step = DialogueStep::Held(word);
                vec![reply(format!("that is no answer: {}", call_words(&call)))]
            }
        }
    }
}

/// Returns everything to know before answering a question, and the possible answers.
fn question_lines(dialog: &QuestionDialog) -> Vec<PlainLine> {
    let mut lines = vec![PlainLine::reply(dialog.title())];
    lines.extend(reply_lines(dialog.lines().into_iter().map(CardLine::whole)));
    if let QuestionKind::Choice { labels } = &dialog.question.kind {
        let label = |(number, label): (usize, &String)| PlainLine::reply(format!("{number} {label}"));
        lines.extend((1..).zip(labels).map(label));
    }
    lines.push(PlainLine::reply(match &dialog.question.kind {
        QuestionKind::YesNo { .. } => "answer yes or no; words behind it are your note",
        QuestionKind::Choice { .. } => "answer with a number; words behind it are your note",
        QuestionKind::Text { masked: true } => "answer on the next line; it is not shown",
        QuestionKind::Text { masked: false } => {
            "answer on the next line, or /lines for several; /back to leave it open"
        }
        QuestionKind::Gate { .. } | QuestionKind::Command => {
            "answer approve or reject; words behind it are your note"
        }
        QuestionKind::AgentPrompt(prompt) if prompt.is_shown_only => "answer it in the agent's own window",
        QuestionKind::AgentPrompt(prompt) if prompt.rule.is_some() => {
            "answer y or n; the agent is told the words you write after n"
        }
        QuestionKind::AgentPrompt(_) => {
            "answer y, turn (all of this turn), alike (what is alike for 15 minutes) or n; the agent is told the words you write after n"
        }
        QuestionKind::InFlight => "answer rerun, skip or abort; words behind it are your note",
    }));
    lines
}

/// Returns everything that a held call would run, and the possible answers.
fn call_lines(held: &HeldCall, name: &str, zone: &TimeZone) -> Vec<PlainLine> {
    let mut lines = vec![PlainLine::reply(title(held, 1, 1, "..."))];
    lines.extend(reply_lines(card::lines(held, name, zone).into_iter().map(CardLine::whole)));
    lines.push(PlainLine::reply(format!(
        "answer {}; words behind deny are told to whoever called",
        call_words(held)
    )));
    lines
}

/// Returns the words that a held call can be answered with.
fn call_words(held: &HeldCall) -> String {
    let allow = if matches!(held.reason, HoldReason::Rule(_)) { ", allow (and all like it)" } else { "" };
    let wider = match wider_for(held) {
        Some(prefix) => format!(", wider (what begins like it: {})", visible::one_line(prefix.text())),
        None => String::new(),
    };
    format!("run (once){allow}{wider} or deny")
}

/// An answer that concerns a rule for a broader approval.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WiderAnswer {
    /// Preview what a rule would allow.
    Rule(String),
    /// Give the approval that was previewed.
    Yes,
}

/// Parses an answer about a broader approval; `None` if it is something else, or if no such approval is
/// offered for the call.
fn read_wider(held: &HeldCall, line: &str) -> Option<WiderAnswer> {
    let offered = wider_for(held)?;
    let (word, rest) = first_word(line);
    word.eq_ignore_ascii_case("wider").then(|| match rest {
        None => WiderAnswer::Rule(offered.text().to_owned()),
        Some(yes) if yes.eq_ignore_ascii_case("yes") => WiderAnswer::Yes,
        Some(rule) => WiderAnswer::Rule(rule),
    })
}

/// Returns what a broader approval would allow, and how to give it.
fn preview_lines(held: &HeldCall, preview: &Result<RulePreview, UnfitRule>) -> Vec<PlainLine> {
    match preview {
        Ok(preview) => {
            let mut lines: Vec<PlainLine> =
                reply_lines(preview.rows(held, MOST_COLUMNS, "...").into_iter()).collect();
            lines.push(PlainLine::reply("answer wider yes to let it run so, or wider and other first words"));
            lines
        }
        Err(unfit) => vec![PlainLine::reply(format!("that is no rule: {unfit}"))],
    }
}

fn reply_lines(rows: impl Iterator<Item = Vec<StyledPiece>>) -> impl Iterator<Item = PlainLine> {
    let text = |row: Vec<StyledPiece>| row.into_iter().map(|piece| piece.text).collect::<String>();
    rows.map(text).filter(|text| !text.trim().is_empty()).map(PlainLine::reply)
}

/// Parses an answer to a question; `None` if it is not one.
fn read_answer(question: &Question, line: &str) -> Option<AnswerInput> {
    let kind = &question.kind;
    if let QuestionKind::Text { .. } = kind {
        return Some(AnswerInput { value: AnswerValue::Text(line.to_owned()), note: None });
    }
    let (word, note) = first_word(line);
    let value = match (kind, word.to_ascii_lowercase().as_str()) {
        (QuestionKind::Choice { labels }, word) => {
            let number: usize = word.parse().ok()?;
            AnswerValue::Choice(labels.get(number.checked_sub(1)?)?.clone())
        }
        (QuestionKind::AgentPrompt(_), "y") => AnswerValue::Approve,
        (QuestionKind::AgentPrompt(_), "n") => AnswerValue::Reject,
        (QuestionKind::Gate { .. } | QuestionKind::Command, "a") => AnswerValue::Approve,
        (QuestionKind::Gate { .. } | QuestionKind::Command, "r") => AnswerValue::Reject,
        (_, word) => kind.read(word)?,
    };
    kind.accepts(&value).then_some(AnswerInput { value, note })
}

/// Parses a decision on a held call; `None` if it is not one.
fn read_decision(held: &HeldCall, line: &str) -> Option<Decision> {
    let (word, note) = first_word(line);
    let is_ruled = matches!(held.reason, HoldReason::Rule(_));
    match (word.to_ascii_lowercase().as_str(), &note) {
        ("run" | "y", None) => Some(Decision::Once),
        ("allow" | "e", None) if is_ruled => Some(Decision::Exact),
        ("deny" | "n", _) => Some(Decision::Deny { note: note.unwrap_or_default() }),
        _ => None,
    }
}

/// Returns the line for an item in the list; `None` for items that can only be looked at.
fn headline(snapshot: &Snapshot, waits: WaitingItem<'_>) -> Option<String> {
    Some(match waits {
        WaitingItem::Question(question) => {
            let text = visible::masked_line(question.text.trim());
            format!("{}: {text}", questions::title(question).replacen("  ", " ", 1))
        }
        WaitingItem::Held(call) => {
            let cmd = call.commands.first().map(|first| visible::masked_line(&first.cmd)).unwrap_or_default();
            let name = call_name(&snapshot.places, call.call);
            format!("call {name}: {} wants to run {cmd}", actor_name(&call.actor))
        }
        WaitingItem::Input(task, waiting) => {
            format!("{} {}: {}", alias(task), words::needs(waiting), tasks::command(task))
        }
        WaitingItem::Capped(_) | WaitingItem::Orphans(..) | WaitingItem::Left(..) => return None,
    })
}

fn first_word(line: &str) -> (&str, Option<String>) {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, Some(rest.trim().to_owned()).filter(|note| !note.is_empty()))
}
