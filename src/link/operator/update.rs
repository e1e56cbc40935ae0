//! Snapshots over a socket: the changes since the last one are sent in pages of bounded size, and the other side
//! reassembles the snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::envelope::{TaskId, json_length};
use crate::link::Error;
use crate::link::frame::{Frame, MAX_FROM_RUNTIME};
use crate::link::protocol::ServerMessage;
use crate::model::{
    AgentView, CallSummary, GateView, HeldCall, Notice, ProgramView, Question, QuestionId, Snapshot, TaskView,
};

/// Approximate size of the items in one page, in bytes.
const PAGE: usize = 1 << 20;
/// The largest item that is sent: above this, the rest of its page would not fit.
const LONGEST: usize = MAX_FROM_RUNTIME - 2 * PAGE;
/// The most items that a snapshot has, and their bytes as JSON; what comes after that is not sent. A console accepts
/// twice as much between two updates, because replaced items are dropped with the update.
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

/// The key that identifies an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ItemKey {
    Task(TaskId),
    Call(u64),
    Question(QuestionId),
    Program(String),
    Agent(String),
    Notice(u64),
    Held(u64),
}

/// A new snapshot whose items were sent before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::link) struct Update {
    /// The snapshot without its lists of items.
    rest: Snapshot,
    /// The items in order; `None` if they are the same as in the last update.
    items: Option<Vec<ItemKey>>,
}

/// The items that a console has, tracked both by the runtime and by the console.
#[derive(Debug, Default)]
pub(super) struct KnownItems {
    order: Vec<ItemKey>,
    /// The items, each with its length as JSON.
    items: BTreeMap<ItemKey, (Item, usize)>,
    /// The sum of these lengths.
    bytes: usize,
}

