//! What an input line means: a menu command, or the answer to what was asked last.

use jiff::Timestamp;

use crate::envelope::TaskId;
use crate::link::Act;
use crate::model::phrases::no_task;
use crate::model::{QuestionKind, Subject, TaskView};

use crate::console::effect::Leave;
use crate::console::features::question::permission;
use crate::console::keys::Action;
use crate::console::msg;
use crate::console::plain::line::PlainLine;
use crate::console::plain::menu::MenuCommand::{self, Shared};
use crate::console::plain::output::Purpose;
use crate::console::plain::session::{Circumstances, DialogueStep, PlainEffect, PlainSession};
use crate::console::plain::{menu, tasks};
use crate::console::state::input::signal_of;
use crate::console::state::{MOST_WRITTEN, SIGNALS, alias, line_to, stop_of, takes_input, wants_secret};

/// Starts and ends a multi-line answer.
pub(super) const LINES: &str = "/lines";
const END: &str = ".";
/// Keeps the runtime that `serve --stop` asks to end.
pub(super) const KEEP: &str = "keep";
/// Leaves a question open, or abandons a line.
pub(super) const BACK: &str = "/back";

impl PlainSession {
    pub(super) fn line(&mut self, line: &str, at: Timestamp) -> Vec<PlainEffect> {
        if self.is_asked_to_stop && line.trim().trim_start_matches('/') == KEEP {
            self.is_asked_to_stop = false;
            return vec![reply("the runtime stays"), PlainEffect::Do(msg::Effect::Stay)];
        }
        let step = std::mem::replace(&mut self.step, DialogueStep::Menu);
        let is_back = line.trim() == BACK;
        match step {
            DialogueStep::Menu => self.choose(line),
            DialogueStep::Lines(..)
            | DialogueStep::Line(_)
            | DialogueStep::Question(_)
            | DialogueStep::Rename(_)
                if is_back =>
            {
                vec![PlainEffect::Hide(false), reply("left as it is")]
            }
            DialogueStep::Lines(step, written) => self.write_on(step, written, line, at),
            step if self.is_command(&step, line) => self.command_within(step, line),
            step if line.trim() == LINES && self.takes_lines(&step) => {
                self.step = DialogueStep::Lines(Box::new(step), Some(String::new()));
                vec![reply(format!(
                    "write the lines; a line with a single {END} ends them, {BACK} sends none"
                ))]
            }
            step => self.take(step, line, at),
        }
    }

    /// Tells whether a line is a command although something else was asked: with a leading slash anywhere
    /// except in secrets, or by its word where it cannot be an answer.
    fn is_command(&self, step: &DialogueStep, line: &str) -> bool {
        let line = line.trim();
        let is_hidden = match step {
            DialogueStep::Line(task) => self.task(task).is_some_and(|task| wants_secret(task)),
            DialogueStep::Question(dialog) => {
                matches!(dialog.question.kind, QuestionKind::Text { masked: true })
            }
            _ => false,
        };
        match line.strip_prefix('/') {
            Some(command) => !is_hidden && line != LINES && menu::is_word(command),
            None => match step {
                DialogueStep::Stop(_) => menu::is_word(line) && line != "stop",
                DialogueStep::Signal(_) | DialogueStep::Waits(_) | DialogueStep::Quit => menu::is_word(line),
                _ => false,
            },
        }
    }

    /// Carries out a command while something else is being asked. That question stays open, unless the
    /// command asks one too.
    fn command_within(&mut self, step: DialogueStep, line: &str) -> Vec<PlainEffect> {
        let command = line.trim();
        let mut effects = self.choose(command.strip_prefix('/').unwrap_or(command));
        if matches!(self.step, DialogueStep::Menu) {
            self.step = step;
            effects.push(reply("what was asked before is still open"));
        }
        effects
    }

