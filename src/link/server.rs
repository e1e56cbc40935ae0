//! The receiving end: accepts, checks who is there, answers the hello, hands the guest on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::hello::{self, MAX_HELLO, PATIENCE};
use super::socket::Door;
use super::{Ack, Doors, Error, Hello, Lines, Role, VERSION};
use crate::process::lineage;

/// How long guests may take to leave once the server stops.
const FAREWELL: Duration = Duration::from_secs(5);
/// Pause after a failed accept: out of descriptors, most likely, which only time heals.
const RECOVER: Duration = Duration::from_millis(100);

/// An admitted connection.
#[derive(Debug)]
pub struct Guest {
    /// Who it is.
    pub hello: Hello,
    /// What it sends.
    pub lines: Lines<OwnedReadHalf>,
    /// Where it reads.
    pub writer: OwnedWriteHalf,
}

/// Both sockets of a runtime, served.
#[derive(Debug)]
pub struct Server {
    doors: Doors,
    gate: Arc<Gate>,
    guests: watch::Sender<usize>,
}

/// Whether a connection may come in.
#[derive(Debug)]
struct Gate {
    workspace: PathBuf,
    places: Arc<Semaphore>,
    patience: Duration,
}

impl Server {
    /// Returns a server that admits at most `limit` connections of all roles together.
    #[must_use]
    pub fn new(doors: Doors, workspace: PathBuf, limit: usize) -> Self {
        let gate = Gate { workspace, places: Arc::new(Semaphore::new(limit)), patience: PATIENCE };
        Self { doors, gate: Arc::new(gate), guests: watch::Sender::new(0) }
    }

    /// Returns the number of admitted connections, live.
    #[must_use]
    pub fn guests(&self) -> watch::Receiver<usize> {
        self.guests.subscribe()
    }

    /// Gives each guest to `welcome` until `close`; nobody comes in from then on, while those inside
    /// stay until `stop` and 5 s more. Only then another runtime may take over the workspace.
    pub async fn run<F, Fut>(mut self, close: CancellationToken, stop: CancellationToken, welcome: F)
    where
        F: Fn(Guest) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = ()> + Send,
    {
        let visits = TaskTracker::new();
        loop {
            let (door, accepted) = tokio::select! {
                () = close.cancelled() => break,
                () = stop.cancelled() => break,
                accepted = self.doors.accept() => accepted,
            };
            let stream = match accepted {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::warn!(%error, "accept a connection");
                    tokio::time::sleep(RECOVER).await;
                    continue;
                }
            };
            let (gate, guests, welcome) = (Arc::clone(&self.gate), self.guests.clone(), welcome.clone());
            visits.spawn(async move {
                match gate.admit(door, stream).await {
                    Ok((guest, _place)) => {
                        let _inside = Inside::enter(guests);
                        welcome(guest).await;
                    }
                    Err(error) => tracing::info!(%error, ?door, "a connection was not admitted"),
                }
            });
        }
        self.doors.close();
        stop.cancelled().await;
        visits.close();
        if tokio::time::timeout(FAREWELL, visits.wait()).await.is_err() {
            tracing::warn!("connections were cut off at the end");
        }
    }
}

/// Counts a guest for as long as it lives, however the visit ends.
struct Inside(watch::Sender<usize>);

