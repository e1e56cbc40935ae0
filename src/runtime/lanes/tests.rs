//! The queues under chance: the pure decisions with ten thousand events, and the files with real locks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use super::queues::{LaneNews, LaneOrder, LaneQueues, QueuePlace, ReturnedTicket};
use super::turn::{LivingTicket, Turn, decide};
use crate::config::Lane;
use crate::envelope::TaskId;

const RUNTIMES: usize = 4;
const EVENTS: usize = 10_000;

/// A runtime may be told at any later time that it is worth looking again.
struct World {
    slots: usize,
    last: u64,
    /// The runtime of each living ticket, and whether its command runs.
    tickets: BTreeMap<u64, (usize, bool)>,
    /// The tickets that a person has let pass.
    passed: BTreeSet<u64>,
    /// The foreign tickets each runtime waits for.
    awaited: [BTreeSet<u64>; RUNTIMES],
    /// The runtimes that will be told.
    told: Vec<usize>,
    is_closed: bool,
    chance: u64,
}

impl World {
    fn new(seed: u64, slots: usize) -> Self {
        Self {
            slots,
            last: 0,
            tickets: BTreeMap::new(),
            passed: BTreeSet::new(),
            awaited: Default::default(),
            told: Vec::new(),
            is_closed: false,
            chance: seed,
        }
    }

    /// Returns a number below `below`, by xorshift.
    fn pick(&mut self, below: usize) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance >> 33).expect("31 bits") % below
    }

    fn any(&mut self, is_meant: impl Fn(u64, (usize, bool)) -> bool) -> Option<u64> {
        let meant: Vec<u64> =
            self.tickets.iter().filter(|(number, own)| is_meant(**number, **own)).map(|(n, _)| *n).collect();
        (!meant.is_empty()).then(|| meant[self.pick(meant.len())])
    }

    /// A runtime looks at its tickets.
    fn look(&mut self, runtime: usize) {
        let own = |(number, (of, has_slot)): (&u64, &(usize, bool))| {
            (*of == runtime && !has_slot).then_some(*number)
        };
        let waiting: Vec<u64> = self.tickets.iter().filter_map(own).collect();
        let Some(last) = waiting.last() else { return };
        let mut living: Vec<LivingTicket> = self
            .tickets
            .range(..=last)
            .map(|(number, (_, has_slot))| LivingTicket { number: *number, has_slot: *has_slot })
            .collect();
        let mut awaits_others = true;
        for standing in decide(&waiting, &mut living, self.slots, || self.is_closed.then_some(50)) {
            match standing.turn {
                Turn::Now => {
                    let earlier = self.tickets.range(..standing.number).count();
                    assert!(earlier < self.slots, "first come, first served");
                    self.tickets.get_mut(&standing.number).expect("waits").1 = true;
                }
                Turn::Closed(_) => {
                    awaits_others = false;
                    self.told.push(runtime);
                }
                Turn::After(until) if std::mem::take(&mut awaits_others) => {
                    let is_foreign = |number: &u64| self.tickets[number].0 != runtime;
                    let foreign: Vec<u64> = until.into_iter().filter(is_foreign).collect();
                    self.awaited[runtime].extend(foreign);
                }
                Turn::After(_) => {}
            }
        }
        let running = self.tickets.iter().filter(|(number, own)| own.1 && !self.passed.contains(number));
        assert!(running.count() <= self.slots);
    }

    /// A ticket is returned: its runtime knows at once, others when the thread that waits for it tells them.
    fn gives_back(&mut self, number: u64) {
        let Some((owner, _)) = self.tickets.remove(&number) else { return };
        for runtime in 0..RUNTIMES {
            if self.awaited[runtime].remove(&number) {
                self.told.push(runtime);
            }
        }
        self.look(owner);
    }

    fn happens(&mut self) {
        match self.pick(100) {
            0..40 => {
                self.last += 1;
                let runtime = self.pick(RUNTIMES);
                self.tickets.insert(self.last, (runtime, false));
                self.look(runtime);
            }
            40..75 => {
                let ended = self.any(|_, (_, has_slot)| has_slot);
                ended.into_iter().for_each(|number| self.gives_back(number));
            }
            75..80 => {
                let stopped = self.any(|_, (_, has_slot)| !has_slot);
                stopped.into_iter().for_each(|number| self.gives_back(number));
            }
            80..82 => {
                // A killed runtime is told nothing any more; another one takes its number.
                let killed = self.pick(RUNTIMES);
                self.told.retain(|told| *told != killed);
                self.awaited[killed].clear();
                while let Some(number) = self.any(|_, (of, _)| of == killed) {
                    self.gives_back(number);
                }
            }
            82..83 => {
                if let Some(number) = self.any(|_, (_, has_slot)| !has_slot) {
                    self.passed.insert(number);
                    self.tickets.get_mut(&number).expect("waits").1 = true;
                }
            }
            83..85 => self.is_closed = !self.is_closed,
            _ if self.told.is_empty() => {}
            _ => {
                let at = self.pick(self.told.len());
                let told = self.told.swap_remove(at);
                self.look(told);
            }
        }
    }
}

