//! The server side: accepts connections, authenticates the peer, completes the handshake and passes the client on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection_kind::ConnectionKind;
use super::connections::{ConnectionOrigin, ConnectionSlot, Connections};
use super::hello::{self, MAX_HELLO, PATIENCE, within};
use super::{Ack, ClientRole, Door, Error, Hello, LineReader, Sockets};
use crate::config::ConnectionLimits;
use crate::envelope::{SafeText, one_line};
use crate::process::{Ancestry, EnclosingTask, Lineage, ancestry};

/// How long clients may take to leave once the server stops.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often the sockets are checked: they may be removed unnoticed, e.g. at the user's last logout.
const LOOK: Duration = Duration::from_secs(2);
/// The pause after a failed accept: most likely descriptors have run out, which only time can fix.
const RECOVER: Duration = Duration::from_millis(100);

/// Length limit of a client's description of its origin, in characters.
const FROM_CHARS: usize = 80;
/// The most connections on one socket that may be in the handshake at once; further ones are refused.
const ARRIVALS: usize = 64;

/// The process at the other end, as reported by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its user id.
    pub uid: u32,
    /// Its process id when it connected; 0 if it is not visible to this process.
    pub pid: u32,
    /// The host process of the managed task it runs in, if any.
    pub task_host: Option<u32>,
    /// What keeps it from acting as the operator.
    pub lineage: Option<Lineage>,
}

/// An admitted connection.
#[derive(Debug)]
pub struct Client {
    /// Its identity, as it reports it.
    pub hello: Hello,
    /// Its identity, as reported by the kernel.
    pub peer: Peer,
    /// The task it runs in, if any.
    pub task: Option<EnclosingTask>,
    /// Whether it is a console: the one that hosts this runtime, or one that is attached.
    pub is_console: bool,
    /// Its ancestor processes, the nearest first.
    pub parents: Vec<u32>,
    /// The lines it sends.
    pub lines: LineReader<OwnedReadHalf>,
    /// The write half of its connection.
    pub writer: OwnedWriteHalf,
}

/// The server of a runtime's two sockets.
#[derive(Debug)]
pub struct Server {
    sockets: Sockets,
    gate: Arc<Admission>,
    clients: watch::Sender<usize>,
    /// What the person should know about the sockets.
    notices: watch::Sender<Option<String>>,
}

/// The admission of connections.
#[derive(Debug)]
struct Admission {
    workspace: PathBuf,
    agents: SocketAdmission,
    operators: SocketAdmission,
    patience: Duration,
}

/// The admission limits of one socket.
#[derive(Debug)]
struct SocketAdmission {
    arrivals: Arc<Semaphore>,
    connections: Arc<Connections>,
}

impl SocketAdmission {
    fn new(socket: Door, limits: ConnectionLimits) -> Self {
        let connections = Connections::new(socket, limits);
        Self { arrivals: Arc::new(Semaphore::new(ARRIVALS)), connections }
    }
}

impl Server {
    /// Creates a server with the given connection limits.
    #[must_use]
    pub fn new(sockets: Sockets, workspace: PathBuf, limits: ConnectionLimits) -> Self {
        let gate = Admission::new(workspace, limits, PATIENCE);
        Self {
            sockets,
            gate: Arc::new(gate),
            clients: watch::Sender::new(0),
            notices: watch::Sender::default(),
        }
    }

    /// Returns a live view of the number of admitted connections.
    #[must_use]
    pub fn clients(&self) -> watch::Receiver<usize> {
        self.clients.subscribe()
    }

    /// Returns what the person should know about the sockets: the last problem, such as a removed socket or one taken
    /// by another runtime.
    #[must_use]
    pub fn notices(&self) -> watch::Receiver<Option<String>> {
        self.notices.subscribe()
    }

