//! What waits for the person: how it is listed and opened, and what a line written about it does.

use crate::console::app::approval::scope;
use crate::console::app::question;
use crate::console::app::task_words;
use jiff::Timestamp;

use crate::runtime::{Decision, READING};

use super::super::app::alias;
use super::super::msg;
use super::super::text::visible;
use super::line::who;
use super::questions::Wider;
use super::session::{Effect, Session, Step, Subject, Word};
use super::steps::{BACK, reply};
use super::{questions, tasks};
use crate::console::app::question::Inquiry;

impl Session {
    /// What waits for the person, the oldest first.
    pub(super) fn waiting(&self) -> Vec<(Timestamp, Subject, String)> {
        let mut all = Vec::new();
        for question in &self.snapshot.questions {
            let subject = Subject::Question(question.id.clone());
            all.push((question.asked_at, subject, questions::headline(question)));
        }
        for call in &self.snapshot.gate.held {
            let cmd = call.commands.first().map(|first| visible::told(&first.cmd)).unwrap_or_default();
            let text = format!("call {}: {} wants to run {cmd}", call.call, who(&call.actor));
            all.push((call.since, Subject::Held(call.ticket), text));
        }
        for task in self.live() {
            if let Some(waiting) = task.waiting.as_ref().filter(|waiting| waiting.is_certain()) {
                let text =
                    format!("{} {}: {}", alias(task), task_words::need(waiting.kind), tasks::command(task));
                all.push((waiting.since, Subject::Input(task.id.clone()), text));
            }
        }
        all.sort_by_key(|(since, ..)| *since);
        all
    }

    pub(super) fn attend(&mut self, rest: &str) -> Vec<Effect> {
        let all = self.waiting();
        if all.is_empty() {
            return vec![reply("nothing waits for you")];
        }
        let subjects: Vec<Subject> = all.iter().map(|(_, subject, _)| subject.clone()).collect();
        if !rest.is_empty() {
            return self.pick(&subjects, rest);
        }
        self.step = Step::Waits(subjects);
        let mut effects: Vec<Effect> =
            (1..).zip(&all).map(|(number, (.., text))| reply(format!("{number} {text}"))).collect();
        effects.push(reply("write a number to answer; an empty line leaves it all"));
        effects
    }

    pub(super) fn pick(&mut self, subjects: &[Subject], line: &str) -> Vec<Effect> {
        let word = line.trim();
        let place = |number: usize| subjects.get(number.checked_sub(1)?);
        let named = |subject: &&Subject| match subject {
            Subject::Question(id) => {
                let open = self.snapshot.questions.iter().find(|open| open.id == *id);
                open.is_some_and(|open| question::alias(open) == word)
            }
            Subject::Input(id) => self.task(id).is_some_and(|task| alias(task) == word),
            Subject::Held(_) => false,
        };
        let subject = word.parse().ok().and_then(place).or_else(|| subjects.iter().find(named)).cloned();
        match subject {
            None => vec![reply(format!("{word:?} does not wait; attention lists what does"))],
            Some(Subject::Input(id)) => {
                let name = self.task(&id).map(|task| alias(task)).unwrap_or_default();
                self.write(&name)
            }
            Some(Subject::Question(id)) => {
                let open = self.snapshot.questions.iter().find(|open| open.id == id).cloned();
                open.map(|open| self.open_question(Inquiry::new(open))).unwrap_or_default()
            }
            Some(Subject::Held(ticket)) => {
                let call = self.snapshot.gate.held.iter().find(|held| held.ticket == ticket).cloned();
                let Some(call) = call else { return vec![reply("it waits no longer")] };
                let effects = questions::call(&call, &self.about.zone).into_iter().map(Effect::Say).collect();
                let word = Word { ticket, hash: call.hash, shown: None, wider: None };
                self.only_by_a_person(effects, Step::Held(word))
            }
        }
    }

    fn open_question(&mut self, inquiry: Inquiry) -> Vec<Effect> {
        let is_secret = matches!(inquiry.question.kind, crate::runtime::QuestionKind::Text { masked: true });
        let mut effects: Vec<Effect> = questions::question(&inquiry).into_iter().map(Effect::Say).collect();
        effects.push(Effect::Hide(is_secret));
        if inquiry.question.kind.is_operators() {
            return self.only_by_a_person(effects, Step::Question(Box::new(inquiry)));
        }
        self.step = Step::Question(Box::new(inquiry));
        effects
    }

    /// What only the operator may say is not taken from a pipe: nobody can tell who is behind it.
    fn only_by_a_person(&mut self, mut effects: Vec<Effect>, step: Step) -> Vec<Effect> {
        if self.about.is_person {
            self.step = step;
        } else {
            effects.push(reply("only a person at a terminal can answer that; the input here is none"));
        }
        effects
    }

    pub(super) fn answer(&mut self, mut inquiry: Box<Inquiry>, line: &str, at: Timestamp) -> Vec<Effect> {
        if !inquiry.is_ready(at) {
            self.step = Step::Question(inquiry);
            return vec![reply("that line came too early: read, then write it again")];
        }
        let Some(given) = questions::answer(&inquiry.question, line) else {
            if line.trim().is_empty() {
                return vec![Effect::Hide(false), reply("left open")];
            }
            let text = format!("that is no answer: {}", inquiry.question.kind.expected());
            self.step = Step::Question(inquiry);
            return vec![reply(text)];
        };
        inquiry.is_sent = true;
        let question = inquiry.question.id.clone();
        vec![Effect::Hide(false), Effect::Do(msg::Effect::Answer { question, given })]
    }

    pub(super) fn decide(&mut self, mut word: Word, line: &str, at: Timestamp) -> Vec<Effect> {
        if line.trim().is_empty() || line.trim() == BACK {
            return vec![reply("left waiting")];
        }
        let held = self.snapshot.gate.held.iter().find(|held| held.ticket == word.ticket);
        let Some(call) = held.cloned() else { return vec![reply("it waits no longer")] };
        if word.shown.is_none_or(|shown| at < shown + READING) {
            self.step = Step::Held(word);
            return vec![reply("that line came too early: read, then write it again")];
        }
        let decision = match questions::wider(&call, line) {
            Some(Wider::Yes) => match word.wider.take() {
                Some(prefix) => Some(Decision::Prefix(prefix)),
                None => {
                    self.step = Step::Held(word);
                    return vec![reply("write wider first, and read what would run")];
                }
            },
            Some(Wider::Rule(rule)) => {
                let preview = scope::preview(&self.snapshot, &call, &rule);
                let lines = questions::preview(&call, &preview);
                (word.wider, word.shown) = (preview.ok().map(|preview| preview.prefix), None);
                self.step = Step::Held(word);
                return lines.into_iter().map(Effect::Say).collect();
            }
            None => questions::decision(&call, line),
        };
        match decision {
            Some(decision) => {
                vec![Effect::Do(msg::Effect::Decide { ticket: word.ticket, hash: word.hash, decision })]
            }
            None => {
                self.step = Step::Held(word);
                vec![reply(format!("that is no answer: {}", questions::words(&call)))]
            }
        }
    }
}
