//! A runtime that speaks another protocol version: a real runtime of this version behind a proxy that claims the other one.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use pilothouse::link::{RuntimeAddress, VERSION};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use super::{Another, Home};

/// A real runtime behind a proxy that claims another version; it is found by a lock next to those of `here`.
pub(crate) struct Speaking {
    socket: PathBuf,
    real: PathBuf,
    _lock: File,
    _temp: tempfile::TempDir,
}

impl Speaking {
    /// Stands in for the runtime of a workspace, with a socket in a folder of its own.
    pub(crate) fn new(here: &Home, there: &Another<'_>) -> Self {
        let temp = tempfile::tempdir().expect("temp dir");
        let own = there.places();
        let path = here.places().lock.with_file_name(format!("{}.lock", own.id));
        let locks = path.parent().expect("a folder");
        std::fs::create_dir_all(locks).expect("made");
        for folder in [temp.path(), locks] {
            std::fs::set_permissions(folder, Permissions::from_mode(0o700)).expect("private");
        }
        let address = RuntimeAddress {
            pid: std::process::id(),
            runtime: temp.path().to_owned(),
            state: own.state_dir.clone(),
            config: own.config_dir.clone(),
            workspace: own.workspace.clone(),
        };
        // Lock it before it becomes visible.
        let unseen = path.with_extension("new");
        std::fs::write(&unseen, serde_json::to_vec(&address).expect("JSON")).expect("written");
        let lock = File::open(&unseen).expect("open");
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("held");
        std::fs::rename(&unseen, &path).expect("renamed");
        let socket = temp.path().join("operator.sock");
        Self { socket, real: own.operator_socket(), _lock: lock, _temp: temp }
    }

    /// Speaks that version until the token is cancelled; then all connections break and nothing listens.
    pub(crate) fn speak(&self, version: u32) -> CancellationToken {
        let _ = std::fs::remove_file(&self.socket);
        let listener = UnixListener::bind(&self.socket).expect("bound");
        let (end, real) = (CancellationToken::new(), self.real.clone());
        let ended = end.clone();
        tokio::spawn(async move {
            let all = async {
                loop {
                    let (near, _) = listener.accept().await.expect("accepted");
                    let between = between(near, real.clone(), version);
                    tokio::spawn(ended.clone().run_until_cancelled_owned(between));
                }
            };
            ended.run_until_cancelled(all).await;
        });
        end
    }
}

/// Refuses clients of any other version, with a runtime's wording; forwards everything else.
async fn between(near: UnixStream, real: PathBuf, version: u32) {
    let (from_near, mut to_near) = near.into_split();
    let mut from_near = BufReader::new(from_near);
    let mut hello = first_line(&mut from_near).await;
    if hello["v"] != version {
        let said = format!("the client speaks version {}, this runtime version {version}", hello["v"]);
        let reason = format!("{said}; use one pilothouse for both");
        let ack = json!({"v": version, "ok": false, "reason": reason, "workspace": "/w", "runtime_pid": 1});
        // The client may be gone.
        let _ = to_near.write_all(format!("{ack}\n").as_bytes()).await;
        return;
    }
    hello["v"] = VERSION.into();
    let (from_far, mut to_far) = UnixStream::connect(real).await.expect("connected").into_split();
    let mut from_far = BufReader::new(from_far);
    let up = async {
        let _ = to_far.write_all(format!("{hello}\n").as_bytes()).await;
        let _ = tokio::io::copy_buf(&mut from_near, &mut to_far).await;
    };
    let down = async {
        let mut ack = first_line(&mut from_far).await;
        ack["v"] = version.into();
        let _ = to_near.write_all(format!("{ack}\n").as_bytes()).await;
        let _ = tokio::io::copy_buf(&mut from_far, &mut to_near).await;
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}

async fn first_line(stream: &mut BufReader<OwnedReadHalf>) -> Value {
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("a line");
    serde_json::from_str(&line).unwrap_or_default()
}
