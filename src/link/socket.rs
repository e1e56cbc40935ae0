//! Door files: the runtime folder, binding and connecting.
//!
//! Only this user may reach the sockets: the folder's mode is checked to be 0700, the sockets are created with mode
//! 0600, and both ends verify the other's uid. Only the holder of the workspace's lock replaces a socket file.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{UnixListener, UnixStream};

use super::lock::{self, WorkspaceLock};
use super::{Door, Error};
use crate::files;
use crate::paths::Places;

/// Length limit of a path in a socket address, in bytes.
const MAX_ADDRESS: usize = 107;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// The bound sockets of one runtime, and the lock that makes it the only one of its workspace. On drop, removes the
/// socket files and then releases the lock.
#[derive(Debug)]
pub struct Sockets {
    open: Option<[BoundSocket; 2]>,
    lock: WorkspaceLock,
    places: Places,
    /// The last problem that was reported.
    said: Option<String>,
}

impl Sockets {
    /// Takes the lock of a workspace and binds its sockets. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Taken`] if another runtime serves the workspace; other errors if the folder cannot be trusted or a
    /// socket cannot be bound.
    pub fn open(places: &Places) -> Result<Self, Error> {
        private_folder(&places.runtime_dir, 0o022)?;
        let lock = WorkspaceLock::take(places)?;
        lock::remove_abandoned(&places.locks());
        let open = [BoundSocket::on(places.agent_socket())?, BoundSocket::on(places.operator_socket())?];
        Ok(Self { open: Some(open), lock, places: places.clone(), said: None })
    }

    /// Waits for the next connection; forever once closed.
    pub(super) async fn accept(&self) -> (Door, io::Result<UnixStream>) {
        let Some([agent, operator]) = &self.open else { return std::future::pending().await };
        let (socket, accepted) = tokio::select! {
            accepted = agent.listener.accept() => (Door::Agent, accepted),
            accepted = operator.listener.accept() => (Door::Operator, accepted),
        };
        (socket, accepted.map(|(stream, _)| stream))
    }

    /// Restores files that were removed since: first the lock, which is required for the sockets, then the sockets.
    /// Returns a message for the person, once per problem.
    pub(super) fn repair(&mut self) -> Option<String> {
        let said = match self.put_back() {
            Ok(names) if names.is_empty() => None,
            Ok(names) => Some(format!("put back: {} had been removed", names.join(" and "))),
            Err(error @ Error::Taken { .. }) => Some(format!(
                "the lock of this workspace was removed, and {error}: nobody new can reach this runtime; end one of the two"
            )),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                let cause = cause.unwrap_or_default();
                Some(format!("nobody new can reach this runtime: {error}{cause}"))
            }
        };
        if said == self.said {
            return None;
        }
        self.said.clone_from(&said);
        said
    }

    fn put_back(&mut self) -> Result<Vec<&'static str>, Error> {
        let Some(open) = &mut self.open else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        if !self.lock.is_in_place() {
            self.lock = WorkspaceLock::take(&self.places)?;
            names.push("the lock");
        }
        for listening in open.iter_mut().filter(|listening| !listening.is_in_place()) {
            private_folder(&self.places.runtime_dir, 0o022)?;
            listening.bind_again()?;
            names.push("a socket");
        }
        Ok(names)
    }

    /// Closes and removes the sockets, and keeps the lock.
    pub(super) fn close(&mut self) {
        self.open = None;
    }
}

/// A bound socket; its file is removed on drop, unless it was replaced by another.
#[derive(Debug)]
struct BoundSocket {
    listener: UnixListener,
    path: PathBuf,
    /// The device and inode of the file it was bound to.
    file: Option<(u64, u64)>,
}

impl BoundSocket {
    fn on(path: PathBuf) -> Result<Self, Error> {
        Ok(Self { listener: bind(&path)?, file: file_at(&path), path })
    }

    fn is_in_place(&self) -> bool {
        self.file.is_some() && self.file == file_at(&self.path)
    }

