//! Notices for agents: what an agent cannot know from its own calls, such as what a person or a timeout did to its
//! tasks since its last answer, and messages a person left for it. Each fact is delivered once, with the agent's next
//! answer. Pure.

use std::collections::HashMap;
use std::time::Duration;

use super::notice_fact::{NAME_CHARS, NoticeFact, TaskChange, end_of_withdrawn, fact_of, short};
use crate::envelope::{Actor, TaskId, mask};
use crate::model::{TaskEvent, TaskFact, TaskView};

/// Length limit of the notices paragraph, in characters (docs/contract.md#since-your-last-call).
pub const PARAGRAPH_CHARS: usize = 600;
/// Facts kept per agent; beyond this, the oldest is dropped.
const KEPT: usize = 64;
/// Room for the words about what the next answers bring, in characters.
const MORE_CHARS: usize = 40;
/// Length limit of a person's message, in characters.
pub const WORDS_CHARS: usize = 500;

/// The undelivered notices of each agent, by its label.
#[derive(Debug, Default)]
pub(super) struct AgentNotices {
    agents: HashMap<String, Untold>,
    next: u64,
}

/// The undelivered notices of one agent.
#[derive(Debug, Default)]
struct Untold {
    entries: Vec<PendingNotice>,
    /// Whether a console was open when the agent last received notices.
    saw_console: bool,
}

/// A fact waiting to be delivered with an answer.
#[derive(Debug)]
struct PendingNotice {
    id: u64,
    fact: NoticeFact,
    /// The fact is part of an answer that may still fail to be written.
    is_taken: bool,
    /// The call whose command has written it to its output, until the agent's hook reports what its model was given of that.
    printed_by: Option<u64>,
}

/// The facts delivered with one answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DeliveredNotices {
    pub(super) ids: Vec<u64>,
    pub(super) sentences: Vec<String>,
}

impl AgentNotices {
    /// Leaves a person's message for an agent.
    pub(super) fn words(&mut self, label: &str, text: &str) {
        self.add(label, NoticeFact::Words(short(text, WORDS_CHARS)));
    }

    /// Keeps a person's words that the command of a call is about to write, until the agent's hook reports what its model was
    /// given of that.
    pub(super) fn words_in_output(&mut self, label: &str, text: &str, call: u64) {
        self.words(label, text);
        let entry = self.agents.get_mut(label).and_then(|untold| untold.entries.last_mut());
        entry.into_iter().for_each(|entry| (entry.is_taken, entry.printed_by) = (true, Some(call)));
    }

    /// Records an event of a task.
    pub(super) fn record_event(&mut self, task: &TaskView, event: &TaskEvent) {
        let Actor::Agent(owner) = &task.started_by else { return };
        let end = matches!(event.fact, TaskFact::End { .. });
        if end && let Some(outcome) = self.withdrawn_call_of(owner, task.call) {
            *outcome = Some(end_of_withdrawn(task));
            return;
        }
        // The agent learns of its own actions from the answers to its calls.
        if event.actor == task.started_by || task.item.is_some() {
            return;
        }
        if let Some(fact) = fact_of(task, event) {
            if end {
                self.forget(owner, |known| known.is_change(&task.id, TaskChange::Stop));
            }
            self.add(owner, fact);
        }
    }

    /// Records that a person named a task, or removed its name.
    pub(super) fn record_name(&mut self, task: &TaskView, name: Option<&str>) {
        let Actor::Agent(owner) = &task.started_by else { return };
        if !task.promoted {
            return;
        }
        let text = match name {
            Some(name) => format!("the operator named {} \"{}\"", task.id, short(name, NAME_CHARS)),
            None => format!("the operator took the name of {} away", task.id),
        };
        self.add(owner, NoticeFact::Changed { task: task.id.clone(), kind: TaskChange::Name, text });
    }

    /// Records that what differed since a task began was undone, or brought back.
    pub(super) fn undone(&mut self, task: &TaskView, by: &Actor, files: u64, is_redo: bool) {
        let Actor::Agent(owner) = &task.started_by else { return };
        let noun = if files == 1 { "file is" } else { "files are" };
        let by = if *by == Actor::Operator { "the operator".to_owned() } else { by.to_string() };
        let (did, since) = if is_redo { ("brought back", "after") } else { ("undid", "before") };
        let text = format!("{by} {did} {}: {files} {noun} as {since} it", task.id);
        self.add(owner, NoticeFact::Changed { task: task.id.clone(), kind: TaskChange::Undo, text });
    }

