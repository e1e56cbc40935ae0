//! The queues of the lanes, which all runtimes of a user share: a folder for each lane, in it a file for each command that
//! runs or waits in it, locked by the runtime of the command. The lock is gone when the runtime is, however it ended, and
//! nothing that a runtime starts inherits it ([decision 29](../../docs/decisions/29-bounds.md)).

mod pressure;
mod queues;
#[cfg(test)]
mod tests;
mod ticket;
mod turn;

pub(crate) use pressure::memory_pressure;
pub(super) use queues::{LaneNews, LaneOrder, LaneQueues, QueuePlace, ReturnedTicket};