    fn bind_again(&mut self) -> Result<(), Error> {
        self.listener = bind(&self.path)?;
        self.file = file_at(&self.path);
        Ok(())
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        if self.is_in_place() {
            // If someone else removed the file, that is fine as well.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Returns the device and inode of the file at a path.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|facts| (facts.dev(), facts.ino()))
}

/// Creates a folder for this user only, or checks an existing one: owned by this user, not a symlink, mode 0700. Also
/// checks that its parent has none of the forbidden mode bits.
///
/// # Errors
/// If it cannot be created or must not be trusted.
pub fn private_folder(path: &Path, forbidden_to_parent: u32) -> Result<(), Error> {
    files::create_folder(path).map_err(Error::io("create the folder", path))?;
    // With an untrusted parent, the folder could be replaced after the check.
    let parent = path.parent().unwrap_or(path);
    trust(parent, forbidden_to_parent)?;
    trust(path, 0o077)
}

/// Checks that a folder may hold sockets.
///
/// # Errors
/// If it belongs to another user, is not a folder, or is open to others by any of the mode bits in `forbidden`.
pub(super) fn trust(folder: &Path, forbidden: u32) -> Result<(), Error> {
    let facts = std::fs::symlink_metadata(folder).map_err(Error::io("look at the folder", folder))?;
    let me = rustix::process::geteuid().as_raw();
    let problem = if facts.is_symlink() {
        "is a symlink"
    } else if !facts.is_dir() {
        "is not a folder"
    } else if facts.uid() != me {
        "belongs to another user"
    } else if facts.mode() & forbidden != 0 {
        "is open to other users (chmod it to 0700)"
    } else {
        return Ok(());
    };
    Err(Error::Folder { path: folder.to_owned(), problem })
}

/// Binds a socket whose file is created with mode 0600: on Linux the mode of the unbound socket becomes the mode of
/// its file, so that it depends neither on the process's umask nor on a later change.
fn bind(path: &Path) -> Result<UnixListener, Error> {
    // Anything but a socket was put there by somebody else.
    let stale = match path.symlink_metadata() {
        Ok(facts) if facts.file_type().is_socket() => std::fs::remove_file(path),
        Ok(_) => Err(io::Error::other("it is not a socket")),
        Err(error) => Err(error),
    };
    match stale {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io("replace the stale socket", path)(error));
        }
        _ => {}
    }
    let address = SocketPath::of(path)?;
    let bound = || -> Result<OwnedFd, Errno> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(&address.path)?)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(socket)
    };
    let socket = bound().map_err(|errno| Error::io("bind the socket", path)(errno.into()))?;
    UnixListener::from_std(StdListener::from(socket)).map_err(Error::io("watch the socket", path))
}

/// Connects to a socket and verifies that a process of this user listens there.
pub(super) async fn connect(path: &Path) -> Result<UnixStream, Error> {
    use io::ErrorKind::{ConnectionRefused, NotFound};
    let nobody = || Error::NoRuntime { path: path.to_owned() };
    if !path.exists() {
        return Err(nobody());
    }
    let address = SocketPath::of(path)?;
    let stream = UnixStream::connect(&address.path).await.map_err(|error| match error.kind() {
        NotFound | ConnectionRefused => nobody(),
        _ => Error::io("connect to", path)(error),
    })?;
    let uid = stream.peer_cred().map_err(Error::io("ask who listens on", path))?.uid();
    if uid == rustix::process::geteuid().as_raw() {
        Ok(stream)
    } else {
        Err(Error::Foreign { path: path.to_owned(), uid })
    }
}

/// A path short enough for a socket address. A longer path is addressed through a descriptor of its folder.
pub(super) struct SocketPath {
    pub(super) path: PathBuf,
    _folder: Option<OwnedFd>,
}

