//! This runtime's commands in the queues of its lanes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::pressure;
use super::ticket::{Ticket, living, wait_for_return};
use super::turn::{Standing, Turn, decide};
use crate::config::Lane;
use crate::envelope::TaskId;

/// The pressure, in percent, from which on no command starts in a lane.
const CLOSED_FROM: f32 = 10.0;
/// The stack of a thread that waits for a ticket, in bytes.
const STACK: usize = 64 << 10;

/// What a task asks of its lane.
#[derive(Debug)]
pub(in crate::runtime) enum LaneOrder {
    /// A slot.
    Join {
        id: TaskId,
        lane: Lane,
    },
    /// To be counted as running: the operator has let it pass.
    Pass {
        id: TaskId,
    },
    Leave {
        id: TaskId,
    },
}

/// What a task is told about its lane.
#[derive(Debug)]
pub(in crate::runtime) enum LaneNews {
    /// It has a slot.
    Admitted {
        id: TaskId,
    },
    Waits {
        id: TaskId,
        place: QueuePlace,
    },
    /// The lane cannot be used.
    Failed {
        id: TaskId,
        lane: String,
        error: io::Error,
    },
}

/// A place in the queue of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::runtime) struct QueuePlace {
    pub(in crate::runtime) lane: String,
    pub(in crate::runtime) slots: usize,
    /// How many earlier commands run.
    pub(in crate::runtime) running: usize,
    /// The task just before it, if that is one of this runtime.
    pub(in crate::runtime) behind: Option<TaskId>,
    /// The pressure of memory in percent, if only that keeps it.
    pub(in crate::runtime) pressure: Option<u8>,
}

/// A ticket of another runtime that was waited for and is returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::runtime) struct ReturnedTicket {
    lane: String,
    number: u64,
}

/// This runtime's tickets.
#[derive(Debug)]
pub(in crate::runtime) struct LaneQueues {
    folder: PathBuf,
    pressure: PathBuf,
    queues: BTreeMap<String, OwnQueue>,
}

/// This runtime's tickets of one lane.
#[derive(Debug, Default)]
struct OwnQueue {
    slots: usize,
    tickets: BTreeMap<u64, OwnTicket>,
    /// The tickets of others for whose return a thread waits.
    awaited: BTreeSet<u64>,
}

#[derive(Debug)]
struct OwnTicket {
    id: TaskId,
    ticket: Ticket,
    has_slot: bool,
}

impl LaneQueues {
    /// Returns those of a runtime whose user has lanes in this folder. Nothing is opened before the first command joins
    /// one.
    pub(in crate::runtime) fn new(folder: PathBuf) -> Self {
        Self { folder, pressure: pressure::PRESSURE.into(), queues: BTreeMap::new() }
    }

    #[cfg(test)]
    pub(super) fn of_test(folder: &Path) -> Self {
        Self { pressure: folder.join("pressure"), ..Self::new(folder.join("lanes")) }
    }

    /// Follows orders and decides whose turn it is. Where tasks wait for another runtime's, `tell` is called on a thread
    /// of its own once it is worth looking again. Blocks, but for no longer than files take.
    pub(in crate::runtime) fn settle(
        &mut self,
        orders: Vec<LaneOrder>,
        returned: Vec<ReturnedTicket>,
        tell: &Arc<dyn Fn(ReturnedTicket) + Send + Sync>,
    ) -> Vec<LaneNews> {
        let mut news = Vec::new();
        for order in orders {
            match order {
                LaneOrder::Join { id, lane } => {
                    let queue = self.queues.entry(lane.name.clone()).or_default();
                    queue.slots = lane.slots;
                    match Ticket::draw(&self.folder.join(&lane.name)) {
                        Ok(ticket) => {
                            queue.tickets.insert(ticket.number, OwnTicket { id, ticket, has_slot: false });
                        }
                        Err(error) => news.push(LaneNews::Failed { id, lane: lane.name, error }),
                    }
                }
                LaneOrder::Pass { id } => {
                    self.own(&id).into_iter().for_each(OwnTicket::take_slot);
                }
                LaneOrder::Leave { id } => {
                    for queue in self.queues.values_mut() {
                        queue.tickets.retain(|_, own| own.id != id);
                    }
                }
            }
        }
        for ReturnedTicket { lane, number } in returned {
            self.queues
                .get_mut(&lane)
                .into_iter()
                .for_each(|queue| queue.awaited.retain(|other| *other != number));
        }
        let mut pressure = LazyPressure { file: &self.pressure, read: None };
        for (lane, queue) in &mut self.queues {
            let folder = self.folder.join(lane);
            news.extend(queue.settle((lane, &folder), &mut pressure, tell));
        }
        news
    }

