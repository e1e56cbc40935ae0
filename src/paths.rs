//! File locations: workspace, state folder, runtime folder, lock, recordings.
//!
//! The lock's path depends on no environment variable that an agent's program might lack: every process of one user
//! in one workspace finds the same lock, and in it the address of the runtime (docs/reliability.md).

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::files::{self, FileAccess, Links};

/// The prefix of a `.git` file, as found in a worktree or a submodule.
const GITDIR: &[u8; 7] = b"gitdir:";

/// The file locations of one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The execution root: the git root of the caller's directory, else that directory. Canonical.
    pub workspace: PathBuf,
    /// First 12 hex digits of SHA-256 of the canonical workspace path.
    pub id: String,
    /// The folder of the sockets; mode 0700.
    pub runtime_dir: PathBuf,
    /// The lock file that ensures one runtime per workspace and holds that runtime's address.
    pub lock: PathBuf,
    /// All recordings of this user; mode 0700.
    pub state_dir: PathBuf,
    /// The user's settings: `config.toml`, `keys.toml`, `themes/`.
    pub config_dir: PathBuf,
}

/// Where this user's workspace locks are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locks {
    /// The folder of the locks.
    pub folder: PathBuf,
    /// What follows the workspace id in a lock's file name: `.lock`, or `.<boot>.lock` and `.<boot>-<container>.lock`
    /// in a home that may be shared by machines or containers.
    suffix: String,
    /// The only folder of runtimes that counts, if there is one.
    only: Option<PathBuf>,
}

impl Locks {
    /// Limits them to the runtimes whose folders are in this one.
    #[must_use]
    pub fn only_in(self, folder: Option<&Path>) -> Self {
        Self { only: folder.map(Path::to_owned), ..self }
    }

    /// Returns whether a runtime with this folder counts.
    pub fn counts(&self, runtime_dir: &Path) -> bool {
        self.only.as_deref().is_none_or(|only| runtime_dir.parent() == Some(only))
    }

    /// Returns the lock file of a workspace, by its id.
    pub fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{}", self.suffix))
    }

    /// Returns the workspace id in a lock's file name; `None` for locks of another boot and for other files.
    pub fn id<'a>(&self, name: &'a str) -> Option<&'a str> {
        let id = name.strip_suffix(&self.suffix)?;
        let is_id = id.len() == 12 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then_some(id)
    }
}

/// The parts of the caller's environment that determine file locations.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `$XDG_RUNTIME_DIR`, if it is an absolute path.
    pub runtime_dir: Option<PathBuf>,
    /// `/run/user/<uid>`, if it exists, belongs to this user and is closed to others.
    pub user_dir: Option<PathBuf>,
    /// `$PILOTHOUSE_LOCK_DIR`, if it is an absolute path; for tests.
    pub lock_dir: Option<PathBuf>,
    /// The user's home according to the password file, regardless of `$HOME`.
    pub home: Option<PathBuf>,
    /// Identifies the current boot, because machines may share a home.
    pub boot_id: String,
    /// Identifies the container this runs in, if any, because containers may share a home.
    pub container: Option<String>,
}

impl Surroundings {
    fn lock(&self, id: &str) -> Option<PathBuf> {
        let in_home = |home: &PathBuf| home.join(".local/state/pilothouse/run");
        match (&self.lock_dir, &self.user_dir) {
            (Some(folder), _) => Some(folder.join(format!("{id}.lock"))),
            (None, Some(folder)) => Some(folder.join("pilothouse").join(format!("{id}.lock"))),
            (None, None) => {
                let container = self.container.iter().map(|name| format!("-{name}")).collect::<String>();
                let name = format!("{id}.{}{container}.lock", self.boot_id);
                Some(in_home(self.home.as_ref()?).join(name))
            }
        }
    }

    /// Returns a container-specific folder of sockets inside a state folder that containers may share; `None` if not
    /// needed.
    fn own_sockets(&self, state: &Path, id: &str) -> Option<PathBuf> {
        let is_own = self.runtime_dir.is_some() || self.user_dir.is_some();
        let container = self.container.as_ref().filter(|_| !is_own)?;
        Some(state.join("run").join(format!("{id}-{container}")))
    }
}

/// Why `Places::find` failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory cannot be resolved.
    #[error("resolve the workspace directory {path}")]
    Workspace {
        /// The directory as given.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Neither `HOME` nor the XDG variables give a location for state.
    #[error("find a state folder: neither HOME nor XDG_STATE_HOME is set")]
    NoHome,
}