impl KnownItems {
    /// Returns the frames that bring a console up to date with `new`: pages of items, and the update that completes
    /// them.
    ///
    /// # Errors
    /// If something cannot be encoded as JSON.
    pub(super) fn frames(&mut self, new: &Snapshot) -> Result<Vec<Frame>, Error> {
        let (mut frames, mut page, mut bytes) = (Vec::new(), Vec::new(), 0);
        let (changed, update) = self.changed(new);
        for (item, length) in changed {
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

    /// Returns the new or changed items, each with its length, and the update that completes them, and remembers
    /// both. What would be more than a console accepts is left out.
    fn changed(&mut self, new: &Snapshot) -> (Vec<(Item, usize)>, Update) {
        let mut next = Self::default();
        let mut changed = Vec::new();
        for item in items(new) {
            let key = item.key();
            let known = self.items.get(&key);
            let same = known.filter(|(known, _)| *known == item).map(|(_, length)| *length);
            let length = same.unwrap_or_else(|| json_length(&item));
            let is_too_much = next.items.len() == MOST_ITEMS || next.bytes + length > MOST_BYTES;
            if length > LONGEST || is_too_much {
                tracing::warn!(length, "too much to be shown to an attached console");
                continue;
            }
            if same.is_none() {
                changed.push((without_known_source(&item, known.map(|(known, _)| known)), length));
            }
            if next.items.insert(key.clone(), (item, length)).is_none() {
                next.bytes += length;
                next.order.push(key);
            }
        }
        let is_other = self.order != next.order;
        let order = is_other.then(|| next.order.clone());
        *self = next;
        (changed, Update { rest: rest(new), items: order })
    }

    /// Stores items that were received.
    ///
    /// # Errors
    /// If they are more than a snapshot has.
    pub(super) fn take(&mut self, items: Vec<Item>) -> Result<(), Error> {
        for mut item in items {
            let key = item.key();
            if let (Item::Program(program), Some((Item::Program(known), _))) =
                (&mut item, self.items.get(&key))
                && program.source.is_empty()
            {
                Arc::make_mut(program).source = Arc::clone(&known.source);
            }
            let length = json_length(&item);
            let replaced = self.items.insert(key, (item, length));
            self.bytes = self.bytes.saturating_add(length) - replaced.map_or(0, |(_, length)| length);
            if self.items.len() > 2 * MOST_ITEMS || self.bytes > 2 * MOST_BYTES {
                return Err(too_much("items"));
            }
        }
        Ok(())
    }

    /// Returns the snapshot that an update completes. Items that it does not list are dropped; listed ones that are
    /// unknown are left out.
    ///
    /// # Errors
    /// If it lists an item twice, or is larger than a snapshot can be.
    pub(super) fn snapshot(&mut self, update: Update) -> Result<Snapshot, Error> {
        if json_length(&update.rest) > MOST_REST {
            return Err(too_much("state"));
        }
        if let Some(order) = update.items {
            let mut keys = BTreeSet::new();
            if order.len() > MOST_ITEMS || !order.iter().all(|key| keys.insert(key)) {
                return Err(Error::frame(
                    "an update that names an item twice, or more items than a runtime has",
                ));
            }
            let mut listed = Self::default();
            for key in order {
                let Some((item, length)) = self.items.remove(&key) else { continue };
                listed.bytes += length;
                listed.items.insert(key.clone(), (item, length));
                listed.order.push(key);
            }
            *self = listed;
        }
        if self.items.len() > MOST_ITEMS || self.bytes > MOST_BYTES {
            return Err(too_much("items"));
        }
        // Its own lists are empty, whatever was sent.
        let mut new = rest(&update.rest);
        for (item, _) in self.order.iter().filter_map(|key| self.items.get(key)).cloned() {
            match item {
                Item::Task(task) => new.tasks.push(task),
                Item::Call(call) => new.calls.push(call),
                Item::Question(question) => new.questions.push(question),
                Item::Program(program) => new.programs.push(program),
                Item::Agent(agent) => new.agents.push(agent),
                Item::Notice(notice) => new.notices.push(notice),
                Item::Held(call) => new.gate.held.push(call),
            }
        }
        Ok(new)
    }
}

fn too_much(what: &str) -> Error {
    Error::frame(format!("more {what} than a runtime has"))
}

/// Returns an item as it is sent: a program without its source, if that has not changed.
fn without_known_source(item: &Item, known: Option<&Item>) -> Item {
    match (item, known) {
        (Item::Program(new), Some(Item::Program(known))) if new.source == known.source => {
            Item::Program(Arc::new(ProgramView { source: "".into(), ..(**new).clone() }))
        }
        _ => item.clone(),
    }
}

impl Item {
    fn key(&self) -> ItemKey {
        match self {
            Self::Task(task) => ItemKey::Task(task.id.clone()),
            Self::Call(call) => ItemKey::Call(call.seq),
            Self::Question(question) => ItemKey::Question(question.id.clone()),
            Self::Program(program) => ItemKey::Program(program.run.clone()),
            Self::Agent(agent) => ItemKey::Agent(agent.label.clone()),
            Self::Notice(notice) => ItemKey::Notice(notice.seq),
            Self::Held(call) => ItemKey::Held(call.ticket),
        }
    }
}

/// Returns all entries of a snapshot's unbounded lists, first what waits for a person. Entries that did not change
/// mostly share their allocation.
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

/// Returns the rest of a snapshot, whose size is bounded.
fn rest(new: &Snapshot) -> Snapshot {
    Snapshot {
        seq: new.seq,
        workspace: new.workspace.clone(),
        recording: new.recording.clone(),
        socket: new.socket.clone(),
        started_at: new.started_at,
        headless: new.headless,
        tasks_left: new.tasks_left,
        metrics: new.metrics.clone(),
        record: new.record.clone(),
        gate: GateView { paused: new.gate.paused, held: Vec::new(), allowed: new.gate.allowed },
        ..Snapshot::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::envelope::Actor;
    use crate::link::operator::fleet::tests::running;
    use crate::model::TaskStatus;

    fn task(id: u8, number: u32) -> Arc<TaskView> {
        Arc::new(TaskView { number, ..running(id, "sleep 1") })
    }

    fn call(seq: u64, duration: u64) -> Arc<CallSummary> {
        Arc::new(CallSummary {
            seq,
            at: jiff::Timestamp::UNIX_EPOCH,
            actor: Actor::Operator,
            tool: "TaskList".into(),
            status: None,
            summary: String::new(),
            task: None,
            stream: None,
            duration_ms: Some(duration),
        })
    }

    fn snapshot(seq: u64, tasks: Vec<(u8, u32)>, calls: (u64, Vec<u64>)) -> Snapshot {
        let mut seen = std::collections::BTreeSet::new();
        let (first, durations) = calls;
        Snapshot {
            seq,
            workspace: "/w".into(),
            headless: true,
            tasks: tasks
                .into_iter()
                .filter(|(id, _)| seen.insert(*id % 32))
                .map(|(id, n)| task(id % 32, n))
                .collect(),
            calls: (first..).zip(durations).map(|(seq, duration)| call(seq, duration)).collect(),
            ..Snapshot::default()
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

    #[test]
    fn what_did_not_change_does_not_travel() {
        let old = snapshot(1, vec![(1, 1), (2, 2)], (1, vec![5, 5]));
        let mut new = snapshot(2, vec![(1, 1), (2, 3), (3, 3)], (2, vec![5, 9]));
        (new.tasks[0], new.calls[0]) = (Arc::clone(&old.tasks[0]), Arc::clone(&old.calls[1]));
        let (mut runtime, mut console) = (KnownItems::default(), KnownItems::default());
        let (first, _) = received(&mut console, &runtime.frames(&old).expect("frames"));
        assert_eq!(first, Some(old));
        let (second, pages) = received(&mut console, &runtime.frames(&new).expect("frames"));
        assert_eq!(second, Some(new.clone()));
        assert_eq!(pages.iter().map(|page| page.0).collect::<Vec<_>>(), [3], "two tasks and a call");
        let again = runtime.frames(&new).expect("frames");
        assert_eq!(received(&mut console, &again), (Some(new), Vec::new()));
    }

    #[test]
    fn a_long_snapshot_comes_whole_in_pages_that_are_short() {
        // Control characters take six bytes each.
        let note = "\u{1}".repeat(700);
        let task = |number: u32, status| {
            let mut task = task(u8::MAX, number);
            let view = Arc::make_mut(&mut task);
            let [low, high] = [number % 32, number / 32].map(|digit| u8::try_from(digit).expect("a digit"));
            view.id = TaskId::from_random([0, 0, 0, 0, 0, 0, high, low]);
            (view.status, view.cmd, view.description) = (status, note.clone(), Some(note.repeat(5)));
            task
        };
        let live = (1..=200).map(|number| task(number, TaskStatus::Running));
        let ended = (201..=700).map(|number| task(number, TaskStatus::Completed));
        let snapshot = Snapshot { tasks: live.chain(ended).collect(), tasks_left: 7, ..Snapshot::default() };
        let (mut runtime, mut console) = (KnownItems::default(), KnownItems::default());
        let (first, pages) = received(&mut console, &runtime.frames(&snapshot).expect("frames"));
        assert_eq!(first, Some(snapshot.clone()));
        assert!(pages.len() > 10 && pages.iter().all(|page| page.1 < 2 * PAGE), "{pages:?}");
        let next = Snapshot { seq: 9, ..snapshot };
        let frames = runtime.frames(&next).expect("frames");
        assert!(
            frames.len() == 1 && frames[0].length() < 100_000,
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
        let held = |ticket| HeldCall {
            ticket,
            call: ticket,
            actor: Actor::Cli,
            behind: None,
            tool: "ExecCommand".into(),
            task: None,
            commands: Vec::new(),
            description: Some(long.clone()),
            reason: crate::model::HoldReason::Paused,
            since: jiff::Timestamp::UNIX_EPOCH,
            hash: String::new(),
        };
        let snapshot = Snapshot {
            agents: (0..150).map(agent).collect(),
            notices: (1..=100).map(notice).collect(),
            gate: GateView { held: (1..=16).map(held).collect(), ..GateView::default() },
            ..Snapshot::default()
        };
        let (mut runtime, mut console) = (KnownItems::default(), KnownItems::default());
        let frames = runtime.frames(&snapshot).expect("frames");
        assert!(frames.iter().map(Frame::length).sum::<usize>() > MAX_FROM_RUNTIME);
        assert!(frames[..frames.len() - 1].iter().all(|frame| frame.length() < 2 * PAGE));
        assert_eq!(received(&mut console, &frames).0, Some(snapshot.clone()));
        // The last update is no longer than what changed.
        let last = Snapshot { seq: 9, notices: (2..=101).map(notice).collect(), ..snapshot };
        let frames = runtime.frames(&last).expect("frames");
        let (shown, pages) = received(&mut console, &frames);
        assert_eq!((shown, pages.iter().map(|page| page.0).sum::<usize>()), (Some(last), 1));
    }

    #[test]
    fn what_would_not_fit_in_any_frame_is_left_out() {
        let mut long = task(1, 1);
        Arc::make_mut(&mut long).cmd = "x".repeat(LONGEST);
        let snapshot = Snapshot { tasks: vec![long, task(2, 2)], ..Snapshot::default() };
        let (shown, _) =
            received(&mut KnownItems::default(), &KnownItems::default().frames(&snapshot).expect("frames"));
        assert_eq!(shown.expect("a snapshot").tasks, [task(2, 2)]);
    }

    fn notice(seq: u64, text: &str) -> Item {
        let (at, text) = (jiff::Timestamp::UNIX_EPOCH, text.to_owned());
        Item::Notice(Notice { seq, at, is_error: false, text, from: None })
    }

    fn listing(items: Vec<ItemKey>) -> Update {
        Update { rest: Snapshot::default(), items: Some(items) }
    }

    /// One frame of less than 1 MiB took 2.3 GB.
    #[test]
    fn f57_an_item_that_is_named_twice_is_refused() {
        let mut console = KnownItems::default();
        console.take(vec![notice(1, &"x".repeat(40_000))]).expect("accepted");
        let refused = console.snapshot(listing(vec![ItemKey::Notice(1); 60_000]));
        assert!(refused.is_err_and(|error| error.to_string().contains("twice")));
        assert!(console.snapshot(listing(vec![ItemKey::Notice(7); 2])).is_err(), "an unknown one too");
        let unknown = console.snapshot(listing(vec![ItemKey::Notice(7)])).expect("accepted");
        assert!(unknown.notices.is_empty() && console.order.is_empty());
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
        console.take(seqs.clone().map(|seq| notice(seq, "x")).collect()).expect("accepted");
        assert!(console.snapshot(listing(seqs.map(ItemKey::Notice).collect())).is_err());
    }

    #[test]
    fn f57_lists_beside_the_items_are_not_taken_and_a_large_rest_is_refused() {
        let held = |count| Snapshot {
            notices: (0..count)
                .map(|seq| {
                    let Item::Notice(notice) = notice(seq, "x") else { unreachable!() };
                    notice
                })
                .collect(),
            ..Snapshot::default()
        };
        let of = |rest| KnownItems::default().snapshot(Update { rest, items: None });
        assert!(of(held(5)).expect("accepted").notices.is_empty());
        assert!(of(held(50_000)).is_err());
        let long = Snapshot { recording: "x".repeat(MOST_REST).into(), ..Snapshot::default() };
        assert!(of(long).is_err());
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
        let (shown, _) =
            received(&mut KnownItems::default(), &KnownItems::default().frames(&snapshot).expect("frames"));
        let shown = shown.expect("a snapshot");
        assert_eq!((shown.tasks.len(), shown.calls.len()), (1, MOST_ITEMS - 1));
        let notices = Snapshot { calls: Vec::new(), ..snapshot };
        let (shown, _) =
            received(&mut KnownItems::default(), &KnownItems::default().frames(&notices).expect("frames"));
        assert_eq!(shown.expect("a snapshot").notices.len(), 23);
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
        let (mut runtime, mut console) = (KnownItems::default(), KnownItems::default());
        let (first, update) = runtime.changed(&old);
        assert_eq!(sources(&first), [text, ""]);
        console.take(first.into_iter().map(|(item, _)| item).collect()).expect("accepted");
        assert_eq!(console.snapshot(update).expect("accepted"), old);
        let new = with(vec![program("a", text, 2), program("b", other, 1), program("c", text, 1)]);
        let (second, update) = runtime.changed(&new);
        assert_eq!(sources(&second), ["", other, text]);
        console.take(second.into_iter().map(|(item, _)| item).collect()).expect("accepted");
        assert_eq!(console.snapshot(update).expect("accepted"), new);
        let gone = with(vec![program("c", text, 1)]);
        let (third, update) = runtime.changed(&gone);
        console.take(third.into_iter().map(|(item, _)| item).collect()).expect("accepted");
        assert_eq!(console.snapshot(update).expect("accepted"), gone);
    }

    prop_compose! {
        fn snapshots()(
            seq in any::<u64>(),
            tasks in prop::collection::vec((any::<u8>(), 0..3_u32), 0..12),
            first in 1..20_u64,
            durations in prop::collection::vec(0..3_u64, 0..12),
        ) -> Snapshot {
            snapshot(seq, tasks, (first, durations))
        }
    }

    proptest! {
        #[test]
        fn updates_make_the_new_snapshot_from_the_old_one(snapshots in prop::collection::vec(snapshots(), 1..4)) {
            let (mut runtime, mut console) = (KnownItems::default(), KnownItems::default());
            for snapshot in snapshots {
                let frames = runtime.frames(&snapshot).expect("frames");
                prop_assert_eq!(received(&mut console, &frames).0, Some(snapshot));
            }
        }
    }
}
