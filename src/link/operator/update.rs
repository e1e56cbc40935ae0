//! Snapshots over a socket: what was changed since the last one is sent in pages of bounded size, and the other side
//! reassembles the snapshot.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::envelope::json_length;
use crate::link::Error;
use crate::link::frame::{Frame, MAX_FROM_RUNTIME};
use crate::link::protocol::ServerMessage;
use crate::model::{
    AgentView, CallSummary, HeldCall, ItemKey, Notice, ProgramView, Question, Snapshot, TaskView,
};

/// Approximate size of the items in one page, in bytes.
const PAGE: usize = 1 << 20;
/// The largest item that is sent: above this, the rest of its page would not fit.
const LONGEST: usize = MAX_FROM_RUNTIME - 2 * PAGE;
/// The most items that a snapshot has, and their bytes as JSON; what comes after that is not sent. A console accepts
/// twice as much between two updates, because what is gone is dropped with the update.
const MOST_ITEMS: usize = 10_000;
const MOST_BYTES: usize = 24 << 20;
/// The longest JSON of the rest of a snapshot.
const MOST_REST: usize = 1 << 20;

/// A new or changed entry of one of a snapshot's lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::link) enum Item {
    Task(Arc<TaskView>),
    Call(Arc<CallSummary>),
    Question(Arc<Question>),
    /// Without its source, if the other side already has that.
    Program(Arc<ProgramView>),
    Agent(AgentView),
    Notice(Notice),
    Held(HeldCall),
}

/// A new snapshot whose items were sent before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::link) struct Update {
    /// The snapshot, whose lists of items are not part of its JSON.
    rest: Arc<Snapshot>,
    /// The items it no longer has.
    gone: Vec<ItemKey>,
}

/// What one console was sent.
#[derive(Debug, Default)]
pub(super) struct SentItems {
    /// The number of the last snapshot.
    pub(super) snapshot: u64,
    items: HashMap<ItemKey, DeliveredItem>,
}

#[derive(Debug)]
struct DeliveredItem {
    /// Its length as JSON.
    length: usize,
    /// The text, if it is a program.
    source: Option<Arc<str>>,
}

impl SentItems {
    /// Returns the frames that bring the console up to date with `new`: pages of items, and the update that completes
    /// them. `changed` are the items that were changed since the last snapshot, `None` if any may have been.
    ///
    /// # Errors
    /// If something cannot be encoded as JSON.
    pub(super) fn frames(
        &mut self,
        new: &Arc<Snapshot>,
        changed: Option<&HashSet<ItemKey>>,
    ) -> Result<Vec<Frame>, Error> {
        let (mut frames, mut page, mut bytes) = (Vec::new(), Vec::new(), 0);
        let (items, update) = self.update(new, changed);
        for (item, length) in items {
            if bytes + length > PAGE && !page.is_empty() {
                frames.push(Frame::json(&ServerMessage::Items(std::mem::take(&mut page)))?);
                bytes = 0;
            }
            bytes += length;
            page.push(item);
        }
        if !page.is_empty() {
            frames.push(Frame::json(&ServerMessage::Items(page))?);
        }
        frames.push(Frame::json(&ServerMessage::Update(Box::new(update)))?);
        Ok(frames)
    }

    /// Returns the new and changed items, each with its length, and the update that completes them. What would be
    /// more than a console accepts is left out.
    fn update(
        &mut self,
        new: &Arc<Snapshot>,
        changed: Option<&HashSet<ItemKey>>,
    ) -> (Vec<(Item, usize)>, Update) {
        let (mut sent, mut bytes, mut travels) = (HashMap::new(), 0, Vec::new());
        for item in items(new) {
            let key = item.key();
            let known = self.items.remove(&key);
            let is_changed = known.is_none() || changed.is_none_or(|changed| changed.contains(&key));
            let length =
                known.as_ref().filter(|_| !is_changed).map_or_else(|| json_length(&item), |it| it.length);
            if length > LONGEST || sent.len() == MOST_ITEMS || bytes + length > MOST_BYTES {
                tracing::warn!(length, "too much to be shown to an attached console");
                self.items.extend(known.map(|known| (key, known)));
                continue;
            }
            let source = item.source().cloned();
            if is_changed {
                let known_source = known.and_then(|known| known.source);
                travels.push((item.without_source(known_source.as_deref()), length));
            }
            bytes += length;
            sent.insert(key, DeliveredItem { length, source });
        }
        let gone = std::mem::replace(&mut self.items, sent).into_keys().collect();
        self.snapshot = new.seq;
        (travels, Update { rest: Arc::clone(new), gone })
    }
}

