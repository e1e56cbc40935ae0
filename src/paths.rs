//! Where things live on disk: workspace, state folder, runtime folder, recordings (contracts 8).

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The folders of one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The execution root: the git root of the caller's directory, else that directory. Canonical.
    pub workspace: PathBuf,
    /// First 12 hex digits of SHA-256 of the canonical workspace path.
    pub id: String,
    /// Sockets and the instance lock; 0700.
    pub runtime_dir: PathBuf,
    /// All recordings of this user; 0700.
    pub state_dir: PathBuf,
    /// The settings of this user: `config.toml`, `keys.toml`, `themes/`.
    pub config_dir: PathBuf,
}

/// What `Places::find` could not do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory cannot be resolved.
    #[error("resolve the workspace directory {path}")]
    Workspace {
        /// The directory as given.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Neither `HOME` nor the XDG variables name a place for state.
    #[error("find a state folder: neither HOME nor XDG_STATE_HOME is set")]
    NoHome,
}

impl Places {
    /// Finds the folders for a caller in `cwd`. `xdg_runtime` is `$XDG_RUNTIME_DIR` when set.
    ///
    /// # Errors
    /// When `cwd` does not exist or the user has no home.
    pub fn find(cwd: &Path, xdg_runtime: Option<&Path>) -> Result<Self, Error> {
        let project = directories::ProjectDirs::from("dev", "", "pilothouse").ok_or(Error::NoHome)?;
        let state = project.state_dir().unwrap_or_else(|| project.data_dir());
        let places = Self::beneath(cwd, state, xdg_runtime)?;
        Ok(Self { config_dir: project.config_dir().to_owned(), ..places })
    }

    /// Finds the folders with a state folder chosen by the caller (tests, demo); settings lie in it too.
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
        Ok(Self { workspace, id, runtime_dir, state_dir: state.to_owned(), config_dir: state.join("config") })
    }

    /// Returns the socket of agents and scripts (roles `mcp` and `cli`).
    #[must_use]
    pub fn agent_socket(&self) -> PathBuf {
        self.runtime_dir.join("agent.sock")
    }

    /// Returns the socket of consoles (role `operator`).
    #[must_use]
    pub fn operator_socket(&self) -> PathBuf {
        self.runtime_dir.join("operator.sock")
    }

    /// Returns the file whose lock makes one runtime per workspace.
    #[must_use]
    pub fn instance_lock(&self) -> PathBuf {
        self.runtime_dir.join("runtime.lock")
    }

    /// Returns the file that keeps how the console of this workspace was arranged.
    #[must_use]
    pub fn layout(&self) -> PathBuf {
        self.state_dir.join("layouts").join(format!("{}.json", self.id))
    }

    /// Returns the folder that holds all recordings.
    #[must_use]
    pub fn recordings(&self) -> PathBuf {
        self.state_dir.join("recordings")
    }
}

fn git_root(dir: &Path) -> Option<PathBuf> {
    dir.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_owned)
}

fn workspace_id(workspace: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let digest = Sha256::digest(workspace.as_os_str().as_bytes());
    digest.iter().take(6).fold(String::with_capacity(12), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_is_the_git_root_of_the_callers_directory() {
        let home = tempfile::tempdir().expect("temp dir");
        let root = home.path().canonicalize().expect("canonical");
        std::fs::create_dir_all(root.join("repo/.git")).expect("git dir");
        std::fs::create_dir_all(root.join("repo/src/deep")).expect("deep dir");
        let places = Places::beneath(&root.join("repo/src/deep"), &root.join("state"), None).expect("places");
        assert_eq!(places.workspace, root.join("repo"));
        assert_eq!(places.id.len(), 12);
        assert_eq!(places.runtime_dir, root.join("state/run").join(&places.id));
    }
}