    /// Handles the answer to what was asked, consisting of one or more lines.
    fn take(&mut self, step: DialogueStep, line: &str, at: Timestamp) -> Vec<PlainEffect> {
        match step {
            DialogueStep::Line(task) => {
                let mut effects = vec![PlainEffect::Hide(false)];
                effects.extend(self.task(&task).map(|task| PlainEffect::Do(line_to(task, line))));
                effects
            }
            DialogueStep::Question(dialog) => self.answer(dialog, line, at),
            DialogueStep::Held(word) => self.decide(word, line, at),
            DialogueStep::Rename(task) => vec![PlainEffect::Do(rename_of(&task, line))],
            _ if line.trim() == BACK || line.trim().is_empty() => vec![reply("left as it is")],
            DialogueStep::Start => self.start(line.trim()),
            DialogueStep::Stop(task) => match line.trim() {
                "s" | "stop" => vec![PlainEffect::Do(stop_of(&task, false))],
                "k" | "kill" => vec![PlainEffect::Do(stop_of(&task, true))],
                _ => vec![reply("left as it is")],
            },
            DialogueStep::Signal(task) => match signal_named(line) {
                Some(signal) => vec![PlainEffect::Do(signal_of(&task, signal))],
                None => vec![reply(format!("{:?} is no signal; none was sent", line.trim()))],
            },
            DialogueStep::Waits(subjects) => self.pick(&subjects, line),
            DialogueStep::Quit => self.leave(line.trim()),
            DialogueStep::Menu | DialogueStep::Lines(..) => Vec::new(),
        }
    }

    /// Tells whether a multi-line answer is possible: only where input is visible as it is typed.
    fn takes_lines(&self, step: &DialogueStep) -> bool {
        match step {
            DialogueStep::Line(task) => self.task(task).is_some_and(|task| !wants_secret(task)),
            DialogueStep::Question(dialog) => {
                matches!(dialog.question.kind, QuestionKind::Text { masked: false })
            }
            _ => false,
        }
    }

    fn write_on(
        &mut self,
        step: Box<DialogueStep>,
        written: Option<String>,
        line: &str,
        at: Timestamp,
    ) -> Vec<PlainEffect> {
        let written = written.filter(|written| written.len() + line.len() <= MOST_WRITTEN);
        match written {
            Some(written) if line == END => {
                return self.take(*step, written.strip_suffix('\n').unwrap_or(&written), at);
            }
            None if line == END => {
                let text = format!("that is more than {MOST_WRITTEN} bytes; nothing was sent");
                return vec![PlainEffect::Hide(false), reply(text)];
            }
            // Until the end, lines that are too many are lines all the same, and no commands.
            written => self.step = DialogueStep::Lines(step, written.map(|written| written + line + "\n")),
        }
        Vec::new()
    }

    fn choose(&mut self, line: &str) -> Vec<PlainEffect> {
        let Some((verb, rest)) = menu::read(line) else {
            return vec![reply(format!("{:?} is not on the menu; an empty line shows it", line.trim()))];
        };
        if self.about.recording.is_some() && verb.needs_a_runtime() {
            return vec![reply("a recording is only looked at")];
        }
        match verb {
            Shared(Action::ShowTasks) => self.list(),
            MenuCommand::Output => self.with_task(
                rest,
                |_| true,
                |session, task| {
                    vec![PlainEffect::Read(task.id.clone(), session.read_to(&task.id), Purpose::Asked)]
                },
            ),
            MenuCommand::Screen => {
                self.with_task(rest, |_| true, |_, task| vec![PlainEffect::Screen(task.id.clone())])
            }
            MenuCommand::Follow => self.follow(rest),
            Shared(Action::SendLine) => self.write(rest),
            Shared(Action::Start) if rest.is_empty() => {
                self.step = DialogueStep::Start;
                vec![reply("write the command; an empty line starts none")]
            }
            Shared(Action::Start) => self.start(rest),
            Shared(Action::Places) => self.places(),
            Shared(Action::LeftRunning) => self.handle_left(rest),
            Shared(Action::Stop) => {
                self.with_task(rest, |task| !task.status.is_terminal(), Self::ask_to_stop)
            }
            Shared(Action::Signal) => self.signal(rest),
            Shared(Action::Rename) => self.rename(rest),
            Shared(Action::TellAgent) => self.tell(rest),
            Shared(Action::Watch) => self.watch_for(rest),
            Shared(Action::Attention) => self.attend(rest),
            Shared(Action::Pause) => {
                let pause = Act::Pause(!self.snapshot.is_paused());
                vec![PlainEffect::Do(msg::Effect::Ask(pause.on(Subject::Gate)))]
            }
            Shared(Action::EndPermissions) if self.snapshot.permissions.is_empty() => {
                vec![reply("each prompt is asked about already")]
            }
            Shared(Action::EndPermissions) => {
                let (effects, told) = permission::ends(&self.snapshot);
                effects.into_iter().map(PlainEffect::Do).chain([reply(told)]).collect()
            }
            Shared(Action::ShowReceipts) => self.receipts(rest),
            Shared(Action::Quit) => self.quit(),
            // Help; no other action is on the menu.
            Shared(_) => self.menu().into_iter().map(PlainEffect::Say).collect(),
        }
    }