/// The items that a console has.
#[derive(Debug, Default)]
pub(super) struct KnownItems {
    items: BTreeMap<ItemKey, KnownItem>,
    /// How many have ever arrived.
    arrived: u64,
    /// The sum of their lengths.
    bytes: usize,
}

#[derive(Debug)]
struct KnownItem {
    item: Item,
    /// Its length as JSON.
    length: usize,
    /// The number of its first arrival.
    arrival: u64,
}

impl KnownItems {
    /// Stores items that were received.
    ///
    /// # Errors
    /// If they are more than a snapshot has.
    pub(super) fn take(&mut self, items: Vec<Item>) -> Result<(), Error> {
        for mut item in items {
            let key = item.key();
            let known = self.items.remove(&key);
            if let (Item::Program(program), Some(source)) =
                (&mut item, known.as_ref().and_then(|known| known.item.source()))
                && program.source.is_empty()
            {
                Arc::make_mut(program).source = Arc::clone(source);
            }
            let length = json_length(&item);
            self.bytes = self.bytes.saturating_add(length) - known.as_ref().map_or(0, |known| known.length);
            self.arrived += 1;
            let arrival = known.map_or(self.arrived, |known| known.arrival);
            self.items.insert(key, KnownItem { item, length, arrival });
            if self.items.len() > 2 * MOST_ITEMS || self.bytes > 2 * MOST_BYTES {
                return Err(too_much("items"));
            }
        }
        Ok(())
    }

    /// Returns the snapshot that an update completes: what has a number in the order of their numbers, agents as they
    /// arrived.
    ///
    /// # Errors
    /// If it is larger than a snapshot can be.
    pub(super) fn snapshot(&mut self, update: Update) -> Result<Snapshot, Error> {
        if json_length(&update.rest) > MOST_REST {
            return Err(too_much("state"));
        }
        for gone in update.gone.iter().filter_map(|key| self.items.remove(key)) {
            self.bytes -= gone.length;
        }
        if self.items.len() > MOST_ITEMS || self.bytes > MOST_BYTES {
            return Err(too_much("items"));
        }
        let mut new = Arc::unwrap_or_clone(update.rest);
        let mut agents = BTreeMap::new();
        for known in self.items.values() {
            match known.item.clone() {
                Item::Task(task) => new.tasks.push(task),
                Item::Call(call) => new.calls.push(call),
                Item::Question(question) => new.questions.push(question),
                Item::Program(program) => new.programs.push(program),
                Item::Agent(agent) => drop(agents.insert(known.arrival, agent)),
                Item::Notice(notice) => new.notices.push(notice),
                Item::Held(call) => new.gate.held.push(call),
            }
        }
        new.agents = agents.into_values().collect();
        new.programs.sort_by(|one, other| one.start().cmp(&other.start()));
        Ok(new)
    }
}

fn too_much(what: &str) -> Error {
    Error::frame(format!("more {what} than a runtime has"))
}

impl Item {
    fn key(&self) -> ItemKey {
        match self {
            Self::Task(task) => ItemKey::Task(task.number),
            Self::Call(call) => ItemKey::Call(call.seq),
            Self::Question(question) => ItemKey::Question(question.number),
            Self::Program(program) => ItemKey::Program(program.run.clone()),
            Self::Agent(agent) => ItemKey::Agent(agent.label.clone()),
            Self::Notice(notice) => ItemKey::Notice(notice.seq),
            Self::Held(call) => ItemKey::Held(call.ticket),
        }
    }

