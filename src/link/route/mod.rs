//! The ways to reach a runtime: through a socket on this machine, or through a program that carries bytes to another
//! one. The protocol is the same: hello, ack, frames.

mod carrier;
mod host;
mod listing;
mod remote_command;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

pub(super) use carrier::Carrier;
pub use host::{RemoteHost, ssh_folder};
pub use listing::{HostListing, ListedRuntime};

use super::hello::{self, PATIENCE};
use super::{Ack, Error, Hello, LineReader, TransportError, VERSION, socket};

/// The time limit of a handshake through a carrier, which may have to log in first.
const CARRIED_PATIENCE: Duration = Duration::from_secs(30);
/// Lines that a login may print before the runtime answers.
const NOISE: usize = 64;

/// The way to reach a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuntimeRoute {
    /// A socket on this machine.
    Socket(PathBuf),
    /// A program that carries the connection.
    Through(CarriedRoute),
}

/// A runtime on another machine or in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedRoute {
    /// The machine or container.
    pub host: RemoteHost,
    /// The socket to connect to.
    pub door: Door,
    /// The id of its workspace, or a path in it.
    pub place: String,
}

/// A socket of a remote runtime, along with the command there that leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// For agents and scripts.
    Agent,
    /// For consoles.
    Operator,
}

impl Door {
    /// Returns the subcommand that leads to the socket.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Self::Agent => ["relay", "agent"],
            Self::Operator => ["relay", "operator"],
        }
    }
}

/// A connection whose handshake is complete.
#[derive(Debug)]
pub struct OpenConnection {
    /// The runtime's answer.
    pub ack: Ack,
    /// The lines it sends.
    pub lines: LineReader<OwnedReadHalf>,
    /// The write half of the connection.
    pub writer: OwnedWriteHalf,
    /// The carrier program, if any; ended on drop.
    pub(super) carrier: Option<Carrier>,
}

impl OpenConnection {
    /// Takes the link, which explains why a connection that a program carried has ended.
    pub fn take_link(&mut self) -> CarrierLink {
        CarrierLink(self.carrier.take().map(Box::new))
    }
}

/// The carrier program of a connection, if any. Ended on drop.
#[derive(Debug)]
pub struct CarrierLink(Option<Box<Carrier>>);

impl CarrierLink {
    /// Returns why a connection that has just broken did, if a program carried it.
    pub async fn why(&mut self) -> Option<Error> {
        Some(match self.0.as_mut()?.why().await {
            Error::Carried { host, why } => Error::Carried { host, why: why.after_an_answer() },
            error => error,
        })
    }

    /// Tells whether a program carries the connection.
    pub fn is_carried(&self) -> bool {
        self.0.is_some()
    }
}

impl RuntimeRoute {
    /// Returns the way to the operator socket of a remote runtime; `place` is the id of its workspace or a path
    /// there.
    pub fn operator(host: RemoteHost, place: impl Into<String>) -> Self {
        Self::Through(CarriedRoute { host, door: Door::Operator, place: place.into() })
    }

    /// Returns the way to the agents' socket of a remote runtime.
    pub fn agent(host: RemoteHost, place: impl Into<String>) -> Self {
        Self::Through(CarriedRoute { host, door: Door::Agent, place: place.into() })
    }

    /// Returns the name of the machine or container, if it is another one.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Socket(_) => None,
            Self::Through(through) => Some(&through.host.name),
        }
    }

    /// Connects, sends `hello` and waits to be admitted. To another machine, nothing of this process's environment is
    /// sent, and the hello reports where the connection comes from.
    ///
    /// # Errors
    /// If no process listens, the other end belongs to another user or is slow, or the runtime refuses;
    /// [`Error::Carried`] if the carrier program does not reach it.
    pub async fn dial(&self, hello: &Hello) -> Result<OpenConnection, Error> {
        match self {
            Self::Socket(path) => dial(path, hello).await,
            Self::Through(through) => through.dial(hello).await,
        }
    }
}

/// Connects to the runtime at a socket on this machine, sends `hello` and waits to be admitted. The other end must be a
/// process of the same user.
///
/// # Errors
/// If no process listens, the other end belongs to another user or is slow, or the runtime refuses.
pub async fn dial(socket: &Path, hello: &Hello) -> Result<OpenConnection, Error> {
    // Check the size first, so that an oversized hello does not open a connection.
    let bytes = hello.to_bytes()?;
    let stream = socket::connect(socket).await?;
    let pid = stream.peer_cred().ok().and_then(|peer| peer.pid()).filter(|pid| *pid > 0);
    let shaken = hello::shake(stream, &bytes, PATIENCE, 0).await;
    let cure = |theirs| cure_here(theirs, pid);
    let (ack, lines, writer) = shaken.map_err(|error| with_cure(error, cure))?;
    Ok(OpenConnection { ack, lines, writer, carrier: None })
}

impl CarriedRoute {
    async fn dial(&self, hello: &Hello) -> Result<OpenConnection, Error> {
        let hello = Hello { environment: None, from: Some(self.host.from()), ..hello.clone() };
        // A path on this machine means nothing there: commands start in the runtime's workspace.
        let cwd = if self.place.starts_with('/') { PathBuf::from(&self.place) } else { PathBuf::new() };
        let bytes = Hello { cwd, ..hello }.to_bytes()?;
        let [group, verb] = self.door.words();
        let (stream, mut carrier) = Carrier::start(&self.host, &[group, verb, &self.place])?;
        match hello::shake(stream, &bytes, CARRIED_PATIENCE, NOISE).await {
            Ok((ack, lines, writer)) => Ok(OpenConnection { ack, lines, writer, carrier: Some(carrier) }),
            Err(Error::Talk(_) | Error::Handshake { .. }) => Err(carrier.why().await),
            Err(Error::NoRuntime { .. }) => {
                Err(carrier.error(TransportError::NoRuntime { place: self.place.clone() }))
            }
            Err(error) => Err(with_cure(error, |theirs| cure_on(&self.host.name, theirs))),
        }
    }
}

/// Adds to the refusal of another version what to do about it.
fn with_cure(error: Error, cure: impl FnOnce(u32) -> String) -> Error {
    match error {
        Error::OtherVersion { theirs, reason } => {
            Error::OtherVersion { theirs, reason: format!("{reason}; {}", cure(theirs)) }
        }
        error => error,
    }
}

/// Returns what to do about a runtime of another version on this machine. The signal ends it and its tasks like the
/// command of its own version, which may have been replaced meanwhile.
fn cure_here(theirs: u32, pid: Option<i32>) -> String {
    let or = pid.map(|pid| format!(", or with `kill {pid}`,")).unwrap_or_default();
    if theirs < VERSION {
        format!("end it with the pilothouse that started it{or} and start this one")
    } else {
        "use the newer pilothouse that started it".to_owned()
    }
}

/// Returns what to do about a runtime of another version on another machine.
fn cure_on(host: &str, theirs: u32) -> String {
    if theirs < VERSION {
        format!("copy this pilothouse to {host}, to serve once that runtime has ended")
    } else {
        "install the newer pilothouse here".to_owned()
    }
}