    /// Records that an agent cancelled a call after the time `after`; `finished` is the call's result, if it had one
    /// by then.
    pub(super) fn withdrawn(
        &mut self,
        label: &str,
        call: u64,
        what: &str,
        after: Duration,
        finished: Option<String>,
    ) {
        let what = short(what, NAME_CHARS);
        self.add(label, NoticeFact::Withdrawn { call, what, after, outcome: finished });
    }

    /// Takes the facts that fit into one paragraph of `room` characters, a person's messages first. `told` is the
    /// task whose end the answer reports itself.
    pub(super) fn take(
        &mut self,
        label: &str,
        room: usize,
        told: Option<&TaskId>,
        console_is_open: bool,
    ) -> DeliveredNotices {
        if let Some(told) = told {
            self.forget(label, |known| known.is_about_the_end_of(told));
        }
        if !console_is_open && self.agents.get(label).is_some_and(|untold| untold.saw_console) {
            self.add(label, NoticeFact::NoConsole);
        }
        if console_is_open {
            self.forget(label, |known| *known == NoticeFact::NoConsole);
        }
        let untold = self.agents.entry(label.to_owned()).or_default();
        untold.saw_console = console_is_open;
        let mut taken = DeliveredNotices::default();
        // Room to say how many are left for the next answer.
        let mut left = room.saturating_sub(MORE_CHARS);
        let (words, others): (Vec<_>, Vec<_>) = untold
            .entries
            .iter_mut()
            .filter(|entry| !entry.is_taken)
            .partition(|entry| matches!(entry.fact, NoticeFact::Words(_)));
        let waiting = words.len() + others.len();
        for entry in words.into_iter().chain(others) {
            let sentence = entry.fact.to_string();
            let Some(rest) = left.checked_sub(sentence.chars().count() + SEPARATOR.len()) else { break };
            left = rest;
            entry.is_taken = true;
            taken.ids.push(entry.id);
            taken.sentences.push(sentence);
        }
        match waiting - taken.sentences.len() {
            more if more == 0 || taken.sentences.is_empty() => {}
            more => taken.sentences.push(format!("and {more} more, with your next answers")),
        }
        taken
    }

    /// Takes only a person's messages.
    pub(super) fn take_words(&mut self, label: &str) -> DeliveredNotices {
        let entries = self.agents.get_mut(label).into_iter().flat_map(|untold| &mut untold.entries);
        let mut taken = DeliveredNotices::default();
        for entry in entries.filter(|entry| !entry.is_taken) {
            if let NoticeFact::Words(text) = &entry.fact {
                taken.sentences.push(text.clone());
                taken.ids.push(entry.id);
                entry.is_taken = true;
            }
        }
        taken
    }

    /// Returns a person's messages that were not delivered, oldest first, with secrets masked.
    pub(super) fn unread(&self, label: &str) -> Vec<String> {
        let entries = self.agents.get(label).into_iter().flat_map(|untold| &untold.entries);
        let words = entries.filter_map(|entry| match &entry.fact {
            NoticeFact::Words(text) => Some(mask(text).into_owned()),
            _ => None,
        });
        words.collect()
    }

    /// Drops a person's messages to an agent that has ended: another one with its label is not meant.
    pub(super) fn drop_words(&mut self, label: &str) {
        self.forget(label, |fact| matches!(fact, NoticeFact::Words(_)));
    }

    /// Removes facts whose answer was written.
    pub(super) fn remove_delivered(&mut self, label: &str, ids: &[u64]) {
        if let Some(untold) = self.agents.get_mut(label) {
            untold.entries.retain(|entry| !ids.contains(&entry.id));
        }
    }

    /// Notes that the command of a call has written facts to its output: whether its agent's model reads them is not known.
    pub(super) fn await_reading(&mut self, label: &str, ids: &[u64], call: u64) {
        let entries = self.agents.get_mut(label).into_iter().flat_map(|untold| &mut untold.entries);
        entries.filter(|entry| ids.contains(&entry.id)).for_each(|entry| entry.printed_by = Some(call));
    }