    /// Passes each client to `welcome` until `close` is cancelled; from then on no client is admitted, and those
    /// already admitted may stay until 5 s after `stop`. Only then may another runtime take over the workspace.
    pub async fn run<F, Fut>(mut self, close: CancellationToken, stop: CancellationToken, welcome: F)
    where
        F: Fn(Client) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = ()> + Send,
    {
        let visits = TaskTracker::new();
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let (socket, accepted) = tokio::select! {
                () = close.cancelled() => break,
                () = stop.cancelled() => break,
                _ = look.tick() => {
                    if let Some(said) = self.sockets.repair() {
                        tracing::warn!(said, "the sockets");
                        self.notices.send_replace(Some(said));
                    }
                    continue;
                }
                accepted = self.sockets.accept() => accepted,
            };
            let stream = match accepted {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::warn!(%error, "accept a connection");
                    tokio::time::sleep(RECOVER).await;
                    continue;
                }
            };
            let (gate, clients, welcome) = (Arc::clone(&self.gate), self.clients.clone(), welcome.clone());
            let Ok(arrival) = Arc::clone(&gate.entry(socket).arrivals).try_acquire_owned() else {
                gate.turn_away(&stream);
                continue;
            };
            visits.spawn(async move {
                match gate.admit(socket, stream, arrival).await {
                    Ok((client, _place)) => {
                        let _inside = ClientCount::enter(clients);
                        welcome(client).await;
                    }
                    Err(error) => tracing::info!(%error, ?socket, "a connection was not admitted"),
                }
            });
        }
        self.sockets.close();
        stop.cancelled().await;
        visits.close();
        if tokio::time::timeout(FAREWELL, visits.wait()).await.is_err() {
            tracing::warn!("connections were cut off at the end");
        }
    }
}

/// Returns a client's description of its origin as one short line without hidden characters.
fn whence(said: &str) -> String {
    one_line(&SafeText::line(&one_line(said, FROM_CHARS)), FROM_CHARS)
}

/// Counts a client until this is dropped, however the client's visit ends.
struct ClientCount(watch::Sender<usize>);

impl ClientCount {
    fn enter(clients: watch::Sender<usize>) -> Self {
        clients.send_modify(|count| *count += 1);
        Self(clients)
    }
}

impl Drop for ClientCount {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Door {
    fn admits(self, role: ClientRole) -> bool {
        match self {
            Self::Agent => role != ClientRole::Operator,
            Self::Operator => role == ClientRole::Operator,
        }
    }
}

impl Admission {
    fn new(workspace: PathBuf, limits: ConnectionLimits, patience: Duration) -> Self {
        let [agents, operators] =
            [Door::Agent, Door::Operator].map(|socket| SocketAdmission::new(socket, limits));
        Self { workspace, agents, operators, patience }
    }

    fn entry(&self, socket: Door) -> &SocketAdmission {
        match socket {
            Door::Agent => &self.agents,
            Door::Operator => &self.operators,
        }
    }

    /// Performs the handshake. A refused client learns the reason, unless it belongs to another user. A connection
    /// that sends nothing occupies a slot meanwhile; its arrival permit is released once it has a slot.
    async fn admit(
        &self,
        socket: Door,
        stream: UnixStream,
        arrival: OwnedSemaphorePermit,
    ) -> Result<(Client, ConnectionSlot), Error> {
        let credentials = stream.peer_cred().map_err(Error::Talk)?;
        let pid = credentials.pid().map_or(0, i32::unsigned_abs);
        let Ancestry { lineage, task_host, task, parents } = ancestry(pid);
        let peer = Peer { uid: credentials.uid(), pid, task_host, lineage };
        if peer.uid != rustix::process::geteuid().as_raw() {
            return Err(Error::Foreign { path: self.workspace.clone(), uid: peer.uid });
        }
        let (reader, mut writer) = stream.into_split();
        let mut lines = LineReader::new(reader, MAX_HELLO);
        let admitted = self.receive_hello(socket, peer, &mut lines, arrival).await;
        let sent = hello::send(&mut writer, &self.ack(admitted.as_ref().err())).await;
        let (hello, place) = admitted?;
        sent?;
        let is_console = pid == std::process::id()
            || self.operators.connections.has(ConnectionOrigin::Process(pid)) && pid != 0;
        Ok((Client { hello, peer, task, is_console, parents, lines, writer }, place))
    }

    /// Finds a slot for a peer, and receives its hello.
    async fn receive_hello(
        &self,
        socket: Door,
        peer: Peer,
        lines: &mut LineReader<OwnedReadHalf>,
        arrival: OwnedSemaphorePermit,
    ) -> Result<(Hello, ConnectionSlot), Error> {
        let refuse = |reason: &str| Err(Error::Refused { reason: reason.into() });
        // Refused before it could take one of the few slots reserved for consoles.
        if socket == Door::Operator
            && let Some(lineage) = peer.lineage
        {
            return refuse(&format!("this process cannot act as the operator: {lineage}"));
        }
        drop(arrival);
        let origin = match (peer.task_host, peer.lineage) {
            (Some(host), _) => ConnectionOrigin::Task(host),
            (None, Some(Lineage::Adopted | Lineage::Marked | Lineage::Limited)) => ConnectionOrigin::Escaped,
            _ => ConnectionOrigin::Process(peer.pid),
        };
        let place = self.entry(socket).connections.enter(origin).await?;
        let line = within("hello", self.patience, hello::receive(lines)).await?;
        let mut hello = Hello::parse(&line)?;
        hello.from = hello.from.as_deref().map(whence).filter(|from| !from.is_empty());
        // A client on another machine may not know a path of this one.
        if !hello.cwd.is_absolute() {
            hello.cwd.clone_from(&self.workspace);
        }
        if !socket.admits(hello.role) {
            return refuse("this socket is not for that role");
        }
        within("environment", self.patience, hello.receive_environment(lines.reader())).await?;
        Ok((hello, place))
    }

