//! A throw-away user with a workspace, state and runtime folder of their own; dropping it ends everything started there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use pilothouse::link::Holder;
use pilothouse::paths::Places;
use tempfile::TempDir;

use super::{CallerPlace, InProcess, TimeLimit, program, recorded_envelopes_are_valid, wait_until};

/// The folders of one test, and the environment that points to them.
pub(crate) struct Home {
    temp: TempDir,
    in_process: OnceLock<InProcess>,
    _limit: TimeLimit,
}

impl Home {
    /// Creates the folders.
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().expect("temp dir");
        let home = Self { _limit: TimeLimit::begin(temp.path()), in_process: OnceLock::new(), temp };
        for folder in ["workspace", "run"] {
            std::fs::create_dir(home.temp.path().join(folder)).expect("folder");
        }
        is_a_repository(&home.workspace());
        home
    }

    /// Creates another workspace of the same user.
    pub(crate) fn another(&self, name: &str) -> Another<'_> {
        let folder = self.temp.path().join(name);
        std::fs::create_dir(&folder).expect("folder");
        is_a_repository(&folder);
        Another { home: self, folder }
    }

    /// Creates a named pipe in the workspace.
    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.workspace().join(name);
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).expect("a named pipe");
        path
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.temp.path().join("workspace")
    }

    /// Writes one of the user's settings files.
    pub(crate) fn configure(&self, file: &str, text: &str) -> PathBuf {
        let path = self.temp.path().join("config/pilothouse").join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the config folder");
        std::fs::write(&path, text).expect("written");
        path
    }

    /// The paths that the program uses.
    pub(crate) fn places(&self) -> Places {
        let state = self.temp.path().join("state/pilothouse");
        Places::beneath(&self.workspace(), &state, Some(&self.temp.path().join("run"))).expect("places")
    }

    /// The program with arguments, not yet started, in the workspace.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        self.settle(&mut command);
        command.args(args);
        command
    }

    /// Points a command's working directory and environment here.
    pub(crate) fn settle(&self, command: &mut Command) {
        command
            .current_dir(self.workspace())
            .env("HOME", self.temp.path())
            .env("XDG_CONFIG_HOME", self.temp.path().join("config"))
            .env("XDG_STATE_HOME", self.temp.path().join("state"))
            .env("XDG_RUNTIME_DIR", self.temp.path().join("run"))
            .env("PILOTHOUSE_LOCK_DIR", self.temp.path().join("run/pilothouse"))
            .env_remove("PILOTHOUSE_SOCKET")
            .stdin(Stdio::null());
    }

    /// Runs the program to completion.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    /// Runs a command of the registry in this process, and returns what the program would print to pipes.
    #[track_caller]
    pub(crate) fn call(&self, args: &[&str]) -> Output {
        self.call_with(&[], args)
    }

    /// Like `call`, with more variables.
    #[track_caller]
    pub(crate) fn call_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Output {
        self.in_process().run(self.caller(variables), args)
    }

    /// Serves the workspace from this process until the test is over.
    #[track_caller]
    pub(crate) fn serve_here(&self) {
        self.in_process().serve(self.caller(&[]));
    }

    /// Ends the runtime that is in this process.
    pub(crate) fn end_here(&self) {
        self.in_process().end_runtime(&self.places());
    }

    /// A path in the workspace as an argument: relative ones are taken from where the test itself runs.
    pub(crate) fn path(&self, name: &str) -> String {
        self.workspace().join(name).display().to_string()
    }

    pub(crate) fn in_process(&self) -> &InProcess {
        self.in_process.get_or_init(InProcess::new)
    }

    /// A caller in the workspace, with more variables, and without those that name other folders of agents.
    pub(crate) fn caller(&self, variables: &[(&str, &str)]) -> CallerPlace {
        let mut command = Command::new("none");
        self.settle(&mut command);
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "TMUX"] {
            command.env_remove(name);
        }
        let own = command.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)));
        let more = variables.iter().map(|(name, value)| (name.into(), Some(value.into())));
        let changed: BTreeMap<OsString, Option<OsString>> = own.chain(more).collect();
        let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        for (name, value) in changed {
            match value {
                Some(value) => drop(all.insert(name, value)),
                None => drop(all.remove(&name)),
            }
        }
        let places = Places { config_dir: self.temp.path().join("config/pilothouse"), ..self.places() };
        CallerPlace { cwd: self.workspace(), places, variables: all.into_iter().collect() }
    }

    /// Starts a headless runtime and waits until it accepts connections.
    pub(crate) fn serve(&self) -> Child {
        self.serve_with(&[])
    }

    /// Like `serve`, with more variables.
    pub(crate) fn serve_with(&self, variables: &[(&str, &OsStr)]) -> Child {
        self.listening(self.command(&["serve"]).envs(variables.iter().copied()))
    }

    /// Starts a command that serves and waits until it accepts connections.
    pub(crate) fn listening(&self, serve: &mut Command) -> Child {
        let served = serve.stderr(Stdio::null()).spawn().expect("serve starts");
        let socket = self.places().operator_socket();
        wait_until("the runtime listens", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
        served
    }

    /// Holds the runtime's lock without ever listening, until dropped: no runtime can be reached, and none is started.
    pub(crate) fn never_listening(&self) -> NeverListening {
        let lock = self.places().lock;
        std::fs::create_dir_all(lock.parent().expect("a folder")).expect("created");
        let lock = std::fs::File::create(lock).expect("created");
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("held");
        NeverListening(lock)
    }

    /// Stops the runtime and waits until its process `served` has exited.
    #[track_caller]
    pub(crate) fn stop(&self, served: &mut Child) {
        assert!(self.run(&["serve", "--stop"]).status.success());
        served.wait().expect("ends");
    }

    /// The process id of the runtime.
    #[track_caller]
    pub(crate) fn runtime_pid(&self) -> i32 {
        let pid = Holder::of(&self.places()).address().expect("a runtime").pid;
        assert_ne!(pid, std::process::id(), "it is in this process");
        i32::try_from(pid).expect("a pid")
    }

    /// Stops the runtime, whoever started it, and waits until its process is gone.
    fn end(&mut self) {
        let places = self.places();
        let holder = Holder::of(&places);
        if holder != Holder::Nobody || self.in_process.get().is_some() {
            self.in_process().end_runtime(&places);
            drop(self.in_process.take());
        }
        let waits = |pid: u32| pid != std::process::id() && !std::thread::panicking();
        if let Some(address) = holder.address().filter(|address| waits(address.pid)) {
            let process = Path::new("/proc").join(address.pid.to_string());
            // If this process started it, it stays a zombie until the test has waited for it.
            let is_over = || std::fs::read_link(process.join("exe")).is_err();
            wait_until("the runtime ends with its test", is_over);
        }
    }
}

