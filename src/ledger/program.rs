//! The private folder of git, and running git on it: its own configuration, attributes and ignore rules, an empty
//! environment, a program found outside the workspace, and a deadline.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, setpriority_process};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout_at};

use super::repository::RepositoryFiles;
use super::starts::ComingStarts;
use crate::files;

/// The most bytes of an answer of git: names of a million files.
const MOST_ANSWER: u64 = 256 << 20;
/// The niceness of git: commands come first, but it is not to starve beside them.
const NICENESS: i32 = 5;
/// The most bytes of an error of git that are kept.
const MOST_ERROR: u64 = 4 << 10;
/// The most bytes of the user's file of ignore rules.
const MOST_IGNORES: u64 = 256 << 10;

/// The only configuration that is read. Ignore rules are copied into the folder, and attributes overrule those of the
/// tree, so that no file of the workspace leads to a program.
const CONFIG: &str = "\
[core]
\trepositoryFormatVersion = 0
\tbare = false
\tfsmonitor = false
\tuntrackedCache = true
\tpreloadIndex = false
\tfsync = none
\tlooseCompression = 0
\tlogAllRefUpdates = false
\tsharedRepository = 0600
\tautocrlf = false
\tsafecrlf = false
\tignoreCase = false
\tprotectNTFS = false
\tprotectHFS = false
\tprecomposeUnicode = false
\tcommitGraph = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\texcludesFile = /dev/null
[index]
\tversion = 4
\tskipHash = true
\tthreads = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[protocol]
\tallow = never
[diff]
\tignoreSubmodules = all
[submodule]
\trecurse = false
";
/// Contents are kept as they are, whatever the attributes of the tree say.
const ATTRIBUTES: &str = "* -text -eol -filter -ident -working-tree-encoding -diff -merge\n";

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitFailure {
    /// It could not be started, written to or read from.
    #[error("git could not be run: {0}")]
    Io(#[from] io::Error),
    /// It did not end in time, and was killed.
    #[error("git did not answer in time")]
    Late,
    /// It failed.
    #[error("git says: {0}")]
    Failed(String),
    /// Its answer is nothing that git says.
    #[error("git answered with something else than was asked")]
    Answer,
}

/// A folder of git of our own, for one tree.
#[derive(Debug, Clone)]
pub struct PrivateGit {
    program: PathBuf,
    /// What git knows as `GIT_DIR`.
    folder: PathBuf,
    /// What git knows as `GIT_WORK_TREE`.
    top: PathBuf,
    /// During these, git rests.
    starts: ComingStarts,
    /// The processor time that it has taken, in nanoseconds.
    spent: Arc<AtomicU64>,
}

impl PrivateGit {
    /// Creates the folder, with mode 0700. `ignores` are rules that hold in all repositories of the user; those of this
    /// one's `info/exclude` are added. Objects of the repository are read where they are. Blocks.
    ///
    /// # Errors
    /// If a file cannot be created, as when the folder is there already.
    pub fn create(
        program: PathBuf,
        folder: PathBuf,
        top: PathBuf,
        repository: Option<&RepositoryFiles>,
        ignores: &[u8],
    ) -> io::Result<Self> {
        for part in ["", "objects", "objects/info", "refs", "info"] {
            files::create_folder(&folder.join(part))?;
        }
        let write = |name: &str, bytes: &[u8]| files::create_new(&folder.join(name))?.write_all(bytes);
        write("HEAD", b"ref: refs/heads/none\n")?;
        write("config", CONFIG.as_bytes())?;
        write("info/attributes", ATTRIBUTES.as_bytes())?;
        let own = repository.map(RepositoryFiles::exclude).unwrap_or_default();
        write("info/exclude", &[ignores, b"\n", &own].concat())?;
        if let Some(objects) = repository.and_then(RepositoryFiles::objects) {
            write("objects/info/alternates", &[objects.as_os_str().as_bytes(), b"\n"].concat())?;
        }
        Ok(Self { program, folder, top, starts: ComingStarts::default(), spent: Arc::default() })
    }

    /// Lets git rest while one of these commands is being started.
    #[must_use]
    pub fn yielding(self, starts: &ComingStarts) -> Self {
        Self { starts: starts.clone(), ..self }
    }

    /// Returns the folder of another recording's ledger of the same tree.
    #[must_use]
    pub fn of_recording(&self, folder: PathBuf) -> Self {
        Self { folder, ..self.clone() }
    }

    /// Returns the processor time that git has taken so far.
    #[must_use]
    pub fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }

    /// Returns the commands during whose starts it rests.
    pub(super) fn starts(&self) -> &ComingStarts {
        &self.starts
    }

    /// Returns the top of the tree.
    #[must_use]
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the private folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs git with these arguments and this standard input, and returns what it prints.
    ///
    /// # Errors
    /// If it cannot be run, fails, or has not ended by then.
    pub async fn run(
        &self,
        args: &[impl AsRef<OsStr>],
        input: &[u8],
        by: Instant,
    ) -> Result<Vec<u8>, GitFailure> {
        self.run_on(&self.folder.join("index"), args, input, by).await
    }

    /// Runs git as above, on another index.
    pub(super) async fn run_on(
        &self,
        index: &Path,
        args: &[impl AsRef<OsStr>],
        input: &[u8],
        by: Instant,
    ) -> Result<Vec<u8>, GitFailure> {
        let mut command = bare(&self.program, &self.top);
        command.env("GIT_DIR", &self.folder).env("GIT_WORK_TREE", &self.top).env("GIT_INDEX_FILE", index);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_LITERAL_PATHSPECS", "1").args(args);
        let (answer, spent) = ask(command, input, &self.starts, by).await?;
        self.spent.fetch_add(spent, Ordering::Relaxed);
        Ok(answer)
    }
}