    /// Refuses a connection because too many are in the handshake.
    fn turn_away(&self, stream: &UnixStream) {
        let ack =
            self.ack(Some(&Error::TooManyConnections { limit: ARRIVALS, of: ConnectionKind::Arriving }));
        if let Ok(mut line) = serde_json::to_vec(&ack) {
            line.push(b'\n');
            // The socket's buffer is empty and larger than this line; a client that is gone does not matter.
            let _ = stream.try_write(&line);
        }
    }

    fn ack(&self, refusal: Option<&Error>) -> Ack {
        Ack::new(self.workspace.clone(), refusal)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::link::{VERSION, dial};
    use crate::paths::Places;
    use crate::process::environment::{Environment, MAX_BYTES};

    struct House {
        places: Places,
        stop: CancellationToken,
        served: tokio::task::JoinHandle<()>,
        _temp: tempfile::TempDir,
    }

    /// Serves a throw-away workspace; every client stays until the server stops.
    fn house(limits: ConnectionLimits, patience: Duration) -> House {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = Places::beneath(temp.path(), &temp.path().join("state"), None).expect("places");
        let sockets = Sockets::open(&places).expect("opens");
        let gate = Admission::new(places.workspace.clone(), limits, patience);
        let server = Server {
            sockets,
            gate: Arc::new(gate),
            clients: watch::Sender::new(0),
            notices: watch::Sender::default(),
        };
        let stop = CancellationToken::new();
        let stay = stop.clone();
        let served = tokio::spawn(
            server.run(stop.clone(), stop.clone(), move |_client| stay.clone().cancelled_owned()),
        );
        House { places, stop, served, _temp: temp }
    }

    fn hello(role: ClientRole) -> Hello {
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
        let house = house(ConnectionLimits::default(), PATIENCE);
        let (agent, operator) = (house.places.agent_socket(), house.places.operator_socket());
        let ack = dial(&agent, &hello(ClientRole::Mcp)).await.expect("an agent comes in").ack;
        assert_eq!((ack.runtime_pid, ack.workspace), (std::process::id(), house.places.workspace.clone()));
        dial(&agent, &hello(ClientRole::Cli)).await.expect("a script comes in");
        dial(&operator, &hello(ClientRole::Operator)).await.expect("a console comes in");
        for (socket, role) in
            [(&agent, ClientRole::Operator), (&operator, ClientRole::Mcp), (&operator, ClientRole::Cli)]
        {
            assert!(reason(dial(socket, &hello(role)).await).contains("not for that role"), "{role:?}");
        }
        house.stop.cancel();
        house.served.await.expect("the server ends");
        assert!(!agent.exists());
    }

    #[tokio::test]
    async fn a_connection_over_the_limit_is_refused_with_the_reason_and_a_console_is_admitted() {
        let few = ConnectionLimits { all: 9, each_task: 1, each_process: 1, operators: 1 };
        let house = house(few, PATIENCE);
        let agent = house.places.agent_socket();
        let _first = dial(&agent, &hello(ClientRole::Mcp)).await.expect("comes in");
        let refused = dial(&agent, &hello(ClientRole::Mcp)).await.map(drop);
        assert!(matches!(refused, Err(Error::TooManyConnections { limit: 1, .. })), "{refused:?}");
        dial(&house.places.operator_socket(), &hello(ClientRole::Operator))
            .await
            .expect("a console comes in");
    }

    #[tokio::test]
    async fn a_hello_without_end_a_silent_client_and_a_foreign_protocol_are_refused() {
        let house = house(ConnectionLimits::default(), Duration::from_millis(50));
        for opening in [vec![b'x'; MAX_HELLO + 1], Vec::new(), b"GET / HTTP/1.1".to_vec()] {
            let mut stream = UnixStream::connect(house.places.agent_socket()).await.expect("connects");
            let mut answer = Vec::new();
            stream.write_all(&opening).await.expect("takes it");
            stream.write_all(if opening.is_empty() { b"" } else { b"\n" }).await.expect("takes it");
            // The connection ends with a reset where the end of the line came after the answer.
            let _reset = stream.read_to_end(&mut answer).await;
            let ack: Ack = serde_json::from_slice(&answer).expect("an ack");
            assert!(!ack.ok && ack.reason.is_some(), "{ack:?}");
        }
    }

    /// Returns the outcome of a connection that receives only these bytes; `hang_up` closes it after them.
    async fn admitted(
        bytes: &[u8],
        hang_up: bool,
        patience: Duration,
    ) -> (Result<Client, Error>, Option<Ack>) {
        let gate = Admission::new("/w".into(), ConnectionLimits::default(), patience);
        let (mut ours, theirs) = UnixStream::pair().expect("a pair");
        let arrival = Arc::clone(&gate.agents.arrivals).try_acquire_owned().expect("room");
        let say = async {
            ours.write_all(bytes).await.expect("heard");
            if hang_up {
                ours.shutdown().await.expect("hung up");
            }
        };
        let (admitted, ()) = tokio::join!(gate.admit(Door::Agent, theirs, arrival), say);
        let admitted = admitted.map(|(client, _place)| client);
        // An admitted connection stays open.
        let mut answer = vec![0; 4096];
        let read = ours.read(&mut answer).await.expect("an answer");
        (admitted, serde_json::from_slice(&answer[..read]).ok())
    }

    #[tokio::test]
    async fn an_environment_of_two_mebibytes_and_of_any_bytes_comes_with_the_hello() {
        let odd = std::os::unix::ffi::OsStringExt::from_vec(vec![b'a', 0xff, b'\n']);
        let large = "x".repeat(MAX_BYTES - b"ODD=a_\n\0LARGE=\0".len());
        let environment =
            Environment::new(vec![("ODD".into(), odd), ("LARGE".into(), large.into())], Some(0o027));
        let sent = Hello { environment: Some(environment.clone()), ..hello(ClientRole::Mcp) };
        let (client, ack) = admitted(&sent.to_bytes().expect("fits"), false, PATIENCE).await;
        let client = client.expect("comes in");
        assert!(ack.expect("an ack").ok);
        assert!(client.hello.environment.as_ref() == Some(&environment));
        assert!(!format!("{:?}", client.hello).contains("xxx"), "values are not shown");
        // An oversized environment is refused by its own side, before a runtime is contacted.
        let large = Environment::new(vec![("L".into(), "x".repeat(MAX_BYTES).into())], None);
        let refused =
            dial("/nowhere".as_ref(), &Hello { environment: Some(large), ..hello(ClientRole::Mcp) }).await;
        assert!(matches!(refused, Err(Error::LargeEnvironment { bytes }) if bytes == MAX_BYTES + 3));
    }

    #[tokio::test]
    async fn a_client_that_announces_no_environment_has_none() {
        let old = format!(r#"{{"v":{VERSION},"role":"mcp","pid":1,"ppid":1,"cwd":"/","env":[["A","1"]]}}"#);
        let (client, ack) = admitted(format!("{old}\n").as_bytes(), false, PATIENCE).await;
        assert_eq!(client.expect("comes in").hello.environment, None);
        assert!(ack.expect("an ack").ok);
    }

    #[tokio::test]
    async fn an_environment_that_is_too_large_cut_off_or_never_sent_is_refused_with_the_reason() {
        let announced = Hello { has_environment: true, ..hello(ClientRole::Mcp) }.to_bytes().expect("a line");
        let [half, large] = [10_u32, u32::MAX].map(|length| [&length.to_be_bytes()[..], b"A=1"].concat());
        for (frame, hang_up, reason) in [
            (&b""[..], false, "no environment within 200 ms"),
            (&half[..2], false, "no environment within 200 ms"),
            (&half, false, "no environment within 200 ms"),
            (&half, true, "talk to the runtime"),
            (
                &large,
                false,
                "the environment has 4294967295 bytes; at most 2097152 can be handed to a runtime",
            ),
        ] {
            let sent = [&announced[..], frame].concat();
            let (refused, ack) = admitted(&sent, hang_up, Duration::from_millis(200)).await;
            assert!(refused.is_err(), "{reason}");
            let said = ack.and_then(|ack| ack.reason).unwrap_or_default();
            assert!(said.ends_with(reason), "{said}");
        }
    }
}
