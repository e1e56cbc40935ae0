//! The handshake, one line in each direction: who connects, and whether the runtime accepts. The caller's environment
//! follows its line in a separate frame: a length (u32, big endian), then bytes as in `/proc/PID/environ`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::connection_kind::ConnectionKind;
use super::{Error, LineReader, ReceivedLine};
use crate::envelope::units::Period;
use crate::process::environment::{Environment, MAX_BYTES};

/// The protocol version of the hello and of everything that follows it.
pub const VERSION: u32 = 12;
/// The length limit of a hello or ack, in bytes.
pub(super) const MAX_HELLO: usize = 1 << 20;
/// The time limit of a handshake.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientRole {
    /// An agent's stdio shim; MCP follows.
    Mcp,
    /// A command line; frames with tool calls follow.
    Cli,
    /// An agent's own shell; one command follows, along with its descriptors.
    Shell,
    /// A hook of an agent's program; one report follows, and for a prompt the answer to it.
    Hook,
    /// A process that is about to become an agent: it is listed from then until it ends. Nothing follows; the runtime
    /// closes the connection once it is.
    Launch,
    /// A console; frames of the operator link follow.
    Operator,
}

/// Content of a tool result for the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultProfile {
    /// The receipt as text; the envelope only in `_meta`.
    #[default]
    Receipt,
    /// The receipt as text and the envelope as structured content, with output schemas.
    Structured,
}

impl ResultProfile {
    /// Returns the profile's name, the same on every surface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Receipt => "receipt",
            Self::Structured => "structured",
        }
    }
}

/// The name and version that an agent's program reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientName {
    /// Its name, e.g. `claude-code`.
    pub name: String,
    pub version: String,
}

/// Identifies the connecting client. One JSON line, followed by the environment if one is announced; the client sends
/// nothing more until it has received the [`Ack`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`].
    pub v: u32,
    /// The connection's purpose.
    pub role: ClientRole,
    /// The client's process id, as it reports it.
    pub pid: u32,
    /// The process that started the client; for a shim, the agent.
    pub ppid: u32,
    /// The directory the client was started in; the default `workdir` of its commands.
    pub cwd: PathBuf,
    /// The format of tool results (role `mcp`).
    #[serde(default)]
    pub profile: ResultProfile,
    /// The environment that the caller's commands inherit; without one they inherit the runtime's. Sent after the
    /// line.
    #[serde(skip)]
    pub environment: Option<Environment>,
    /// Whether the environment follows; set from it when the hello is sent.
    #[serde(default)]
    pub has_environment: bool,
    /// The file mode creation mask, also set from the environment.
    pub umask: Option<u32>,
    /// The agent's label, if its user chose one (roles `mcp` and `launch`).
    pub label: Option<String>,
    /// Who uses the connection and how, as reported by the other end: `ada@laptop via ssh`. Set for connections from
    /// another machine.
    pub from: Option<String>,
    /// The agent's program, if it identified itself before the shim connected (role `mcp`): the agent is then known
    /// immediately and gets its label in the first line. In the role `launch`, the program's name on the command line.
    pub client: Option<ClientName>,
}

/// The runtime's answer to a [`Hello`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// [`VERSION`] of the runtime.
    pub v: u32,
    /// Whether the connection is admitted.
    pub ok: bool,
    /// If not, the reason.
    pub reason: Option<String>,
    /// The connection limit, if that is the reason.
    pub connection_limit: Option<usize>,
    /// Which connections that limit counts.
    pub connection_kind: Option<ConnectionKind>,
    /// Set if no runtime exists: the answer then comes from the command that should have led to one.
    #[serde(default)]
    pub no_runtime: bool,
    /// The version of the answering program; `None` if it is too old to report it.
    pub version: Option<String>,
    /// The runtime's workspace.
    pub workspace: PathBuf,
    /// The runtime's process id.
    pub runtime_pid: u32,
}

impl Ack {
    /// Creates the answer of this program: an admission, unless there is a reason for a refusal.
    pub(super) fn new(workspace: PathBuf, refusal: Option<&Error>) -> Self {
        let (connection_limit, connection_kind) = match refusal {
            Some(Error::TooManyConnections { limit, of }) => (Some(*limit), Some(*of)),
            _ => (None, None),
        };
        Self {
            v: VERSION,
            ok: refusal.is_none(),
            reason: refusal.map(ToString::to_string),
            connection_limit,
            connection_kind,
            no_runtime: false,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            workspace,
            runtime_pid: std::process::id(),
        }
    }

    /// Returns itself if the connection is admitted.
    ///
    /// # Errors
    /// What the refusal says.
    pub(super) fn admission(self) -> Result<Self, Error> {
        if self.ok {
            return Ok(self);
        }
        if let Some(limit) = self.connection_limit {
            return Err(Error::TooManyConnections { limit, of: self.connection_kind.unwrap_or_default() });
        }
        let reason = self.reason.unwrap_or_else(|| "no reason given".into());
        Err(match self.v {
            _ if self.no_runtime => Error::NoRuntime { path: self.workspace },
            VERSION => Error::Refused { reason },
            theirs => Error::OtherVersion { theirs, reason },
        })
    }
}

impl Hello {
    /// Creates the hello of the current process.
    #[must_use]
    pub fn new(role: ClientRole, cwd: PathBuf) -> Self {
        let ppid = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
        Self {
            v: VERSION,
            role,
            pid: std::process::id(),
            ppid,
            cwd,
            profile: ResultProfile::default(),
            umask: None,
            has_environment: false,
            environment: Environment::own(),
            label: None,
            from: None,
            client: None,
        }
    }