/// Returns a command without anything of this process's environment.
fn bare(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(folder);
    command.envs([
        ("PATH", "/usr/bin:/bin"),
        ("LC_ALL", "C"),
        ("HOME", "/nonexistent"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ALLOW_PROTOCOL", "none"),
    ]);
    command
}

async fn ask(
    mut command: Command,
    input: &[u8],
    starts: &ComingStarts,
    by: Instant,
) -> Result<(Vec<u8>, u64), GitFailure> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    // If this process ends while git rests, the kernel ends a group of its own that nobody could wake.
    command.process_group(0);
    let talk = async {
        starts.until(false).await;
        // A thread waits until the program is there: not one that starts commands.
        let spawned = tokio::task::spawn_blocking(move || command.spawn()).await;
        let child = spawned.map_err(io::Error::other)??;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { return Err(io::Error::from(io::ErrorKind::NotFound)) };
        // Commands come first. Without the right to this, it is as it was.
        let _ = setpriority_process(Some(pid), NICENESS);
        tokio::select! {
            answer = answer(child, pid, input) => answer,
            never = rest(pid, starts) => match never {},
        }
    };
    let GitAnswer { status, answer, error, spent } =
        timeout_at(by, talk).await.map_err(|_| GitFailure::Late)??;
    if status.success() {
        return Ok((answer, spent));
    }
    let text = String::from_utf8_lossy(&error).trim().to_owned();
    Err(GitFailure::Failed(if text.is_empty() { status.to_string() } else { text }))
}

/// Stops a git whenever a command is being started, and lets it go on afterwards.
async fn rest(pid: Pid, starts: &ComingStarts) -> Infallible {
    loop {
        for (is_any, signal) in [(true, Signal::STOP), (false, Signal::CONT)] {
            starts.until(is_any).await;
            // It may have ended; its id is its own until that was asked for.
            let _ = kill_process(pid, signal);
        }
    }
}

/// What git has said, and what it has taken.
struct GitAnswer {
    status: ExitStatus,
    answer: Vec<u8>,
    error: Vec<u8>,
    /// Processor time in nanoseconds, where the kernel says it.
    spent: u64,
}

/// Writes to git and reads what it says, to its end.
async fn answer(mut child: Child, pid: Pid, input: &[u8]) -> io::Result<GitAnswer> {
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe));
    };
    let (mut answer, mut error) = (Vec::new(), Vec::new());
    let (mut stdout, mut stderr) = (stdout.take(MOST_ANSWER), stderr.take(MOST_ERROR));
    let write = async {
        // A git that has failed reads no more, and says why.
        let _ = stdin.write_all(input).await;
        drop(stdin);
    };
    let ((), read, told) =
        tokio::join!(write, stdout.read_to_end(&mut answer), stderr.read_to_end(&mut error));
    let _ = (read?, told?);
    drop((stdout, stderr));
    // It is at its end, and nobody has waited for it yet.
    let spent = std::fs::read_to_string(format!("/proc/{}/schedstat", pid.as_raw_pid()));
    let spent = spent.ok().and_then(|spent| spent.split(' ').next()?.parse().ok()).unwrap_or(0);
    Ok(GitAnswer { status: child.wait().await?, answer, error, spent })
}

/// Finds git in the folders of a `PATH`, never one inside the workspace, nor one that somebody else could have put there.
#[must_use]
pub fn find_git(path: &OsStr, workspace: &Path) -> Option<PathBuf> {
    let owner = rustix::process::geteuid().as_raw();
    let fits = |program: PathBuf| {
        use std::os::unix::fs::MetadataExt as _;
        let program = program.canonicalize().ok()?;
        let facts = program.metadata().ok()?;
        let runs = facts.is_file() && facts.permissions().mode() & 0o111 != 0;
        let is_trusted = facts.uid() == 0 || facts.uid() == owner;
        (runs && is_trusted && !program.starts_with(workspace)).then_some(program)
    };
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| fits(folder.join("git")))
}

/// Returns the ignore rules that hold in all repositories of the user: those of the file that their own settings of git
/// name, or else of `git/ignore` in their folder of settings.
pub async fn global_ignores(program: &Path, home: &OsStr, config: Option<&OsStr>, by: Instant) -> Vec<u8> {
    let mut command = bare(program, Path::new("/"));
    command.env("HOME", home).env("GIT_DIR", "/dev/null");
    command.envs(config.map(|config| ("XDG_CONFIG_HOME", config)));
    // Reading a value starts nothing, whatever is written there.
    command.args(["config", "--global", "--path", "--get", "core.excludesFile"]);
    let named = ask(command, &[], &ComingStarts::default(), by).await.ok();
    let named = named.map(|(mut name, _)| {
        name.truncate(name.trim_ascii_end().len());
        PathBuf::from(OsString::from(OsStr::from_bytes(&name)))
    });
    let usual = || {
        let config = config.map_or_else(|| Path::new(home).join(".config"), PathBuf::from);
        config.join("git/ignore")
    };
    let path = named.filter(|path| path.is_absolute()).unwrap_or_else(usual);
    let read = move || files::read(&path, files::Links::Followed, MOST_IGNORES).unwrap_or_default();
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}