impl Places {
    /// Finds the locations for a caller in `cwd`.
    ///
    /// # Errors
    /// When `cwd` does not exist or the user has no home.
    pub fn find(cwd: &Path, around: &Surroundings) -> Result<Self, Error> {
        let project = directories::ProjectDirs::from("dev", "", "pilothouse").ok_or(Error::NoHome)?;
        let state = project.state_dir().unwrap_or_else(|| project.data_dir());
        let runtime = around.runtime_dir.as_deref().or(around.user_dir.as_deref());
        let places = Self::beneath(cwd, state, runtime)?;
        let runtime_dir = around.own_sockets(state, &places.id).unwrap_or(places.runtime_dir);
        let lock = around.lock(&places.id).unwrap_or(places.lock);
        Ok(Self { runtime_dir, lock, config_dir: project.config_dir().to_owned(), ..places })
    }

    /// Finds the locations with a state folder given by the caller (tests, demo); settings are in it too, and the
    /// lock is beside the runtime folder.
    ///
    /// # Errors
    /// When `cwd` does not exist.
    pub fn beneath(cwd: &Path, state: &Path, xdg_runtime: Option<&Path>) -> Result<Self, Error> {
        let cwd = cwd.canonicalize().map_err(|source| Error::Workspace { path: cwd.to_owned(), source })?;
        let workspace = git_root(&cwd).unwrap_or(cwd);
        let id = workspace_id(&workspace);
        let runtime_dir = match xdg_runtime {
            Some(dir) => dir.join("pilothouse").join(&id),
            None => state.join("run").join(&id),
        };
        let lock = runtime_dir.with_extension("lock");
        let (state_dir, config_dir) = (state.to_owned(), state.join("config"));
        Ok(Self { workspace, id, runtime_dir, lock, state_dir, config_dir })
    }

    /// Returns whether the workspace is a repository, and not only the directory of the caller.
    #[must_use]
    pub fn is_repository(&self) -> bool {
        is_repository(&self.workspace.join(".git"))
    }

    /// Returns the socket of agents and scripts (roles `mcp` and `cli`).
    pub fn agent_socket(&self) -> PathBuf {
        self.runtime_dir.join("agent.sock")
    }

    /// Returns the socket of consoles (role `operator`).
    pub fn operator_socket(&self) -> PathBuf {
        self.runtime_dir.join("operator.sock")
    }

    /// Returns the folder of all workspaces' locks.
    pub fn locks(&self) -> Locks {
        let folder = self.lock.parent().unwrap_or(&self.lock).to_owned();
        let name = self.lock.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let suffix = name.strip_prefix(&self.id).unwrap_or(".lock").to_owned();
        Locks { folder, suffix, only: None }
    }

    /// Returns the folder of the lanes, which all runtimes that see each other's locks share.
    pub fn lanes(&self) -> PathBuf {
        let Locks { folder, suffix, .. } = self.locks();
        folder.join(format!("lanes{}", suffix.strip_suffix(".lock").unwrap_or(&suffix)))
    }

    /// Returns the file that stores the layout of this workspace's console.
    pub fn layout(&self) -> PathBuf {
        self.state_dir.join("layouts").join(format!("{}.json", self.id))
    }

    /// Returns the file that stores the commands the user has started in this workspace.
    pub fn commands(&self) -> PathBuf {
        self.state_dir.join("history").join(format!("{}.json", self.id))
    }

    /// Returns the file to which commands that ran without a runtime are logged.
    pub fn outside(&self) -> PathBuf {
        self.state_dir.join("outside").join(format!("{}.jsonl", self.id))
    }

    /// Returns the folder that holds all recordings.
    pub fn recordings(&self) -> PathBuf {
        self.state_dir.join("recordings")
    }
}

/// Returns the folder of the links by which agents invoke this program as their shell.
pub fn shells_dir() -> Option<PathBuf> {
    let project = directories::ProjectDirs::from("dev", "", "pilothouse")?;
    Some(project.data_dir().join("shells"))
}

/// Returns the folder of the plugins by which agents start this program as their hook.
pub fn plugins_dir() -> Option<PathBuf> {
    let project = directories::ProjectDirs::from("dev", "", "pilothouse")?;
    Some(project.data_dir().join("plugins"))
}

fn git_root(dir: &Path) -> Option<PathBuf> {
    dir.ancestors().find(|dir| is_repository(&dir.join(".git"))).map(Path::to_owned)
}

/// Returns whether git would accept this `.git`: a folder with a HEAD, or a file that points to one, owned by this
/// user or root. An empty `.git`, or one that another user left in a world-writable folder, does not make a
/// workspace.
fn is_repository(path: &Path) -> bool {
    let Ok(facts) = path.metadata() else { return false };
    let owner = facts.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return false;
    }
    if facts.is_dir() {
        return path.join("HEAD").symlink_metadata().is_ok();
    }
    let mut start = [0; GITDIR.len()];
    let opened = files::open(path, Links::Followed, FileAccess::Read);
    opened.and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *GITDIR
}

