//! What a line means: a choice from the menu, or the answer to what was asked last.

use jiff::Timestamp;

use crate::runtime::{HoldReason, TaskView};

use super::super::app::inquiry::{self, Inquiry};
use super::super::app::{alias, held, takes_input};
use super::super::msg::{Effect, Leave};
use super::super::text::visible;
use super::super::update::{line_to, start_of, stop_of, wants_secret};
use super::super::view;
use super::line::{Line, who};
use super::menu::{self, Verb};
use super::reading::Purpose;
use super::talk::{Act, Step, Subject, Talk};
use super::{questions, tasks};

/// Calls listed.
const MOST_CALLS: usize = 10;
/// What leaves a question open, or a line unwritten.
const BACK: &str = "/back";

impl Talk {
    pub(super) fn line(&mut self, line: &str, at: Timestamp) -> Vec<Act> {
        let step = std::mem::replace(&mut self.step, Step::Menu);
        let is_back = line.trim() == BACK;
        match step {
            Step::Menu => self.choose(line),
            Step::Line(_) | Step::Question(_) if is_back => vec![Act::Hide(false), reply("left as it is")],
            Step::Line(task) => {
                let mut acts = vec![Act::Hide(false)];
                acts.extend(self.task(&task).map(|task| Act::Do(line_to(task, line))));
                acts
            }
            Step::Question(inquiry) => self.answer(inquiry, line, at),
            Step::Held(ticket, hash, shown) => self.decide(ticket, hash, shown, line, at),
            _ if is_back || line.trim().is_empty() => vec![reply("left as it is")],
            Step::Start => vec![Act::Do(start_of(line.trim()))],
            Step::Stop(task) => match line.trim() {
                "s" | "stop" => vec![Act::Do(stop_of(&task, false))],
                "k" | "kill" => vec![Act::Do(stop_of(&task, true))],
                _ => vec![reply("left as it is")],
            },
            Step::Waits(subjects) => self.pick(&subjects, line),
            Step::Quit => self.leave(line.trim()),
        }
    }

    fn choose(&mut self, line: &str) -> Vec<Act> {
        let Some((verb, rest)) = menu::read(line) else {
            return vec![reply(format!("{:?} is not on the menu; an empty line shows it", line.trim()))];
        };
        if self.about.recording.is_some() && verb.needs_a_runtime() {
            return vec![reply("a recording is only looked at")];
        }
        match verb {
            Verb::Help => self.menu().into_iter().map(Act::Say).collect(),
            Verb::Tasks => self.list(),
            Verb::Output => self.with_task(
                rest,
                |_| true,
                |talk, task| vec![Act::Read(task.id.clone(), talk.read_to(&task.id), Purpose::Asked)],
            ),
            Verb::Screen => self.with_task(rest, |_| true, |_, task| vec![Act::Screen(task.id.clone())]),
            Verb::Follow => self.follow(rest),
            Verb::Line => self.write(rest),
            Verb::Start if rest.is_empty() => {
                self.step = Step::Start;
                vec![reply("write the command; an empty line starts none")]
            }
            Verb::Start => vec![Act::Do(start_of(rest))],
            Verb::Stop => self.with_task(rest, |task| !task.status.is_terminal(), Self::ask_to_stop),
            Verb::Attend => self.attend(rest),
            Verb::Pause => vec![Act::Do(Effect::Pause(self.snapshot.gate.paused.is_none()))],
            Verb::Receipts => self.receipts(rest),
            Verb::Quit => self.quit(),
        }
    }

    /// The menu: of a recording, what can be done to one.
    pub(super) fn menu(&self) -> Vec<Line> {
        menu::lines(self.about.recording.is_some())
    }

    fn list(&self) -> Vec<Act> {
        if self.snapshot.tasks.is_empty() {
            return vec![reply("no tasks yet")];
        }
        let mut tasks: Vec<_> = self.snapshot.tasks.iter().collect();
        tasks.sort_by_key(|task| (task.status.is_terminal(), std::cmp::Reverse(task.number)));
        tasks.into_iter().map(|task| reply(tasks::standing(task, self.now))).collect()
    }