    /// Returns the hello without an environment: commands then inherit the runtime's.
    #[must_use]
    pub fn without_environment(self) -> Self {
        Self { environment: None, ..self }
    }

    /// Returns the hello as it is sent: the line, and the frame with the environment.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut hello = self.clone();
        let frame = hello.environment.take().map(|environment| {
            (hello.umask, hello.has_environment) = (environment.umask(), true);
            environment.to_bytes()
        });
        let mut bytes = line(&hello)?;
        if let Some(frame) = frame {
            let length = u32::try_from(frame.len()).ok().filter(|_| frame.len() <= MAX_BYTES);
            let length = length.ok_or(Error::LargeEnvironment { bytes: frame.len() })?;
            bytes.extend([&length.to_be_bytes()[..], &frame].concat());
        }
        Ok(bytes)
    }

    /// Receives the environment after the line, if one was announced.
    pub(super) async fn receive_environment(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
    ) -> Result<(), Error> {
        if !self.has_environment {
            return Ok(());
        }
        let length = reader.read_u32().await.map_err(Error::Talk)? as usize;
        if length > MAX_BYTES {
            return Err(Error::LargeEnvironment { bytes: length });
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).await.map_err(Error::Talk)?;
        self.environment = Some(Environment::parse(&bytes, self.umask));
        Ok(())
    }

    /// Parses a hello. The version is checked first, because the rest may differ in another version.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct HelloVersion {
            v: u32,
        }
        let broken = |error: serde_json::Error| Error::handshake(format!("the hello is broken: {error}"));
        let HelloVersion { v } = serde_json::from_slice(line).map_err(broken)?;
        if v != VERSION {
            let reason = format!(
                "the client speaks version {v}, this runtime version {VERSION}; use one pilothouse for both"
            );
            return Err(Error::Refused { reason });
        }
        serde_json::from_slice(line).map_err(broken)
    }
}

/// Sends a hello on a stream and waits to be admitted. Up to `noise` lines before the answer are skipped, because a
/// login may print a greeting.
pub(super) async fn shake(
    stream: UnixStream,
    hello: &[u8],
    patience: Duration,
    noise: usize,
) -> Result<(Ack, LineReader<OwnedReadHalf>, OwnedWriteHalf), Error> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = LineReader::new(reader, MAX_HELLO);
    let shaken = tokio::time::timeout(patience, async {
        let sent = writer.write_all(hello).await.map_err(Error::Talk);
        // A runtime that refuses before reading the hello has still sent its reason.
        receive_ack(&mut lines, noise).await.map_err(|error| sent.err().unwrap_or(error))
    });
    let late = || Error::handshake(format!("no answer within {} s", patience.as_secs()));
    Ok((shaken.await.map_err(|_| late())??.admission()?, lines, writer))
}

async fn receive_ack(lines: &mut LineReader<OwnedReadHalf>, noise: usize) -> Result<Ack, Error> {
    for _ in 0..noise {
        if let Ok(ack) = serde_json::from_slice(&receive(lines).await?) {
            return Ok(ack);
        }
    }
    serde_json::from_slice(&receive(lines).await?)
        .map_err(|error| Error::handshake(format!("the answer is broken: {error}")))
}

/// Reads the single line of a handshake.
pub(super) async fn receive(lines: &mut LineReader<OwnedReadHalf>) -> Result<Vec<u8>, Error> {
    match lines.next().await.map_err(Error::Talk)? {
        Some(ReceivedLine::Whole(line)) => Ok(line),
        Some(ReceivedLine::TooLong) => {
            Err(Error::handshake(format!("the first line is over {MAX_HELLO} bytes")))
        }
        None => Err(Error::handshake("the other end hung up")),
    }
}

/// Waits for what the other side should send at once.
///
/// # Errors
/// If it fails, or is late.
pub(super) async fn within<T>(
    what: &str,
    patience: Duration,
    receiving: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let received = tokio::time::timeout(patience, receiving).await;
    received.unwrap_or_else(|_| Err(Error::handshake(format!("no {what} within {}", Period(patience)))))
}

/// Writes the single line of a handshake.
pub(super) async fn send(writer: &mut OwnedWriteHalf, value: &impl Serialize) -> Result<(), Error> {
    writer.write_all(&line(value)?).await.map_err(Error::Talk)
}

fn line(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut line = serde_json::to_vec(value).map_err(|error| Error::handshake(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused_whatever_its_hello_looks_like() {
        let refused = Hello::parse(br#"{"v":1,"role":"hologram","who":{}}"#);
        let Err(Error::Refused { reason }) = refused else { panic!("{refused:?}") };
        let versions = format!("the client speaks version 1, this runtime version {VERSION};");
        assert_eq!(reason, format!("{versions} use one pilothouse for both"));
    }

    #[test]
    fn a_hello_reads_back() {
        let hello = Hello { label: Some("claude".into()), ..Hello::new(ClientRole::Mcp, "/tmp".into()) };
        let line = serde_json::to_vec(&hello).expect("serialises");
        assert_eq!(Hello::parse(&line).expect("parses"), hello);
    }

    #[test]
    fn noise_is_refused_as_a_handshake() {
        let nobody = format!(r#"{{"v":{VERSION}}}"#);
        let stranger = format!(r#"{{"v":{VERSION},"role":"root","pid":1,"ppid":1,"cwd":"/"}}"#);
        for line in ["", "{}", "GET / HTTP/1.1", &nobody, &stranger] {
            assert!(matches!(Hello::parse(line.as_bytes()), Err(Error::Handshake { .. })), "{line}");
        }
    }
}