/// Returns the id of a workspace, given its canonical path.
pub(crate) fn workspace_id(workspace: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let mut id = files::digest(workspace.as_os_str().as_bytes());
    id.truncate(12);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(cwd: &Path) -> PathBuf {
        Places::beneath(cwd, Path::new("/state"), None).expect("places").workspace
    }

    #[test]
    fn a_workspace_is_the_git_root_of_the_callers_directory() {
        let home = tempfile::tempdir().expect("temp dir");
        let root = home.path().canonicalize().expect("canonical");
        std::fs::create_dir_all(root.join("repo/.git")).expect("git dir");
        std::fs::create_dir_all(root.join("repo/src/deep")).expect("deep dir");
        std::fs::write(root.join("repo/.git/HEAD"), "ref: refs/heads/main\n").expect("HEAD");
        let places = Places::beneath(&root.join("repo/src/deep"), &root.join("state"), None).expect("places");
        assert_eq!(places.workspace, root.join("repo"));
        assert_eq!(places.id.len(), 12);
        assert_eq!(places.runtime_dir, root.join("state/run").join(&places.id));
    }

    #[test]
    fn only_a_git_folder_that_git_would_accept_makes_a_workspace() {
        let home = tempfile::tempdir().expect("temp dir");
        let root = home.path().canonicalize().expect("canonical");
        let inner = root.join("inner");
        std::fs::create_dir_all(root.join(".git")).expect("an empty one");
        std::fs::create_dir(&inner).expect("a folder");
        assert_eq!(workspace(&inner), inner, "an empty .git above");
        std::fs::write(inner.join(".git"), "something").expect("written");
        assert_eq!(workspace(&inner), inner);
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").expect("HEAD");
        assert_eq!(workspace(&inner), root, "a .git file that names nothing is none");
        std::fs::write(inner.join(".git"), "gitdir: ../.git/worktrees/inner\n").expect("written");
        assert_eq!(workspace(&inner), inner, "a worktree is a workspace of its own");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(inner.join(".git"), Some(12_345), None).expect("given away");
            assert_eq!(workspace(&inner), root, "another user's .git is none");
        }
    }

    #[test]
    fn the_lock_lies_where_no_variable_of_the_caller_decides() {
        let around = Surroundings {
            runtime_dir: Some("/tmp/xdg".into()),
            user_dir: Some("/run/user/7".into()),
            lock_dir: None,
            home: Some("/home/ada".into()),
            boot_id: "b00t".into(),
            container: None,
        };
        let lock = |around: &Surroundings| around.lock("0123").expect("a place");
        assert_eq!(lock(&around), Path::new("/run/user/7/pilothouse/0123.lock"));
        let bare = Surroundings { user_dir: None, ..around.clone() };
        assert_eq!(lock(&bare), Path::new("/home/ada/.local/state/pilothouse/run/0123.b00t.lock"));
        let test = Surroundings { lock_dir: Some("/t".into()), ..around };
        assert_eq!(lock(&test), Path::new("/t/0123.lock"));
    }

    /// Regression: a command of an agent in one container ran in the other.
    #[test]
    fn containers_that_share_a_home_share_neither_locks_nor_sockets() {
        let places = |container: Option<&str>, user_dir: Option<&str>| {
            let around = Surroundings {
                user_dir: user_dir.map(PathBuf::from),
                home: Some("/home/ada".into()),
                boot_id: "b00t".into(),
                container: container.map(str::to_owned),
                ..Surroundings::default()
            };
            Places::find(Path::new("/"), &around).expect("places")
        };
        let (machine, one, other) = (places(None, None), places(Some("7"), None), places(Some("8"), None));
        for (here, there) in [(&machine, &one), (&one, &other)] {
            assert_ne!(here.lock, there.lock);
            assert_ne!(here.runtime_dir, there.runtime_dir);
            assert_eq!(here.recordings(), there.recordings());
        }
        assert_eq!(one.locks().id("0123456789ab.b00t-7.lock"), Some("0123456789ab"));
        assert_eq!(one.locks().id("0123456789ab.b00t-8.lock"), None);
        // What is mounted there is not the user's home.
        assert_eq!(places(Some("7"), Some("/run/user/7")), places(None, Some("/run/user/7")));
    }

    #[test]
    fn locks_of_other_workspaces_are_recognised_and_those_of_other_boots_are_not() {
        let home = tempfile::tempdir().expect("temp dir");
        let mut places = Places::beneath(home.path(), Path::new("/state"), None).expect("places");
        let other = "0123456789ab";
        for (suffix, foreign) in [(".lock", "0123456789ab.b00t.lock"), (".b00t.lock", "0123456789ab.lock")] {
            places.lock = Path::new("/run/locks").join(format!("{}{suffix}", places.id));
            let locks = places.locks();
            assert_eq!(locks.folder, Path::new("/run/locks"));
            assert_eq!(locks.id(&format!("{other}{suffix}")), Some(other));
            for name in [foreign, suffix, "0123456789AB.lock", "../0123456789.lock", ""] {
                assert_eq!(locks.id(name), None, "{name} beside {suffix}");
            }
        }
    }
}
