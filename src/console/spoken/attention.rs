//! What waits for the person: how it is listed and opened, and what a line written about it does.

use crate::console::app::approval::scope;
use crate::console::app::question;
use crate::console::app::task_words;
use jiff::Timestamp;

use crate::runtime::{Decision, READING};

use super::super::app::alias;
use super::super::msg::Effect;
use super::super::text::visible;
use super::line::who;
use super::questions::Wider;
use super::steps::{BACK, reply};
use super::talk::{Act, Step, Subject, Talk, Word};
use super::{questions, tasks};
use crate::console::app::question::Inquiry;

impl Talk {
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

    pub(super) fn attend(&mut self, rest: &str) -> Vec<Act> {
        let all = self.waiting();
        if all.is_empty() {
            return vec![reply("nothing waits for you")];
        }
        let subjects: Vec<Subject> = all.iter().map(|(_, subject, _)| subject.clone()).collect();
        if !rest.is_empty() {
            return self.pick(&subjects, rest);
        }
        self.step = Step::Waits(subjects);
        let mut acts: Vec<Act> =
            (1..).zip(&all).map(|(number, (.., text))| reply(format!("{number} {text}"))).collect();
        acts.push(reply("write a number to answer; an empty line leaves it all"));
        acts
    }

    pub(super) fn pick(&mut self, subjects: &[Subject], line: &str) -> Vec<Act> {
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
                let acts = questions::call(&call, &self.about.zone).into_iter().map(Act::Say).collect();
                let word = Word { ticket, hash: call.hash, shown: None, wider: None };
                self.only_by_a_person(acts, Step::Held(word))
            }
        }
    }

    fn open_question(&mut self, inquiry: Inquiry) -> Vec<Act> {
        let is_secret = matches!(inquiry.question.kind, crate::runtime::QuestionKind::Text { masked: true });
        let mut acts: Vec<Act> = questions::question(&inquiry).into_iter().map(Act::Say).collect();
        acts.push(Act::Hide(is_secret));
        if inquiry.question.kind.is_operators() {
            return self.only_by_a_person(acts, Step::Question(Box::new(inquiry)));
        }
        self.step = Step::Question(Box::new(inquiry));
        acts
    }

    /// What only the operator may say is not taken from a pipe: nobody can tell who is behind it.
    fn only_by_a_person(&mut self, mut acts: Vec<Act>, step: Step) -> Vec<Act> {
        if self.about.is_person {
            self.step = step;
        } else {
            acts.push(reply("only a person at a terminal can answer that; the input here is none"));
        }
        acts
    }

    pub(super) fn answer(&mut self, mut inquiry: Box<Inquiry>, line: &str, at: Timestamp) -> Vec<Act> {
        if !inquiry.is_ready(at) {
            self.step = Step::Question(inquiry);
            return vec![reply("that line came too early: read, then write it again")];
        }
        let Some(given) = questions::answer(&inquiry.question, line) else {
            if line.trim().is_empty() {
                return vec![Act::Hide(false), reply("left open")];
            }
            let text = format!("that is no answer: {}", inquiry.question.kind.expected());
            self.step = Step::Question(inquiry);
            return vec![reply(text)];
        };
        inquiry.is_sent = true;
        let question = inquiry.question.id.clone();
        vec![Act::Hide(false), Act::Do(Effect::Answer { question, given })]
    }

    pub(super) fn decide(&mut self, mut word: Word, line: &str, at: Timestamp) -> Vec<Act> {
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
                return lines.into_iter().map(Act::Say).collect();
            }
            None => questions::decision(&call, line),
        };
        match decision {
            Some(decision) => {
                vec![Act::Do(Effect::Decide { ticket: word.ticket, hash: word.hash, decision })]
            }
            None => {
                self.step = Step::Held(word);
                vec![reply(format!("that is no answer: {}", questions::words(&call)))]
            }
        }
    }
}