impl Inside {
    fn enter(guests: watch::Sender<usize>) -> Self {
        guests.send_modify(|count| *count += 1);
        Self(guests)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Door {
    fn admits(self, role: Role) -> bool {
        match self {
            Self::Agent => matches!(role, Role::Mcp | Role::Cli),
            Self::Operator => role == Role::Operator,
        }
    }
}

impl Gate {
    /// Shakes hands. Whoever is refused is told why, unless they belong to another user.
    async fn admit(&self, door: Door, stream: UnixStream) -> Result<(Guest, OwnedSemaphorePermit), Error> {
        let peer = stream.peer_cred().map_err(Error::Talk)?;
        if peer.uid() != rustix::process::geteuid().as_raw() {
            return Err(Error::Foreign { path: self.workspace.clone(), uid: peer.uid() });
        }
        let (reader, mut writer) = stream.into_split();
        let mut lines = Lines::new(reader, MAX_HELLO);
        let greeted = tokio::time::timeout(self.patience, hello::receive(&mut lines));
        let checked = match greeted.await {
            Ok(Ok(line)) => Hello::parse(&line).and_then(|hello| self.check(door, &peer, hello)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::handshake("no hello within 5 s")),
        };
        let refusal = checked.as_ref().err().map(ToString::to_string);
        let ack = Ack {
            v: VERSION,
            ok: refusal.is_none(),
            reason: refusal,
            workspace: self.workspace.clone(),
            runtime_pid: std::process::id(),
        };
        let sent = hello::send(&mut writer, &ack).await;
        let (hello, place) = checked?;
        sent?;
        Ok((Guest { hello, lines, writer }, place))
    }

    fn check(
        &self,
        door: Door,
        peer: &tokio::net::unix::UCred,
        hello: Hello,
    ) -> Result<(Hello, OwnedSemaphorePermit), Error> {
        let refuse = |reason: &str| Err(Error::Refused { reason: reason.into() });
        if !door.admits(hello.role) {
            return refuse("this socket is not for that role");
        }
        let pid = peer.pid().map_or(0, i32::unsigned_abs);
        if door == Door::Operator
            && let Some(lineage) = lineage(pid)
        {
            return refuse(&format!("this process cannot act as the operator: {lineage}"));
        }
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => Ok((hello, place)),
            Err(_) => refuse("too many connections"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::link::dial;
    use crate::paths::Places;

    struct House {
        places: Places,
        stop: CancellationToken,
        served: tokio::task::JoinHandle<()>,
        _temp: tempfile::TempDir,
    }

    /// Serves a throw-away workspace; every guest stays until the server stops.
    fn house(limit: usize, patience: Duration) -> House {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = Places::beneath(temp.path(), &temp.path().join("state"), None).expect("places");
        let doors = Doors::open(&places).expect("opens");
        let gate =
            Gate { workspace: places.workspace.clone(), places: Arc::new(Semaphore::new(limit)), patience };
        let server = Server { doors, gate: Arc::new(gate), guests: watch::Sender::new(0) };
        let stop = CancellationToken::new();
        let stay = stop.clone();
        let served = tokio::spawn(
            server.run(stop.clone(), stop.clone(), move |_guest| stay.clone().cancelled_owned()),
        );
        House { places, stop, served, _temp: temp }
    }

    fn hello(role: Role) -> Hello {
        Hello::new(role, "/".into())
    }

    fn reason<T>(result: Result<T, Error>) -> String {
        match result {
            Err(Error::Refused { reason }) => reason,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("admitted"),
        }
    }

    #[tokio::test]
    async fn each_socket_admits_its_own_roles_only() {
        let house = house(8, PATIENCE);
        let (agent, operator) = (house.places.agent_socket(), house.places.operator_socket());
        let (ack, ..) = dial(&agent, &hello(Role::Mcp)).await.expect("an agent comes in");
        assert_eq!((ack.runtime_pid, ack.workspace), (std::process::id(), house.places.workspace.clone()));
        dial(&agent, &hello(Role::Cli)).await.expect("a script comes in");
        dial(&operator, &hello(Role::Operator)).await.expect("a console comes in");
        for (socket, role) in [(&agent, Role::Operator), (&operator, Role::Mcp), (&operator, Role::Cli)] {
            assert!(reason(dial(socket, &hello(role)).await).contains("not for that role"), "{role:?}");
        }
        house.stop.cancel();
        house.served.await.expect("the server ends");
        assert!(!agent.exists());
    }

    #[tokio::test]
    async fn one_connection_too_many_is_told_so() {
        let house = house(1, PATIENCE);
        let agent = house.places.agent_socket();
        let _first = dial(&agent, &hello(Role::Mcp)).await.expect("comes in");
        assert!(reason(dial(&agent, &hello(Role::Mcp)).await).contains("too many connections"));
    }

    #[tokio::test]
    async fn a_hello_without_end_a_silent_guest_and_a_foreign_protocol_are_refused() {
        let house = house(8, Duration::from_millis(50));
        for opening in [vec![b'x'; MAX_HELLO + 1], Vec::new(), b"GET / HTTP/1.1".to_vec()] {
            let mut stream = UnixStream::connect(house.places.agent_socket()).await.expect("connects");
            let mut answer = Vec::new();
            stream.write_all(&opening).await.expect("takes it");
            stream.write_all(if opening.is_empty() { b"" } else { b"\n" }).await.expect("takes it");
            stream.read_to_end(&mut answer).await.expect("answers and hangs up");
            let ack: Ack = serde_json::from_slice(&answer).expect("an ack");
            assert!(!ack.ok && ack.reason.is_some(), "{ack:?}");
        }
    }
}