    /// Takes in what a model was given of the command of a call: messages that are not in it are kept for the next answer.
    pub(super) fn compare_with_given(&mut self, label: &str, call: u64, given: &str) {
        let Some(untold) = self.agents.get_mut(label) else { return };
        untold.entries.retain_mut(|entry| {
            if entry.printed_by != Some(call) {
                return true;
            }
            (entry.is_taken, entry.printed_by) = (false, None);
            !matches!(&entry.fact, NoticeFact::Words(text) if given.contains(&**text))
        });
    }

    /// Keeps for the next answer what commands have written and no hook has reported: their calls are over.
    pub(super) fn give_up_reading(&mut self, label: &str) {
        let entries = self.agents.get_mut(label).into_iter().flat_map(|untold| &mut untold.entries);
        for entry in entries.filter(|entry| entry.printed_by.is_some()) {
            (entry.is_taken, entry.printed_by) = (false, None);
        }
    }

    /// Keeps facts for the next answer: theirs was not delivered.
    pub(super) fn put_back(&mut self, label: &str, ids: &[u64]) {
        let entries = self.agents.get_mut(label).into_iter().flat_map(|untold| &mut untold.entries);
        entries.filter(|entry| ids.contains(&entry.id)).for_each(|entry| entry.is_taken = false);
    }

    fn add(&mut self, label: &str, fact: NoticeFact) {
        let untold = self.agents.entry(label.to_owned()).or_default();
        if let Some(known) =
            untold.entries.iter_mut().find(|entry| !entry.is_taken && entry.fact.absorbs(&fact))
        {
            known.fact.absorb(fact);
            return;
        }
        if untold.entries.len() == KEPT {
            let oldest = untold.entries.iter().position(|entry| !matches!(entry.fact, NoticeFact::Words(_)));
            untold.entries.remove(oldest.unwrap_or(0));
        }
        self.next += 1;
        untold.entries.push(PendingNotice { id: self.next, fact, is_taken: false, printed_by: None });
    }

    fn forget(&mut self, label: &str, is_told: impl Fn(&NoticeFact) -> bool) {
        if let Some(untold) = self.agents.get_mut(label) {
            untold.entries.retain(|entry| entry.is_taken || !is_told(&entry.fact));
        }
    }

    /// Finds the slot for the outcome of a cancelled call's command.
    fn withdrawn_call_of(&mut self, label: &str, of: u64) -> Option<&mut Option<String>> {
        let entries = self.agents.get_mut(label)?.entries.iter_mut().filter(|entry| !entry.is_taken);
        entries.map(|entry| &mut entry.fact).find_map(|fact| match fact {
            NoticeFact::Withdrawn { call, outcome, .. } if *call == of => Some(outcome),
            _ => None,
        })
    }
}

/// The separator between two sentences.
pub(super) const SEPARATOR: &str = "; ";

