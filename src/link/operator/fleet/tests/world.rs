//! Places that publish arbitrary data, come and go, and the invariants that must always hold.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::envelope::Actor;
use crate::link::operator::fleet::place::FleetPlace;
use crate::link::operator::fleet::reach::PlaceReach;
use crate::link::operator::fleet::state::FleetState;
use crate::link::operator::fleet::*;
use crate::link::protocol::Request;
use crate::link::{RunningRuntime, RuntimeAddress};
use crate::model::{
    AgentView, CallSummary, GateView, HeldCall, HoldReason, OutputView, PlaceLink, Question, QuestionId,
    QuestionKind, Subject, TaskStatus, TaskView,
};
use crate::terminal::Size;

const PLACES: usize = 3;

/// What a place publishes: ids and numbers from a small range, so that places share some of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Published {
    pub(super) tasks: Vec<u8>,
    pub(super) calls: Vec<u8>,
    pub(super) held: Vec<u8>,
    pub(super) questions: Vec<u8>,
    pub(super) agents: Vec<u8>,
    pub(super) huge: bool,
}

/// Something that happens to a place.
#[derive(Debug, Clone)]
pub(super) enum Event {
    Publishes(usize, Published),
    /// Another runtime replaces the place's previous one.
    Succeeded(usize),
    Lost(usize),
    Removed(usize),
}

pub(super) fn few() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..5_u8, 0..5)
}

pub(super) fn published() -> impl Strategy<Value = Published> {
    (few(), few(), few(), few(), few(), prop::bool::weighted(0.1)).prop_map(
        |(tasks, calls, held, questions, agents, huge)| Published {
            tasks,
            calls,
            held,
            questions,
            agents,
            huge,
        },
    )
}

pub(super) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0..PLACES, published()).prop_map(|(at, published)| Event::Publishes(at, published)),
        1 => (0..PLACES).prop_map(Event::Succeeded),
        1 => (0..PLACES).prop_map(Event::Lost),
        1 => (0..PLACES).prop_map(Event::Removed),
    ]
}

pub(super) fn task_id(id: u8) -> TaskId {
    TaskId::from_random([id; 8])
}

/// A task whose command names its owner.
pub(in crate::link::operator) fn running(id: u8, whose: &str) -> TaskView {
    let start = Timestamp::UNIX_EPOCH;
    TaskView {
        id: task_id(id),
        number: u32::from(id),
        status: TaskStatus::Running,
        cmd: whose.into(),
        cmd_chars: None,
        description: None,
        name: None,
        workdir: "/".into(),
        shell: "/bin/sh".into(),
        login: true,
        tty: false,
        size: Size::default(),
        size_asked: false,
        accepts_input: true,
        side_terminal: false,
        started_by: Actor::Agent("claude".into()),
        call: u64::from(id),
        from_task: None,
        promoted: true,
        item: None,
        held: None,
        queued: None,
        timeout_ms: None,
        lease: None,
        waiting: None,
        listening: Vec::new(),
        created_at: start,
        started_at: None,
        updated_at: start,
        stop: None,
        ended: None,
        ceiling: None,
        peak_memory: None,
        changes: None,
        output: OutputView::default(),
        pid: None,
        folder: "/".into(),
        events: Vec::new(),
        earlier_events: 0,
        place: None,
    }
}

impl Published {
    pub(super) fn snapshot(&self, whose: &str) -> Snapshot {
        let start = Timestamp::UNIX_EPOCH;
        let actor = Actor::Agent("claude".into());
        let number = |id: u8| if self.huge { u64::MAX - u64::from(id) } else { u64::from(id) };
        let call = |id: &u8| CallSummary {
            seq: number(*id),
            at: start + jiff::SignedDuration::from_secs(i64::from(*id)),
            actor: actor.clone(),
            tool: "TaskList".into(),
            status: None,
            summary: whose.into(),
            asked: String::new(),
            task: None,
            end: None,
            duration_ms: None,
            stream: None,
            native: None,
        };
        let held = |id: &u8| HeldCall {
            ticket: number(*id),
            call: number(*id),
            actor: actor.clone(),
            behind: None,
            tool: "ExecCommand".into(),
            task: Some(task_id(*id)),
            commands: Vec::new(),
            description: Some(whose.into()),
            reason: HoldReason::Paused,
            since: start,
            hash: String::new(),
            cost: crate::model::CallCost::default(),
        };
        let question = |id: &u8| Question {
            id: QuestionId::from_random([*id; 8]),
            number: 1,
            origin: Default::default(),
            asked_by: actor.clone(),
            kind: QuestionKind::Command,
            text: whose.into(),
            evidence: Default::default(),
            asked_at: start,
            deadline: None,
            agents: false,
            comments: Vec::new(),
            expected: None,
            place: None,
        };
        let agent = |id: &u8| AgentView {
            label: ["claude", "a/b", "", "web-2/x", "p0"][usize::from(*id)].into(),
            client: whose.into(),
            pid: 1,
            connected: true,
            ..AgentView::default()
        };
        Snapshot {
            recording: whose.into(),
            tasks: self.tasks.iter().map(|id| Arc::new(running(*id, whose))).collect(),
            calls: self.calls.iter().map(|id| Arc::new(call(id))).collect(),
            questions: self.questions.iter().map(|id| Arc::new(question(id))).collect(),
            agents: self.agents.iter().map(agent).collect(),
            gate: GateView { held: self.held.iter().map(held).collect(), ..GateView::default() },
            ..Snapshot::default()
        }
    }
}