    fn own(&mut self, id: &TaskId) -> Option<&mut OwnTicket> {
        self.queues.values_mut().flat_map(|queue| queue.tickets.values_mut()).find(|own| own.id == *id)
    }
}

impl OwnTicket {
    fn take_slot(&mut self) {
        self.has_slot = true;
        self.ticket.take_slot();
    }
}

impl OwnQueue {
    fn settle(
        &mut self,
        (lane, folder): (&str, &Path),
        pressure: &mut LazyPressure<'_>,
        tell: &Arc<dyn Fn(ReturnedTicket) + Send + Sync>,
    ) -> Vec<LaneNews> {
        let waiting: Vec<u64> =
            self.tickets.iter().filter(|(_, own)| !own.has_slot).map(|(number, _)| *number).collect();
        let Some(last) = waiting.last() else { return Vec::new() };
        let own = |number| self.tickets.get(&number).map(|own: &OwnTicket| own.has_slot);
        let mut living = living(folder, *last, own);
        let standings = decide(&waiting, &mut living, self.slots, || pressure.closes());
        // What the first one waits for, the others do as well.
        if let Some(Standing { turn: Turn::After(until), .. }) =
            standings.iter().find(|standing| standing.turn != Turn::Now)
        {
            self.wait_for(until, (lane, folder), tell);
        }
        let news = standings.into_iter().filter_map(|Standing { number, turn, running, before }| {
            let behind = before.and_then(|before| self.tickets.get(&before)).map(|own| own.id.clone());
            let own = self.tickets.get_mut(&number)?;
            let id = own.id.clone();
            let pressure = match turn {
                Turn::Now => {
                    own.take_slot();
                    return Some(LaneNews::Admitted { id });
                }
                Turn::Closed(percent) => Some(percent),
                Turn::After(_) => None,
            };
            let place = QueuePlace { lane: lane.to_owned(), slots: self.slots, running, behind, pressure };
            Some(LaneNews::Waits { id, place })
        });
        news.collect()
    }

    /// Has a thread wait for the return of each ticket that is another runtime's.
    fn wait_for(
        &mut self,
        until: &[u64],
        (lane, folder): (&str, &Path),
        tell: &Arc<dyn Fn(ReturnedTicket) + Send + Sync>,
    ) {
        for number in until.iter().copied() {
            if self.tickets.contains_key(&number) || !self.awaited.insert(number) {
                continue;
            }
            let (folder, tell) = (folder.to_owned(), tell.clone());
            let returned = ReturnedTicket { lane: lane.to_owned(), number };
            let thread = std::thread::Builder::new().name("lane".into()).stack_size(STACK).spawn(move || {
                wait_for_return(&folder, number);
                tell(returned);
            });
            if let Err(error) = thread {
                self.awaited.remove(&number);
                tracing::error!(%error, lane, "no thread waits for a slot");
            }
        }
    }
}

/// The pressure of memory, read when it is first needed.
struct LazyPressure<'a> {
    file: &'a Path,
    read: Option<Option<f32>>,
}

impl LazyPressure<'_> {
    /// Returns the pressure in whole percent if it is too high for another command.
    fn closes(&mut self) -> Option<u8> {
        let percent = (*self.read.get_or_insert_with(|| pressure::read(self.file)))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentage")]
        (percent >= CLOSED_FROM).then(|| percent.clamp(0.0, 100.0) as u8)
    }
}