#[test]
fn a_lane_never_runs_more_than_its_slots_and_admits_every_command_in_order() {
    for (seed, slots) in [(1, 1), (2, 2), (3, 3), (4, 8), (5, 2), (6, 1)] {
        let mut world = World::new(0x9E37_79B9_7F4A_7C15 ^ seed, slots);
        for _ in 0..EVENTS {
            world.happens();
        }
        world.is_closed = false;
        while !world.tickets.is_empty() {
            if let Some(told) = world.told.pop() {
                world.look(told);
            } else {
                let ended = world.any(|_, (_, has_slot)| has_slot);
                world.gives_back(ended.expect("nobody waits for ever"));
            }
        }
        assert!(world.last > 3_000, "{}", world.last);
    }
}

fn id(number: u8) -> TaskId {
    TaskId::from_random([number; 8])
}

fn join(number: u8, slots: usize) -> LaneOrder {
    LaneOrder::Join { id: id(number), lane: Lane { name: "build".into(), slots, prefix: Vec::new() } }
}

/// A runtime's queues, and what its threads tell.
struct Runtime {
    queues: LaneQueues,
    tell: Arc<dyn Fn(ReturnedTicket) + Send + Sync>,
    told: Receiver<ReturnedTicket>,
}

impl Runtime {
    fn new(folder: &Path) -> Self {
        let (teller, told) = sync_channel(64);
        let tell: Arc<dyn Fn(ReturnedTicket) + Send + Sync> =
            Arc::new(move |returned| drop(teller.send(returned)));
        Self { queues: LaneQueues::of_test(folder), tell, told }
    }

    fn settle(&mut self, orders: Vec<LaneOrder>) -> Vec<LaneNews> {
        self.queues.settle(orders, Vec::new(), &self.tell)
    }

    /// Waits until a thread tells that a ticket was returned.
    fn hears(&mut self) -> Vec<LaneNews> {
        let returned = self.told.recv_timeout(Duration::from_secs(60)).expect("a ticket is returned");
        self.queues.settle(Vec::new(), vec![returned], &self.tell)
    }
}

fn admitted(news: &[LaneNews]) -> Vec<TaskId> {
    let of = |news: &LaneNews| match news {
        LaneNews::Admitted { id } => Some(id.clone()),
        _ => None,
    };
    news.iter().filter_map(of).collect()
}

fn place(news: &[LaneNews]) -> QueuePlace {
    match news {
        [LaneNews::Waits { place, .. }] => place.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_runtimes_share_a_lane_in_the_order_their_commands_came() {
    let temp = tempfile::tempdir().expect("temp dir");
    let (mut one, mut other) = (Runtime::new(temp.path()), Runtime::new(temp.path()));
    assert_eq!(admitted(&one.settle(vec![join(1, 1)])), [id(1)]);
    let waits = place(&other.settle(vec![join(2, 1)]));
    assert_eq!((waits.running, waits.slots, waits.behind), (1, 1, None), "it is another runtime's");
    let waits = place(&one.settle(vec![join(3, 1)]));
    assert_eq!((waits.running, waits.behind), (1, None));
    assert_eq!(admitted(&one.settle(vec![LaneOrder::Leave { id: id(1) }])), [], "another came before");
    assert_eq!(admitted(&other.hears()), [id(2)]);
    // As the kernel does for a runtime that is killed.
    drop(other);
    assert_eq!(admitted(&one.hears()), [id(3)]);
    let waits = place(&one.settle(vec![join(4, 1)]));
    assert_eq!(waits.behind, Some(id(3)));
    let names = std::fs::read_dir(temp.path().join("lanes/build")).expect("a folder").count();
    assert_eq!(names, 3, "the last number, and a file for each command");
}

#[test]
fn a_command_that_is_let_pass_counts_in_its_lane_and_a_withdrawn_one_does_not() {
    let temp = tempfile::tempdir().expect("temp dir");
    let mut one = Runtime::new(temp.path());
    one.settle((1..=4).map(|number| join(number, 1)).collect());
    one.settle(vec![LaneOrder::Pass { id: id(3) }, LaneOrder::Leave { id: id(2) }]);
    let news = one.settle(vec![LaneOrder::Leave { id: id(1) }]);
    let waits = place(&news);
    assert_eq!((waits.running, waits.behind), (1, Some(id(3))));
    assert_eq!(admitted(&one.settle(vec![LaneOrder::Leave { id: id(3) }])), [id(4)]);
}

#[test]
fn a_lane_is_closed_under_memory_pressure_which_is_read_only_for_a_command_with_a_slot() {
    let temp = tempfile::tempdir().expect("temp dir");
    let pressure = temp.path().join("pressure");
    let set = |percent: &str| {
        std::fs::write(&pressure, format!("some avg10={percent} avg60=0 avg300=0 total=0\n"))
            .expect("written");
    };
    let mut one = Runtime::new(temp.path());
    assert_eq!(admitted(&one.settle(vec![join(1, 2)])), [id(1)], "without a report it is not used");
    set("10.00");
    assert_eq!(place(&one.settle(vec![join(2, 2)])).pressure, Some(10));
    set("9.99");
    assert_eq!(admitted(&one.settle(Vec::new())), [id(2)]);
    set("99.00");
    assert_eq!(place(&one.settle(vec![join(3, 2)])).pressure, None, "it waits for a slot");
}

#[test]
fn a_lane_opens_no_file_without_a_command() {
    let temp = tempfile::tempdir().expect("temp dir");
    let mut one = Runtime::new(temp.path());
    assert!(one.settle(vec![LaneOrder::Leave { id: id(1) }, LaneOrder::Pass { id: id(1) }]).is_empty());
    assert_eq!(std::fs::read_dir(temp.path()).expect("a folder").count(), 0);
}