    /// Does something with the task that is named, or the only one that it can be done with.
    fn with_task(
        &mut self,
        rest: &str,
        fits: impl Fn(&TaskView) -> bool,
        act: impl Fn(&mut Self, &TaskView) -> Vec<Act>,
    ) -> Vec<Act> {
        let name = rest.split_whitespace().next();
        let mut fitting = self.snapshot.tasks.iter().filter(|task| fits(task));
        let task = match name {
            Some(name) => self.snapshot.tasks.iter().find(|task| is_named(task, name)),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        };
        match (task.cloned(), name) {
            (Some(task), _) if fits(&task) => act(self, &task),
            (Some(task), _) => {
                vec![reply(format!("it cannot be done now: {}", tasks::standing(&task, self.now)))]
            }
            (None, Some(name)) => vec![reply(format!("there is no task {name:?}"))],
            (None, None) => {
                let names: Vec<String> =
                    self.snapshot.tasks.iter().filter(|task| fits(task)).map(|task| alias(task)).collect();
                match names.is_empty() {
                    true => vec![reply("there is no task that it can be done with")],
                    false => vec![reply(format!("name a task behind it: {}", names.join(", ")))],
                }
            }
        }
    }

    fn follow(&mut self, rest: &str) -> Vec<Act> {
        if rest.is_empty() && self.follows.take().is_some() {
            return vec![reply("no task is followed any more")];
        }
        self.with_task(
            rest,
            |task| !task.status.is_terminal(),
            |talk, task| {
                talk.follows = Some(task.id.clone());
                let read = Act::Read(task.id.clone(), talk.read_to(&task.id), Purpose::Followed);
                vec![reply(format!("{} is followed; follow alone ends it", alias(task))), read]
            },
        )
    }

    fn write(&mut self, rest: &str) -> Vec<Act> {
        let text = rest.split_once(char::is_whitespace).map(|(_, text)| text.to_owned());
        self.with_task(rest, takes_input, |talk, task| match (&text, wants_secret(task)) {
            (Some(_), true) => {
                vec![reply(format!("{0} wants a secret: write line {0} alone, then the secret", alias(task)))]
            }
            (Some(text), false) => vec![Act::Do(line_to(task, text))],
            (None, is_secret) => {
                talk.step = Step::Line(task.id.clone());
                let hidden = if is_secret { " It is not shown and not recorded." } else { "" };
                let text = format!("write the line for {}; {BACK} to send none.{hidden}", alias(task));
                vec![Act::Hide(is_secret), reply(text)]
            }
        })
    }

