//! Connection limits of a runtime: in total, per managed task and per other process. Consoles have separate slots, so
//! that no connections a command opens can keep a person out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::connection_kind::ConnectionKind;
use super::{Door, Error};
use crate::config::ConnectionLimits;

/// How long a connection over the limit waits for a slot before it is refused.
const WAIT: Duration = Duration::from_secs(2);
/// Connections that may wait for a slot on one socket, in total.
const WAITING: usize = 256;
/// The same for one task or one process.
const WAITING_EACH: usize = 64;

/// What a connection counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ConnectionOrigin {
    /// A managed task including everything that runs in it, identified by its host's process id.
    Task(u32),
    /// All processes that came out of managed tasks but are no longer below one, together.
    Escaped,
    /// Any other process, by its id.
    Process(u32),
}

/// The connection slots of one socket.
#[derive(Debug)]
pub(super) struct Connections {
    socket: Door,
    limits: ConnectionLimits,
    wait: Duration,
    counts: Mutex<SlotCounts>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct SlotCounts {
    all: OriginCounts,
    clients: HashMap<ConnectionOrigin, OriginCounts>,
}

/// The slots and waiting connections of one origin, or of all.
#[derive(Debug, Default, PartialEq, Eq)]
struct OriginCounts {
    held: usize,
    waiting: usize,
}

/// A connection slot, or a place among the waiting connections; released on drop.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    connections: Arc<Connections>,
    origin: ConnectionOrigin,
    is_waiting: bool,
}

impl Connections {
    pub(super) fn new(socket: Door, limits: ConnectionLimits) -> Arc<Self> {
        Self::waiting(socket, limits, WAIT)
    }

    fn waiting(socket: Door, limits: ConnectionLimits, wait: Duration) -> Arc<Self> {
        Arc::new(Self { socket, limits, wait, counts: Mutex::default(), freed: Notify::new() })
    }

