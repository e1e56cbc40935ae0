//! How many connections a runtime takes: all together, from each managed task, from each other process.
//! Consoles have places of their own, so that nothing a command opens keeps a person out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::Error;
use super::socket::Door;
use crate::config::ConnectionLimits;

/// How long a connection too many waits for a place before it is refused.
const WAIT: Duration = Duration::from_secs(2);
/// Connections that may wait for a place at one socket, all together.
const WAITING: usize = 256;
/// Of these, from one task or one process.
const WAITING_EACH: usize = 64;

/// Whom a connection counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Client {
    /// A managed task, by the process of its host, with all that runs in it.
    Task(u32),
    /// What came out of managed tasks and stands below none, all together.
    Escaped,
    /// Any other process.
    Process(u32),
}

/// The places of one socket.
#[derive(Debug)]
pub(super) struct Connections {
    door: Door,
    limits: ConnectionLimits,
    wait: Duration,
    counts: Mutex<Counts>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Counts {
    held: usize,
    waiting: usize,
    clients: HashMap<Client, Each>,
}

/// What one client has.
#[derive(Debug, Default)]
struct Each {
    held: usize,
    waiting: usize,
}

/// A place, free again once dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    client: Client,
}

impl Connections {
    pub(super) fn new(door: Door, limits: ConnectionLimits) -> Arc<Self> {
        Self::waiting(door, limits, WAIT)
    }

    fn waiting(door: Door, limits: ConnectionLimits, wait: Duration) -> Arc<Self> {
        Arc::new(Self { door, limits, wait, counts: Mutex::default(), freed: Notify::new() })
    }

    /// Takes a place for a client; waits up to 2 s for one.
    ///
    /// # Errors
    /// [`Error::TooManyConnections`] with the limit that was met.
    pub(super) async fn enter(self: &Arc<Self>, client: Client) -> Result<Place, Error> {
        let deadline = Instant::now() + self.wait;
        let mut waiting = None;
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            // From here on no freed place goes unnoticed.
            freed.as_mut().enable();
            let limit = match self.take(client) {
                Ok(place) => return Ok(place),
                Err(limit) => limit,
            };
            if waiting.is_none() {
                waiting = Some(self.queue(client).ok_or(Error::TooManyConnections { limit })?);
            }
            tokio::select! {
                () = freed => {}
                () = sleep_until(deadline) => return Err(Error::TooManyConnections { limit }),
            }
        }
    }

    /// Takes a free place, or returns the limit that stands against it.
    fn take(self: &Arc<Self>, client: Client) -> Result<Place, usize> {
        let mut counts = self.counts();
        let (all, each) = match self.door {
            Door::Operator => (self.limits.operators, self.limits.operators),
            Door::Agent => match client {
                Client::Task(_) | Client::Escaped => (self.limits.all, self.limits.each_task),
                Client::Process(_) => (self.limits.all, self.limits.each_process),
            },
        };
        let own = counts.clients.get(&client).map_or(0, |own| own.held);
        if own >= each {
            return Err(each);
        }
        if counts.held >= all {
            return Err(all);
        }
        counts.held += 1;
        counts.clients.entry(client).or_default().held += 1;
        drop(counts);
        Ok(Place { connections: Arc::clone(self), client })
    }

    /// Queues a client up; not when too many wait already.
    fn queue(&self, client: Client) -> Option<Queued<'_>> {
        let mut counts = self.counts();
        let own = counts.clients.get(&client).map_or(0, |own| own.waiting);
        if counts.waiting >= WAITING || own >= WAITING_EACH {
            return None;
        }
        counts.waiting += 1;
        counts.clients.entry(client).or_default().waiting += 1;
        drop(counts);
        Some(Queued { connections: self, client })
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// Changes what a client has, and forgets a client that has nothing.
    fn change(&mut self, client: Client, change: impl FnOnce(&mut Each)) {
        if let Some(own) = self.clients.get_mut(&client) {
            change(own);
            if own.held == 0 && own.waiting == 0 {
                self.clients.remove(&client);
            }
        }
    }
}

/// A client that waits; no longer once dropped.
struct Queued<'a> {
    connections: &'a Connections,
    client: Client,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        let mut counts = self.connections.counts();
        counts.waiting -= 1;
        counts.change(self.client, |own| own.waiting -= 1);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.connections.counts();
        counts.held -= 1;
        counts.change(self.client, |own| own.held -= 1);
        drop(counts);
        self.connections.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits { all: 5, each_task: 2, each_process: 3, operators: 1 };

    fn connections(door: Door) -> Arc<Connections> {
        Connections::waiting(door, LIMITS, Duration::from_millis(20))
    }

    fn limit(entered: Result<Place, Error>) -> usize {
        match entered {
            Err(Error::TooManyConnections { limit }) => limit,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_task_a_process_and_all_together_have_their_own_limits() {
        let connections = connections(Door::Agent);
        let mut held = Vec::new();
        for client in [Client::Task(1), Client::Task(1), Client::Process(1), Client::Process(1)] {
            held.push(connections.enter(client).await.expect("a place"));
        }
        assert_eq!(limit(connections.enter(Client::Task(1)).await), 2);
        held.push(connections.enter(Client::Process(1)).await.expect("a place"));
        assert_eq!(limit(connections.enter(Client::Process(1)).await), 3);
        assert_eq!(limit(connections.enter(Client::Task(2)).await), 5);
        held.remove(0);
        held.push(connections.enter(Client::Task(2)).await.expect("a place that was freed"));
        drop(held);
        assert!(connections.counts().clients.is_empty());
        assert_eq!(connections.counts().held, 0);
    }

    #[tokio::test]
    async fn consoles_have_places_of_their_own() {
        let connections = connections(Door::Operator);
        let first = connections.enter(Client::Process(1)).await.expect("a place");
        assert_eq!(limit(connections.enter(Client::Process(2)).await), 1);
        drop(first);
        connections.enter(Client::Process(2)).await.expect("a place");
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_gets_the_place_that_is_freed_meanwhile() {
        let connections = Connections::new(Door::Operator, LIMITS);
        let first = connections.enter(Client::Process(1)).await.expect("a place");
        let waiting = tokio::spawn({
            let connections = Arc::clone(&connections);
            async move { connections.enter(Client::Process(2)).await.map(drop) }
        });
        while connections.counts().waiting == 0 {
            tokio::task::yield_now().await;
        }
        drop(first);
        waiting.await.expect("joins").expect("a place");
        assert_eq!(connections.counts().waiting, 0);
    }

    #[tokio::test]
    async fn no_more_than_so_many_wait() {
        let connections = Connections::new(Door::Agent, LIMITS);
        let _held = [
            connections.enter(Client::Task(1)).await.expect("a place"),
            connections.enter(Client::Task(1)).await.expect("a place"),
        ];
        let queued: Vec<_> = std::iter::from_fn(|| connections.queue(Client::Task(1))).collect();
        assert_eq!(queued.len(), WAITING_EACH);
        // Without a wait: it would be one too many of those, too.
        assert_eq!(limit(connections.enter(Client::Task(1)).await), 2);
        connections.enter(Client::Task(2)).await.expect("another task is not kept out");
    }
}