    fn ask_to_stop(&mut self, task: &TaskView) -> Vec<Act> {
        self.step = Step::Stop(task.id.clone());
        let name = alias(task);
        vec![
            reply(format!("stop {name}? {}", tasks::command(task))),
            reply("s: stop it, TERM and then KILL. k: kill it at once. An empty line leaves it running"),
        ]
    }

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
            if let Some(waiting) = task.waiting.as_ref().filter(|waiting| waiting.evidence != "quiet") {
                let text = format!("{} {}: {}", alias(task), view::need(&waiting.kind), tasks::command(task));
                all.push((waiting.since, Subject::Input(task.id.clone()), text));
            }
        }
        all.sort_by_key(|(since, ..)| *since);
        all
    }

    fn attend(&mut self, rest: &str) -> Vec<Act> {
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

    fn pick(&mut self, subjects: &[Subject], line: &str) -> Vec<Act> {
        let word = line.trim();
        let place = |number: usize| subjects.get(number.checked_sub(1)?);
        let named = |subject: &&Subject| match subject {
            Subject::Question(id) => {
                let open = self.snapshot.questions.iter().find(|open| open.id == *id);
                open.is_some_and(|open| inquiry::alias(open) == word)
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
                self.only_by_a_person(acts, Step::Held(ticket, call.hash, None))
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

    fn answer(&mut self, mut inquiry: Box<Inquiry>, line: &str, at: Timestamp) -> Vec<Act> {
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

    fn decide(
        &mut self,
        ticket: u64,
        hash: String,
        shown: Option<Timestamp>,
        line: &str,
        at: Timestamp,
    ) -> Vec<Act> {
        if line.trim().is_empty() || line.trim() == BACK {
            return vec![reply("left waiting")];
        }
        let Some(call) = self.snapshot.gate.held.iter().find(|held| held.ticket == ticket).cloned() else {
            return vec![reply("it waits no longer")];
        };
        if !shown.is_some_and(|shown| at.duration_since(shown) >= held::SETTLES) {
            self.step = Step::Held(ticket, hash, shown);
            return vec![reply("that line came too early: read, then write it again")];
        }
        match questions::decision(&call, line) {
            Some(decision) => vec![Act::Do(Effect::Decide { ticket, hash, decision })],
            None => {
                self.step = Step::Held(ticket, hash, shown);
                let allow = if matches!(call.reason, HoldReason::Rule(_)) { ", allow" } else { "" };
                vec![reply(format!("that is no answer: run{allow} or deny"))]
            }
        }
    }

    fn receipts(&mut self, rest: &str) -> Vec<Act> {
        if let Ok(seq) = rest.trim().parse() {
            return vec![Act::Do(Effect::Fetch(seq))];
        }
        if self.snapshot.calls.is_empty() {
            return vec![reply("no calls yet")];
        }
        let calls = self.snapshot.calls.iter().rev().take(MOST_CALLS);
        let line = |call: &std::sync::Arc<crate::runtime::CallSummary>| {
            let status = call.status.as_deref().unwrap_or("not answered yet");
            let summary = visible::told(&call.summary);
            reply(format!("{} {} {}, {status}: {summary}", call.seq, who(&call.actor), call.tool))
        };
        calls.map(line).collect()
    }

    pub(super) fn quit(&mut self) -> Vec<Act> {
        let live = self.live().count();
        let programs = self.snapshot.programs.iter().filter(|program| !program.state.is_terminal()).count();
        let programs = if self.about.is_remote { 0 } else { programs };
        if live + programs == 0 || self.about.recording.is_some() {
            return vec![Act::Do(Effect::Quit(Leave::LeaveRunning))];
        }
        self.step = Step::Quit;
        let tasks = if live == 1 { "1 task runs".to_owned() } else { format!("{live} tasks run") };
        let tasks = match programs {
            0 => tasks,
            _ => format!("{tasks}, and a program that is not over ends too; it can be gone on with"),
        };
        let choices = match (self.about.is_remote, self.snapshot.headless) {
            (false, _) => "1: stop all and quit. An empty line stays",
            (true, true) => {
                "1: stop all, end the runtime and quit. 2: quit and leave them running. An empty line stays"
            }
            (true, false) => "2: quit and leave them running. An empty line stays",
        };
        vec![reply(format!("{tasks}. {choices}"))]
    }

    fn leave(&mut self, line: &str) -> Vec<Act> {
        let may_stop = !self.about.is_remote || self.snapshot.headless;
        match line {
            "1" if may_stop => {
                self.is_leaving = true;
                vec![reply("stopping all tasks"), Act::Do(Effect::Quit(Leave::StopAll))]
            }
            "2" if self.about.is_remote => vec![Act::Do(Effect::Quit(Leave::LeaveRunning))],
            _ => vec![reply("stays")],
        }
    }
}

fn is_named(task: &TaskView, name: &str) -> bool {
    alias(task) == name || task.id.as_str() == name || name.parse() == Ok(task.number)
}

fn reply(text: impl Into<String>) -> Act {
    Act::Say(Line::reply(text))
}