    /// Takes a slot for an origin, waiting up to 2 s for one.
    ///
    /// # Errors
    /// [`Error::TooManyConnections`] with the limit that was reached.
    pub(super) async fn enter(self: &Arc<Self>, origin: ConnectionOrigin) -> Result<ConnectionSlot, Error> {
        let deadline = Instant::now() + self.wait;
        let mut waiting = None;
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            // From here on, no released slot goes unnoticed.
            freed.as_mut().enable();
            let (limit, of) = match self.take(origin) {
                Ok(place) => return Ok(place),
                Err(reached) => reached,
            };
            if waiting.is_none() {
                waiting = Some(self.queue(origin).ok_or(Error::TooManyConnections { limit, of })?);
            }
            tokio::select! {
                () = freed => {}
                () = sleep_until(deadline) => return Err(Error::TooManyConnections { limit, of }),
            }
        }
    }

    /// Takes a free slot, or returns the limit that was reached, and of what.
    fn take(self: &Arc<Self>, origin: ConnectionOrigin) -> Result<ConnectionSlot, (usize, ConnectionKind)> {
        let mut counts = self.counts();
        let (all, each) = match self.socket {
            Door::Operator => {
                let all = (self.limits.operators, ConnectionKind::Console);
                (all, all)
            }
            Door::Agent => {
                let each = match origin {
                    ConnectionOrigin::Task(_) | ConnectionOrigin::Escaped => {
                        (self.limits.each_task, ConnectionKind::OfTask)
                    }
                    ConnectionOrigin::Process(_) => (self.limits.each_process, ConnectionKind::OfProcess),
                };
                ((self.limits.all, ConnectionKind::All), each)
            }
        };
        let own = counts.clients.get(&origin).map_or(0, |own| own.held);
        if own >= each.0 {
            return Err(each);
        }
        if counts.all.held >= all.0 {
            return Err(all);
        }
        counts.all.held += 1;
        counts.clients.entry(origin).or_default().held += 1;
        Ok(ConnectionSlot { connections: Arc::clone(self), origin, is_waiting: false })
    }

    /// Queues a waiting connection; `None` if too many are waiting already.
    fn queue(self: &Arc<Self>, origin: ConnectionOrigin) -> Option<ConnectionSlot> {
        let mut counts = self.counts();
        let own = counts.clients.get(&origin).map_or(0, |own| own.waiting);
        if counts.all.waiting >= WAITING || own >= WAITING_EACH {
            return None;
        }
        counts.all.waiting += 1;
        counts.clients.entry(origin).or_default().waiting += 1;
        Some(ConnectionSlot { connections: Arc::clone(self), origin, is_waiting: true })
    }

    /// Tells whether an origin has a connection.
    pub(super) fn has(&self, origin: ConnectionOrigin) -> bool {
        self.counts().clients.get(&origin).is_some_and(|own| own.held > 0)
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, SlotCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut counts = self.connections.counts();
        let leave = |counts: &mut OriginCounts| match self.is_waiting {
            true => counts.waiting -= 1,
            false => counts.held -= 1,
        };
        leave(&mut counts.all);
        counts.clients.get_mut(&self.origin).into_iter().for_each(leave);
        counts.clients.retain(|_, own| *own != OriginCounts::default());
        drop(counts);
        if !self.is_waiting {
            self.connections.freed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits { all: 5, each_task: 2, each_process: 3, operators: 1 };

    fn connections(socket: Door) -> Arc<Connections> {
        Connections::waiting(socket, LIMITS, Duration::from_millis(20))
    }

    fn limit(entered: Result<ConnectionSlot, Error>) -> usize {
        match entered {
            Err(Error::TooManyConnections { limit, .. }) => limit,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_about_a_connection_limit_names_the_limit_and_what_to_do() {
        for (of, said) in [
            (
                ConnectionKind::Console,
                "8 consoles are attached to this runtime, which is the limit: close one of them",
            ),
            (
                ConnectionKind::OfProcess,
                "one process has 8 connections to this runtime, which is the limit: close some, or raise \
                 limits.connections_per_process in the settings",
            ),
        ] {
            assert_eq!(Error::TooManyConnections { limit: 8, of }.to_string(), said);
        }
    }

    #[tokio::test]
    async fn a_task_a_process_and_all_together_have_their_own_limits() {
        let connections = connections(Door::Agent);
        let mut held = Vec::new();
        for origin in [
            ConnectionOrigin::Task(1),
            ConnectionOrigin::Task(1),
            ConnectionOrigin::Process(1),
            ConnectionOrigin::Process(1),
        ] {
            held.push(connections.enter(origin).await.expect("a place"));
        }
        assert_eq!(limit(connections.enter(ConnectionOrigin::Task(1)).await), 2);
        held.push(connections.enter(ConnectionOrigin::Process(1)).await.expect("a place"));
        assert_eq!(limit(connections.enter(ConnectionOrigin::Process(1)).await), 3);
        assert_eq!(limit(connections.enter(ConnectionOrigin::Task(2)).await), 5);
        held.remove(0);
        held.push(connections.enter(ConnectionOrigin::Task(2)).await.expect("a place that was freed"));
        drop(held);
        assert!(connections.counts().clients.is_empty());
        assert_eq!(connections.counts().all.held, 0);
    }

    #[tokio::test]
    async fn consoles_have_places_of_their_own() {
        let connections = connections(Door::Operator);
        let first = connections.enter(ConnectionOrigin::Process(1)).await.expect("a place");
        assert_eq!(limit(connections.enter(ConnectionOrigin::Process(2)).await), 1);
        drop(first);
        connections.enter(ConnectionOrigin::Process(2)).await.expect("a place");
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_connection_gets_the_place_that_is_freed() {
        let connections = Connections::new(Door::Operator, LIMITS);
        let first = connections.enter(ConnectionOrigin::Process(1)).await.expect("a place");
        let waiting = tokio::spawn({
            let connections = Arc::clone(&connections);
            async move { connections.enter(ConnectionOrigin::Process(2)).await.map(drop) }
        });
        while connections.counts().all.waiting == 0 {
            tokio::task::yield_now().await;
        }
        drop(first);
        waiting.await.expect("joins").expect("a place");
        assert_eq!(connections.counts().all.waiting, 0);
    }

    #[tokio::test]
    async fn the_number_of_waiting_connections_is_limited_for_each_task() {
        let connections = Connections::new(Door::Agent, LIMITS);
        let _held = [
            connections.enter(ConnectionOrigin::Task(1)).await.expect("a place"),
            connections.enter(ConnectionOrigin::Task(1)).await.expect("a place"),
        ];
        let queued: Vec<_> = std::iter::from_fn(|| connections.queue(ConnectionOrigin::Task(1))).collect();
        assert_eq!(queued.len(), WAITING_EACH);
        // Refused without waiting: it would also exceed the limit of waiting connections.
        assert_eq!(limit(connections.enter(ConnectionOrigin::Task(1)).await), 2);
        connections.enter(ConnectionOrigin::Task(2)).await.expect("another task is not kept out");
    }
}