    /// Returns the menu; for a recording, only what is possible there.
    pub(super) fn menu(&self) -> Vec<PlainLine> {
        menu::lines(self.about.recording.is_some())
    }

    fn list(&self) -> Vec<PlainEffect> {
        if self.snapshot.tasks.is_empty() {
            return vec![reply("no tasks yet")];
        }
        let mut tasks: Vec<_> = self.snapshot.tasks.iter().collect();
        tasks.sort_by_key(|task| (task.status.is_terminal(), std::cmp::Reverse(task.number)));
        tasks.into_iter().map(|task| reply(tasks::state_line(task, self.now))).collect()
    }

    /// Acts on the named task, or on the only one that the action applies to.
    pub(super) fn with_task(
        &mut self,
        rest: &str,
        fits: impl Fn(&TaskView) -> bool,
        act: impl Fn(&mut Self, &TaskView) -> Vec<PlainEffect>,
    ) -> Vec<PlainEffect> {
        let name = rest.split_whitespace().next();
        let mut fitting = self.snapshot.tasks.iter().filter(|task| fits(task));
        let task = match name {
            Some(name) => self.snapshot.tasks.iter().find(|task| is_named(task, name)),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        };
        match (task.cloned(), name) {
            (Some(task), _) if fits(&task) => act(self, &task),
            (Some(task), _) => {
                vec![reply(format!("it cannot be done now: {}", tasks::state_line(&task, self.now)))]
            }
            (None, Some(name)) => vec![reply(no_task(format_args!("{name:?}")))],
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

    fn follow(&mut self, rest: &str) -> Vec<PlainEffect> {
        if rest.is_empty() && self.follows.take().is_some() {
            return vec![reply("no task is followed any more")];
        }
        self.with_task(
            rest,
            |task| !task.status.is_terminal(),
            |session, task| {
                session.follows = Some(task.id.clone());
                let read = PlainEffect::Read(task.id.clone(), session.read_to(&task.id), Purpose::Followed);
                vec![reply(format!("{} is followed; follow alone ends it", alias(task))), read]
            },
        )
    }

    pub(super) fn write(&mut self, rest: &str) -> Vec<PlainEffect> {
        let text = rest.split_once(char::is_whitespace).map(|(_, text)| text.to_owned());
        self.with_task(rest, takes_input, |session, task| match (&text, wants_secret(task)) {
            (Some(_), true) => {
                vec![reply(format!("{0} wants a secret: write line {0} alone, then the secret", alias(task)))]
            }
            (Some(text), false) => vec![PlainEffect::Do(line_to(task, text))],
            (None, is_secret) => {
                session.step = DialogueStep::Line(task.id.clone());
                let hidden = if is_secret { " It is not shown and not recorded." } else { "" };
                let lines = if is_secret { String::new() } else { format!("{LINES} for several, ") };
                let text = format!("write the line for {}; {lines}{BACK} to send none.{hidden}", alias(task));
                vec![PlainEffect::Hide(is_secret), reply(text)]
            }
        })
    }

    fn ask_to_stop(&mut self, task: &TaskView) -> Vec<PlainEffect> {
        self.step = DialogueStep::Stop(task.id.clone());
        let name = alias(task);
        vec![
            reply(format!("stop {name}? {}", tasks::command(task))),
            reply("s: stop it, TERM and then KILL. k: kill it at once. An empty line leaves it running"),
        ]
    }

    fn signal(&mut self, rest: &str) -> Vec<PlainEffect> {
        let named = rest.split_once(char::is_whitespace).map(|(_, name)| name.to_owned());
        self.with_task(
            rest,
            |task| !task.status.is_terminal(),
            |session, task| match named.as_deref().map(|name| (name, signal_named(name))) {
                Some((_, Some(signal))) => vec![PlainEffect::Do(signal_of(&task.id, signal))],
                Some((name, None)) => vec![reply(format!("{name:?} is no signal: {}", signals()))],
                None => {
                    session.step = DialogueStep::Signal(task.id.clone());
                    let name = alias(task);
                    let ask = format!("which signal for {name}? {}. An empty line sends none", signals());
                    vec![reply(ask)]
                }
            },
        )
    }

    fn rename(&mut self, rest: &str) -> Vec<PlainEffect> {
        let name = rest.split_once(char::is_whitespace).map(|(_, name)| name.to_owned());
        self.with_task(
            rest,
            |_| true,
            |session, task| match &name {
                Some(name) => vec![PlainEffect::Do(rename_of(&task.id, name))],
                None => {
                    session.step = DialogueStep::Rename(task.id.clone());
                    let text = format!(
                        "write the name of {}; an empty line takes it away, {BACK} leaves it",
                        alias(task)
                    );
                    vec![reply(text)]
                }
            },
        )
    }

    pub(super) fn quit(&mut self) -> Vec<PlainEffect> {
        let live = self.live().count();
        let programs = self.snapshot.programs.iter().filter(|program| !program.state.is_terminal()).count();
        let programs = if self.about.is_remote { 0 } else { programs };
        if live + programs == 0 || self.about.recording.is_some() || self.is_lost {
            return vec![PlainEffect::Leave];
        }
        self.step = DialogueStep::Quit;
        let tasks =
            if live == 1 { "1 task is running".to_owned() } else { format!("{live} tasks are running") };
        let tasks = match programs {
            0 => tasks,
            _ => format!("{tasks}, and a program that is not over ends too; it can be gone on with"),
        };
        let Circumstances { is_remote, can_detach, .. } = self.about;
        let stop = match (is_remote, self.snapshot.headless) {
            (false, _) => "1: stop all and quit. ",
            (true, true) => "1: stop all, end the runtime and quit. ",
            (true, false) => "",
        };
        let detach = if is_remote || can_detach { "2: detach, they go on. " } else { "" };
        let choices = format!("{stop}{detach}An empty line stays");
        vec![reply(format!("{tasks}. {choices}"))]
    }

    fn leave(&mut self, line: &str) -> Vec<PlainEffect> {
        let may_stop = !self.about.is_remote || self.snapshot.headless;
        match line {
            "1" if may_stop => {
                self.is_leaving = true;
                vec![reply("stopping all tasks"), PlainEffect::Do(msg::Effect::Quit(Leave::StopAll))]
            }
            "2" if self.about.is_remote || self.about.can_detach => {
                vec![PlainEffect::Do(msg::Effect::Quit(Leave::Detach))]
            }
            _ => vec![reply("stays")],
        }
    }
}

/// Lists the signals by name, with what they ask for.
fn signals() -> String {
    let named: Vec<String> =
        SIGNALS.iter().map(|(action, name)| format!("{name}, {}", action.hint())).collect();
    named.join("; ")
}

fn signal_named(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    SIGNALS.iter().map(|(_, known)| *known).find(|known| *known == name)
}

fn rename_of(task: &TaskId, name: &str) -> msg::Effect {
    let name = Some(name.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
    msg::Effect::Ask(Act::Rename(name).on(task.clone()))
}

fn is_named(task: &TaskView, name: &str) -> bool {
    alias(task) == name || task.id.as_str() == name || task.place.is_none() && name.parse() == Ok(task.number)
}

pub(super) fn reply(text: impl Into<String>) -> PlainEffect {
    PlainEffect::Say(PlainLine::reply(text))
}