/// The places, and a count of the runtimes that each has had.
#[derive(Default)]
pub(super) struct World {
    pub(super) state: FleetState,
    incarnations: [u32; PLACES],
    /// The owner of each number that was ever shown.
    shown: HashMap<(&'static str, u64), String>,
}

pub(super) fn place_id(at: usize) -> PlaceId {
    PlaceId::from(format!("{at:012}").as_str())
}

impl World {
    fn whose(&self, at: usize) -> String {
        format!("p{at} runtime {}", self.incarnations[at])
    }

    /// Makes sure that the place exists.
    pub(super) fn ensure(&mut self, at: usize) {
        if self.state.by_id(&place_id(at)).is_some() {
            return;
        }
        self.incarnations[at] += 1;
        let address = RuntimeAddress {
            pid: 1,
            runtime: "/r".into(),
            state: "/s".into(),
            config: "/c".into(),
            // Two of them have the same name.
            workspace: ["/a/web", "/b/web", "/c/api"][at].into(),
        };
        let running = RunningRuntime { id: place_id(at).as_str().to_owned(), address };
        let reach = PlaceReach::Local(running);
        let slot = self.state.next_slot().expect("a slot");
        let (name, workspace) = (self.state.name(None, &reach.workspace()), reach.workspace());
        let mut place = FleetPlace::new(slot, place_id(at), name, reach, workspace);
        place.attached = 1;
        self.state.insert(place);
    }

    pub(super) fn happen(&mut self, event: Event) {
        let now = Timestamp::UNIX_EPOCH;
        match event {
            Event::Publishes(at, published) => {
                self.ensure(at);
                let snapshot = Arc::new(published.snapshot(&self.whose(at)));
                let (place, owners, _) = self.state.by_id(&place_id(at)).expect("it is there");
                place.link = PlaceLink::Live;
                place.take(snapshot, owners);
            }
            Event::Succeeded(at) => {
                self.ensure(at);
                self.incarnations[at] += 1;
                let slot = self.state.next_slot().expect("a slot");
                let (place, owners, _) = self.state.by_id(&place_id(at)).expect("it is there");
                place.restart(slot, owners);
            }
            Event::Lost(at) => {
                if let Some((place, ..)) = self.state.by_id(&place_id(at)) {
                    place.lose(now, "a test".into());
                }
            }
            Event::Removed(at) => {
                self.state.places.retain(|place| {
                    *place.id() != place_id(at) || {
                        self.state.owners.forget(place.slot());
                        false
                    }
                });
            }
        }
    }

    pub(super) fn merged(&self) -> Snapshot {
        merge::merge_places(1, Timestamp::UNIX_EPOCH, &self.state.places, &self.state.notices)
    }

    /// The place that a request about a subject goes to, and the subject as it arrives there.
    fn routed(&self, mut subject: Subject) -> Option<(String, Subject)> {
        let place = self.state.route(None, &mut subject).ok()?;
        Some((place.snapshot.recording.display().to_string(), subject))
    }

    pub(super) fn check(&mut self) -> Result<(), TestCaseError> {
        let merged = self.merged();
        self.check_tasks(&merged)?;
        self.check_numbers(&merged)?;
        for question in &merged.questions {
            let (whose, _) = self.routed(Subject::Question(question.id.clone())).expect("somebody is asked");
            prop_assert_eq!(&whose, &question.text);
        }
        for agent in &merged.agents {
            let Some((whose, Subject::Agent(own))) = self.routed(Subject::Agent(agent.label.clone())) else {
                return Err(TestCaseError::fail("an agent that nobody has"));
            };
            prop_assert_eq!(&whose, &agent.client);
            prop_assert!(agent.label.split_once('/').is_some_and(|(_, label)| label == own));
        }
        let names: std::collections::BTreeSet<&str> =
            merged.places.iter().map(|place| place.name.name.as_str()).collect();
        prop_assert_eq!(names.len(), merged.places.len(), "names are distinct");
        Ok(())
    }

    fn check_tasks(&self, merged: &Snapshot) -> Result<(), TestCaseError> {
        let mut seen = std::collections::HashSet::new();
        for task in &merged.tasks {
            prop_assert!(seen.insert(task.id.clone()), "{} twice", task.id);
            let stop = Request::call("TaskStop", json!({"task_id": task.id}));
            for subject in [Subject::Task(task.id.clone()), stop.subject] {
                let (whose, _) = self.routed(subject).expect("somebody is asked");
                prop_assert_eq!(&whose, &task.cmd);
            }
        }
        Ok(())
    }

    fn check_numbers(&mut self, merged: &Snapshot) -> Result<(), TestCaseError> {
        let calls = merged.calls.iter().map(|call| ("call", call.seq, call.summary.clone()));
        let held = merged.gate.held.iter().map(|held| {
            // A card never names a task of another place.
            let task = held.task.as_ref().and_then(|id| merged.tasks.iter().find(|task| task.id == *id));
            let whose = held.description.clone().unwrap_or_default();
            assert!(task.is_none_or(|task| task.cmd == whose), "{held:?}");
            ("held", held.ticket, whose)
        });
        let shown: Vec<_> = calls.chain(held).collect();
        for (kind, number, whose) in shown {
            let before = self.shown.insert((kind, number), whose.clone());
            prop_assert!(before.is_none_or(|before| before == whose), "a number means one thing for good");
        }
        for ((kind, number), whose) in &self.shown {
            let subject = if *kind == "call" { Subject::Call(*number) } else { Subject::Held(*number) };
            // A request about something that is gone may be refused, but must not reach another place.
            let Some((asked, subject)) = self.routed(subject) else { continue };
            prop_assert!(asked.is_empty() || asked == *whose, "{kind} {number}: {asked} for {whose}");
            let (Subject::Call(own) | Subject::Held(own)) = subject else {
                return Err(TestCaseError::fail("another subject"));
            };
            prop_assert!(own < 5, "its own number: {own}");
        }
        Ok(())
    }
}
