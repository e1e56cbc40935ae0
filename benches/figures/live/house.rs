//! The program in a terminal, in a workspace of its own, with tasks started from outside as scripts do.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use serde_json::{Value, json};

use super::proc;
use super::tty::Tty;
use crate::folder::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pilothouse");
/// The console's terminal, and the size of each task.
pub(crate) const CONSOLE: (u16, u16) = (200, 60);
pub(crate) const PANE: (u16, u16) = (200, 50);
/// What an idle task runs.
pub(crate) const IDLE: &str = "printf ready; exec sleep 100000";

/// The processes that belong to a console.
pub(crate) struct Processes {
    pub(crate) program: Vec<u32>,
    /// One per task; the processes that they have started are not included.
    pub(crate) hosts: Vec<u32>,
}

/// An open console.
pub(crate) struct House {
    pub(crate) tty: Tty,
    dir: Folder,
    /// The runtime, if it is a separate process.
    runtime: Option<Child>,
}

impl House {
    /// Opens a console and waits for its first frame.
    pub(crate) fn open() -> Self {
        let dir = Folder::make();
        let tty = Tty::start(console(dir.path()), CONSOLE);
        tty.wait("the first frame", |seen| seen.frames > 0);
        Self { tty, dir, runtime: None }
    }

    /// Opens a console attached to a runtime of its own, and waits for its first frame.
    pub(crate) fn attached() -> Self {
        let dir = Folder::make();
        let mut serve = program(dir.path());
        let runtime = serve
            .arg("serve")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start the runtime");
        until("the runtime", || {
            let mut asked = program(dir.path());
            asked.args(["task", "list"]).output().is_ok_and(|output| output.status.success())
        });
        let tty = Tty::start(console(dir.path()), CONSOLE);
        tty.wait("the first frame", |seen| seen.frames > 0);
        Self { tty, dir, runtime: Some(runtime) }
    }

    /// Returns the processes of console and runtime with their guards, and the task hosts.
    pub(crate) fn processes(&self) -> Processes {
        let mut found = Processes { program: Vec::new(), hosts: Vec::new() };
        let mut next: Vec<u32> = vec![self.tty.pid()];
        next.extend(self.runtime.as_ref().map(Child::id));
        while let Some(pid) = next.pop() {
            if proc::is_host(pid) {
                found.hosts.push(pid);
            } else {
                found.program.push(pid);
                next.extend(proc::children(pid));
            }
        }
        found
    }

    /// Returns a path for a file of this run.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the folder of this run.
    pub(crate) fn folder(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// Returns a command that runs the program in this workspace as another process.
    pub(crate) fn command(&self) -> Command {
        program(self.dir.path())
    }

    /// Returns the last line of the program's log that contains a text.
    pub(crate) fn log(&self, text: &str) -> String {
        let path = self.path("state").join("pilothouse/logs/pilothouse.log");
        let log = std::fs::read_to_string(&path).unwrap_or_default();
        log.lines().rfind(|line| line.contains(text)).unwrap_or_default().to_owned()
    }

    /// Starts a command on a terminal, as a task from the beginning.
    pub(crate) fn start(&self, cmd: &str) -> String {
        let (cols, rows) = PANE;
        self.start_as(&json!({
            "cmd": cmd, "tty": true, "cols": cols, "rows": rows, "login": false, "yield_time_ms": 0,
        }))
    }

    /// Starts a command whose output is a pipe, as a task from the beginning.
    pub(crate) fn start_piped(&self, cmd: &str) -> String {
        self.start_as(&json!({ "cmd": cmd, "login": false, "yield_time_ms": 0 }))
    }

    fn start_as(&self, input: &Value) -> String {
        let mut run = self.command();
        run.args(["command", "run", "--input", &input.to_string()]);
        let output = run.output().expect("run the command line");
        let envelope: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let id = find(&envelope, "task_id").and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("a task id in {envelope} {}", String::from_utf8_lossy(&output.stderr)))
            .to_owned()
    }

    /// Starts this many idle tasks.
    pub(crate) fn start_idle(&self, count: usize) {
        for _ in 0..count {
            self.start(IDLE);
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // A console whose terminal goes away would go on without it, as its tasks still run.
        let stop = self.command().args(["serve", "--stop"]).output();
        if let Some(runtime) = &mut self.runtime {
            let _ = runtime.wait();
        }
        assert!(stop.is_ok_and(|stop| stop.status.success()) || std::thread::panicking(), "the runtime ends");
    }
}

/// Returns the program's environment: nothing of the caller's except the path.
pub(crate) fn environment(dir: &Path) -> Vec<(&'static str, String)> {
    let folder = |name: &str| {
        let folder = dir.join(name);
        std::fs::create_dir_all(&folder).expect("make a folder");
        folder.to_string_lossy().into_owned()
    };
    vec![
        ("PATH", std::env::var("PATH").unwrap_or_default()),
        ("HOME", folder("home")),
        ("XDG_STATE_HOME", folder("state")),
        ("XDG_RUNTIME_DIR", folder("run")),
        ("SHELL", "/bin/sh".to_owned()),
        ("TERM", "xterm-256color".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
    ]
}

/// Returns a command that runs the program in `dir`.
pub(crate) fn program(dir: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(dir).env_clear().envs(environment(dir));
    command
}

/// Ends the runtime of `dir`.
pub(crate) fn stop_runtime(dir: &Path) {
    let stopped = program(dir).args(["serve", "--stop"]).output().expect("stop the runtime");
    assert!(stopped.status.success(), "there was a runtime");
}

/// Returns the command that opens a console in `dir`.
pub(crate) fn console(dir: &Path) -> CommandBuilder {
    let mut command = CommandBuilder::new(PROGRAM);
    command.cwd(dir);
    command.env_clear();
    for (name, value) in environment(dir) {
        command.env(name, value);
    }
    command
}

/// Polls until `fact` holds, for facts without a notification.
#[track_caller]
pub(crate) fn until(what: &str, mut fact: impl FnMut() -> bool) {
    let started = Instant::now();
    while !fact() {
        assert!(started.elapsed() < Duration::from_secs(600), "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn find<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(map) => map.get(key).or_else(|| map.values().find_map(|inner| find(inner, key))),
        Value::Array(all) => all.iter().find_map(|inner| find(inner, key)),
        _ => None,
    }
}