#[cfg(test)]
mod tests {
    use crate::model::Signal;
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Exit, Stop};
    use crate::runtime::supervisor::tests::{at, id, running, stop_task};
    use crate::runtime::supervisor::{Supervisor, SupervisorAction, SupervisorInput, Timer};

    /// The agent that started the task in the supervisor's tests.
    const AGENT: &str = "a";

    fn watch(notices: &mut AgentNotices, supervisor: &Supervisor, actions: &[SupervisorAction]) {
        let task = supervisor.get(&id()).expect("the task").view().clone();
        for action in actions {
            if let SupervisorAction::Note(_, event) = action {
                notices.record_event(&task, event);
            }
        }
    }

    /// A command that has become a task.
    fn promoted(notices: &mut AgentNotices) -> Supervisor {
        let mut supervisor = running(true, None);
        let actions =
            supervisor.step(at(10_001), SupervisorInput::Due { id: id(), timer: Timer::Yield, epoch: 1 });
        watch(notices, &supervisor, &actions);
        assert!(supervisor.get(&id()).expect("the task").promoted);
        supervisor
    }

    fn end(notices: &mut AgentNotices, supervisor: &mut Supervisor, exit: Exit) {
        let steps = [
            SupervisorInput::Exited { id: id(), exit },
            SupervisorInput::Drained { id: id() },
            SupervisorInput::Leftovers { id: id(), names: Vec::new() },
            SupervisorInput::Gone { id: id(), survivors: Vec::new() },
        ];
        for step in steps {
            let actions = supervisor.step(at(12_001), step);
            watch(notices, supervisor, &actions);
        }
    }

    fn take(notices: &mut AgentNotices) -> DeliveredNotices {
        notices.take(AGENT, PARAGRAPH_CHARS, None, false)
    }

    fn type_into(notices: &mut AgentNotices, supervisor: &mut Supervisor, bytes: u64) {
        let actions =
            supervisor.step(at(10_500), SupervisorInput::Typed { id: id(), by: Actor::Operator, bytes });
        watch(notices, supervisor, &actions);
        for action in actions {
            if let SupervisorAction::Wake { id, timer: timer @ Timer::Burst, epoch, .. } = action {
                let actions = supervisor.step(at(10_900), SupervisorInput::Due { id, timer, epoch });
                watch(notices, supervisor, &actions);
            }
        }
    }

    #[test]
    fn the_end_of_a_task_is_told_once_and_not_again_beside_an_answer_about_that_task() {
        let mut notices = AgentNotices::default();
        let mut supervisor = promoted(&mut notices);
        assert_eq!(take(&mut notices), DeliveredNotices::default(), "its own doing is no news");
        end(&mut notices, &mut supervisor, Exit::Code(3));
        let told = take(&mut notices);
        assert_eq!(told.sentences, [format!("{} (`true`) ended: exit 3 after 12.0 s", id())]);
        assert_eq!(take(&mut notices), DeliveredNotices::default(), "it is in an answer already");
        notices.put_back(AGENT, &told.ids);
        assert_eq!(take(&mut notices), told, "nobody got that answer");
        notices.remove_delivered(AGENT, &told.ids);
        notices.put_back(AGENT, &told.ids);
        assert_eq!(take(&mut notices), DeliveredNotices::default());

        let mut notices = AgentNotices::default();
        let mut supervisor = promoted(&mut notices);
        end(&mut notices, &mut supervisor, Exit::Code(0));
        assert_eq!(notices.take(AGENT, PARAGRAPH_CHARS, Some(&id()), false), DeliveredNotices::default());
        assert_eq!(take(&mut notices), DeliveredNotices::default());
    }

    #[test]
    fn an_agent_is_told_what_a_person_did_to_its_task_and_not_its_own_acts() {
        let mut notices = AgentNotices::default();
        let mut supervisor = promoted(&mut notices);
        type_into(&mut notices, &mut supervisor, 4);
        let (_, actions) = stop_task(&mut supervisor, at(11_000), &Actor::Operator, Stop::default());
        watch(&mut notices, &supervisor, &actions);
        let told = take(&mut notices).sentences;
        let name = format!("{} (`true`)", id());
        assert_eq!(
            told,
            [
                format!("the operator typed 4 bytes into {name}"),
                format!("{name} is being stopped by operator"),
            ]
        );
        end(&mut notices, &mut supervisor, Exit::Signal(Signal::TERM));
        assert_eq!(take(&mut notices).sentences, [format!("{name} ended: stopped by operator after 12.0 s")]);

        let mut notices = AgentNotices::default();
        let mut supervisor = promoted(&mut notices);
        let (_, actions) =
            stop_task(&mut supervisor, at(11_000), &Actor::Agent(AGENT.into()), Stop::default());
        watch(&mut notices, &supervisor, &actions);
        end(&mut notices, &mut supervisor, Exit::Signal(Signal::TERM));
        assert_eq!(take(&mut notices), DeliveredNotices::default());
    }

    #[test]
    fn a_withdrawn_call_is_told_with_what_became_of_its_command() {
        let mut notices = AgentNotices::default();
        let mut supervisor = running(false, None);
        let by = Actor::Agent(AGENT.into());
        notices.withdrawn(AGENT, 1, "sleep 100", Duration::from_millis(9_300), None);
        let why = Some("its call was withdrawn".to_owned());
        let actions =
            supervisor.step(at(9_300), SupervisorInput::Stop { id: id(), by, stop: Stop::default(), why });
        watch(&mut notices, &supervisor, &actions);
        end(&mut notices, &mut supervisor, Exit::Signal(Signal::TERM));
        let told = take(&mut notices).sentences;
        assert_eq!(told, ["your call `sleep 100` was withdrawn after 9.3 s: its command was stopped"]);
    }

    #[test]
    fn words_that_a_command_has_written_are_read_if_its_model_was_given_them_and_else_go_with_the_next_answer()
     {
        let mut notices = AgentNotices::default();
        notices.words("a", "use make");
        notices.words("a", "not now");
        let printed = notices.take_words("a");
        notices.await_reading("a", &printed.ids, 7);
        assert_eq!(notices.unread("a").len(), 2, "nobody knows yet");
        assert!(notices.take_words("a").ids.is_empty(), "they are written once");
        notices.compare_with_given("a", 6, "use make");
        assert_eq!(notices.unread("a").len(), 2, "another call");
        notices.compare_with_given("a", 7, "Exit code 143\npilothouse: the operator stopped this: use make");
        assert_eq!(notices.take_words("a").sentences, ["not now"]);
        let unread = notices.unread("a").len();
        notices.words_in_output("a", "wrong branch", 9);
        assert!(notices.take_words("a").ids.is_empty(), "the command writes it");
        assert_eq!(notices.unread("a").len(), unread + 1);
        notices.compare_with_given("a", 9, "pilothouse: denied: wrong branch");
        assert_eq!(notices.unread("a").len(), unread);
        notices.words("a", "and test");
        let printed = notices.take_words("a");
        notices.await_reading("a", &printed.ids, 8);
        notices.give_up_reading("a");
        assert_eq!(notices.take_words("a").sentences, ["and test"], "no hook has reported it");
    }

    #[test]
    fn words_go_first_and_what_does_not_fit_goes_with_the_next_answer() {
        let mut notices = AgentNotices::default();
        let mut supervisor = promoted(&mut notices);
        end(&mut notices, &mut supervisor, Exit::Code(0));
        notices.words(AGENT, &"no ".repeat(200));
        let told = notices.take(AGENT, 569, None, false);
        assert!(told.sentences[0].starts_with("the operator says: \"no no "), "{told:?}");
        assert_eq!(told.sentences[1..], ["and 1 more, with your next answers"]);
        notices.remove_delivered(AGENT, &told.ids);
        assert_eq!(take(&mut notices).sentences.len(), 1);
        assert_eq!(
            notices.take("b", PARAGRAPH_CHARS, None, false),
            DeliveredNotices::default(),
            "it is another's"
        );
    }

    #[test]
    fn a_line_stays_one_whatever_ends_its_lines() {
        for text in ["one\r\ntwo\tthree", "one\ntwo three", " one\r\ntwo\nthree\r\n"] {
            assert_eq!(short(text, NAME_CHARS), "one two three");
        }
        assert_eq!(short("one\rtwo", NAME_CHARS), "one⟨U+000D⟩two");
    }

    #[test]
    fn a_console_that_was_closed_is_told_once() {
        let mut notices = AgentNotices::default();
        assert_eq!(take(&mut notices), DeliveredNotices::default(), "none was ever open");
        let mut told = |is_open| notices.take(AGENT, PARAGRAPH_CHARS, None, is_open).sentences.len();
        assert_eq!([true, false, false, true, true, false].map(&mut told), [0, 1, 0, 0, 0, 1]);
    }

    proptest! {
        #[test]
        fn a_paragraph_is_never_too_long_and_no_fact_is_lost(
            words in prop::collection::vec("\\PC{0,900}", 0..20),
            typed in prop::collection::vec(1_u64..9, 0..5),
        ) {
            let mut notices = AgentNotices::default();
            let mut supervisor = promoted(&mut notices);
            typed.iter().for_each(|bytes| type_into(&mut notices, &mut supervisor, *bytes));
            words.iter().for_each(|text| notices.words(AGENT, text));
            let mut told = 0;
            loop {
                let taken = take(&mut notices);
                let length: usize = taken.sentences.iter().map(|text| text.chars().count() + SEPARATOR.len()).sum();
                prop_assert!(length <= PARAGRAPH_CHARS, "{length}");
                if taken.ids.is_empty() {
                    break;
                }
                told += taken.ids.len();
                notices.remove_delivered(AGENT, &taken.ids);
            }
            prop_assert_eq!(told, words.len() + usize::from(!typed.is_empty()));
        }
    }
}