/// The lock of a workspace, held.
pub(crate) struct NeverListening(pub(crate) std::fs::File);

impl Drop for NeverListening {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that another test is just forking may have a copy of it.
        rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock).expect("let go");
    }
}

/// Another workspace of a user; its runtime is stopped when this is dropped.
pub(crate) struct Another<'a> {
    home: &'a Home,
    folder: PathBuf,
}

impl Another<'_> {
    /// The workspace.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The program with arguments, not yet started, in this workspace.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.current_dir(&self.folder);
        command
    }

    /// Runs the program there to completion.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    /// The paths that the program uses for this workspace.
    pub(crate) fn places(&self) -> Places {
        let (home, run) = (self.home.temp.path(), self.home.temp.path().join("run"));
        Places::beneath(&self.folder, &home.join("state/pilothouse"), Some(&run)).expect("places")
    }

    /// The process id of its runtime, if it has one.
    pub(crate) fn runtime_pid(&self) -> Option<i32> {
        Holder::of(&self.places()).address().and_then(|address| i32::try_from(address.pid).ok())
    }
}

impl Drop for Another<'_> {
    fn drop(&mut self) {
        let pid = self.runtime_pid();
        if pid.is_some() {
            InProcess::new().end_runtime(&self.places());
        }
        if let Some(pid) = pid.filter(|_| !std::thread::panicking()) {
            let exe = Path::new("/proc").join(pid.to_string()).join("exe");
            wait_until("the other runtime ends with its test", || std::fs::read_link(&exe).is_err());
        }
    }
}

/// Makes a folder the root of a repository: it becomes its own workspace, whatever the folders above it contain.
pub(crate) fn is_a_repository(folder: &Path) {
    for part in [".git", ".git/objects", ".git/refs"] {
        std::fs::create_dir(folder.join(part)).expect("folder");
    }
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
}

impl Drop for Home {
    fn drop(&mut self) {
        self.end();
        if std::thread::panicking() {
            return;
        }
        // Whatever the test was about, everything recorded must match the published schemas.
        recorded_envelopes_are_valid(&self.places().recordings());
    }
}