    /// Returns a program's text.
    fn source(&self) -> Option<&Arc<str>> {
        match self {
            Self::Program(program) => Some(&program.source),
            _ => None,
        }
    }

    /// Returns the item as it is sent: a program without its text, if that is known.
    fn without_source(self, known: Option<&str>) -> Self {
        match self {
            Self::Program(new) if known == Some(&new.source) => {
                Self::Program(Arc::new(ProgramView { source: "".into(), ..(*new).clone() }))
            }
            item => item,
        }
    }
}

/// Returns all entries of a snapshot's unbounded lists, first what waits for a person.
fn items(new: &Snapshot) -> impl Iterator<Item = Item> {
    let held = new.gate.held.iter().cloned().map(Item::Held);
    let questions = new.questions.iter().cloned().map(Item::Question);
    let tasks = new.tasks.iter().cloned().map(Item::Task);
    let calls = new.calls.iter().cloned().map(Item::Call);
    let agents = new.agents.iter().cloned().map(Item::Agent);
    let notices = new.notices.iter().cloned().map(Item::Notice);
    let programs = new.programs.iter().cloned().map(Item::Program);
    held.chain(questions).chain(tasks).chain(calls).chain(agents).chain(notices).chain(programs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::envelope::{Actor, TaskId};
    use crate::link::operator::fleet::tests::running;
    use crate::model::{GateView, ItemChanges, TaskStatus};

    fn task(id: u8, pid: u32) -> Arc<TaskView> {
        Arc::new(TaskView { pid: Some(pid), ..running(id, "sleep 1") })
    }

    fn call(seq: u64, duration: u64) -> Arc<CallSummary> {
        Arc::new(CallSummary {
            seq,
            at: jiff::Timestamp::UNIX_EPOCH,
            actor: Actor::Operator,
            tool: "TaskList".into(),
            status: None,
            summary: String::new(),
            asked: String::new(),
            task: None,
            stream: None,
            end: None,
            duration_ms: Some(duration),
            native: None,
        })
    }

    fn snapshot(seq: u64, tasks: Vec<(u8, u32)>, calls: (u64, Vec<u64>)) -> Snapshot {
        let tasks: BTreeMap<u8, u32> = tasks.into_iter().map(|(id, pid)| (id % 32, pid)).collect();
        let (first, durations) = calls;
        Snapshot {
            seq,
            workspace: "/w".into(),
            headless: true,
            tasks: tasks.into_iter().map(|(id, pid)| task(id, pid)).collect(),
            calls: (first..).zip(durations).map(|(seq, duration)| call(seq, duration)).collect(),
            ..Snapshot::default()
        }
    }

    fn held(ticket: u64, description: &str) -> HeldCall {
        HeldCall {
            ticket,
            call: ticket,
            actor: Actor::Cli,
            behind: None,
            tool: "ExecCommand".into(),
            task: None,
            commands: Vec::new(),
            description: Some(description.to_owned()),
            reason: crate::model::HoldReason::Paused,
            since: jiff::Timestamp::UNIX_EPOCH,
            hash: String::new(),
            cost: crate::model::CallCost::default(),
        }
    }

    /// Returns the snapshot that a console gets from frames, and the number of items and bytes in each frame.
    fn received(console: &mut KnownItems, frames: &[Frame]) -> (Option<Snapshot>, Vec<(usize, usize)>) {
        let (mut snapshot, mut pages) = (None, Vec::new());
        for frame in frames {
            match frame.parse().expect("parses") {
                ServerMessage::Items(items) => {
                    pages.push((items.len(), frame.length()));
                    console.take(items).expect("accepted");
                }
                ServerMessage::Update(update) => {
                    snapshot = Some(console.snapshot(*update).expect("accepted"));
                }
                other => panic!("{other:?}"),
            }
        }
        (snapshot, pages)
    }

    fn sent(runtime: &mut SentItems, new: &Snapshot, changed: Option<&HashSet<ItemKey>>) -> Vec<Frame> {
        runtime.frames(&Arc::new(new.clone()), changed).expect("frames")
    }

    /// Returns what a new console is shown of a snapshot.
    fn shown(snapshot: &Snapshot) -> Snapshot {
        let frames = sent(&mut SentItems::default(), snapshot, None);
        received(&mut KnownItems::default(), &frames).0.expect("a snapshot")
    }

    /// Returns the items that differ between two snapshots or are only in the later one.
    fn differing(old: &Snapshot, new: &Snapshot) -> HashSet<ItemKey> {
        let old: Vec<Item> = items(old).collect();
        items(new).filter(|item| !old.contains(item)).map(|item| item.key()).collect()
    }

    #[test]
    fn unchanged_items_of_a_snapshot_are_not_sent_again() {
        let old = snapshot(1, vec![(1, 1), (2, 2)], (1, vec![5, 5]));
        let new = snapshot(2, vec![(1, 1), (2, 3), (3, 3)], (2, vec![5, 9]));
        let (mut runtime, mut console) = (SentItems::default(), KnownItems::default());
        let (first, _) = received(&mut console, &sent(&mut runtime, &old, None));
        assert_eq!(first, Some(old.clone()));
        let changed = HashSet::from([ItemKey::Task(2)]);
        let (second, pages) = received(&mut console, &sent(&mut runtime, &new, Some(&changed)));
        assert_eq!(second, Some(new.clone()));
        assert_eq!(pages.iter().map(|page| page.0).collect::<Vec<_>>(), [3], "two tasks and a call");
        let again = sent(&mut runtime, &new, Some(&HashSet::new()));
        assert_eq!(received(&mut console, &again), (Some(new.clone()), Vec::new()));
        // Where the runtime no longer knows what changed since, everything travels again.
        let all = sent(&mut runtime, &new, None);
        let (shown, pages) = received(&mut console, &all);
        assert_eq!((shown, pages.iter().map(|page| page.0).sum::<usize>()), (Some(new), 5));
    }

    #[test]
    fn a_long_snapshot_comes_whole_in_pages_that_are_short() {
        // Control characters take six bytes each.
        let note = "\u{1}".repeat(700);
        let task = |number: u32, status| {
            let mut task = task(1, 1);
            let view = Arc::make_mut(&mut task);
            let [low, high] = [number % 32, number / 32].map(|digit| u8::try_from(digit).expect("a digit"));
            view.id = TaskId::from_random([0, 0, 0, 0, 0, 0, high, low]);
            (view.number, view.status) = (number, status);
            (view.cmd, view.description) = (note.clone(), Some(note.repeat(5)));
            task
        };
        let live = (1..=200).map(|number| task(number, TaskStatus::Running));
        let ended = (201..=700).map(|number| task(number, TaskStatus::Completed));
        let snapshot = Snapshot { tasks: live.chain(ended).collect(), tasks_left: 7, ..Snapshot::default() };
        let (mut runtime, mut console) = (SentItems::default(), KnownItems::default());
        let (first, pages) = received(&mut console, &sent(&mut runtime, &snapshot, None));
        assert_eq!(first, Some(snapshot.clone()));
        assert!(pages.len() > 10 && pages.iter().all(|page| page.1 < 2 * PAGE), "{pages:?}");
        let next = Snapshot { seq: 9, ..snapshot };
        let frames = sent(&mut runtime, &next, Some(&HashSet::new()));
        assert!(
            frames.len() == 1 && frames[0].length() < 2_000,
            "{} bytes for no change",
            frames[0].length()
        );
        assert_eq!(received(&mut console, &frames).0, Some(next));
    }

    #[test]
    fn agents_notices_and_held_calls_come_in_pages_too() {
        let long = "x".repeat(PAGE / 16);
        let agent = |number: u32| AgentView {
            label: format!("{number} {long}"),
            client: String::new(),
            pid: number,
            ..AgentView::default()
        };
        let notice = |seq| Notice {
            seq,
            at: jiff::Timestamp::UNIX_EPOCH,
            is_error: false,
            text: long.clone(),
            from: None,
        };
        let held = |ticket| held(ticket, &long);
        let snapshot = Snapshot {
            agents: (0..150).map(agent).collect(),
            notices: (1..=100).map(notice).collect(),
            gate: GateView { held: (1..=16).map(held).collect(), ..GateView::default() },
            ..Snapshot::default()
        };
        let (mut runtime, mut console) = (SentItems::default(), KnownItems::default());
        let frames = sent(&mut runtime, &snapshot, None);
        assert!(frames.iter().map(Frame::length).sum::<usize>() > MAX_FROM_RUNTIME);
        assert!(frames[..frames.len() - 1].iter().all(|frame| frame.length() < 2 * PAGE));
        assert_eq!(received(&mut console, &frames).0, Some(snapshot.clone()));
        // The last update is no longer than what changed.
        let last = Snapshot { seq: 9, notices: (2..=101).map(notice).collect(), ..snapshot };
        let frames = sent(&mut runtime, &last, Some(&HashSet::new()));
        let (shown, pages) = received(&mut console, &frames);
        assert_eq!((shown, pages.iter().map(|page| page.0).sum::<usize>()), (Some(last), 1));
    }

    #[test]
    fn an_item_too_large_for_any_frame_is_left_out() {
        let mut long = task(1, 1);
        Arc::make_mut(&mut long).cmd = "x".repeat(LONGEST);
        let snapshot = Snapshot { tasks: vec![long, task(2, 2)], ..Snapshot::default() };
        assert_eq!(shown(&snapshot).tasks, [task(2, 2)]);
    }

    fn notice(seq: u64, text: &str) -> Item {
        let (at, text) = (jiff::Timestamp::UNIX_EPOCH, text.to_owned());
        Item::Notice(Notice { seq, at, is_error: false, text, from: None })
    }

    /// Returns an update as it arrives.
    fn as_json(update: &Update) -> Update {
        serde_json::from_value(serde_json::to_value(update).expect("JSON")).expect("an update")
    }

    fn without(gone: Vec<ItemKey>) -> Update {
        Update { rest: Arc::default(), gone }
    }

    #[test]
    fn f57_an_item_that_is_named_twice_is_there_once() {
        let mut console = KnownItems::default();
        console.take((0..60).map(|_| notice(1, &"x".repeat(40_000))).collect()).expect("accepted");
        assert_eq!(console.snapshot(without(Vec::new())).expect("accepted").notices.len(), 1);
        let gone = console.snapshot(without(vec![ItemKey::Notice(1); 60_000])).expect("accepted");
        assert!(gone.notices.is_empty() && console.items.is_empty() && console.bytes == 0);
        let unknown = console.snapshot(without(vec![ItemKey::Notice(7)])).expect("accepted");
        assert!(unknown.notices.is_empty());
    }

    #[test]
    fn f57_endless_items_are_refused_in_bounded_memory() {
        let mut console = KnownItems::default();
        let many = (0..).map(|seq| console.take(vec![notice(seq, "x")])).take_while(Result::is_ok).count();
        assert_eq!(many, 2 * MOST_ITEMS);
        let mut console = KnownItems::default();
        let long = "x".repeat(1 << 20);
        let large = (0..).map(|seq| console.take(vec![notice(seq, &long)])).take_while(Result::is_ok).count();
        assert!((40..50).contains(&large), "{large} MiB");
        // The same one again and again is one.
        let mut console = KnownItems::default();
        assert!((0..100).all(|_| console.take(vec![notice(1, &long)]).is_ok()));
        // Accepted for a moment, and then too many.
        let mut console = KnownItems::default();
        let seqs = 0..=MOST_ITEMS as u64;
        console.take(seqs.map(|seq| notice(seq, "x")).collect()).expect("accepted");
        assert!(console.snapshot(without(Vec::new())).is_err());
        assert!(console.snapshot(without(vec![ItemKey::Notice(0)])).is_ok());
    }

    #[test]
    fn f57_lists_beside_the_items_are_not_taken_and_a_large_rest_is_refused() {
        let of = |field: &str, value: serde_json::Value| {
            let mut update = serde_json::to_value(without(Vec::new())).expect("JSON");
            update["rest"][field] = value;
            KnownItems::default().snapshot(serde_json::from_value(update).expect("an update"))
        };
        let Item::Notice(notice) = notice(1, "x") else { unreachable!() };
        assert!(of("notices", serde_json::json!([notice])).expect("accepted").notices.is_empty());
        let gate = serde_json::json!({"paused": null, "turns": 0, "allowed": 0, "held": [held(1, "x")]});
        assert!(of("gate", gate).expect("accepted").gate.held.is_empty());
        assert!(of("recording", "x".repeat(MOST_REST).into()).is_err());
    }

    /// What a runtime sends is what a console accepts, whatever the runtime has; what waits for a person comes first.
    #[test]
    fn f57_a_runtime_sends_no_more_than_a_console_accepts() {
        let long = "x".repeat(1 << 20);
        let notices = (0..60).map(|seq| {
            let Item::Notice(notice) = notice(seq, &long) else { unreachable!() };
            notice
        });
        let calls = (0..2 * MOST_ITEMS as u64).map(|seq| call(seq, 1)).collect();
        let snapshot =
            Snapshot { notices: notices.collect(), calls, tasks: vec![task(1, 1)], ..Snapshot::default() };
        let seen = shown(&snapshot);
        assert_eq!((seen.tasks.len(), seen.calls.len()), (1, MOST_ITEMS - 1));
        let notices = Snapshot { calls: Vec::new(), ..snapshot };
        assert_eq!(shown(&notices).notices.len(), 23);
        // What was left out comes as soon as there is room for it, and what waits for a person at once.
        let (mut runtime, mut console) = (SentItems::default(), KnownItems::default());
        received(&mut console, &sent(&mut runtime, &notices, None));
        let fewer = Snapshot {
            notices: notices.notices[10..].to_vec(),
            gate: GateView { held: vec![held(1, "x")], ..GateView::default() },
            ..notices
        };
        let frames = sent(&mut runtime, &fewer, Some(&HashSet::new()));
        let seen = received(&mut console, &frames).0.expect("a snapshot");
        assert_eq!(seen.gate.held.len(), 1);
        assert_eq!(seen.notices, fewer.notices[..23]);
    }

    fn program(run: &str, source: &str, pass: u32) -> Arc<ProgramView> {
        Arc::new(ProgramView {
            run: run.into(),
            call: None,
            started_by: Actor::Cli,
            path: "/w/p.prose".into(),
            source: source.into(),
            folder: "/w".into(),
            state: crate::model::RunState::Running,
            steps: Vec::new(),
            events: Vec::new(),
            earlier_events: 0,
            branches: Vec::new(),
            loops: vec![crate::model::LoopView { lines: crate::model::LineRange::one(1), pass, max: None }],
            bindings: Vec::new(),
            sessions: 0,
            cost: 0,
            error: None,
            started_at: jiff::Timestamp::UNIX_EPOCH,
            ended_at: None,
        })
    }

    #[test]
    fn the_text_of_a_program_travels_once() {
        let with = |programs| Snapshot { programs, ..snapshot(1, Vec::new(), (1, Vec::new())) };
        let (text, other) = ("exec \"true\"\n", "exec \"false\"\n");
        let old = with(vec![program("a", text, 1), program("b", "", 1)]);
        let sources = |items: &[(Item, usize)]| {
            let programs = items.iter().filter_map(|(item, _)| match item {
                Item::Program(program) => Some(program.source.to_string()),
                _ => None,
            });
            programs.collect::<Vec<_>>()
        };
        let (mut runtime, mut console) = (SentItems::default(), KnownItems::default());
        let (first, update) = runtime.update(&Arc::new(old.clone()), None);
        assert_eq!(sources(&first), [text, ""]);
        console.take(first.into_iter().map(|(item, _)| item).collect()).expect("accepted");
        assert_eq!(console.snapshot(as_json(&update)).expect("accepted"), old);
        let new = with(vec![program("a", text, 2), program("b", other, 1), program("c", text, 1)]);
        let (second, update) = runtime.update(&Arc::new(new.clone()), Some(&differing(&old, &new)));
        assert_eq!(sources(&second), ["", other, text]);
        console.take(second.into_iter().map(|(item, _)| item).collect()).expect("accepted");
        assert_eq!(console.snapshot(as_json(&update)).expect("accepted"), new);
        let gone = with(vec![program("c", text, 1)]);
        let (third, update) = runtime.update(&Arc::new(gone.clone()), Some(&HashSet::new()));
        console.take(third.into_iter().map(|(item, _)| item).collect()).expect("accepted");
        assert_eq!(console.snapshot(as_json(&update)).expect("accepted"), gone);
    }

    #[test]
    fn a_new_call_is_sent_without_the_items_that_the_console_has() {
        let tasks = (0..500_u32).map(|number| {
            let mut task = task(1, 1);
            let digits = [number / 32, number % 32].map(|digit| u8::try_from(digit).expect("a digit"));
            let id = TaskId::from_random([0, 0, 0, 0, 0, 0, digits[0], digits[1]]);
            let view = Arc::make_mut(&mut task);
            (view.id, view.number) = (id, number + 1);
            task
        });
        let mut runtime = SentItems::default();
        let calls = (1..=1_000).map(|seq| call(seq, 5)).collect();
        let old = Snapshot { tasks: tasks.collect(), calls, ..snapshot(1, Vec::new(), (1, Vec::new())) };
        sent(&mut runtime, &old, None);
        let mut new = Snapshot { seq: 2, ..old };
        new.calls.remove(0);
        new.calls.push(call(1_001, 5));
        let frames = sent(&mut runtime, &new, Some(&HashSet::new()));
        let bytes: usize = frames.iter().map(Frame::length).sum();
        assert!(bytes < 2_000, "{bytes} bytes for a new call beside 500 tasks and 1,000 calls");
    }

    prop_compose! {
        fn snapshots()(
            tasks in prop::collection::vec((any::<u8>(), 0..3_u32), 0..12),
            first in 1..20_u64,
            durations in prop::collection::vec(0..3_u64, 0..12),
            programs in prop::collection::btree_map("[a-d]", (0..3_i64, 0..3_u32, "[xy]"), 0..4),
        ) -> Snapshot {
            let mut programs: Vec<_> = programs.into_iter().map(|(run, (at, pass, source))| {
                let started_at = jiff::Timestamp::from_second(at).expect("a time");
                Arc::new(ProgramView { started_at, ..(*program(&run, &source, pass)).clone() })
            }).collect();
            programs.sort_by(|one, other| one.start().cmp(&other.start()));
            Snapshot { programs, ..snapshot(0, tasks, (first, durations)) }
        }
    }

    proptest! {
        /// Whatever changes, and whichever snapshots a console skips, it has what the runtime has.
        #[test]
        fn updates_make_the_new_snapshot_from_the_one_that_was_sent_last(
            snapshots in prop::collection::vec((snapshots(), any::<bool>()), 1..8),
        ) {
            let (mut runtime, mut console) = (SentItems::default(), KnownItems::default());
            let (mut changes, mut old) = (ItemChanges::default(), Snapshot::default());
            for (mut new, is_sent) in snapshots {
                differing(&old, &new).into_iter().for_each(|key| changes.note(key));
                new.seq = changes.publish();
                if is_sent {
                    let changed = changes.since(runtime.snapshot);
                    let frames = sent(&mut runtime, &new, changed.as_ref());
                    prop_assert_eq!(received(&mut console, &frames).0, Some(new.clone()));
                }
                old = new;
            }
        }
    }
}