impl SocketPath {
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::io("name the socket", path)(io::ErrorKind::InvalidInput.into()));
        };
        if path.as_os_str().len() <= MAX_ADDRESS {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = rustix::fs::open(folder, flags, Mode::empty());
        let open = open.map_err(|errno| Error::io("open the folder", folder)(errno.into()))?;
        let path = Path::new("/proc/self/fd").join(open.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(open) })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::DirBuilder;
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};

    use super::*;

    fn places(temp: &tempfile::TempDir) -> Places {
        Places::beneath(temp.path(), &temp.path().join("state"), None).expect("places")
    }

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).expect("exists").mode() & 0o777
    }

    #[tokio::test]
    async fn folder_and_sockets_are_for_this_user_alone() {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = places(&temp);
        let sockets = Sockets::open(&places).expect("opens");
        assert_eq!(mode(&places.runtime_dir), 0o700);
        assert_eq!(mode(&places.agent_socket()), 0o600);
        assert_eq!(mode(&places.operator_socket()), 0o600);
        drop(sockets);
        assert!(!places.agent_socket().exists() && !places.operator_socket().exists());
    }

    #[tokio::test]
    async fn a_workspace_admits_one_runtime_and_the_next_one_replaces_stale_sockets() {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = places(&temp);
        let first = Sockets::open(&places).expect("opens");
        let me = std::process::id();
        assert!(matches!(Sockets::open(&places), Err(Error::Taken { pid: Some(pid) }) if pid == me));
        // As after `kill -9`: the lock is free, but the files are still there.
        let kept = temp.path().join("kept");
        std::fs::rename(places.agent_socket(), &kept).expect("moves");
        drop(first);
        std::fs::rename(&kept, places.agent_socket()).expect("moves back");
        drop(Sockets::open(&places).expect("opens again"));
    }

    #[tokio::test]
    async fn removed_sockets_are_put_back_and_files_of_another_runtime_are_kept() {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = places(&temp);
        let mut sockets = Sockets::open(&places).expect("opens");
        assert_eq!(sockets.repair(), None);
        std::fs::remove_file(places.agent_socket()).expect("removed");
        assert_eq!(sockets.repair().as_deref(), Some("put back: a socket had been removed"));
        connect(&places.agent_socket()).await.expect("heard again");
        std::fs::remove_dir_all(places.runtime_dir.parent().expect("a parent")).expect("removed");
        let said = sockets.repair().expect("said");
        assert_eq!(said, "put back: the lock and a socket and a socket had been removed");
        assert_eq!(sockets.repair(), None);
        connect(&places.operator_socket()).await.expect("heard again");

        // Another runtime that was started meanwhile keeps its own files.
        std::fs::remove_dir_all(places.runtime_dir.parent().expect("a parent")).expect("removed");
        let second = Sockets::open(&places).expect("nobody holds the lock any more");
        assert!(sockets.repair().expect("said").contains("end one of the two"));
        assert_eq!(sockets.repair(), None, "said once");
        drop(sockets);
        connect(&places.agent_socket()).await.expect("the second one still listens");
        drop(second);
        assert!(!places.agent_socket().exists());
    }

    #[tokio::test]
    async fn a_folder_open_to_others_or_a_symlink_is_refused() {
        let temp = tempfile::tempdir().expect("temp dir");
        let places = places(&temp);
        std::fs::create_dir_all(&places.runtime_dir).expect("creates");
        std::fs::set_permissions(&places.runtime_dir, PermissionsExt::from_mode(0o755)).expect("chmod");
        let refused = Sockets::open(&places).expect_err("open to others");
        assert!(refused.to_string().contains("open to other users"), "{refused}");

        std::fs::remove_dir(&places.runtime_dir).expect("removes");
        let elsewhere = temp.path().join("elsewhere");
        DirBuilder::new().mode(0o700).create(&elsewhere).expect("creates");
        symlink(&elsewhere, &places.runtime_dir).expect("links");
        assert!(matches!(Sockets::open(&places), Err(Error::Folder { problem: "is a symlink", .. })));
    }

    #[tokio::test]
    async fn a_socket_path_longer_than_an_address_works() {
        let temp = tempfile::tempdir().expect("temp dir");
        let deep = temp.path().join("d".repeat(100)).join("e".repeat(100));
        let places = Places::beneath(temp.path(), &deep, None).expect("places");
        let sockets = Sockets::open(&places).expect("opens");
        let socket = places.agent_socket();
        let (client, (socket, served)) = tokio::join!(connect(&socket), sockets.accept());
        assert!(client.is_ok() && served.is_ok());
        assert_eq!(socket, Door::Agent);
    }

    #[tokio::test]
    async fn connecting_to_a_missing_or_stale_socket_reports_that_no_runtime_is_there() {
        let temp = tempfile::tempdir().expect("temp dir");
        let missing = connect(&temp.path().join("none.sock")).await;
        assert!(matches!(missing, Err(Error::NoRuntime { .. })));
        let stale = temp.path().join("stale.sock");
        drop(bind(&stale).expect("binds"));
        assert!(matches!(connect(&stale).await, Err(Error::NoRuntime { .. })));
    }
}
